"""The list of runs with the change since the run before, and one question of a run."""

import pytest

from karat.core.docs import Chunk
from karat.core.errors import UsageError
from karat.report.build.question import question_document
from karat.report.build.runs import runs_document
from karat.report.document import Detail
from karat.report.objects import question
from karat.report.render import console
from karat.results.study import Configuration, Failure, Study, StudyAnswer, StudyHit


def run(name, mean, digest="a", main="MRR"):
    return {
        "run": name,
        "summary": {"best": "x", "main": main, "mean": mean},
        "inputs": {"testset": {"digest": digest}},
    }


def changes(*runs, most=20):
    (table,) = [block for block in runs_document(runs, "runs", most=most).blocks if hasattr(block, "columns")]
    return [row[-1] for row in table.rows]


def test_a_run_is_compared_with_the_one_before_on_the_same_test_set_by_the_same_measure():
    runs = [run("1", 0.5), run("2", 0.7, "b"), run("3", 0.25), run("4", 0.6, main="Recall@5"), run("5", 0.5)]
    assert changes(*runs) == ["", "", -0.25, "", 0.25]
    assert changes(*runs, most=1) == [0.25]


@pytest.mark.parametrize(
    "damaged", [{"run": "x"}, {"run": "x", "summary": 5, "inputs": []}, run("x", "y"), run("x", None)]
)
def test_a_damaged_run_has_no_change_and_is_passed_over(damaged):
    assert changes(run("1", 0.5), damaged, run("2", 0.75)) == ["", "", 0.25]


@pytest.fixture
def study(make):
    def hit(rank, *holds, **legs):
        return StudyHit(rank, 1 / rank, Chunk(f"c{rank}", "d", "text"), holds=holds, legs=legs)

    return Study(
        "s", evaluation=make(("a", "b", "c")), main="Recall@5", k=1,
        configurations=tuple(map(Configuration, "abc")),
        failures=(Failure("a", "q1", "lost_in_fusion", detail="bm25 has it at rank 1.", leg="bm25", rank=2),),
        hits={
            "a": {"q1": (hit(1, dense=(1, 0.9), bm25=(2, 3.0)), hit(2, "gold of q1", bm25=(1, 4.0)))}, "b": {"q1": ()}
        },
        answers={"a": {"q1": StudyAnswer("a", "q1", "An answer.")}},
    )  # fmt: skip


def shown(study, **options):
    document = question_document(study, question="q1", **options)
    return " ".join(console.render(document, Detail.BRIEF, width=100).split())


def test_a_question_of_a_run(study):
    text = shown(study)
    assert "lost in fusion: bm25 has it at rank 1." in text
    assert "a: first 2 hits ✗ 1. c1 1.0000 engines: dense rank 1 (.9000), bm25 rank 2 (3.0000)" in text
    assert "✓ 2. c2 0.5000 holds gold of q1" in text  # below k, and shown since it is the first with gold
    assert "answer An answer." in text
    assert "b returned no hits." in shown(study, systems=["b"])
    assert "No hits of c are stored." in shown(study, systems=["c"])
    found = question(study, question="q1", systems=["a"])
    assert '"first_gold": 2' in found
    assert '"label": "lost_in_fusion"' in found


def test_what_the_run_does_not_have_is_named(study):
    with pytest.raises(UsageError, match=r"no question 'Q1'. Did you mean q1\? It has 60 questions"):
        question_document(study, question="Q1")
    with pytest.raises(UsageError, match=r"no system 'd'.* It has c, b, a"):
        question_document(study, question="q1", systems=["d"])
