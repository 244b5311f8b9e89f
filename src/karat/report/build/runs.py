"""Runs, baselines and versions of test sets: what is stored, in a table or a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from karat.core.text.words import plural
from karat.report.document import Cell, Column, Document, Table, Text, count_columns, facts, text_columns

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from karat.results.gating import Baseline


def runs_document(runs: Sequence[Mapping[str, Any]], place: str, *, most: int = 20) -> Document:
    """The latest runs, the last one last; `most` 0 shows all."""
    if not runs:
        return Document("Runs", [Text(f"There are no runs in {place}. Make one with `karat run`.")])
    shown = runs[-most:] if most else runs
    hidden = len(runs) - len(shown)
    columns = [*text_columns("run", "status"), *count_columns("systems", "questions")]
    columns += [Column("best"), Column("mean", "score")]
    earlier = [Text(f"{plural(hidden, 'earlier run')} not shown: -n 0 shows all.")] if hidden else []
    return Document("Runs", [*earlier, Table("", columns, [_run(run) for run in shown])])


def _run(run: Mapping[str, Any]) -> list[Cell]:
    """A row of what a manifest says, which may be damaged."""
    summary = stored if isinstance(stored := run.get("summary"), Mapping) else {}
    best = f"{summary.get('best', '')} by {summary.get('main', '')}" if summary.get("best") else ""
    mean = summary.get("mean")
    sizes = [str(summary.get(name, "")) for name in ("systems", "questions")]
    return [str(run["run"]), str(run.get("status", "?")), *sizes, best, mean if isinstance(mean, float) else ""]


def baselines_document(baselines: Sequence[tuple[Baseline, str]], place: str) -> Document:
    """Baselines, each with what there is to say of its run."""
    if not baselines:
        return Document(
            "Baselines", [Text(f"There are no baselines in {place}. Set one: `karat baseline set main RUN`.")]
        )
    rows = [(one.name, one.run, one.system or "", one.testset[:12], one.set_at, problem) for one, problem in baselines]
    return Document("Baselines", [Table("", text_columns("baseline", "run", "system", "test set", "set", ""), rows)])


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
