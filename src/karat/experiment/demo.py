"""The built-in demo: documents about a place that does not exist, questions on them, systems that search them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.experiment.system import System, SystemSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karat.core.types import TestSet
    from karat.experiment.report import Report

SYSTEMS = (SystemSettings("bm25"), SystemSettings("dense"), SystemSettings(), SystemSettings(fusion="rrf"))
DEPTH = 20
MEASURES = ("Recall@{1,5,10}", "Hit@5", "MRR", "nDCG@10")
HALF = "test"  # what is tuned is tuned on the other half


@contextmanager
def demo_files() -> Iterator[Path]:
    """The folder with the demo's documents (`docs`) and its questions (`questions.jsonl`)."""
    with as_file(files("karat.experiment") / "_demo") as folder:
        yield folder


def demo(progress: Callable[[str], None] | None = None) -> Report:
    """Index the demo's documents, search them in four ways, and score that on the test half of the questions."""
    from karat.core.evaluation import Note, Taken
    from karat.experiment.index import index
    from karat.experiment.report import Report
    from karat.experiment.score import Choices, evaluate, resolved
    from karat.files import read_testset

    say = progress or (lambda step: None)
    with demo_files() as folder, TemporaryDirectory() as scratch:
        say("indexing the documents")
        made = index(folder / "docs", Path(scratch) / "demo.index")
        whole, taken = read_testset(folder / "questions.jsonl")
        testset = half_of(whole, HALF)
        runs = []
        for settings in SYSTEMS:
            say(f"searching by {settings.name}")
            found = System(settings, made).search([q.text for q in testset], DEPTH)
            runs.append(found.run(settings.name, testset.ids))
        choices = Choices(MEASURES, by=("kind",))
        corpus = made.about["corpus"]
        inputs = (
            Taken("docs", "index", "{docs} documents, {pages} pages, {chunks} chunks".format(**corpus)),
            Taken(
                "questions.jsonl", taken.format, f"{len(whole)} questions, of which the {len(testset)} of the test half"
            ),
        )
        notes = (Note("info", "nothing was tuned on these questions: tuning is for the other half, `dev`."),)
        return Report(
            evaluate(testset, runs, choices, say, inputs, notes, resolved(testset, made, choices, say)), runs, choices
        )


def half_of(testset: TestSet, half: str) -> TestSet:
    """The questions of one half of the demo's test set."""
    from karat.core.types import TestSet

    return TestSet([q for q in testset if q.tags.get("half") == half], name=f"{testset.name} ({half})")


def write_demo(target: str | os.PathLike[str]) -> Path:
    """Copy the demo's documents and questions, to try the other commands on."""
    path = Path(target)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} exists and is not an empty folder. Name a new one.")
    with demo_files() as folder:
        shutil.copytree(folder / "docs", path / "docs")
        shutil.copy(folder / "questions.jsonl", path / "questions.jsonl")
    return path
