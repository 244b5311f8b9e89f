"""Benchmarked: a benchmark as tables on the screen, as text, Markdown or HTML, and as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from karat.core.benchmark import MODES
from karat.core.errors import UsageError
from karat.report._escape import clean, markdown, surrogates
from karat.report._grid import Cell, Row, grids, listing, texts, title
from karat.report._numbers import short
from karat.report._screen import as_text, put
from karat.report.json import finite

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.benchmark import Benchmark, Expectation
    from karat.core.evaluation import Summary

FORMAT = 1
SOURCE = "the rag-benchmark document"
SIMILARITY, WORDS = "SemanticSimilarity", "TokenF1"
READINGS = ((0.85, "high quality"), (0.80, "production-grade"))
_ENDINGS = (".json", ".txt", ".md", ".html")
_COUNTS = ("mean", "low", "high", "n", "n_undefined", "n_failed")


@dataclass(frozen=True)
class _Table:
    name: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[Row]
    note: str = ""


def show(found: Benchmark, stream: TextIO, *, output: str | None = None, quiet: bool = False) -> None:
    """Write the tables to a stream; `quiet` leaves out where things stand."""
    put(lambda width: _blocks(found, width, output, quiet), stream)


def render(found: Benchmark) -> str:
    """The same as plain text."""
    return as_text(lambda width: _blocks(found, width, None, False))


def format_of(path: str) -> str:
    """The ending of a file that names the format to write."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(f"{path}: the ending does not say what to write. Use one of {', '.join(_ENDINGS)}.")
    return ending


def written(found: Benchmark, path: str) -> str:
    """The report in the format that a file's ending names."""
    make = {".json": as_json, ".txt": render, ".md": as_markdown, ".html": as_html}
    return make[format_of(path)](found)


def as_json(found: Benchmark, indent: int | None = 2) -> str:
    """One object: every figure with its n and interval, what is expected, what was spent, and where it comes from."""
    return json.dumps(document(found), indent=indent, allow_nan=False) + "\n"


def document(found: Benchmark) -> dict[str, Any]:
    """The object itself."""
    testset = found.study.evaluation.testset
    made: dict[str, Any] = {
        "format": FORMAT,
        "testset": {
            "path": found.paths["testset"],
            "digest": testset.digest,
            "version": testset.version,
            "questions": len(testset),
            "kinds": dict(found.kinds),
            "reused": found.generated is None,
        },
        "eval_mode": found.eval_mode,
        "settings": dict(found.settings),
        "generated": found.generated,
        "retrieval": list(_retrieval(found)),
        "end_to_end": _end_to_end(found),
        "expectations": [
            {
                "mode": one.mode,
                "measure": one.measure,
                "low": one.low,
                "high": one.high,
                "source": SOURCE,
                "found": {s.system: s.mean for s in _of(found, "mode", one.mode, one.measure)},
            }
            for one in found.expectations
        ],
        "models": [dict(one) for one in found.models],
        "paths": dict(found.paths),
        "notes": [*found.notes, *(note.text for note in found.study.evaluation.notes)],
    }
    plain: dict[str, Any] = finite(made)
    return plain


def _retrieval(found: Benchmark) -> Iterator[dict[str, Any]]:
    """A row for each slice value and system, with every measure of retrieval at every cut-off."""
    names = {m.name for m in found.study.evaluation.scores.measures if m.spec.stage == "retrieval"}
    rows: dict[tuple[str | None, str | None, str], dict[str, Any]] = {}
    for one in found.summaries:
        if one.measure in names:
            rows.setdefault((one.slice, one.value, one.system), {})[one.measure] = _plain(one)
    for (slice_, value, system), measures in rows.items():
        yield {"slice": slice_, "value": value, "system": system, "measures": measures}


def _end_to_end(found: Benchmark) -> dict[str, Any] | None:
    if not found.answered:
        return None
    names = [m.name for m in found.study.evaluation.scores.measures if m.spec.stage == "answer"]
    systems = []
    for system in found.study.evaluation.scores.systems:
        measures = {s.measure: _plain(s) for s in _whole(found, system) if s.measure in names}
        similar = next((m for name, m in measures.items() if name.startswith(SIMILARITY)), None)
        if similar is not None:
            similar |= {"floor": _floor(found, system), "reading": reading(similar["mean"])}
        systems.append({"system": system, "measures": measures})
    return {"answered": found.answered, "gold": found.gold, "systems": systems}


def _plain(one: Summary) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _COUNTS}


