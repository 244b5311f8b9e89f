"""Verified: every figure that was checked, as a person reads it in a terminal, the wrong ones first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from karat.report._escape import clean
from karat.report._grid import listing, texts, title
from karat.report._numbers import amount, number
from karat.report._screen import as_text, put
from karat.results.verification import Figure, Verdict, Verification

if TYPE_CHECKING:
    from rich.console import RenderableType

_HEADS: dict[Verdict, str] = {
    "mismatch": "The rows give another number",
    "impossible": "Impossible",
    "suspect": "Worth a look",
    "unchecked": "Not checked",
    "ok": "No contradiction",
}
_MARKS: dict[Verdict, str] = {"mismatch": "✗", "impossible": "✗", "suspect": "!", "unchecked": "–", "ok": "✓"}
_NAMED = 4  # figures that are named for each reason without `verbose`


def show(verification: Verification, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream; `verbose` shows every figure, `quiet` the wrong ones alone."""
    put(lambda width: _blocks(verification, quiet, verbose), stream)


def render(verification: Verification, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(verification, quiet, verbose), width=width)


def as_json(verification: Verification) -> str:
    """The verification as one object in plain ASCII; a number that does not exist is null."""
    return json.dumps(verification.plain(), indent=2, allow_nan=False)


def verdict(verification: Verification) -> str:
    """One sentence: how many figures were checked, are wrong, and were not checked."""
    ok, suspect, unchecked = (verification.count(kind) for kind in ("ok", "suspect", "unchecked"))
    wrong = verification.count("mismatch") + verification.count("impossible")
    checked = ok + suspect + wrong
    if not checked:
        return f"Nothing could be checked ({_figures(unchecked)})."
    outcome = "no contradiction"
    if wrong:
        outcome = f"{wrong:,} {'is' if wrong == 1 else 'are'} wrong"
    elif suspect:
        outcome = f"no contradiction, {suspect:,} worth a look"
    return f"{_figures(checked)} checked: {outcome}" + (f"; {unchecked:,} not checked." if unchecked else ".")


def _figures(count: int) -> str:
    return f"{count:,} {'figure' if count == 1 else 'figures'}"


def _blocks(verification: Verification, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    mark = "✗" if verification.broken else "!" if verification.of("suspect") else "✓" if verification.of("ok") else "–"
    yield listing((mark, verdict(verification)))
    if not quiet:
        yield listing(*(("", clean(note)) for note in verification.notes))
    for kind, head in _HEADS.items():
        figures = verification.of(kind)
        if not figures or (quiet and kind in ("unchecked", "ok")) or (kind == "ok" and not verbose):
            continue
        yield title(head)
        lines = _each(figures) if verbose or kind in ("mismatch", "impossible", "suspect") else _by_reason(figures)
        yield listing(*((_MARKS[kind], line) for line in lines))
    if verification.of("ok") and not (quiet or verbose):
        yield from texts(["-v lists every figure."])


def _each(figures: Sequence[Figure]) -> Iterator[str]:
    """A line for each figure: what is printed, what it should be, and why."""
    for figure in figures:
        numbers = []
        if figure.printed is not None:
            numbers.append(f"printed {_written(figure.printed)}")
        if figure.recomputed is not None and figure.verdict != "ok":
            numbers.append(f"should be {_written(figure.recomputed)}")
        if figure.question is not None and figure.apart:
            numbers.append(f"question {clean(figure.question)}")
        yield ": ".join(part for part in (_about(figure), ", ".join(numbers), clean(figure.why)) if part)


def _by_reason(figures: Sequence[Figure]) -> Iterator[str]:
    """A line for each reason, with the first figures it is the reason of."""
    reasons: dict[str, list[Figure]] = {}
    for figure in figures:
        reasons.setdefault(figure.why, []).append(figure)
    for why, some in reasons.items():
        names = list(dict.fromkeys(map(_about, some)))
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield f"{'; '.join(names[:_NAMED])}{more}: {clean(why)}"


def _about(figure: Figure) -> str:
    what = "" if figure.what in ("rows", "order", figure.name) else f" {clean(figure.what)}"
    values = f" ({figure.cells:,} values)" if figure.what == "rows" and not figure.apart else ""
    return ", ".join(part for part in (clean(figure.where), f"{clean(figure.name)}{what}{values}".strip()) if part)


def _written(value: float) -> str:
    return amount(value) if abs(value) > 10 or value == int(value) else number(value)
