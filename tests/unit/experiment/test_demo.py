import json
from importlib.resources import files
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

import karat
from karat.core.errors import UsageError
from karat.core.scores import Status
from karat.experiment.demo import half_of, write_demo
from karat.experiment.outputs import html
from karat.experiment.store import open_run
from karat.report import objects
from karat.report.build.study import document
from karat.report.render import console
from karat.results.serial import load_study


@pytest.fixture(scope="module")
def finished(demo_run):
    """The demo's run, as it was stored."""
    path = demo_run.folder / json.loads(demo_run.out)["folder"]
    return SimpleNamespace(study=load_study(path), folder=open_run(path))


def test_the_demo_compares_twelve_systems_on_the_test_half_alone(finished):
    study = finished.study
    assert len(study.configurations) == 12
    assert (study.evaluation.scores.status != Status.failed).all()
    assert {q.tags["half"] for q in study.evaluation.testset} == {"test"}
    assert len(study.evaluation.testset) == 80
    told = console.render(document(study, str(finished.folder.path)))
    assert "80 selected (half=test)" in " ".join(told.split())
    assert "report.html" in told
    assert study.choice.best.low < study.choice.best.mean < study.choice.best.high
    assert all(0.3 < cell.mean < 1 for cell in study.choice.cells)


def test_the_demo_is_not_trivial(finished):
    summaries = finished.study.evaluation.summaries
    means = {s.value: s.mean for s in summaries if (s.system, s.measure) == ("pure_sparse", "Recall@5")}
    assert means["paraphrase"] < 0.6
    assert means["scenario"] < 0.6


def test_every_question_that_fails_has_one_label(finished):
    study = finished.study
    column = [m.name for m in study.evaluation.scores.measures].index("Recall@5")
    for s, system in enumerate(study.evaluation.scores.systems):
        values = study.evaluation.scores.values[s, :, column]
        missing = {q for q, v in zip(study.evaluation.scores.questions, values, strict=True) if v < 1}
        failed = [f.question for f in study.failures if f.system == system]
        assert sorted(failed) == sorted(missing)
        gains = sum(c.gain for c in study.failure_counts if c.system == system)
        assert gains == pytest.approx(1 - np.nanmean(values))


FILES = {
    "manifest.json", "journal.jsonl", "rows.parquet", "times.parquet", "rows.csv", "summary.csv", "comparisons.csv",
    "results.json", "report.html", "report.md", "report.txt", "charts", "study.json.gz",
}  # fmt: skip


def test_the_demo_writes_every_file_of_a_run(finished):
    assert {p.name for p in finished.folder.path.iterdir()} - {".lock"} == FILES
    charts = {p.name for p in (finished.folder.path / "charts").iterdir()}
    for name in (
        "1_retrieval_methods_comparison",
        "2_alpha_sensitivity",
        "3_topk_analysis",
        "4_comprehensive_comparison",
        "5_radar_chart",
    ):
        assert {f"{name}.png", f"{name}.svg"} <= charts


def test_results_are_as_their_schema_says(finished):
    schema = json.loads((files("karat.report") / "results.schema.json").read_text(encoding="utf-8"))
    made = json.loads((finished.folder.path / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(made, schema)
    assert len(made["systems"]) == 12
    question = next(q for q in made["systems"][0]["questions"] if q["failure"])
    assert question["scores"]["Recall@5"] < 1
    unanswerable = next(q for q in made["systems"][0]["questions"] if q["scores"]["Recall@5"] is None)
    assert "no relevant gold" in unanswerable["reasons"]["Recall@5"]


def test_a_study_that_was_stored_gives_the_same_report(finished, demo_run):
    assert objects.study(finished.study, json.loads(demo_run.out)["folder"]) == demo_run.out.rstrip("\n")
    assert html(finished.study) == (finished.folder.path / "report.html").read_text(encoding="utf-8")


def test_halves_part_the_questions(tmp_path):
    path = write_demo(tmp_path / "demo")
    testset = karat.load_testset(path / "questions.jsonl")
    halves = [half_of(testset, half).ids for half in ("dev", "test")]
    assert sorted(halves[0] + halves[1]) == sorted(testset.ids)
    assert (path / "docs" / "handbook.pdf").stat().st_size > 10_000
    with pytest.raises(UsageError, match="not an empty folder"):
        write_demo(tmp_path / "demo")


@pytest.mark.slow
def test_the_gold_of_the_demo_is_all_in_its_documents(tmp_path):
    path = write_demo(tmp_path / "demo")
    index = karat.index(path / "docs", tmp_path / "demo.index", engines="bm25")
    checked = karat.check(path / "questions.jsonl", index)
    assert not checked.broken
    assert checked.reach.reached == checked.reach.units
