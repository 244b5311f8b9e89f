"""What a run's folder is given when something of it cannot be made."""

import numpy as np

import karat.report.charts
from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.core.types import Question, TestSet
from karat.experiment.outputs import write_study
from karat.report.charts import Drawing, Missing
from karat.results.evaluation import Evaluation
from karat.results.study import Study


def test_a_chart_that_is_broken_is_told_in_the_report(tmp_path, monkeypatch):
    """One that a study has nothing for is not."""
    missing = {"9_torn": Missing("could not be drawn (torn).", broken=True), "8_bare": Missing("there is no sweep.")}
    monkeypatch.setattr(karat.report.charts, "draw", lambda study, say: Drawing({}, missing))
    scores = Scores(
        ("a",),
        ("q1",),
        parse_all(["MRR"]),
        values=np.array([[[0.5]]]),
        status=np.zeros((1, 1, 1), np.uint8),
        reasons={},
        details={},
    )
    study = Study(
        "s",
        evaluation=Evaluation(testset=TestSet([Question("q1")]), scores=scores, summaries=()),
        configurations=(),
        main="MRR",
        k=5,
    )
    write_study(study, tmp_path, ["html"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The chart 9_torn could not be drawn (torn)." in page
    assert "8_bare" not in page
