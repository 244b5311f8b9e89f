"""Outputs: the files of a run, each complete or not at all, made from its study alone."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.writing import write_whole

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.study import Study
    from karat.report.charts import Drawing

CHARTS = "charts"
ALL = ("html", "markdown", "text", "latex", "csv", "json", "png", "svg")
ENDINGS = {"markdown": ".md", "text": ".txt", "latex": ".tex", "csv": ".csv"}
Say = Callable[[str], None]


def write_study(
    study: Study, folder: Path, outputs: Sequence[str] = ALL, runs: Sequence[Run] = (), say: Say = lambda step: None
) -> list[Path]:
    """The files of a run's folder, but for the manifest and the journal: rows always, the rest as asked for.

    `runs` are needed for trec and liverag.
    """
    from karat.experiment.report import export_to, render_all, render_as
    from karat.report import comparisons, results
    from karat.report.charts import draw, write_charts

    say("writing tables")
    endings = {ENDINGS[name] for name in outputs if name in ENDINGS} | {".parquet"}
    made = render_all(study.evaluation, endings)
    if "latex" in outputs:
        made["report.tex"] = render_as(Path("report.tex"), study.evaluation)
    if "json" in outputs:
        made["results.json"] = results.render(study)
    if "csv" in outputs:
        made["comparisons.csv"] = comparisons.render(study.pairs)
    made["times.parquet"] = _times(study)
    written = []
    for name, content in made.items():
        write_whole(folder / name, content)
        written.append(folder / name)
    for name in outputs:
        if name in ("trec", "liverag"):
            written += export_to(name, study.evaluation, runs, folder)
    if "png" in outputs or "svg" in outputs or "html" in outputs:
        say("drawing charts")
        drawing = draw(study)
        if "png" in outputs or "svg" in outputs:
            written += write_charts(study, folder / CHARTS, drawing=drawing)
        if "html" in outputs:
            say("writing the report")
            write_whole(folder / "report.html", html(study, drawing))
            written.append(folder / "report.html")
    return written


def html(study: Study, drawing: Drawing | None = None) -> str:
    """The study as one page that needs nothing else; `drawing` saves drawing its charts again."""
    from karat.report.charts import draw
    from karat.report.html import render

    return render(study, (drawing or draw(study)).specs)


def write_report(study: Study, target: str | os.PathLike[str], say: Say = lambda step: None) -> list[Path]:
    """A study as one file whose ending names the form (.html, .md, .tex, .csv ...), or as a folder of all of them."""
    from karat.experiment.report import render_as

    path = Path(target)
    if path.suffix.lower() in (".html", ".htm"):
        write_whole(path, html(study))
        return [path]
    if path.suffix and not path.is_dir():
        write_whole(path, render_as(path, study.evaluation, also=(".html",)))
        return [path]
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file. Name a folder, or a file whose ending says what to write.")
    return write_study(study, path, say=say)


def _times(study: Study) -> bytes:
    """Seconds per system and question, apart from the rows, which are the same from run to run."""
    import polars as pl

    systems = [name for name in study.evaluation.scores.systems if name in study.seconds]
    questions = study.evaluation.scores.questions
    table = pl.DataFrame(
        {
            "system": [name for name in systems for _ in questions],
            "question_id": [q for _ in systems for q in questions],
            "seconds": [value for name in systems for value in study.seconds[name]],
        },
        schema={"system": pl.String, "question_id": pl.String, "seconds": pl.Float64},
    )
    out = io.BytesIO()
    table.write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()
