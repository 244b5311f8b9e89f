"""Topics: how the questions of a test set lie over the documents and topics of a corpus."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text import stop_words
from karat.results.testset_check import DocRow, TopicCoverage, TopicRow
from karat.testset.lexicon import content_of, words_of
from karat.testset.once import once

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.testset.check import CheckContext
    from karat.testset.check._context import Vectors

MOST_TOPICS = 24
CHANCE = 0.01  # of so few questions on a topic, were they spread evenly, from which it is thin
_FITTED = 20_000  # chunks that topics are fitted on
_ROUNDS = 25
_NAMED = 4  # words that name a topic
_READ = 200  # chunks that name it


@once
def coverage_of(context: CheckContext) -> TopicCoverage:
    """How the questions with gold in the corpus lie over it, by document and by topic."""
    touched = _touched(context)
    asked = sum(1 for rows in touched if rows)
    chunks_of = Counter(context.doc_of)
    questions_of = Counter(doc for rows in touched for doc in {context.doc_of[row] for row in rows})
    docs = tuple(
        sorted(
            (DocRow(doc, count, questions_of[doc]) for doc, count in chunks_of.items()),
            key=lambda row: (-row.questions, -row.chunks, row.doc),
        )
    )
    topic = topics_of(context)
    return TopicCoverage(
        questions=asked,
        docs=len(docs),
        docs_asked=sum(1 for row in docs if row.questions),
        chunks=len(context.chunks),
        chunks_asked=len({row for rows in touched for row in rows}),
        gini=_gini(docs),
        by_doc=docs,
        topics=_topic_rows(context, topic, touched) if topic is not None else (),
    )


def is_thin(questions: int, expected: float) -> bool:
    """Whether so few questions are unlikely (1 in 100) where so many are expected, by Poisson's law.

    >>> is_thin(0, 5), is_thin(0, 3), is_thin(2, 12)
    (True, False, True)
    """
    return (
        sum(math.exp(-expected + i * math.log(expected) - math.lgamma(i + 1)) for i in range(questions + 1)) <= CHANCE
    )


def _touched(context: CheckContext) -> list[set[int]]:
    """For each question the rows it is about: of each unit the chunk that is most like the question."""
    rows_of: list[set[int]] = [set() for _ in context.questions]
    resolution = context.resolution
    for unit in np.flatnonzero(resolution.relevant & resolution.reached).tolist():
        q, rows = int(resolution.units.question[unit]), resolution.holders[unit]
        rows_of[q].add(int(rows[_likest(context, q, rows)]) if len(rows) > 1 else int(rows[0]))
    return rows_of


def _likest(context: CheckContext, q: int, rows: Ints) -> int:
    """The place of the row that is most like a question."""
    return int(np.argmax(np.round(context.vectors[rows] @ context.question_vectors[q], 6)))


def _gini(docs: tuple[DocRow, ...]) -> float | None:
    """Gini's index of questions over documents, each taken by its size; None where there is nothing to compare."""
    if len(docs) < 2 or not sum(row.questions for row in docs):
        return None
    ordered = sorted(docs, key=lambda row: (row.questions / row.chunks, row.doc))
    size = np.cumsum([0, *(row.chunks for row in ordered)]) / sum(row.chunks for row in ordered)
    held = np.cumsum([0, *(row.questions for row in ordered)]) / sum(row.questions for row in ordered)
    return float(max(0.0, 1 - np.sum(np.diff(size) * (held[1:] + held[:-1]))))


def topics_of(context: CheckContext) -> Ints | None:
    """The topic of each chunk, by its embedding; None where there are too few chunks.

    About as many topics as the square root of half the chunks, at most 24, and no more than the questions could fill.
    """
    if len(context.chunks) < 8:
        return None
    wanted = min(MOST_TOPICS, round(math.sqrt(len(context.chunks) / 2)), max(2, len(context.questions) // 6))
    return _clusters(context.vectors, max(2, wanted))


def _clusters(vectors: Vectors, count: int) -> Ints:
    """k-means by cosine, begun from centres far apart (k-means++). The same vectors give the same topics."""
    rng = np.random.default_rng(0)
    fitted = vectors if len(vectors) <= _FITTED else vectors[np.sort(rng.choice(len(vectors), _FITTED, replace=False))]
    centres = [fitted[int(rng.integers(len(fitted)))]]
    away = 1 - fitted @ centres[0]
    for _ in range(count - 1):
        odds = np.maximum(away.astype(np.float64), 0) ** 2
        total = odds.sum()
        if total <= 1e-9:
            break
        centres.append(fitted[int(np.searchsorted(np.cumsum(odds) / total, rng.random()).clip(0, len(fitted) - 1))])
        away = np.minimum(away, 1 - fitted @ centres[-1])
    table = np.stack(centres)
    nearest = np.full(len(fitted), -1)
    for _ in range(_ROUNDS):
        now = np.argmax(np.round(fitted @ table.T, 5), axis=1)
        if np.array_equal(now, nearest):
            break
        nearest = now
        for place in range(len(table)):
            mean = fitted[nearest == place].sum(axis=0, dtype=np.float64)
            size = float(np.linalg.norm(mean))
            if size > 0:
                table[place] = (mean / size).astype(np.float32)
    topic: Ints = np.argmax(np.round(vectors @ table.T, 5), axis=1).astype(np.int64)
    return topic


def _topic_rows(context: CheckContext, topic: Ints, touched: list[set[int]]) -> tuple[TopicRow, ...]:
    asked = Counter(place for rows in touched for place in {int(topic[row]) for row in rows})
    total = sum(asked.values())
    rows = []
    for place in np.unique(topic).tolist():
        members = np.flatnonzero(topic == place)
        expected = total * len(members) / len(topic)
        rows.append(
            TopicRow(
                words=_name(context, members),
                chunks=len(members),
                docs=len({context.doc_of[row] for row in members.tolist()}),
                questions=asked[place],
                expected=expected,
                thin=expected > 0 and is_thin(asked[place], expected),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.questions, -row.chunks, row.words)))


def _name(context: CheckContext, members: Ints) -> tuple[str, ...]:
    """The words that many chunks of a topic hold and few others do, as they are written there most often."""
    inside: Counter[str] = Counter(stem for row in members.tolist() for stem in context.held[row])
    size = len(members)
    outside = {stem: (context.weights.held[stem] - count) for stem, count in inside.items()}
    rest = max(1, context.weights.size - size)
    scores = {
        stem: (count / size) * math.log((count / size) / ((outside[stem] + 0.5) / (rest + 1)))
        for stem, count in inside.items()
        if len(stem) > 2 and not stem.isdecimal() and count >= min(2, size)
    }
    best = sorted(scores, key=lambda stem: (-scores[stem], stem))[:_NAMED]
    written: dict[str, Counter[str]] = {stem: Counter() for stem in best}
    for row in members[:_READ].tolist():
        language = context.language_of(row)
        for word in words_of(f"{context.title_of[row] or ''} {context.chunks.texts[row]}"):
            if word in stop_words(language, "words"):
                continue
            stems = content_of(word, language)
            if stems and stems[0] in written:
                written[stems[0]][word] += 1
    return tuple(
        min(written[stem], key=lambda word: (-written[stem][word], word)) if written[stem] else stem for stem in best
    )
