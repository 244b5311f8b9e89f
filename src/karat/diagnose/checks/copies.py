"""copies: chunks that say the same as a gold chunk, or nearly, and are not gold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.core.checkup import Finding
from karat.core.text.codes import Vocabulary
from karat.diagnose._check import Case, Check
from karat.diagnose._words import counted, plural

if TYPE_CHECKING:
    from karat.core.judged import Ints

_LIKE = 0.8  # Jaccard of shingles from which a chunk is nearly a copy
_WORDS = 3  # in a shingle
_COMMON = 100  # chunks that hold a shingle from which it says nothing about copies
_LEAST = 6  # shingles of a text below which likeness says little
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def copies(texts: list[str], gold: Ints) -> dict[int, dict[int, float]]:
    """For each gold row the other rows that say the same, with their likeness: 1 is word for word, case aside.

    Two sets of which 80% is common share one of the rarest 20% of either: only rows that do so are compared, and what
    many chunks repeat is not looked at.
    """
    if not len(gold):
        return {}
    ranks, starts, held = _shingles(texts)
    is_gold = np.zeros(len(texts), bool)
    is_gold[gold] = True
    size = np.diff(starts)
    place = np.arange(len(ranks)) - np.repeat(starts[:-1], size)
    first = place < np.repeat((size * (1 - _LIKE)).astype(np.int64) + 1, size)
    telling = first & (held[ranks] > 1) & (held[ranks] <= _COMMON)
    row = np.repeat(np.arange(len(texts)), size)[telling]
    shared = ranks[telling]
    order = np.argsort(shared, kind="stable")
    row, shared = row[order], shared[order]
    edges = np.flatnonzero(np.concatenate(([True], shared[1:] != shared[:-1], [True]))) if len(shared) else [0]
    pairs: set[tuple[int, int]] = set()
    for begin, end in pairwise(map(int, edges)):
        together = row[begin:end]
        mine = together[is_gold[together]].tolist()
        pairs.update((one, other) for one in mine for other in together.tolist() if other != one)
    found: dict[int, dict[int, float]] = {}
    for one, other in sorted(pairs):
        if min(size[one], size[other]) < max(_LEAST, _LIKE * max(size[one], size[other])):
            continue
        ours, theirs = (ranks[starts[r] : starts[r + 1]] for r in (one, other))
        common = len(np.intersect1d(ours, theirs, assume_unique=True))
        likeness = common / (len(ours) + len(theirs) - common)
        if likeness >= _LIKE:
            found.setdefault(one, {})[other] = min(likeness, 0.999)
    for one, others in _word_for_word(texts, gold).items():
        found.setdefault(one, {}).update(others)
    return found


def _shingles(texts: list[str]) -> tuple[Ints, Ints, Ints]:
    """The shingles of each row as numbers, rarest first; where those of each row begin; how often each stands."""
    coded = Vocabulary("words").encode(texts)
    codes, owner = coded.codes.astype(np.uint64), coded.owners
    count = max(len(codes) - _WORDS + 1, 0)
    mixed = codes[:count].copy()
    for step in range(1, _WORDS):
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MULTIPLIER + codes[step : step + count]
    row = owner[:count]
    inside = row == owner[_WORDS - 1 :] if count else np.zeros(0, bool)
    mixed, row = mixed[inside], row[inside]
    _, number, held = np.unique(mixed, return_inverse=True, return_counts=True)
    by_rarity = np.argsort(held, kind="stable")
    rank = np.empty(len(held), np.int64)
    rank[by_rarity] = np.arange(len(held))
    width = len(held) + 1
    keys = np.unique(row * width + rank[number.ravel()])
    starts = np.searchsorted(keys, np.arange(len(texts) + 1) * width)
    return keys % width, starts, held[by_rarity]


def _word_for_word(texts: list[str], gold: Ints) -> dict[int, dict[int, float]]:
    """Rows with the very words of a gold row, however many and however short they are."""
    from karat.core.text.normalise import clean_all

    groups: dict[bytes, list[int]] = {}
    for row, part in enumerate(clean_all(texts, "words")):
        if part and not part.isspace():
            groups.setdefault(b" ".join(part.split()), []).append(row)
    wanted = set(gold.tolist())
    return {
        row: dict.fromkeys((other for other in group if other != row), 1.0)
        for group in groups.values()
        if len(group) > 1
        for row in group
        if row in wanted
    }


def _find(case: Case) -> Iterator[Finding]:
    alike = copies(case.chunks.texts, case.all_gold_rows)
    if not alike:
        return
    for exact in (True, False):
        concerned: dict[str, tuple[int, int, float]] = {}
        chunks: set[int] = set()
        for question, rows in zip(case.questions, case.gold_rows, strict=True):
            gold = set(rows.tolist())
            for one in rows.tolist():
                for other, likeness in alike.get(one, {}).items():
                    if other not in gold and (likeness == 1) == exact:
                        concerned.setdefault(question.id, (one, other, likeness))
                        chunks.add(other)
        if concerned:
            yield _finding(case, concerned, chunks, exact)


def _finding(case: Case, concerned: dict[str, tuple[int, int, float]], chunks: set[int], exact: bool) -> Finding:
    way = "word for word" if exact else f"nearly ({_LIKE:.0%} of it or more)"
    examples = [
        f"{question}: {case.label_of(other)} repeats gold {case.label_of(one)}"
        + ("" if exact else f" ({likeness:.0%} alike)")
        for question, (one, other, likeness) in list(concerned.items())[:5]
    ]
    return Finding(
        "copies",
        "warning",
        f"{counted(len(chunks), 'chunk', 'repeats', 'repeat')} a gold chunk {way}, without being gold",
        f"In {plural(len(concerned), 'question')} a system that returns the copy is scored as if it had found nothing.",
        {"chunks": len(chunks), "questions": len(concerned)},
        tuple(concerned),
        tuple(examples),
        "Add the copies to the gold, or take them out of the corpus and index it again.",
    )


check = Check("copies", "chunks that say the same as a gold chunk and are not gold", _find, 30)
