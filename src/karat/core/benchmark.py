"""Benchmark: a test set made from documents, searched and answered, as its report shows it. Plain data, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karat.core.evaluation import Summary
from karat.core.study import Study

MODES: Mapping[str, str] = {
    "literal": "literal",
    "paraphrase": "semantic",
    "scenario": "semantic",
    "paraphrased": "semantic",
    "semantic": "semantic",
    "paraphrase_or_scenario": "semantic",
}
"""The mode of evaluation that a kind of question belongs to: semantic ones promise other words than the text's."""

GENERATED = ("literal", "paraphrase", "scenario")
"""The kinds of these that are made for a benchmark."""


@dataclass(frozen=True)
class Expectation:
    """What another document expects of a mean, and where that is said: `low` to `high`, inclusive."""

    mode: str
    measure: str
    low: float
    high: float
    note: str = ""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark. `summaries` are of the slices `mode` and `kind`; `study` is the run as a whole.

    `generated` counts what became of the drafts; None: the test set stood, and was used as it is. `answered` questions
    rest on `gold` pieces of gold; 0: nothing was answered.
    """

    study: Study
    eval_mode: str  # literal, semantic or all
    summaries: tuple[Summary, ...]
    kinds: Mapping[str, int]  # questions of each kind that were asked
    cuts: tuple[int, ...]
    settings: Mapping[str, Any]  # samples, seed, answer limit, chunk, embedder, systems ...
    paths: Mapping[str, str]  # test set, run, index
    generated: Mapping[str, Any] | None = None
    answered: int = 0
    gold: int = 0
    models: tuple[Mapping[str, Any], ...] = ()  # what each chat model was asked and what that cost
    expectations: tuple[Expectation, ...] = ()
    notes: tuple[str, ...] = field(default=())
