"""Repeats: questions that ask the same as another, word for word or nearly, with the same gold or other gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.text import normalise
from karat.core.text.detect import ALIKE, repeats, same_form
from karat.core.text.words import excerpt, percent, plural
from karat.io.threads import one_thread
from karat.testset.check._check import SHOWN, CheckContext, Draft, Finding, Surroundings, check, counted, draft_filter
from karat.testset.lexicon import asking_word
from karat.testset.once import once

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.testset.check._context import Vectors

LIKE_SAME_GOLD = 0.8  # of the shorter question, where they share gold and answer
COSINE = 0.9  # of embeddings, from which a pair with the same gold and answer is looked at
COSINE_OF_DRAFTS = 0.92  # of two drafts about the same chunk, from which they ask the same
SLIP = 4  # letters of a word from which one other letter is a slip
_COMMON = 100  # questions that share a word from which it leads to no pairs
_NEIGHBOURS = 5
_PAIRS = 1 << 20  # that are held at a time
_EXACT = 30_000  # questions up to which all cosines are worked out
_TOGETHER = 1024
KEEP_ONE = "Keep one of each, with the gold of all."


@check(45, needs_index=False)
def near_duplicates(context: CheckContext) -> Iterator[Finding]:
    """Questions that ask the same as another."""
    pairs = pairs_alike(context)
    if not pairs:
        return
    questions = context.questions
    repeated = {other for _, other, _ in pairs}
    share = len(repeated) / len(questions)
    kinds = sum(1 for one, other, _ in pairs if questions[one].kind != questions[other].kind)
    yield Finding(
        check="near_duplicates",
        severity="warning",
        title=f"{counted(len(repeated), 'question', 'repeats', 'repeat')} another",
        text=f"{percent(share, 0)} of the {len(questions):,}. Each counts again in every mean, and the test set "
        "tells less "
        "than its size says." + (f" {plural(kinds, 'pair')} of {len(pairs):,} are of two kinds." if kinds else ""),
        numbers={"questions": len(repeated), "pairs": len(pairs), "across_kinds": kinds, "share": share},
        questions=tuple(questions[q].id for q in sorted({q for one, other, _ in pairs for q in (one, other)})),
        examples=tuple(
            f'{questions[one].id}: "{excerpt(questions[one].text)}" and {questions[other].id}: '
            f'"{excerpt(questions[other].text)}" ({percent(likeness, 0)} alike)'
            for one, other, likeness in pairs[:SHOWN]
        ),
        remedy=KEEP_ONE,
    )


@check(22, needs_index=False)
def contradictions(context: CheckContext) -> Iterator[Finding]:
    """Questions that ask the same and have other gold."""
    pairs = []
    for one, other, likeness in pairs_alike(context):
        ours, theirs = _gold_of(context, one), _gold_of(context, other)
        if likeness == 1 and ours.isdisjoint(theirs) and (ours or theirs):
            pairs.append((context.questions[one], context.questions[other]))
    if pairs:
        ids = tuple(dict.fromkeys(q.id for pair in pairs for q in pair))
        verbs = ("asks", "has") if len(pairs) == 1 else ("ask", "have")
        yield Finding(
            check="contradictions",
            severity="broken",
            title=f"{plural(len(pairs), 'pair')} of questions {verbs[0]} the same and {verbs[1]} other gold",
            text="Whatever a system returns, it is scored wrong on one of the two.",
            numbers={"pairs": len(pairs), "questions": len(ids)},
            questions=ids,
            examples=tuple(f'{one.id} and {other.id}: "{excerpt(one.text, 90)}"' for one, other in pairs[:SHOWN]),
            remedy="Keep one of each, with the gold of both, or say in the question what sets them apart.",
        )


@draft_filter(40)
def duplicate(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The same has been asked, in these words or nearly."""

    def alike(other: str) -> bool:
        stems = surroundings.stems
        return draft.text == other or repeats(draft.text, other, stems(draft.text), stems(other))

    for place in surroundings.existing.candidates(draft.text, ALIKE):
        question = surroundings.before[place]
        if alike(question.text):
            return f'There is a question that asks it already: "{excerpt(question.text, 80)}".'
    rows = {fragment.row for fragment in draft.fragments}
    for place in surroundings.accepted(accepted).candidates(draft.text, ALIKE, rows):
        other = accepted[place]
        if alike(other.text):
            return f'It was asked before: "{excerpt(other.text, 80)}".'
        if rows.isdisjoint(fragment.row for fragment in other.fragments) or _ask_for_others(draft, other):
            continue
        cosine = surroundings.alike(draft.text, other.text)
        if cosine >= COSINE_OF_DRAFTS:
            return f'It was asked before about the same chunk: "{excerpt(other.text, 80)}" (cosine {cosine:.2f}).'
    return None


_asks = lru_cache(maxsize=65_536)(asking_word)


def _ask_for_others(draft: Draft, other: Draft) -> bool:
    """Whether what two drafts ask for differs, however alike they sound."""
    ours, theirs = (normalise(one.answer or "", "words") for one in (draft, other))
    return ours != theirs or _asks(draft.text) != _asks(other.text)


