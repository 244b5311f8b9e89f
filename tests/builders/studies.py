"""Studies for tests: of an evaluation, or of scores that are given."""

import numpy as np

from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.core.types import Question, TestSet
from karat.results.evaluation import Evaluation
from karat.results.study import Choice, Configuration, Study


def study_with(evaluation, **fields):
    """A study of an evaluation: each system as it is called, the first measure the main one; `fields` say more."""
    scores = evaluation.scores
    given = {"name": "made", "configurations": tuple(map(Configuration, scores.systems)), "k": 5}
    return Study(evaluation=evaluation, **given | {"main": scores.measures[0].name} | fields)


def study_of(
    values, systems=("a",), measures=("MRR",), *, testset=None, missing=None, details=None, about=None, **fields
):
    """A study of scores, system x question x measure.

    `measures` may be names; `missing` gives status and reason by place, `about` fields of the evaluation.
    """
    measures = parse_all(measures) if isinstance(measures[0], str) else tuple(measures)
    values = np.array(values, np.float64).reshape(len(systems), -1, len(measures))
    status, reasons = np.zeros(values.shape, np.uint8), {}
    for place, (kind, why) in (missing or {}).items():
        status[place], values[place], reasons[place] = kind, np.nan, why
    testset = testset or TestSet([Question(f"q{i}", f"question {i}?") for i in range(values.shape[1])], name="qa")
    scores = Scores(
        tuple(systems), testset.ids, measures, values=values, status=status, reasons=reasons, details=details or {}
    )
    return study_with(Evaluation(**{"testset": testset, "scores": scores, "summaries": ()} | (about or {})), **fields)


def choice_of(best, **fields):
    """A choice of one cell among no others; `fields` say what is otherwise."""
    alone = {"cells": (best,), "equals": (), "beaten": (), "picks": {}}
    unknown = dict.fromkeys(("cross_validated", "optimism", "oracle"))
    return Choice(**{"measure": "F1", "best": best} | alone | unknown | fields)
