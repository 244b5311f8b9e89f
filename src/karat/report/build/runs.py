"""Runs and versions of test sets: what is stored, in a table or a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from karat.core.text.words import plural
from karat.report.document import Cell, Column, Document, Table, Text, count_columns, facts, text_columns

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def runs_document(runs: Sequence[Mapping[str, Any]], place: str, *, most: int = 20) -> Document:
    """The latest runs, the last one last; `most` 0 shows all. Each has its change against the run before it."""
    if not runs:
        return Document("Runs", [Text(f"There are no runs in {place}. Make one with `karat run` or `karat demo`.")])
    rows = [[*_run(run), change] for run, change in zip(runs, _changes(runs), strict=True)]
    shown = rows[-most:] if most else rows
    hidden = len(rows) - len(shown)
    columns = [*text_columns("run", "status"), *count_columns("systems", "questions")]
    columns += [Column("best"), Column("mean", "score"), Column("change", "difference")]
    earlier = [Text(f"{plural(hidden, 'earlier run')} not shown: -n 0 shows all.")] if hidden else []
    compared = any(row[-1] is not None and row[-1] != "" for row in shown)
    legend = [Text("change: of the mean, against the run before on the same test set, by the same measure.")]
    return Document("Runs", [*earlier, Table("", columns, shown), *(legend if compared else [])])


def _summary(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a manifest says its run found; it may be damaged."""
    return summary if isinstance(summary := run.get("summary"), Mapping) else {}


def _run(run: Mapping[str, Any]) -> list[Cell]:
    """A row of what a manifest says."""
    summary = _summary(run)
    best = f"{summary.get('best', '')} by {summary.get('main', '')}" if summary.get("best") else ""
    mean = summary.get("mean")
    sizes = [str(summary.get(name, "")) for name in ("systems", "questions")]
    return [str(run["run"]), str(run.get("status", "?")), *sizes, best, mean if isinstance(mean, float) else ""]


def _changes(runs: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """How far each run's mean is from that of the run before on the same test set, by the same measure."""
    last: dict[tuple[str, str], float] = {}
    changes: list[Cell] = []
    for run in runs:
        inputs, summary = run.get("inputs"), _summary(run)
        testset = inputs.get("testset") if isinstance(inputs, Mapping) else None
        digest = testset.get("digest") if isinstance(testset, Mapping) else None
        mean, key = summary.get("mean"), (str(digest), str(summary.get("main")))
        if digest is None or not isinstance(mean, float):
            changes.append("")
            continue
        changes.append(mean - last[key] if key in last else "")
        last[key] = mean
    return changes


def frozen_document(frozen: DataclassInstance, path: str, note: str, *, stood: bool) -> Document:
    """What a test set is frozen as; `stood`: it was frozen so before."""
    return Document("Frozen test set", [facts(_version(asdict(frozen), path, note, stood))])


def _version(frozen: Mapping[str, Any], path: str, note: str, stood: bool) -> Iterator[tuple[str, str]]:
    yield "test set", f"{path}: {plural(frozen['questions'], 'question')}"
    yield "version", f"{frozen['version']}{', as it was frozen before: nothing changed' if stood else ''}"
    yield "digest", frozen["digest"]
    for name, field in (("kinds", "kinds"), ("made by", "made_by")):
        if frozen[field]:
            yield name, ", ".join(f"{key} {count:,}" for key, count in frozen[field].items())
    if frozen["earlier"]:
        yield "before", ", ".join(f"{version} ({digest[:12]})" for version, digest in frozen["earlier"].items())
    if not stood:
        yield "written", note
