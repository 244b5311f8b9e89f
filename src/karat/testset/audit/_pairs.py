"""Pairs of questions that ask the same, without comparing each with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.detect import repeats, same_form

if TYPE_CHECKING:
    from karat.testset.audit._view import Vectors, View

LIKE_SAME_GOLD = 0.8  # of the shorter question, where they share gold and answer
COSINE = 0.9  # of embeddings, from which a pair with the same gold and answer is looked at
_COMMON = 100  # questions that share a word from which it leads to no pairs
_NEIGHBOURS = 5
_EXACT = 30_000  # questions up to which all cosines are worked out
_TOGETHER = 1024


def alike(view: View) -> list[tuple[int, int, float]]:
    """Pairs of questions that ask the same, with their likeness: 1 has the same content words."""
    found: dict[tuple[int, int], float] = {}
    for one, other in sorted({*_by_words(view), *_by_vectors(view)}):
        texts = view.questions[one].text, view.questions[other].text
        same = _same_target(view, one, other)
        likeness = _likeness(view, one, other, within=same)
        if same:
            asks_the_same = likeness >= LIKE_SAME_GOLD and same_form(*texts)
        else:
            asks_the_same = repeats(*texts, view.asked_sets[one], view.asked_sets[other])
        if asks_the_same:
            found[one, other] = likeness
    return [(one, other, likeness) for (one, other), likeness in sorted(found.items())]


def _likeness(view: View, one: int, other: int, *, within: bool) -> float:
    """Weighted Jaccard of the content words; 1 only if they are the same.

    `within`: it is enough that the shorter question stands in the longer, and a slip of the pen is no other word.
    """
    ours, theirs = view.asked_sets[one], view.asked_sets[other]
    if ours == theirs:
        return 1.0
    shared, whole = view.weights.of(ours & theirs), view.weights.of(ours | theirs)
    if within and shared:
        slips = [stem for stem in ours - theirs if any(_is_slip(stem, word) for word in theirs - ours)]
        shared += view.weights.of(slips)
        whole = min(view.weights.of(ours), view.weights.of(theirs))
    return min(0.999, shared / whole) if whole else 0.0


def _is_slip(one: str, other: str) -> bool:
    """Whether two words differ by one letter, both long enough for that to be a slip."""
    if min(len(one), len(other)) < 4 or one.isdecimal() or other.isdecimal():
        return False
    from rapidfuzz.distance import Levenshtein

    return bool(Levenshtein.distance(one, other, score_cutoff=1) <= 1)


def _same_target(view: View, one: int, other: int) -> bool:
    """Whether two questions have gold in common and the same answer."""
    shared = not view.gold_sets[one].isdisjoint(view.gold_sets[other])
    if not view.has_corpus:
        labels = [{gold.label for gold in view.questions[q].gold} for q in (one, other)]
        shared = not labels[0].isdisjoint(labels[1])
    ours, theirs = set(view.answers[one]), set(view.answers[other])
    return shared and (not ours.isdisjoint(theirs) or (not ours and not theirs))


def _by_words(view: View) -> Iterator[tuple[int, int]]:
    """Pairs with the same words, and pairs that share one of their rarer words.

    Two sets that have half in common share one of the rarer half of either. A word of very many questions
    leads nowhere: pairs that share nothing rarer are left to their vectors.
    """
    counts = Counter(stem for stems in view.asked_sets for stem in stems)
    same: dict[frozenset[str], list[int]] = {}
    by_stem: dict[str, list[int]] = {}
    for q, stems in enumerate(view.asked_sets):
        if not stems:
            continue
        group = same.setdefault(stems, [])
        yield from ((before, q) for before in group[:_NEIGHBOURS])
        group.append(q)
        rare = sorted(stems, key=lambda stem: (counts[stem], stem))[: len(stems) // 2 + 1]
        near = {before for stem in rare if counts[stem] <= _COMMON for before in by_stem.get(stem, ())}
        for before in sorted(near):
            theirs = view.asked_sets[before]
            if 3 * len(stems & theirs) >= len(stems | theirs):
                yield before, q
        for stem in rare:
            by_stem.setdefault(stem, []).append(q)


def _by_vectors(view: View) -> Iterator[tuple[int, int]]:
    """Pairs of questions whose embeddings are near."""
    vectors = view.question_vectors
    if vectors is None or len(vectors) < 2:
        return
    for start, cosines, rows in _near(vectors):
        for place, other in zip(*np.nonzero(cosines >= COSINE), strict=True):
            one, two = start + int(place), int(rows[place, other])
            if two >= 0 and one != two:
                yield min(one, two), max(one, two)


def _near(vectors: Vectors) -> Iterator[tuple[int, Vectors, np.ndarray]]:
    """The nearest neighbours of each question, some questions at a time: where they begin, cosines and numbers."""
    import faiss

    size = vectors.shape[1]
    if len(vectors) <= _EXACT:
        index = faiss.IndexFlatIP(size)
    else:
        cells = int(len(vectors) ** 0.5)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(size), size, cells, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.nprobe = 1, 8
        index.cp.min_points_per_centroid = 1
        index.train(vectors)
    index.add(vectors)
    for start in range(0, len(vectors), _TOGETHER):
        cosines, rows = index.search(np.ascontiguousarray(vectors[start : start + _TOGETHER]), _NEIGHBOURS + 1)
        yield start, cosines, rows
