"""Rendering: results in every form that the ending of a file, a folder or `--export` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from karat.core.errors import KaratError, UsageError
from karat.io.writing import Content, write_whole

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.report import Output
    from karat.report.document import Document
    from karat.results.evaluation import Evaluation
    from karat.results.study import Study

    Rendering = Callable[[], Content]

T = TypeVar("T")
EXPORTS = ("liverag", "trec")


def export_to(name: str, evaluation: Evaluation, runs: Sequence[Run], folder: Path, command: str = "") -> list[Path]:
    """Write the tables of LiveRAG ("liverag") or TREC runs ("trec") into a folder; `command` is what was typed."""
    return _export_liverag(evaluation, runs, folder, command) if name == "liverag" else _export_trec(runs, folder)


def _export_liverag(evaluation: Evaluation, runs: Sequence[Run], folder: Path, command: str) -> list[Path]:
    from datetime import UTC, datetime

    from karat.report.liverag import render

    sources = {run.name: run.source for run in runs}
    texts = render(evaluation, results=sources, time=datetime.now(UTC), command=command)
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]


def _export_trec(runs: Sequence[Run], folder: Path) -> list[Path]:
    import re

    from karat.files import write

    ranked = [run for run in runs if run.has_rankings]
    if not ranked:
        raise UsageError("--export trec: the results hold no rankings.")
    safe = [re.sub(r"[^\w.-]+", "_", run.name) for run in ranked]
    names = ["run.trec"] if len(ranked) == 1 else [f"run.{name}.trec" for name in safe]
    if len(set(names)) < len(names):
        names = [f"run.{number}.{name}.trec" for number, name in enumerate(safe, 1)]
    for run, name in zip(ranked, names, strict=True):
        write(run, folder / name, format="trec_run")
    return [folder / name for name in names]


def file_writer(
    path: str | os.PathLike[str], document: Callable[[T], Document], forms: Mapping[str, Callable[[T], Content]]
) -> Callable[[T], None]:
    """What writes a result into this file, by its ending: one of `forms`, else its document as .md or .txt.

    An ending that says nothing is refused at once.
    """
    from karat.report.render import written

    target = Path(path)
    ending = target.suffix.lower()
    endings = sorted({*forms, ".md", ".txt"})
    if ending not in endings or target.is_dir():
        raise UsageError(f"cannot tell a format from {target.name!r}. Endings: {', '.join(endings)}.")
    form = forms.get(ending) or (lambda result: written(document(result), ending))
    return lambda result: write_whole(target, form(result))


def render_as(path: Path, evaluation: Evaluation, study: Study | None = None, also: Sequence[str] = ()) -> Content:
    """An evaluation in the form that the ending of a file name means; `also` are endings that the caller knows."""
    outputs = _by_ending()
    if path.suffix.lower() not in outputs:
        endings = ", ".join(sorted([*outputs, *also]))
        raise UsageError(f"cannot tell a format from {path.name!r}. Endings: {endings}; or name a folder.")
    output = outputs[path.suffix.lower()]
    return output.of_study(study) if study is not None and output.of_study is not None else output.whole(evaluation)


def renderings(evaluation: Evaluation, endings: Collection[str] | None = None) -> dict[str, Rendering]:
    """What makes each file that a folder gets, by name; of some formats only, where their endings are given."""
    return {
        name: partial(render, evaluation)
        for ending, output in _by_ending().items()
        if endings is None or ending in endings
        for name, render in output.files.items()
    }


def _by_ending() -> dict[str, Output]:
    """Every way to write a report, by the ending that names it; two of one ending or file name are refused."""
    from karat.report import OUTPUTS

    outputs: dict[str, Output] = {}
    for output in OUTPUTS:
        taken = [name for other in outputs.values() for name in (other.ending, *other.files)]
        clash = [name for name in (output.ending, *output.files) if name in taken]
        if clash:
            raise KaratError(f"two reports write {clash[0]}. Rename or uninstall the plug-in that brings one of them.")
        outputs[output.ending] = output
    return outputs