def _whole(found: Benchmark, system: str) -> list[Summary]:
    return [s for s in found.study.evaluation.summaries if s.system == system and s.slice is None]


def _of(found: Benchmark, slice_: str, value: str, measure: str) -> list[Summary]:
    return [s for s in found.summaries if (s.slice, s.value, s.measure) == (slice_, value, measure)]


def _floor(found: Benchmark, system: str) -> float | None:
    """What the similarity is by chance."""
    scores = found.study.evaluation.scores
    for (s, m), floor in scores.floors.items():
        if scores.systems[s] == system and scores.measures[m].spec.name == SIMILARITY:
            return floor.chance
    return None


def reading(mean: float | None) -> str | None:
    """How the rag-benchmark document reads a mean SemanticSimilarity.

    >>> reading(0.86), reading(0.8), reading(0.7), reading(None)
    ('high quality', 'production-grade', 'below production-grade', None)
    """
    if mean is None:
        return None
    return next((word for least, word in READINGS if mean >= least), "below production-grade")


def _tables(found: Benchmark) -> Iterator[_Table]:
    """Retrieval by mode and kind, what is expected of it, and the answers."""
    scores = found.study.evaluation.scores
    known = {m.name for m in scores.measures}
    recall = "Recall" if f"Recall@{found.cuts[0]}" in known else "Hit"
    for name in (recall, "MRR", "nDCG"):
        yield _by_cut(found, name)
    if found.expectations:
        yield _expected(found, scores.systems)
    if found.answered:
        yield _answers(found, scores.systems)


def _by_cut(found: Benchmark, name: str) -> _Table:
    """A measure at every cut-off: modes first, then kinds where a mode has several or none."""
    rows: list[Row] = []
    for slice_, value in _slices(found):
        columns = [{s.system: s for s in _of(found, slice_, value, f"{name}@{k}")} for k in found.cuts]
        last = len(found.study.evaluation.scores.systems) - 1
        for number, system in enumerate(found.study.evaluation.scores.systems):
            cells = [_cell(column.get(system)) for column in columns]
            n = columns[0][system].n if system in columns[0] else 0
            rows.append(Row(f"{clean(value)}: {clean(system)}", [Cell(f"{n:,}"), *cells], number == last))
    return _Table(f"Retrieval: {name}@k by mode", "questions: system", ["n", *(f"@{k}" for k in found.cuts)], rows)


def _slices(found: Benchmark) -> list[tuple[str, str]]:
    modes = list(dict.fromkeys(s.value for s in found.summaries if s.slice == "mode" and s.value))
    kinds = list(dict.fromkeys(s.value for s in found.summaries if s.slice == "kind" and s.value))
    apart = [k for k in kinds if MODES.get(k.strip().lower()) != k]
    return [*(("mode", mode) for mode in sorted(modes)), *(("kind", kind) for kind in apart)]


def _cell(one: Summary | None) -> Cell:
    if one is None:
        return Cell("–")
    ends = "" if one.low is None or one.high is None else f"[{short(one.low)}, {short(one.high)}]"
    return Cell(short(one.mean), ends)


def _expected(found: Benchmark, systems: Sequence[str]) -> _Table:
    rows = []
    for one in found.expectations:
        means = {s.system: s.mean for s in _of(found, "mode", one.mode, one.measure)}
        cells = [Cell(short(means.get(name)), _beside(one, means.get(name))) for name in systems]
        rows.append(Row(f"{one.mode}: {one.measure}", [Cell(f"{short(one.low)} to {short(one.high)}"), *cells]))
    note = f"These are the expectations of {SOURCE}, of its own documents; its Recall@k is Hit@k here."
    return _Table(f"Expected by {SOURCE}", "mode", ["expected", *map(clean, systems)], rows, note)


def _beside(one: Expectation, mean: float | None) -> str:
    if mean is None:
        return ""
    return "below" if mean < one.low else "above" if mean > one.high else "within"


