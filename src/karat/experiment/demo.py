"""The built-in demo: a small test set about a place that does not exist, and three runs over it."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from karat.experiment.score import score

if TYPE_CHECKING:
    from karat.experiment.report import Report

RUNS = ("bm25.run", "dense.run", "hybrid.jsonl")


def demo() -> Report:
    """Score the demo's runs by kind of question."""
    with as_file(files("karat.experiment") / "_demo") as folder:
        return score(folder / "qa.jsonl", [folder / name for name in RUNS], by="kind")
