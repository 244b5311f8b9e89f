"""What a run's folder is given when something of it cannot be made."""

from studies import study_of

from karat.experiment.outputs import write_study
from karat.report.charts import Drawing, Missing


def test_a_chart_that_is_broken_is_told_in_the_report(tmp_path, monkeypatch):
    """One that a study has nothing for is not."""
    missing = {"9_torn": Missing("could not be drawn (torn).", broken=True), "8_bare": Missing("there is no sweep.")}
    monkeypatch.setattr("karat.experiment.outputs.draw", lambda study, say: Drawing({}, missing))
    write_study(study_of([0.5]), tmp_path, ["html"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The chart 9_torn could not be drawn (torn)." in page
    assert "8_bare" not in page
