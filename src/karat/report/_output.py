"""Output: what a renderer registers, so that `-o` finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from karat.core.registry import Registry, instance_of
from karat.io.writing import Content

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation
    from karat.results.study import Study

    Render = Callable[[Evaluation], Content]


@dataclass(frozen=True)
class Output:
    """The ending that names a format, what `-o file.ending` holds, and the files that `-o folder` gets of it.

    `of_study` makes the file of a run, where that says more than its evaluation.
    """

    ending: str
    whole: Render
    files: Mapping[str, Render] = field(default_factory=dict)
    of_study: Callable[[Study], Content] | None = None


OUTPUTS = Registry("report", ("karat.report.outputs",), "karat.reports", instance_of(Output, "OUTPUT"))
