"""Verified: every figure that was checked, as a person reads it in a terminal, the wrong ones first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from karat.core.verification import Figure, Verdict, Verification
from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._numbers import NONE, amount, number
from karat.report._screen import as_text, put
from karat.report.json import finite

if TYPE_CHECKING:
    from rich.console import RenderableType

_HEADS: dict[Verdict, str] = {
    "mismatch": "The rows give another number",
    "impossible": "Impossible",
    "suspect": "Worth a look",
    "unchecked": "Not checked",
    "ok": "As it should be",
}
_FEW = 12  # figures of a kind that are shown without `verbose`


def show(verification: Verification, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream; `verbose` shows every figure, `quiet` the wrong ones alone."""
    put(lambda width: _blocks(verification, quiet, verbose), stream)


def render(verification: Verification, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(verification, quiet, verbose), width=width)


def as_json(verification: Verification) -> str:
    """The verification as one object in plain ASCII; a number that does not exist is null."""
    return json.dumps(finite(verification.plain()), indent=2, allow_nan=False)


def verdict(verification: Verification) -> str:
    """One sentence: how many figures are right, wrong, and not checked."""
    ok, unchecked = verification.count("ok"), verification.count("unchecked")
    wrong = verification.count("mismatch") + verification.count("impossible")
    said = f"{ok:,} printed values are as they should be"
    if wrong:
        said = f"{wrong:,} printed {'value is' if wrong == 1 else 'values are'} wrong; {ok:,} are as they should be"
    elif not ok:
        said = "nothing could be checked"
    return said + (f"; {unchecked:,} could not be checked." if unchecked else ".")


def _blocks(verification: Verification, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    mark = "✗" if verification.broken else "!" if verification.of("suspect") else "✓"
    yield listing((mark, verdict(verification)))
    if not quiet:
        yield listing(*(("", clean(note)) for note in verification.notes))
    for kind, head in _HEADS.items():
        figures = verification.of(kind)
        if not figures or (quiet and kind in ("unchecked", "ok")):
            continue
        yield title(head)
        most = len(figures) if verbose or kind in ("mismatch", "impossible", "suspect") else _FEW
        shown = figures[:most]
        yield listing(*_lines(shown)) if kind == "suspect" else _table(shown)
        if len(figures) > most:
            yield from texts([f"and {len(figures) - most:,} more: -v shows all."])


def _lines(figures: Sequence[Figure]) -> Iterator[tuple[str, str]]:
    for figure in figures:
        about = ", ".join(part for part in (clean(figure.where, 60), clean(figure.name, 30)) if part)
        yield "!", f"{about}: {clean(figure.why)}" if about else clean(figure.why)


def _table(figures: Sequence[Figure]) -> RenderableType:
    table = plain_table("of", "figure", "printed", "should be", "difference", "why", right=(2, 3, 4))
    for column, width in zip(table.columns, (12, 12, 7, 9, 10, 34), strict=True):
        column.min_width = width
    for figure in figures:
        of = clean(figure.where, 48) or NONE
        if figure.question is not None and figure.apart:
            of += f", question {clean(figure.question, 24)}"
        what = "" if figure.what in ("rows", "order", figure.name) else f" {clean(figure.what, 12)}"
        values = f" ({figure.cells:,} values)" if figure.what == "rows" and not figure.apart else ""
        row = [
            of, f"{clean(figure.name, 30)}{what}{values}", _written(figure.printed), _written(figure.recomputed),
            number(figure.difference) if figure.difference is not None else NONE, clean(figure.why),
        ]  # fmt: skip
        table.add_row(*texts(row))
    return table


def _written(value: float | None) -> str:
    if value is None:
        return NONE
    return amount(value) if abs(value) > 10 or value == int(value) else number(value)
