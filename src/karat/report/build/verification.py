"""Verification: every figure that was checked, the wrong ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report.build.gate import figure as written
from karat.report.document import Block, Detail, Document, Heading, Listing, ListItem, Text

if TYPE_CHECKING:
    from karat.results.verification import Figure, FigureStatus, Verification

_HEADS: dict[FigureStatus, str] = {
    "mismatch": "The rows give another number",
    "impossible": "Impossible",
    "suspect": "Worth a look",
    "unchecked": "Not checked",
    "ok": "No contradiction",
}
_MARKS: dict[FigureStatus, str] = {"mismatch": "✗", "impossible": "✗", "suspect": "!", "unchecked": "–", "ok": "✓"}
_NAMED = 4  # figures that are named for each reason in brief


def document(verification: Verification) -> Document:
    """The verdict, then figures by what became of them."""
    mark = "✗" if verification.broken else "!" if verification.of("suspect") else "✓" if verification.of("ok") else "–"
    blocks: list[Block] = [
        Listing([ListItem(mark, verdict(verification))], detail=Detail.QUIET),
        *map(Text, verification.notes),
    ]
    if verification.of("ok"):  # said here, since a heading whose figures are not shown is not printed without text
        blocks.append(Text("-v lists every figure."))
    for kind, head in _HEADS.items():
        figures, mark = verification.of(kind), _MARKS[kind]
        detail = {"unchecked": Detail.BRIEF, "ok": Detail.FULL}.get(kind, Detail.QUIET)
        each = [ListItem(mark, line) for line in _each(figures)]
        blocks.append(Heading(head, detail=detail))
        if kind == "unchecked":
            reasons = _by_reason(figures)
            each = [ListItem(mark, line, more=tuple(_each(some))) for line, some in reasons]
        blocks.append(Listing(each, detail=detail))
    return Document("Verification", blocks)


def verdict(verification: Verification) -> str:
    """One sentence: how many figures were checked, are wrong, and were not checked."""
    ok, suspect, unchecked = (verification.count(kind) for kind in ("ok", "suspect", "unchecked"))
    wrong = verification.count("mismatch") + verification.count("impossible")
    checked = ok + suspect + wrong
    if not checked:
        return f"Nothing could be checked ({plural(unchecked, 'figure')})."
    outcome = "no contradiction"
    if wrong:
        outcome = f"{wrong:,} {'is' if wrong == 1 else 'are'} wrong"
    elif suspect:
        outcome = f"no contradiction, {suspect:,} worth a look"
    return f"{plural(checked, 'figure')} checked: {outcome}" + (f"; {unchecked:,} not checked." if unchecked else ".")


def _each(figures: Sequence[Figure]) -> Iterator[str]:
    """A line for each figure: what is printed, what it should be, and why."""
    for figure in figures:
        numbers = []
        if figure.printed is not None:
            numbers.append(f"printed {written(figure.printed)}")
        if figure.recomputed is not None and figure.verdict != "ok":
            numbers.append(f"should be {written(figure.recomputed)}")
        if figure.question is not None and figure.apart:
            numbers.append(f"question {figure.question}")
        yield ": ".join(part for part in (_about(figure), ", ".join(numbers), figure.why) if part)


def _by_reason(figures: Sequence[Figure]) -> Iterator[tuple[str, list[Figure]]]:
    """A line for each reason with the first figures it is the reason of, and all of them."""
    reasons: dict[str, list[Figure]] = {}
    for figure in figures:
        reasons.setdefault(figure.why, []).append(figure)
    for why, some in reasons.items():
        figures_named = list(dict.fromkeys(map(_about, some)))
        more = f" and {len(figures_named) - _NAMED:,} more" if len(figures_named) > _NAMED else ""
        yield f"{'; '.join(figures_named[:_NAMED])}{more}: {why}", some


def _about(figure: Figure) -> str:
    what = "" if figure.what in ("rows", "order", figure.name) else f" {figure.what}"
    values = f" ({figure.cells:,} values)" if figure.what == "rows" and not figure.apart else ""
    return ", ".join(part for part in (figure.where, f"{figure.name}{what}{values}".strip()) if part)
