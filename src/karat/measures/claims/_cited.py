"""The sentences of answers with what they cite, as measures of citations look at them."""

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

BY_CITED: tuple[Relation, ...] = ("sentence by cited",)
SUPPORT = {ENTAILED: 1.0, PARTIAL: 0.5}
"""What TREC gives for full and for partial support; nothing for anything else."""


@dataclass(frozen=True)
class CitedSentence:
    """A sentence: the citations of it that count, in order, those of them that are there, and what was judged."""

    cites: tuple[int, ...]
    there: frozenset[int]
    verdicts: Mapping[frozenset[int], int]
    missing: list[frozenset[int]] = field(default_factory=list)  # sets that a score needed and nobody judged

    def verdict(self, passages: Iterable[int]) -> int:
        """What these passages together say of it; none say nothing."""
        chosen = frozenset(passages)
        found = self.verdicts.get(chosen, UNJUDGED) if chosen else NEITHER
        if found == UNJUDGED:
            self.missing.append(chosen)
        return found

    def entailed(self, passages: Iterable[int]) -> bool:
        return self.verdict(passages) == ENTAILED

    @property
    def supports(self) -> list[float]:
        """How far each citation supports it by itself: 1, a half where it does in part, or 0."""
        return [SUPPORT.get(self.verdict([number]), 0.0) if number in self.there else 0.0 for number in self.cites]


def over_cited(
    answered: AnswerTable,
    measure: str,
    score: Callable[[list[CitedSentence]], float],
    *,
    most: int = 0,
    past: Past = "wrong",
    nothing: str | None = None,
) -> MeasureResult:
    """A score of each pair from its sentences; NaN where the score is, for which `nothing` is the reason.

    Of a sentence the first `most` citations count (0: all). A verdict that is needed and missing makes a failed row.
    """
    missing: dict[int, str] = {}
    unknown: dict[int, str] = {}

    def values(table: ClaimTable) -> Floats:
        found = np.full(table.pairs, np.nan)
        for pair, sentences in _sentences(table, most, past).items():
            found[pair] = score(sentences)
            if answered.contexts[pair] is None and not any(sentence.verdicts for sentence in sentences):
                unknown[pair] = NO_CONTEXTS
            elif lost := sum(len(sentence.missing) for sentence in sentences):
                are = "is" if lost == 1 else "are"
                missing[pair] = f"{plural(lost, 'verdict')} {are} missing ({BY_CITED[0]})"
        return found

    result = over_claims(answered, measure, BY_CITED, values, nothing=nothing)
    return replace(result, undefined={**result.undefined, **unknown}, failed={**missing, **result.failed})


def _sentences(table: ClaimTable, most: int, past: Past) -> dict[int, list[CitedSentence]]:
    """The sentences of each pair that has any."""
    verdicts: dict[int, dict[frozenset[int], int]] = {}
    for (claim, passages), verdict in table.set_verdicts("sentence").items():
        verdicts.setdefault(claim, {})[passages] = verdict
    sentences: dict[int, list[CitedSentence]] = {}
    for claim in np.flatnonzero(table.of_side("sentence")).tolist():
        pair = int(table.pair[claim])
        cites, last = tuple(dict.fromkeys(table.cites.get(claim, ()))), int(table.passages[pair])
        is_there = {number for number in cites if number >= 1 and (last < 0 or number <= last)}
        if past == "void" and len(is_there) < len(cites):
            cites = ()
        cites = cites[:most] if most > 0 else cites
        counted = CitedSentence(cites, frozenset(cites) & is_there, verdicts.get(claim, {}))
        sentences.setdefault(pair, []).append(counted)
    return sentences


def needed(by: Rule, **_: object) -> tuple[Relation, ...]:
    """The relations of the claims table that a rule needs."""
    return () if by == "words" else BY_CITED
