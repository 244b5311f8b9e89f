"""The reply to a question: which units answer it, what of them is said, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.answer._extract.evidence import Evidence, evidence_of
from karat.answer._extract.spans import SHORT, Span, said, span_of, yes_or_no

if TYPE_CHECKING:
    from karat.answer._extract.evidence import Floats, Similar
    from karat.answer._extract.question import Part, Wanted
    from karat.answer._extract.reading import Unit

# How much each feature of a unit weighs when units are ranked, and what makes of the best unit's features the chance
# that the answer is right. Fitted, not chosen: docs/decisions/017-extractive-answers.md says how.
WORDS, HEADED, SIMILAR, FIT, RANK = 10.3, 7.2, 10.0, 7.4, 1.9
SPAN = (-2.1, 2.5, 2.7, -0.5)  # of a short answer: alone, by words told, by fit, by score lost to a nearer unit
QUOTED = (-2.1, 1.4)  # of a sentence that is quoted: alone, by words told and similarity
THRESHOLD = 0.4  # chance from which a short answer is given
LENIENCE = 0.2  # share of the threshold that is enough for a quotation, which shows by itself what it is worth
_MOST_ITEMS = 12
_LISTED = ("list", "name", "other", "manner")


@dataclass(frozen=True)
class Reply:
    """What is said, the chance that it is right, and whether it is a short answer or a quotation."""

    text: str
    chance: float
    short: bool

    def stands(self, threshold: float) -> bool:
        """Whether the evidence is enough to say it."""
        return self.text != "" and self.chance >= (threshold if self.short else threshold * LENIENCE)


def reply_to(wanted: Wanted, contexts: Sequence[Sequence[Unit]], similar: Similar | None) -> Reply:
    """The best answer that the contexts give."""
    evidence = evidence_of(wanted, contexts, similar)
    if not evidence.units:
        return Reply("", 0.0, False)
    base = WORDS * evidence.words + HEADED * evidence.headed + SIMILAR * evidence.similar + RANK * evidence.rank
    texts: dict[str, None] = {}
    chance, short = 0.0, False
    for number, part in enumerate(wanted.parts):
        best, span = _best(part, evidence, base)
        if number == 0:
            short = part.kind in SHORT
            chance = _chance(evidence, base, best, span.fit if span else 0.0, short)
        elif (span is None and part.kind != "polar") or not evidence.words[best] + evidence.headed[best]:
            continue
        texts.setdefault(_text(wanted, part, evidence, best, span))
    return Reply("; ".join(filter(None, texts)), chance, short)


def _best(part: Part, evidence: Evidence, base: Floats) -> tuple[int, Span | None]:
    """The unit that answers a part best, the first of equals, and the span in it.

    A span adds `FIT` at most, so units that could not win with the best of spans are not searched for one.
    """
    found: tuple[float, int, Span | None] = (-math.inf, 0, None)
    for place in np.argsort(-base, kind="stable").tolist():
        if base[place] + FIT < found[0] - 1e-6:
            break
        span = span_of(part, evidence.units[place], evidence.weights)
        score = round(float(base[place]) + (FIT * span.fit if span else 0.0), 6)
        if (score, -place) > (found[0], -found[1]):
            found = (score, place, span)
    return found[1], found[2]


def _chance(evidence: Evidence, base: Floats, best: int, fit: float, short: bool) -> float:
    """The chance that an answer from this unit is right."""
    told = float(evidence.words[best] + evidence.headed[best])
    if short:
        lost = float(base.max() - base[best])  # how much nearer to the question another unit is, one without the span
        told_fit = fit if told else 0.0  # what fits is no evidence where nothing of the question stands
        sum_ = SPAN[0] + SPAN[1] * told + SPAN[2] * told_fit + SPAN[3] * lost
    else:
        sum_ = QUOTED[0] + QUOTED[1] * (told + float(evidence.similar[best]))
    return round(1 / (1 + math.exp(-sum_)), 6)


def _text(wanted: Wanted, part: Part, evidence: Evidence, best: int, span: Span | None) -> str:
    unit = evidence.units[best]
    if part.kind == "polar":
        return f"{yes_or_no(part, unit, wanted.language)}, {said(part, unit, evidence.weights)}"
    if span is not None:
        return unit.text[span.start : span.end].strip(" ,;:.")
    items = _items(evidence, best) if part.kind in _LISTED else []
    if len(items) > 1:
        return "; ".join(item.text.strip(" ,;.") for item in items)
    return said(part, unit, evidence.weights)


def _items(evidence: Evidence, place: int) -> list[Unit]:
    """The items of the list that a unit opens, or stands in if the question is about what heads the list."""
    units = evidence.units
    opens = units[place].text.endswith(":") and place + 1 < len(units) and units[place + 1].kind == "item"
    if opens:
        place += 1
    elif units[place].kind != "item" or evidence.words[place] > evidence.headed[place]:
        return []
    first = last = place
    while not opens and first and _same_list(evidence, first - 1, place):
        first -= 1
    while last + 1 < len(units) and _same_list(evidence, last + 1, place):
        last += 1
    return units[first : last + 1][:_MOST_ITEMS]


def _same_list(evidence: Evidence, one: int, other: int) -> bool:
    unit = evidence.units[one]
    return (
        unit.kind == "item"
        and evidence.contexts[one] == evidence.contexts[other]
        and unit.heading == evidence.units[other].heading
    )
