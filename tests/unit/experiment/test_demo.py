import pytest

import karat
from karat.core.errors import UsageError
from karat.experiment.demo import demo, half_of, write_demo


@pytest.fixture(scope="module")
def report():
    return demo()


def test_the_demo_scores_four_systems_on_the_test_half_alone(report):
    assert report.systems == ("bm25", "dense", "hybrid alpha=0.5", "rrf")
    assert report.n_failed == 0
    testset = report.evaluation.testset
    assert {q.tags["half"] for q in testset} == {"test"}
    assert len(testset) == 80
    for system in report.systems:
        assert 0.3 < report.mean("Recall@5", system=system) < 1
        assert report.evaluation.verdicts[system]


def test_the_demo_is_not_trivial(report):
    rows = report.by("kind").rows(named=True)
    means = {r["kind"]: r["mean"] for r in rows if (r["system"], r["measure"]) == ("bm25", "Recall@5")}
    assert means["paraphrase"] < 0.6
    assert means["scenario"] < 0.6


def test_the_demo_says_that_nothing_was_tuned_on_these_questions(report):
    assert any("nothing was tuned" in note.text for note in report.evaluation.notes)


def test_halves_part_the_questions(tmp_path):
    path = write_demo(tmp_path / "demo")
    testset = karat.load_testset(path / "questions.jsonl")
    halves = [half_of(testset, half).ids for half in ("dev", "test")]
    assert sorted(halves[0] + halves[1]) == sorted(testset.ids)
    assert (path / "docs" / "handbook.pdf").stat().st_size > 10_000
    with pytest.raises(UsageError, match="not an empty folder"):
        write_demo(tmp_path / "demo")


def test_the_gold_of_the_demo_is_all_in_its_documents(tmp_path):
    path = write_demo(tmp_path / "demo")
    index = karat.index(path / "docs", tmp_path / "demo.index", engines="bm25")
    checkup = karat.check(path / "questions.jsonl", index)
    assert not checkup.broken
    assert checkup.reach.reached == checkup.reach.units
