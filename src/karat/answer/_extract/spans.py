"""The span of a unit that answers a part of a question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.answer._extract.phrases import (
    clause,
    enumeration,
    expansion,
    names,
    new_part,
    placed,
    reason,
    without_condition,
)
from karat.answer._extract.quantities import Quantity, asked_class, quantities, suits
from karat.answer._extract.times import names_a_time, time_spans
from karat.answer._extract.words import words_of

if TYPE_CHECKING:
    from karat.answer._extract.question import Part
    from karat.answer._extract.reading import Unit
    from karat.answer._extract.words import Word

_NO = re.compile(
    r"\b(?:no|not|never|nobody|none|nothing|neither|nor|cannot|forbidden|prohibited|banned"
    r"|не|нет|нельзя|никогда|никто|ничего|ни|запрещ\w+|nicht|kein\w*|nie|jamais|aucun\w*|nunca)\b|n't\b",
    re.I,
)
_BEFORE_THINGS_WORDS = """
the a an in on at from to into of near в во на из у под над за
"""
_BEFORE_THINGS = frozenset(_BEFORE_THINGS_WORDS.split())  # rarely before persons
_COLOUR_STEMS = ("colour", "color", "цвет", "цвета")
_COLOUR = re.compile(
    r"\b(?:(?:dark|light|bright|pale|тёмно|светло|ярко)[ -])?(?:red|blue|green|yellow|black|white|orange|pink|violet"
    r"|purple|brown|grey|gray|silver|gold|golden|beige|turquoise|красн\w+|син\w{2}|зелён\w+|зелен\w+|ж[её]лт\w+"
    r"|ч[её]рн\w+|бел\w{2}|оранжев\w+|розов\w+|фиолетов\w+|коричнев\w+|сер\w{2}|голуб\w+)\b",
    re.I,
)
_AGENT = re.compile(
    r"\bby (?:the |an? )?(?:[^\W\d]{1,30} ?){1,3}?(?=[.,;()]| (?:and|who|after|before|in|on|at|when|if)\b|$)"
)
_APART = re.compile(r"[,;:.]\s")
_COUNTED = re.compile(r"\bhow many\b|\bсколько\b|\bwie viele\b|\bcombien\b|\bcuánt[oa]s\b", re.I)
_WHENEVER = re.compile(
    r"\b(?:when|once(?! an?\b| every\b| in\b)|after|before|until|as soon as|когда|как только"
    r"|после того как|после|пока|до того как) [^,;.:]{6,}",
    re.I,
)
_ONE_WHILE = re.compile(
    r"\b(?:within|in|for|after) (?:an?|the|one) (?:\w{1,30} )?(?:second|minute|hour|day|week|month|year|season"
    r"|fortnight)\b|\b(?:через|за) (?:одну |один |одни )?(?:секунду|минуту|час|день|сутки|неделю|месяц|год)\b",
    re.I,
)
_YES_NO = {"ru": ("да", "нет"), "de": ("ja", "nein"), "fr": ("oui", "non"), "es": ("sí", "no"), "hi": ("हाँ", "नहीं")}


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a unit's text, and how well they fit what is asked, from 0 to 1."""

    start: int
    end: int
    fit: float