def _answers(found: Benchmark, systems: Sequence[str]) -> _Table:
    measures = [m for m in found.study.evaluation.scores.measures if m.spec.name in (SIMILARITY, WORDS)]
    rows = []
    for system in systems:
        means = {s.measure: s for s in _whole(found, system)}
        cells = [_cell(means.get(m.name)) for m in measures]
        similar = next((means[m.name] for m in measures if m.spec.name == SIMILARITY and m.name in means), None)
        n = max((means[m.name].n for m in measures if m.name in means), default=0)
        told = reading(similar.mean if similar is not None else None) or "–"
        rows.append(Row(clean(system), [Cell(f"{n:,}"), *cells, Cell(short(_floor(found, system))), Cell(told)]))
    by = found.settings.get("answers_by")
    note = (
        f"{found.answered:,} questions over {found.gold:,} pieces of gold, answered by {by}. The reading of similarity "
        f"is {SOURCE}'s (.8 production-grade, .85 high quality), made with its own embedder; chance is what answers "
        "have in common with the references of other questions."
    )
    columns = ["n", *(m.name for m in measures), "chance", "reading"]
    return _Table("End to end", "system", columns, rows, note)


def _facts(found: Benchmark, output: str | None = None) -> Iterator[tuple[str, str]]:
    testset = found.study.evaluation.testset
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in found.kinds.items())
    version = f", version {testset.version}" if testset.version else ""
    path = found.paths["testset"]
    yield "test set", f"{path}: {len(testset):,} questions ({kinds}){version}, digest {testset.digest[:12]}"
    if found.generated is None:
        yield "", "it stood, and was used as it is; --regenerate makes it anew"
    else:
        made, tried = sum(found.generated["accepted"].values()), found.generated["tried"]
        yield "", f"made from {found.generated['chunks']:,} chunks: {tried:,} drafts tried, {made:,} accepted"
    for model in found.models:
        cost = model.get("cost_usd")
        spent = f", {cost:.4f} USD" if isinstance(cost, float) else ""
        yield "model", f"{model.get('model')}: {model.get('calls', 0):,} calls{spent}"
    yield "run", found.paths["run"]
    if output is not None:
        yield "report", output


def _notes(found: Benchmark) -> list[str]:
    warned = [note.text for note in found.study.evaluation.notes if note.level == "warning"]
    return [*found.notes, *(found.generated or {}).get("notes", ()), *warned]


def _blocks(found: Benchmark, width: int, output: str | None, quiet: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield listing(*((head, clean(text)) for head, text in _facts(found, output)))
    for table in _tables(found):
        yield title(table.name)
        yield from grids(table.corner, table.columns, table.rows, width)
        if table.note and not quiet:
            yield from texts([table.note])
    if notes := _notes(found):
        yield title("Worth knowing")
        yield from texts([clean(note) for note in notes])


def as_markdown(found: Benchmark) -> str:
    """The same as Markdown."""
    lines = ["# Benchmark", ""]
    lines += [
        f"- {markdown(head)}: {markdown(text)}" if head else f"- {markdown(text)}" for head, text in _facts(found)
    ]
    for table in _tables(found):
        lines += ["", f"## {markdown(table.name)}", ""]
        lines.append("| " + " | ".join(map(markdown, (table.corner, *table.columns))) + " |")
        lines.append("|---" * (len(table.columns) + 1) + "|")
        lines += ["| " + " | ".join(map(markdown, (row.label, *map(_flat, row.cells)))) + " |" for row in table.rows]
        lines += ["", markdown(table.note)] if table.note else []
    if notes := _notes(found):
        lines += ["", "## Worth knowing", "", *(f"- {markdown(note)}" for note in notes)]
    return surrogates("\n".join(lines) + "\n")


def as_html(found: Benchmark) -> str:
    """The same as one page without scripts and without anything from elsewhere."""
    parts = [f"<p>{_safe(f'{head}: {text}' if head else text)}</p>" for head, text in _facts(found)]
    for table in _tables(found):
        head = "".join(f"<th>{_safe(name)}</th>" for name in (table.corner, *table.columns))
        rows = "".join(
            "<tr>" + "".join(f"<td>{_safe(text)}</td>" for text in (row.label, *map(_flat, row.cells))) + "</tr>"
            for row in table.rows
        )
        parts.append(f"<h2>{_safe(table.name)}</h2><table><tr>{head}</tr>{rows}</table>")
        parts += [f"<p>{_safe(table.note)}</p>"] if table.note else []
    if notes := _notes(found):
        parts.append("<h2>Worth knowing</h2><ul>" + "".join(f"<li>{_safe(note)}</li>" for note in notes) + "</ul>")
    style = (
        "body{font:15px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Benchmark</title>'
        f"<style>{style}</style></head><body><h1>Benchmark</h1>{''.join(parts)}</body></html>\n"
    )


def _flat(cell: Cell) -> str:
    return f"{cell.main} {cell.rest}".strip()


def _safe(text: str) -> str:
    return escape(surrogates(clean(text)))
