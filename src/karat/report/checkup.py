"""Checkup: what the doctor found, as a person reads it in a terminal and as programs read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from karat.core.text.words import plural
from karat.report._escape import clean
from karat.report._grid import Cell, Row, grids, listing, title
from karat.report._numbers import number
from karat.report._screen import as_text, put
from karat.report.audited import summary

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.checkup import Ceiling, Checkup, Finding, Severity

_HEADS: dict[Severity, str] = {"broken": "Broken", "warning": "Warnings", "info": "Worth knowing"}
_MARKS: dict[Severity, str] = {"broken": "✗", "warning": "!", "info": "-"}
_FEW = 3  # examples and ids shown without `verbose`
_LINE = 200


def show(checkup: Checkup, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(checkup, width, quiet, verbose), stream)


def render(
    checkup: Checkup,
    *,
    quiet: bool = False,
    verbose: bool = False,
    width: int = 100,
    colour: bool = False,
    encoding: str = "utf-8",
) -> str:
    """The checkup as text. `quiet` leaves out what is only worth knowing, `verbose` shows all ids and examples."""
    return as_text(lambda width: _blocks(checkup, width, quiet, verbose), width=width, colour=colour, encoding=encoding)


def as_json(checkup: Checkup, *, indent: int | None = 2) -> str:
    """The checkup as one object in plain ASCII; a number that does not exist is null."""
    return json.dumps(checkup.plain(), indent=indent, allow_nan=False)


def verdict(checkup: Checkup) -> str:
    """One sentence: how much of the gold can be found in this index."""
    reach = checkup.reach
    if not reach.units:
        return "the test set has no relevant gold: nothing of retrieval can be scored against it."
    if not checkup.chunks:
        return f"the index is empty: none of the {reach.units:,} gold units can be found."
    units = f"{reach.reached:,} of {reach.units:,} gold units can be found in this index"
    missing = reach.units - reach.reached
    if not missing:
        return f"all {reach.units:,} gold units can be found in this index."
    causes = [finding.title for finding in checkup.of("broken")]
    why = f": {clean(causes[0], _LINE)}" if causes else ""
    why += f", and {len(causes) - 1} more below" if len(causes) > 1 else ""
    lost = f"; {reach.without:,} of {reach.questions:,} questions have none at all" if reach.without else ""
    return f"{units}; {missing:,} cannot{why}{lost}."


def _blocks(checkup: Checkup, width: int, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    yield listing((_mark(checkup), verdict(checkup)))
    if not quiet:
        yield listing(*_head(checkup))
    for severity in ("broken", "warning", "info"):
        findings = checkup.of(severity)
        if not findings or (quiet and severity == "info"):
            continue
        yield title(_HEADS[severity])
        for finding in findings:
            yield listing(*_lines(finding, quiet, verbose))
    if checkup.audit is not None:
        yield title("The questions themselves")
        yield listing(*summary(checkup.audit), ("", "all of it: karat audit, with the same test set and index"))
    yield from _ceilings(checkup, width)


def _mark(checkup: Checkup) -> str:
    missing = checkup.reach.reached < checkup.reach.units  # with --only, nothing may have been found to say so
    return "✗" if checkup.broken else "!" if missing or checkup.of("warning") else "✓"


def _head(checkup: Checkup) -> Iterator[tuple[str, str]]:
    sizes = f"{plural(checkup.chunks, 'chunk')} of {plural(checkup.docs, 'document')}"
    yield "", f"{clean(checkup.testset)}: {plural(checkup.questions, 'question')}; the index: {sizes}"
    if checkup.kinds:
        kinds = " · ".join(f"{clean(kind)} {count:,}" for kind, count in checkup.kinds.items())
        yield "", f"gold units looked for by: {kinds}"
    yield from (("", clean(note)) for note in checkup.notes)


def _lines(finding: Finding, quiet: bool, verbose: bool) -> Iterator[tuple[str, str]]:
    yield _MARKS[finding.severity], clean(finding.title)
    if finding.remedy and quiet:
        yield "", clean(finding.remedy)
    if quiet:
        return
    if finding.text:
        yield "", clean(finding.text)
    most = len(finding.examples) if verbose else _FEW
    yield from (("", f"  {clean(example, _LINE)}") for example in finding.examples[:most])
    if len(finding.examples) > most:
        yield "", f"  and {len(finding.examples) - most:,} more examples"
    if finding.questions:
        yield "", f"questions: {_ids(finding.questions, len(finding.questions) if verbose else 2 * _FEW)}"
    if finding.remedy:
        yield "", f"→ {clean(finding.remedy)}"


def _ids(ids: tuple[str, ...], most: int) -> str:
    shown = ", ".join(clean(id_, 40) for id_ in ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most:,} more"


def _ceilings(checkup: Checkup, width: int) -> Iterator[RenderableType]:
    if not checkup.ceilings:
        return
    cuts = sorted({c.k for c in checkup.ceilings})
    names = list(dict.fromkeys(c.measure for c in checkup.ceilings))
    found = {(c.measure, c.k): c for c in checkup.ceilings}
    loose = any(not c.exact for c in checkup.ceilings)
    yield title("The highest that any ranking of these chunks can reach")
    rows = [Row(clean(name), [_cell(found.get((name, k)), loose) for k in cuts]) for name in names]
    yield from grids("", [f"@{k}" for k in cuts], rows, width)
    if loose:
        yield "≤: no ranking passes it; whether one reaches it was too much to work out"


def _cell(ceiling: Ceiling | None, loose: bool) -> Cell:
    if ceiling is None:
        return Cell("–")
    return Cell(("≤" if not ceiling.exact else " " if loose else "") + number(ceiling.value))