def span_of(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    """The span of a unit that fits the kind of answer a part of a question asks for; None if there is none.

    `known` are the question's stems and their weights: an answer does not repeat the question.
    """
    if unit.kind == "row" and part.kind not in ("polar", "expansion", "manner", "reason", "difference"):
        return _cell(part, unit, known)
    finder = _FINDERS.get(part.kind)
    return finder(part, unit, known) if finder is not None else None


def said(part: Part, unit: Unit, known: Mapping[str, float]) -> str:
    """What a unit says to a part of a question where no kind of span is asked for, or none is there."""
    if unit.kind == "row":
        return unit.text
    found = new_part(unit.text, unit.words, known)
    if found is None:
        return unit.text
    text = clause(unit.text, *found)
    return without_condition(text, unit.words, known) if part.kind == "manner" and unit.text.startswith(text) else text


def yes_or_no(part: Part, unit: Unit, language: str | None) -> str:
    """Yes or no, as far as the words of the unit tell."""
    yes, no = _YES_NO.get(language or "", ("yes", "no"))
    return no if _NO.search(unit.text) and not _NO.search(part.text) else yes


def _distance(unit: Unit, first: int, last: int, known: Mapping[str, float]) -> float:
    """How far the words of the question stand from a span, by their weight: 0 is near."""
    total = far = 0.0
    for i, word in enumerate(unit.words):
        weight = known.get(word.stem, 0.0)
        if weight and not word.stop and not first <= i <= last:
            total += weight
            far += weight * min(abs(i - first), abs(i - last), 12) / 12
    return far / total if total else 0.5


def _number(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    wanted = asked_class(part.text)
    asked = {word.lower for word in part.words}
    best: tuple[float, Span] | None = None
    found = quantities(unit.text, unit.words)
    for place, one in enumerate(found):
        if unit.words[one.first].lower in asked:
            continue
        fit = 0.6 - 0.3 * _distance(unit, one.first, one.last, known)
        if (part.heads and part.heads[-1] in one.unit) or (
            wanted and suits(one.kind, unit.words[one.first].lower, wanted)
        ):
            fit += 0.4
        elif wanted and (one.kind or wanted == "plain"):
            fit -= 0.4
        elif part.heads and _COUNTED.search(part.text):
            fit -= 0.3
        elif one.kind:
            fit += 0.2
        elif not one.unit:
            fit -= 0.2
        if place and _told_apart(unit, found[place - 1], one, known):
            fit += 0.25
        start, end = one.start, unit.words[one.first].end if wanted == "plain" else one.end
        before = unit.words[one.first - 1] if one.first else None
        if part.heads and before is not None and before.stem == part.heads[-1]:  # "channel 12"
            start, end, fit = before.start, unit.words[one.first].end, fit + 0.4
        if best is None or fit > best[0]:
            best = (fit, Span(start, end, min(max(fit, 0.05), 1.0)))
    return best[1] if best else None


def _told_apart(unit: Unit, last: Quantity, one: Quantity, known: Mapping[str, float]) -> bool:
    """Whether the question names what stands only between this quantity and the last: "adults pay 5, students 3"."""
    said_before = {word.stem for word in unit.words[: last.last + 1]}
    between = [
        word
        for word in unit.words[last.last + 1 : one.first]
        if not _APART.search(unit.text, word.end, unit.words[one.first].start)
    ]
    return any(word.stem in known and not word.stop and word.stem not in said_before for word in between)


def _time(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    clock = re.search(r"\btime\b|\bo'?clock\b|\bво сколько\b|\bчас", part.text, re.I)
    best: tuple[float, Span] | None = None
    for first, last, strong in time_spans(unit.text, unit.words):
        inside = unit.words[first : last + 1]
        if all(word.stop or word.stem in known for word in inside):
            continue
        fit = (0.8 if strong else 0.45) - 0.25 * _distance(unit, first, last, known)
        if clock and any(":" in word.lower for word in inside):
            fit += 0.2
        if best is None or fit > best[0]:
            best = (fit, Span(inside[0].start, inside[-1].end, min(max(fit, 0.05), 1.0)))
    clause_of_time = _WHENEVER.search(unit.text)
    if clause_of_time and (best is None or best[0] < 0.5):
        return Span(clause_of_time.start(), clause_of_time.end(), 0.5)
    return best[1] if best else None


def _duration(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    found = _number(part, unit, known)
    short = _ONE_WHILE.search(unit.text)
    if short and (found is None or found.fit < 0.6):
        return Span(short.start(), short.end(), 0.8)
    return found


def _name(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    called = re.search(r"\b(?:called|named|known as|называется|называют|под названием) (?:the |an? )?", unit.text, re.I)
    best: tuple[float, Span] | None = None
    if any(head in _COLOUR_STEMS for head in part.heads):
        return _colour(unit, known)
    for first, last in names(unit.text, unit.words, known):
        fit = 0.75 - 0.3 * _distance(unit, first, last, known)
        start, end = unit.words[first].start, unit.words[last].end
        if first == 0 and last == 0:
            fit -= 0.35 if unit.words[0].lower in unit.plain else 0.15
        if called and 0 <= start - called.end() < 3:
            fit += 0.3
        if part.heads and not any(word.stem in part.heads for word in unit.words):
            fit -= 0.15
        if start > 4 and unit.text[start - 4 : start].lower() == "the ":
            start -= 4
        if best is None or fit > best[0]:
            best = (fit, Span(start, end, min(max(fit, 0.05), 1.0)))
    return best[1] if best else None


def _colour(unit: Unit, known: Mapping[str, float]) -> Span | None:
    """The colour that stands nearest to what the question names."""
    told = [word.end for word in unit.words if word.stem in known and not word.stop]
    found = [match for match in _COLOUR.finditer(unit.text) if match[0].lower() not in known]
    if not found:
        return None
    best = min(found, key=lambda match: min((abs(match.start() - end) for end in told), default=0))
    return Span(best.start(), best.end(), 0.8)


def _person(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    best: tuple[float, Span] | None = None
    for first, last in names(unit.text, unit.words, known):
        if (first == 0 and last == 0) or unit.text[unit.words[first].start : unit.words[last].end].isupper():
            continue
        fit = (0.9 if last > first else 0.6) - 0.3 * _distance(unit, first, last, known)
        if first and unit.words[first - 1].lower in _BEFORE_THINGS:
            fit -= 0.4
        if best is None or fit > best[0]:
            best = (fit, Span(unit.words[first].start, unit.words[last].end, min(max(fit, 0.05), 1.0)))
    agent = _AGENT.search(unit.text)
    if agent and (best is None or best[0] < 0.5):
        return Span(agent.start() + 3, agent.end(), 0.4)
    return best[1] if best else None


def _place(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    matched = [i for i, word in enumerate(unit.words) if word.stem in known and not word.stop]
    best: tuple[float, Span] | None = None
    for first, last in placed(unit.text, unit.words, known):
        inside: list[Word] = unit.words[first : last + 1]
        share = sum(word.stem in known for word in inside if not word.stop) / max(
            sum(not word.stop for word in inside), 1
        )
        fit = 0.8 - 0.3 * _distance(unit, first, last, known) - 0.4 * share
        fit += 0.1 if matched and first > matched[0] else 0.0
        fit -= (
            0.2
            if inside[0].lower in ("by", "to", "до", "к", "from", "с")
            and not re.search(r"\bfrom\b|откуда|куда", part.text, re.I)
            else 0.0
        )
        fit -= 0.2 if any(word.lower[:1].isdecimal() or names_a_time(word) for word in inside) else 0.0
        if best is None or fit > best[0]:
            best = (fit, Span(inside[0].start, inside[-1].end, min(max(fit, 0.05), 1.0)))
    return best[1] if best else None


def _reason(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    found = reason(unit.text)
    return Span(*found, 0.9) if found else None


def _expansion(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    text = unit.text
    found = expansion(text, part.acronym)
    return Span(found[0], found[1], found[2] / 3) if found else None


def _cell(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    """The cell of a row under the heading that the question names."""
    best: tuple[float, Span] | None = None
    end = -3
    for cell, head in zip(unit.cells, unit.head, strict=False):
        start, end = end + 3, end + 3 + len(cell)
        stems = [word.stem for word in words_of(head, None if head.isascii() else "ru")]
        stems += [word.stem for word in words_of(head, "en")]
        named = max((known.get(stem, 0.0) for stem in stems), default=0.0)
        inside = [word for word in unit.words if start <= word.start < end and not word.stop]
        if not cell or not named or any(word.stem in known for word in inside):
            continue
        if best is None or named > best[0]:
            best = (named, Span(start, end, 0.9))
    return best[1] if best else None


def _list(part: Part, unit: Unit, known: Mapping[str, float]) -> Span | None:
    found = enumeration(unit.text, unit.words, known)
    return Span(*found, 0.5) if found else None


SHORT = ("number", "time", "duration", "name", "person", "place", "expansion")  # kinds answered by a few words
_FINDERS = {
    "list": _list,
    "number": _number,
    "time": _time,
    "duration": _duration,
    "name": _name,
    "person": _person,
    "place": _place,
    "reason": _reason,
    "expansion": _expansion,
}
