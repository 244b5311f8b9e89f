"""Copies: chunks that say the same as a gold chunk, or nearly, and are not gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.codes import Vocabulary
from karat.core.text.words import plural
from karat.testset.check._check import CheckContext, Finding, check, counted

if TYPE_CHECKING:
    from karat.core.judged import Bools, Floats, Ints
    from karat.core.text.codes import Keys, TokenIds

LIKE = 0.8  # Jaccard of shingles from which a chunk is nearly a copy
_WORDS = 3  # in a shingle
_COMMON = 100  # chunks that hold a shingle from which it says nothing about copies
_LEAST = 6  # shingles of a text below which likeness says little
_TABLE = (1 << 22) - 3  # slots of a first sieve, a prime number
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def copies(texts: Sequence[str], gold: Ints) -> dict[int, dict[int, float]]:
    """For each gold row the other rows that say the same, with their likeness: 1 is word for word, case aside.

    A row that is 80% like a gold row has 80% of its shingles from gold rows: only such rows are looked at. Two sets of
    which 80% is common share one of the rarest 20% of either: only pairs that do so are compared, and what many chunks
    repeat is not looked at.
    """
    if not len(gold):
        return {}
    is_gold = np.zeros(len(texts), bool)
    is_gold[gold] = True
    coded = Vocabulary("words").encode(texts)
    shingle, row = shingles(coded)
    likely = _share_of_gold(shingle, row, is_gold) >= LIKE
    alike = _word_for_word(coded, likely | (coded.sizes < _WORDS), is_gold)
    telling = likely[row]
    for one, other, likeness in _nearly(shingle[telling], row[telling], is_gold):
        alike.setdefault(one, {}).setdefault(other, min(likeness, 0.999))
    return alike


def shingles(coded: TokenIds) -> tuple[Keys, Ints]:
    """Every few neighbouring words as one number, and the row each stands in."""
    codes, owner = coded.codes.astype(np.uint64), coded.owners
    count = max(len(codes) - _WORDS + 1, 0)
    mixed = codes[:count].copy()
    for step in range(1, _WORDS):
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MULTIPLIER + codes[step : step + count]
    inside = owner[:count] == owner[_WORDS - 1 :][:count]
    return mixed[inside], owner[:count][inside]


def _share_of_gold(shingle: Keys, row: Ints, is_gold: Bools) -> Floats:
    """Share of the shingles of each row that gold rows hold; 1 of a gold row."""
    wanted = np.sort(shingle[is_gold[row]])
    table = np.zeros(_TABLE, bool)
    table[wanted % np.uint64(_TABLE)] = True
    passed = np.flatnonzero(~is_gold[row])
    passed = passed[table[shingle[passed] % np.uint64(_TABLE)]]
    at = np.minimum(np.searchsorted(wanted, shingle[passed]), max(len(wanted) - 1, 0))
    passed = passed[wanted[at] == shingle[passed]]
    held, all_ = (np.bincount(rows, minlength=len(is_gold)) for rows in (row[passed], row))
    return np.where(is_gold, 1.0, np.divide(held, all_, out=np.zeros(len(is_gold)), where=all_ > 0))


def _nearly(shingle: Keys, row: Ints, is_gold: Bools) -> Iterator[tuple[int, int, float]]:
    """Pairs of a gold row and another whose sets of shingles are alike, with the Jaccard index."""
    _, number, held = np.unique(shingle, return_inverse=True, return_counts=True)
    by_rarity = np.argsort(held, kind="stable")
    rank = np.empty(len(held), np.int64)
    rank[by_rarity] = np.arange(len(held))
    held = held[by_rarity]
    width = len(held) + 1
    keys = np.sort(row * width + rank[number.ravel()])
    keys = keys[np.concatenate((keys[:1] >= 0, keys[1:] != keys[:-1]))]
    starts = np.searchsorted(keys, np.arange(len(is_gold) + 1) * width)
    ranks, size = keys % width, np.diff(starts)
    place = np.arange(len(ranks)) - np.repeat(starts[:-1], size)
    telling = place < np.repeat((size * (1 - LIKE)).astype(np.int64) + 1, size)
    telling &= (held[ranks] > 1) & (held[ranks] <= _COMMON)
    holder, shared = np.repeat(np.arange(len(is_gold)), size)[telling], ranks[telling]
    order = np.argsort(shared, kind="stable")
    holder, shared = holder[order], shared[order]
    edges = (
        np.flatnonzero(np.concatenate(([True], shared[1:] != shared[:-1], [True]))) if len(shared) else np.zeros(1, int)
    )
    pairs: set[tuple[int, int]] = set()
    for begin, end in pairwise(edges.tolist()):
        together = holder[begin:end]
        mine = together[is_gold[together]].tolist()
        pairs.update((one, other) for one in mine for other in together.tolist() if other != one)
    for one, other in sorted(pairs):
        if min(size[one], size[other]) < max(_LEAST, LIKE * max(size[one], size[other])):
            continue
        ours, theirs = (ranks[starts[r] : starts[r + 1]] for r in (one, other))
        common = len(np.intersect1d(ours, theirs, assume_unique=True))
        likeness = common / (len(ours) + len(theirs) - common)
        if likeness >= LIKE:
            yield one, other, likeness


def _word_for_word(coded: TokenIds, likely: Bools, is_gold: Bools) -> dict[int, dict[int, float]]:
    """Rows with the very words of a gold row, however many and however short they are."""
    groups: dict[bytes, list[int]] = {}
    for row in np.flatnonzero(likely & (coded.sizes > 0)).tolist():
        groups.setdefault(coded[row].tobytes(), []).append(row)
    return {
        row: dict.fromkeys((other for other in group if other != row), 1.0)
        for group in groups.values()
        if len(group) > 1
        for row in group
        if is_gold[row]
    }


@check(32, "copies")
def repeated_chunks(context: CheckContext) -> Iterator[Finding]:
    """Chunks that say the same as a gold chunk and are not gold."""
    gold_rows = np.unique(np.concatenate([*context.gold_rows, np.zeros(0, np.int64)]))
    alike = copies(context.chunks.texts, gold_rows)
    if not alike:
        return
    for exact in (True, False):
        concerned: dict[str, tuple[int, int, float]] = {}
        chunks: set[int] = set()
        for question, rows in zip(context.questions, context.gold_rows, strict=True):
            gold = set(rows.tolist())
            for one in rows.tolist():
                for other, likeness in alike.get(one, {}).items():
                    if other not in gold and (likeness == 1) == exact:
                        concerned.setdefault(question.id, (one, other, likeness))
                        chunks.add(other)
        if concerned:
            yield _finding(context, concerned, chunks, exact)


def _finding(
    context: CheckContext, concerned: dict[str, tuple[int, int, float]], chunks: set[int], exact: bool
) -> Finding:
    how = "word for word" if exact else f"nearly ({LIKE:.0%} of it or more)"
    examples = [
        f"{question}: {context.chunks.ids[other]} repeats gold {context.chunks.ids[one]}"
        + ("" if exact else f" ({likeness:.0%} alike)")
        for question, (one, other, likeness) in list(concerned.items())[:5]
    ]
    return Finding(
        check="copies",
        severity="warning",
        title=f"{counted(len(chunks), 'chunk', 'repeats', 'repeat')} a gold chunk {how}, without being gold",
        text=f"In {plural(len(concerned), 'question')} a system that returns the copy is scored as if it had found "
        "nothing.",
        numbers={"chunks": len(chunks), "questions": len(concerned)},
        questions=tuple(concerned),
        examples=tuple(examples),
        remedy="Add the copies to the gold, or take them out of the corpus and index it again.",
    )
