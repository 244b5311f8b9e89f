"""Outputs: the files of a run, each complete or not at all, made from its study alone."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.writing import write_whole

if TYPE_CHECKING:
    from karat.core.study import Study

CHARTS = "charts"
Say = Callable[[str], None]


def write_study(study: Study, folder: Path, say: Say = lambda step: None) -> list[Path]:
    """Every file of a run's folder but the manifest and the journal."""
    from karat.experiment.report import render_all
    from karat.report import comparisons

    say("writing tables")
    made: dict[str, str | bytes] = render_all(study.evaluation)
    made["comparisons.csv"] = comparisons.render(study.pairs)
    made["times.parquet"] = _times(study)
    written = []
    for name, content in made.items():
        write_whole(folder / name, content)
        written.append(folder / name)
    say("drawing charts")
    written += draw(study, folder / CHARTS)
    say("writing the report")
    write_whole(folder / "report.html", html(study))
    return [*written, folder / "report.html"]


def draw(study: Study, folder: Path) -> list[Path]:
    """The charts of a study as PNG and SVG."""
    from karat.report.charts import write_charts

    return write_charts(study, folder)


def html(study: Study) -> str:
    """The study as one page that needs nothing else."""
    from karat.report.charts import chart_specs
    from karat.report.html import render

    return render(study, chart_specs(study))


def write_report(study: Study, target: str | os.PathLike[str], say: Say = lambda step: None) -> list[Path]:
    """A study as one file whose ending names the form (.html, .md, .tex, .csv ...), or as a folder of all of them."""
    from karat.experiment.report import render_as

    path = Path(target)
    if path.suffix.lower() in (".html", ".htm"):
        write_whole(path, html(study))
        return [path]
    if path.suffix and not path.is_dir():
        write_whole(path, render_as(path, study.evaluation))
        return [path]
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file. Name a folder, or a file whose ending says what to write.")
    return write_study(study, path, say)


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
