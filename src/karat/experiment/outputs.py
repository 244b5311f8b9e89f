"""Outputs: the files of a run, each complete or not at all, made from its study alone."""

from __future__ import annotations

import io
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.core.progress import Progress
from karat.experiment._costs import study_costs
from karat.experiment.answering import rows_of
from karat.io.writing import write_whole
from karat.report.charts import Drawing, draw, write_charts
from karat.results.evaluation import Evaluation, Note

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.experiment.rendering import Rendering
    from karat.results.study import Study

CHARTS, ANSWERS, JUDGEMENTS = "charts", "answers.jsonl", "judgements.jsonl"
ALL = ("html", "markdown", "text", "latex", "csv", "json", "png", "svg")
ENDINGS = {"markdown": ".md", "text": ".txt", "latex": ".tex", "csv": ".csv"}


def write_study(
    study: Study,
    folder: Path,
    outputs: Sequence[str] = ALL,
    runs: Sequence[Run] = (),
    say: Progress = lambda what, done, total: None,
) -> list[Path]:
    """The files of a run's folder, but for the manifest and the journal: rows always, the rest as asked for.

    `runs` are needed for answers, trec and liverag. Judgements are what measures can show for their scores.
    """
    from karat.experiment.rendering import export_to

    tables = _tables(study, outputs, runs)
    for place, (name, render) in enumerate(tables.items()):
        say("writing tables", place, len(tables))
        write_whole(folder / name, render())
    say("writing tables", len(tables), len(tables))
    written = [folder / name for name in tables]
    for name in outputs:
        if name in ("trec", "liverag"):
            command = shlex.join(study.manifest.get("command", ()))
            written += export_to(name, study.evaluation, runs, folder, command)
    if "png" in outputs or "svg" in outputs or "html" in outputs:
        drawing = draw(study, partial(say, "drawing charts"))
        study = _with_broken(study, drawing)
        if "png" in outputs or "svg" in outputs:
            charted = partial(say, "writing charts")
            written += write_charts(study, folder / CHARTS, charted, drawing=drawing)
        if "html" in outputs:
            say("writing the report", 0, 1)
            write_whole(folder / "report.html", html(study, drawing))
            written.append(folder / "report.html")
    return written


def _tables(study: Study, outputs: Sequence[str], runs: Sequence[Run]) -> dict[str, Rendering]:
    """What is written besides charts and the page, by file name."""
    from karat.experiment.rendering import render_as, renderings
    from karat.report import results, tables
    from karat.report.outputs.csv import summary

    endings = {ENDINGS[name] for name in outputs if name in ENDINGS} | {".parquet"}
    settings = {c.name: c.settings for c in study.configurations}
    files = renderings(replace(_with_failures(study), settings=settings, seconds=study.seconds), endings)
    if "latex" in outputs:
        files["report.tex"] = lambda: render_as(Path("report.tex"), study.evaluation)
    if "json" in outputs:
        files["results.json"] = lambda: results.parts(study)
    if "csv" in outputs:
        timeless = replace(study.evaluation, usage=())  # summary.csv is the same from run to run
        files |= {"summary.csv": partial(summary, timeless)}
        files["comparisons.csv"] = lambda: tables.pairs(study.pairs)
    files["times.parquet"] = lambda: _times(study)
    if any(run.has_answers for run in runs):
        files[ANSWERS] = lambda: _lines(rows_of(runs, study.evaluation.testset))
    if study.evaluation.scores.details:
        files[JUDGEMENTS] = lambda: _lines(_judgements(study))
    return files


def _with_failures(study: Study) -> Evaluation:
    """The evaluation with the label of each question that fails."""
    failures: dict[str, dict[str, str]] = {}
    for failure in study.failures:
        failures.setdefault(failure.system, {})[failure.question] = failure.label
    return replace(study.evaluation, failures=failures)


def _with_broken(study: Study, drawing: Drawing) -> Study:
    """The study with a note on each chart that raised when it was drawn, for the report to show."""
    notes = tuple(
        Note("warning", f"The chart {name} {missing.reason}")
        for name, missing in drawing.missing.items()
        if missing.broken
    )
    return replace(study, evaluation=replace(study.evaluation, notes=(*study.evaluation.notes, *notes)))


def html(study: Study, drawing: Drawing | None = None) -> str:
    """The study as one page that needs nothing else; `drawing` saves drawing its charts again."""
    from karat.report.build.study import document
    from karat.report.render.html import render

    return render(document(study, charts=(drawing or draw(study)).specs))


def write_report(
    study: Study, target: str | os.PathLike[str], say: Progress = lambda what, done, total: None
) -> list[Path]:
    """A study as one file whose ending names the form (.html, .md, .tex, .csv ...), or as a folder of all of them."""
    from karat.experiment.rendering import render_as

    path = Path(target)
    if path.suffix.lower() in (".html", ".htm"):
        write_whole(path, html(study))
        return [path]
    if path.suffix and not path.is_dir():
        write_whole(path, render_as(path, _with_failures(study), study, also=(".html",)))
        return [path]
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file. Name a folder, or a file whose ending says what to write.")
    return write_study(study, path, say=say)


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _judgements(study: Study) -> Iterator[dict[str, Any]]:
    """Every score that can be shown for more than its value: who judged what, and why."""
    scores = study.evaluation.scores
    for (s, q, m), shown in sorted(scores.details.items()):
        row = {"system": scores.systems[s], "id": scores.questions[q], "measure": scores.measures[m].name}
        yield {**row, "value": scores.value(s, q, m), "problem": scores.reason(s, q, m), **shown}


def _times(study: Study) -> bytes:
    """Seconds, tokens and cost per system and question, apart from the rows, which are the same from run to run."""
    import polars as pl

    questions = study.evaluation.scores.questions
    systems = [name for name in study.evaluation.scores.systems if name in study.seconds or name in study.answers]
    pairs = [(name, q) for name in systems for q in questions]
    answers = [study.answers.get(name, {}).get(q) for name, q in pairs]
    nothing, costs = [None] * len(questions), study_costs(study)
    table = pl.DataFrame(
        {
            "system": [name for name, _ in pairs],
            "question_id": [q for _, q in pairs],
            "seconds": [value for name in systems for value in study.seconds.get(name, nothing)],
            "seconds_answer": [a.seconds if a is not None else None for a in answers],
            "seconds_total": [value for name in systems for value in costs[name]["seconds"]],
            "tokens": [a.tokens if a is not None else None for a in answers],
            "cost_usd": [a.cost_usd if a is not None else None for a in answers],
        },
        schema={
            "system": pl.String, "question_id": pl.String, "seconds": pl.Float64, "seconds_answer": pl.Float64,
            "seconds_total": pl.Float64, "tokens": pl.Int64, "cost_usd": pl.Float64,
        },
    )  # fmt: skip
    out = io.BytesIO()
    table.write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()
