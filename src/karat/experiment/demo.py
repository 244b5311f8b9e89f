"""The built-in demo: documents about a place that does not exist, questions on them, systems that search them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.core.types import TestSet
    from karat.experiment.finished import FinishedRun

HALF = "test"  # what is tuned is tuned on the other half
SPEC = f"""\
name: demo
corpus: docs
testset: questions.jsonl
where: {{half: {HALF}}}
systems: [pure_dense, dense_heavy, balanced, sparse_heavy, pure_sparse, rrf]
sweep: {{alpha: "0:1:0.1"}}
k: [3, 5, 10]
main: Recall@5
by: [kind]
"""


@contextmanager
def demo_files() -> Iterator[Path]:
    """The folder with the demo's documents (`docs`) and its questions (`questions.jsonl`)."""
    with as_file(files("karat.experiment") / "_demo") as folder:
        yield folder


def demo(
    runs_dir: str | os.PathLike[str] = "runs",
    *,
    command: Sequence[str] = (),
    say: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> FinishedRun:
    """Index the demo's documents, search them in many ways, and compare these on the test half of the questions."""
    from karat.experiment.run import run
    from karat.experiment.spec import spec_of

    with demo_files() as folder:
        return run(spec_of(SPEC, folder, "the demo's karat.yaml"), runs_dir=runs_dir, command=command, say=say)


def half_of(testset: TestSet, half: str) -> TestSet:
    """The questions of one half of the demo's test set."""
    chosen = [q for q in testset if q.tags.get("half") == half]
    return testset.with_questions(chosen, f"{testset.name} ({half})")


def write_demo(target: str | os.PathLike[str]) -> Path:
    """Copy the demo's documents and questions, with a karat.yaml that compares systems on them."""
    path = Path(target)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path} exists and is not an empty folder. Name a new one.")
    with demo_files() as folder:
        shutil.copytree(folder / "docs", path / "docs")
        for name in ("questions.jsonl", "questions.jsonl.frozen.json"):
            shutil.copy(folder / name, path / name)
    (path / "karat.yaml").write_text(SPEC, encoding="utf-8")
    return path