@once
def pairs_alike(context: CheckContext) -> list[tuple[int, int, float]]:
    """Pairs of questions that ask the same, with their likeness: 1 has the same content words."""
    pairs = []
    for one, other in sorted({*_by_words(context), *_by_vectors(context.question_vectors)}):
        texts = context.questions[one].text, context.questions[other].text
        if _same_target(context, one, other):
            likeness = _likeness(context, one, other, within=True)
            if likeness >= LIKE_SAME_GOLD and same_form(*texts):
                pairs.append((one, other, likeness))
        elif repeats(*texts, context.asked_sets[one], context.asked_sets[other]):
            pairs.append((one, other, _likeness(context, one, other, within=False)))
    return pairs


def _likeness(context: CheckContext, one: int, other: int, *, within: bool) -> float:
    """Weighted Jaccard of the content words; 1 only if they are the same.

    `within`: it is enough that the shorter question stands in the longer, and a slip of the pen is no other word.
    """
    weigh = context.weights.of
    ours, theirs = context.asked_sets[one], context.asked_sets[other]
    if ours == theirs:
        return 1.0
    shared, whole = weigh(ours & theirs), weigh(ours | theirs)
    if within and shared:
        shared += weigh(stem for stem in ours - theirs if any(_is_slip(stem, word) for word in theirs - ours))
        whole = min(weigh(ours), weigh(theirs))
    return min(0.999, shared / whole) if whole else 0.0


def _is_slip(one: str, other: str) -> bool:
    """Whether two words differ by one letter, both long enough for that to be a slip."""
    from rapidfuzz.distance import Levenshtein

    if min(len(one), len(other)) < SLIP or one.isdecimal() or other.isdecimal():
        return False
    return bool(Levenshtein.distance(one, other, score_cutoff=1) <= 1)


def _gold_of(context: CheckContext, q: int) -> frozenset[object]:
    """What a question has as gold: rows where they are known, else what the gold is called."""
    if context.has_corpus:
        return frozenset(context.gold_sets[q])
    return frozenset(gold.label for gold in context.questions[q].gold if gold.grade >= 1)


def _same_target(context: CheckContext, one: int, other: int) -> bool:
    """Whether two questions have gold in common and the same answer."""
    if context.has_corpus:
        shared = not context.gold_sets[one].isdisjoint(context.gold_sets[other])
    else:
        labels = [{gold.label for gold in context.questions[q].gold} for q in (one, other)]
        shared = not labels[0].isdisjoint(labels[1])
    ours, theirs = set(context.answers[one]), set(context.answers[other])
    return shared and (not ours.isdisjoint(theirs) or (not ours and not theirs))


def _by_words(context: CheckContext) -> Iterator[tuple[int, int]]:
    """Pairs with the same words, and pairs with a third of them in common that share one of their rarer words."""
    sets = context.asked_sets
    same: dict[object, list[int]] = {}
    for q, stems in enumerate(sets):
        group = same.setdefault(stems or normalise(context.questions[q].text, "words"), [])
        yield from ((before, q) for before in group[:_NEIGHBOURS])
        group.append(q)
    sizes = np.array([len(stems) for stems in sets])
    for some, others in _sharing_rare_words(sets):
        both = (sizes[some] + sizes[others]).tolist()
        for one, other, size in zip(some.tolist(), others.tolist(), both, strict=True):
            if 4 * len(sets[one] & sets[other]) >= size:
                yield one, other


def _sharing_rare_words(sets: Sequence[frozenset[str]]) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of sets that share a word of the rarer half of either, some at a time; one may come more than once.

    A word of more than `_COMMON` sets leads nowhere: pairs that share nothing rarer are left to their vectors.
    """
    counts = Counter(word for words in sets for word in words)
    holders: dict[str, list[int]] = {}
    for i, words in enumerate(sets):
        for word in sorted(words, key=lambda word: (counts[word], word))[: len(words) // 2 + 1]:
            if 1 < counts[word] <= _COMMON:
                holders.setdefault(word, []).append(i)
    by_size: dict[int, list[list[int]]] = {}
    for group in holders.values():
        by_size.setdefault(len(group), []).append(group)
    for size, groups in by_size.items():
        left, right = np.triu_indices(size, 1)
        step = max(1, _PAIRS // max(1, len(left)))
        for start in range(0, len(groups), step):
            members = np.array(groups[start : start + step])
            keys = np.unique(members[:, left] * len(sets) + members[:, right])
            yield keys // len(sets), keys % len(sets)


def _by_vectors(vectors: Vectors) -> set[tuple[int, int]]:
    """Pairs of questions whose embeddings are near, without comparing each with each where there are many."""
    pairs: set[tuple[int, int]] = set()
    if len(vectors) < 2:
        return pairs
    with one_thread():
        index = _searchable(vectors)
        for start in range(0, len(vectors), _TOGETHER):
            cosines, rows = index.search(np.ascontiguousarray(vectors[start : start + _TOGETHER]), _NEIGHBOURS + 1)
            for place, other in zip(*np.nonzero(cosines >= COSINE), strict=True):
                one, two = start + int(place), int(rows[place, other])
                if two >= 0 and one != two:
                    pairs.add((min(one, two), max(one, two)))
    return pairs


def _searchable(vectors: Vectors) -> Any:
    """The vectors as FAISS searches them: all of them up to `_EXACT`, else those of the nearest cells."""
    import faiss

    size = vectors.shape[1]
    index = faiss.IndexFlatIP(size)
    if len(vectors) > _EXACT:
        index = faiss.IndexIVFFlat(index, size, int(len(vectors) ** 0.5), faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.nprobe = 1, 8
        index.cp.min_points_per_centroid = 1
        index.train(vectors)
    index.add(vectors)
    return index
