"""The sentences of answers beside the passages they are held against: those they cite, or all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from karat.core.claims import ENTAILED, NEITHER, PARTIAL, UNJUDGED, ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult
from karat.core.text.words import plural
from karat.measures.answer._support import NO_CONTEXTS
from karat.measures.claims._table import over_claims

Past = Literal["wrong", "void"]
"""What a citation past the last passage does: it is wrong, or (ALCE's code) its sentence's citations do not count."""
Rule = Literal["words", "alce", "trec"]
"""Which rule says whether citations are right: shared words, ALCE's or TREC's, the last two by the claims table."""

SUPPORT = {ENTAILED: 1.0, PARTIAL: 0.5}
"""What TREC gives for full and for partial support; nothing for anything else."""


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence: the passages it is held against, in order, those of them that are there, and what was judged."""

    cites: tuple[int, ...]
    there: frozenset[int]
    verdicts: Mapping[frozenset[int], int]
    missing: list[frozenset[int]] = field(default_factory=list)  # sets that a score needed and nobody judged

    def verdict(self, passages: Iterable[int]) -> int:
        """What these passages together say of it; none say nothing."""
        chosen = frozenset(passages)
        verdict = self.verdicts.get(chosen, UNJUDGED) if chosen else NEITHER
        if verdict == UNJUDGED:
            self.missing.append(chosen)
        return verdict

    def entailed(self, passages: Iterable[int]) -> bool:
        return self.verdict(passages) == ENTAILED

    @property
    def supports(self) -> list[float]:
        """How far each citation supports it by itself: 1, a half where it does in part, or 0."""
        return [SUPPORT.get(self.verdict([number]), 0.0) if number in self.there else 0.0 for number in self.cites]


Score = Callable[[list[JudgedSentence]], float]
Chosen = Callable[[tuple[int, ...], int, int], tuple[int, ...]]
"""What a sentence is held against, by its citations, the last passage (-1: not known) and the last that was judged."""


def over_cited(
    answered: AnswerTable,
    measure: str,
    score: Score,
    *,
    most: int = 0,
    past: Past = "wrong",
    nothing: str | None = None,
) -> MeasureResult:
    """A score of each pair from its sentences and what they cite: of each the first `most` citations (0: all)."""

    def counted(cites: tuple[int, ...], last: int, judged: int) -> tuple[int, ...]:
        void = past == "void" and not all(number >= 1 and (last < 0 or number <= last) for number in cites)
        return () if void else cites[:most] if most > 0 else cites

    return _over(answered, measure, "sentence by cited", counted, score, nothing)


def over_all_passages(answered: AnswerTable, measure: str, score: Score) -> MeasureResult:
    """A score of each pair from its sentences, each held against all passages."""

    def every(cites: tuple[int, ...], last: int, judged: int) -> tuple[int, ...]:
        return tuple(range(1, (judged if last < 0 else last) + 1))

    return _over(answered, measure, "sentence by passages", every, score, None)


def _over(
    answered: AnswerTable,
    measure: str,
    relation: Relation,
    chosen: Chosen,
    score: Score,
    nothing: str | None,
) -> MeasureResult:
    """A score of each pair that has sentences; `chosen` says which passages each is held against.

    `nothing` is why a score is NaN. A verdict that is needed and missing makes a failed row.
    """
    missing: dict[int, str] = {}
    unknown: dict[int, str] = {}

    def values(table: ClaimTable) -> Floats:
        scores = np.full(table.pairs, np.nan)
        for pair, sentences in _sentences(answered, table, chosen).items():
            scores[pair] = score(sentences)
            if answered.contexts[pair] is None and not any(sentence.verdicts for sentence in sentences):
                unknown[pair] = NO_CONTEXTS
            elif lost := sum(len(sentence.missing) for sentence in sentences):
                missing[pair] = f"{plural(lost, 'verdict')} {'is' if lost == 1 else 'are'} missing ({relation})"
        return scores

    result = over_claims(answered, measure, (relation,), values, nothing=nothing)
    return replace(result, undefined={**result.undefined, **unknown}, failed={**missing, **result.failed})


def _sentences(answered: AnswerTable, table: ClaimTable, chosen: Chosen) -> dict[int, list[JudgedSentence]]:
    """The sentences of each pair that has any."""
    verdicts: dict[int, dict[frozenset[int], int]] = {}
    judged = np.zeros(table.pairs, np.int64)  # the last passage that any verdict of a pair names
    for (claim, passages), verdict in table.set_verdicts("sentence").items():
        verdicts.setdefault(claim, {})[passages] = verdict
        judged[table.pair[claim]] = max(judged[table.pair[claim]], *passages)
    sentences: dict[int, list[JudgedSentence]] = {}
    for claim in np.flatnonzero(table.of_side("sentence")).tolist():
        pair = int(table.pair[claim])
        contexts, last = answered.contexts[pair], int(table.passages[pair])
        last = last if last >= 0 or contexts is None else len(contexts)
        numbers = chosen(tuple(dict.fromkeys(table.cites.get(claim, ()))), last, int(judged[pair]))
        there = frozenset(number for number in numbers if number >= 1 and (last < 0 or number <= last))
        sentences.setdefault(pair, []).append(JudgedSentence(numbers, there, verdicts.get(claim, {})))
    return sentences


def needed(by: Rule, **_: object) -> tuple[Relation, ...]:
    """The relations of the claims table that a rule needs."""
    return () if by == "words" else ("sentence by cited",)
