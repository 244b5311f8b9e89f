"""Calibrated: how far a measure agrees with people, in words first, then the figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._calibration_words import agreement_sentences, confidence_sentence, mean_sentence
from karat.report._escape import clean
from karat.report._escape import markdown as escape
from karat.report._grid import listing, plain_table, texts, title
from karat.report._inputs import input_lines
from karat.report._numbers import NONE, number, percent, short
from karat.report._screen import as_text, put
from karat.report.outputs.markdown import pipes
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.calibration import Agreement, Calibration, Confusion, Corrected, MeasureCalibration, Reliability
    from karat.results.evaluation import Note

_FEW = 5  # answers that people and the measure part on, shown without `verbose`
_NAME = 40


@dataclass(frozen=True)
class Table:
    """A table for any page: texts not yet escaped, numbers in the columns from the second on."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]


def show(found: Calibration, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(found, quiet, verbose), stream)


def render(found: Calibration, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text; `quiet` leaves out what was read and told, `verbose` lists every answer they part on."""
    return as_text(lambda width: _blocks(found, quiet, verbose), width=width)


def as_json(found: Calibration, *, indent: int | None = 2) -> str:
    """One object with every figure and sentence; a number that does not exist is null."""
    document: dict[str, Any] = plain(found)
    for made, one in zip(document["measures"], found.measures, strict=True):
        made["sentences"] = [*agreement_sentences(one), *(mean_sentence(one, system) for system in one.systems)]
    for made, said in zip(document["reliability"], found.reliability, strict=True):
        made["sentence"] = confidence_sentence(said)
    return json.dumps(document, indent=indent, allow_nan=False)


def as_csv(found: Calibration) -> str:
    """One row per measure and system: the mean by the measure, by people, and corrected, with the agreement beside."""
    import polars as pl

    from karat.report.outputs.csv import written

    rows = [
        {
            "measure": one.measure,
            **{name: getattr(system, name) for name in _COLUMNS},
            "raters": len(one.raters),
            "kappa": one.agreement.kappa,
            "kappa_weighted": one.agreement.weighted,
            "alpha": one.agreement.alpha,
            "alpha_people": one.people.alpha,
            "spearman": one.spearman,
            "bias": one.bias,
            "bias_low": one.bias_low,
            "bias_high": one.bias_high,
            "flips": one.flips,
        }
        for one in found.measures
        for system in one.systems
    ]
    kinds = dict.fromkeys(("n", "n_scored", "raters"), pl.Int64) | {"measure": pl.String, "system": pl.String}
    names = list(rows[0]) if rows else ["measure", *_COLUMNS]
    return written(pl.DataFrame(plain(rows), schema={name: kinds.get(name, pl.Float64) for name in names}))


_COLUMNS = (
    "system", "n", "n_scored", "measure_mean", "people_mean", "people_low", "people_high", "mean", "low", "high",
    "weight", "effective",
)  # fmt: skip


def as_markdown(found: Calibration) -> str:
    """The page as headings, sentences and pipe tables, with every answer that people and a measure part on."""
    return "\n".join(_lines(found)).rstrip() + "\n"


def _lines(found: Calibration) -> Iterator[str]:
    yield f"# {escape(found.run)} against people"
    yield ""
    yield from (f"- {escape(line)}" for line in _read(found))
    yield from (f"- {note.level}: {escape(note.text)}" for note in found.notes)
    for one in found.measures:
        yield from ("", f"## {escape(one.measure)}", "")
        yield from (f"- {escape(line)}" for line in agreement_sentences(one))
        yield from (f"- {escape(mean_sentence(one, system))}" for system in one.systems)
        yield from (f"- {note.level}: {escape(note.text)}" for note in one.notes)
        for table in (_figures(one), _table(one.confusion), _means(one.systems), _parted(one.confusion, None)):
            if table is not None:
                yield ""
                yield from _pipes(table)
    if found.reliability:
        yield from ("", "## Confidence", "")
        yield from (f"- {escape(confidence_sentence(said))}" for said in found.reliability)
        for said in found.reliability:
            yield from ("", f"### {escape(said.system)}", "")
            yield from _pipes(_bins(said))


def _pipes(table: Table) -> Iterator[str]:
    rows = [[escape(cell) for cell in row] for row in table.rows]
    yield from pipes([escape(name) for name in table.titles], rows, right=range(1, len(table.titles)))


def _blocks(found: Calibration, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield from texts(_read(found))
    yield from _noted(found.notes, quiet)
    for one in found.measures:
        yield title(f"{one.measure} against people")
        words = [*agreement_sentences(one), *(mean_sentence(one, system) for system in one.systems)]
        yield listing(*(("-", clean(line)) for line in words))
        yield from _noted(one.notes, quiet)
        tables = (_figures(one), _table(one.confusion), _means(one.systems))
        for table in tables[2:] if quiet else tables:
            if table is not None:
                yield ""
                yield _rich(table)
        parted = _parted(one.confusion, None if verbose else _FEW)
        if parted is not None and not quiet:
            yield ""
            yield _rich(parted)
            left = len(one.confusion.off) - len(parted.rows) if one.confusion else 0
            if left:
                yield from texts([f"{left:,} more that they part on: -v lists them."])
    if found.reliability:
        yield title("Confidence")
        yield listing(*(("-", clean(confidence_sentence(said))) for said in found.reliability))
        for said in () if quiet else found.reliability:
            yield ""
            yield _rich(_bins(said))


def _read(found: Calibration) -> list[str]:
    """What the labels were taken for."""
    return list(input_lines([found.taken]))


def _noted(notes: Sequence[Note], quiet: bool) -> Iterator[RenderableType]:
    shown = [note for note in notes if not quiet or note.level == "warning"]
    if shown:
        yield listing(*(("!" if note.level == "warning" else " ", clean(note.text)) for note in shown))


def _rich(table: Table) -> RenderableType:
    from rich.text import Text

    made = plain_table(*table.titles, right=range(1, len(table.titles)))
    for row in table.rows:
        made.add_row(*(Text(clean(cell, _NAME)) for cell in row))
    return made


def _figures(one: MeasureCalibration) -> Table:
    """Agreement of the measure with people beside that of people with each other."""
    bias = f"{_signed(one.bias)}{_ends(one.bias_low, one.bias_high)}"
    rows = [["answers rated by both", f"{one.agreement.n:,}", f"{one.people.n:,}"]]
    rows += [[name, f(one.agreement), f(one.people)] for name, f in (("Cohen's kappa", _kappa), ("alpha", _alpha))]
    if one.agreement.weighted is not None or one.people.weighted is not None:
        rows.insert(2, ["kappa, quadratic weights", _weighted(one.agreement), _weighted(one.people)])
    rows += [["Spearman", short(one.spearman), NONE], ["bias (measure - people)", bias, NONE]]
    if one.n_repeated:
        rows.append([f"flips over {one.n_repeated:,} repeated", percent(one.flips), NONE])
    return Table(["", "measure and people", "people and people"], rows)


def _kappa(agreement: Agreement) -> str:
    return f"{short(agreement.kappa)}{_ends(agreement.low, agreement.high)}"


def _weighted(agreement: Agreement) -> str:
    return f"{short(agreement.weighted)}{_ends(agreement.weighted_low, agreement.weighted_high)}"


def _alpha(agreement: Agreement) -> str:
    return short(agreement.alpha) + (f" ({agreement.metric})" if agreement.alpha is not None else "")


def _table(found: Confusion | None) -> Table | None:
    if found is None:
        return None
    rows = [[f"people {name}", *(f"{n:,}" for n in row)] for name, row in zip(found.names, found.counts, strict=True)]
    return Table(["", *(f"measure {name}" for name in found.names)], rows)


def _means(systems: Sequence[Corrected]) -> Table:
    rows = [
        [
            system.system,
            f"{system.n:,} of {system.n_scored:,}",
            number(system.measure_mean, 3),
            f"{number(system.people_mean, 3)}{_ends(system.people_low, system.people_high)}",
            f"{number(system.mean, 3)}{_ends(system.low, system.high)}",
            NONE if system.effective is None else f"{system.effective:,.0f}",
        ]
        for system in systems
    ]
    return Table(["system", "labelled", "measure alone", "people alone", "corrected", "worth labels"], rows)


def _parted(found: Confusion | None, most: int | None) -> Table | None:
    """The answers that people and the measure put into different categories, the farthest apart first."""
    if found is None or not found.off:
        return None
    off = sorted(found.off, key=lambda one: -abs(one.people - one.score))
    rows = [[one.system, one.question, short(one.people), short(one.score)] for one in off[:most]]
    return Table(["system", "question", "people", "measure"], rows)


def _bins(said: Reliability) -> Table:
    rows = [
        [f"{said.system} {one.low:.1f} to {one.high:.1f}", f"{one.n:,}", short(one.confidence), short(one.accuracy)]
        for one in said.bins
    ]
    return Table(["confidence", "answers", "mean confidence", "right"], rows)


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{short(low)}, {short(high)}]"


def _signed(value: float | None) -> str:
    text = short(value)
    return f"+{text}" if value is not None and value > 0 and text != short(0) else text
