"""Sufficiency, outcomes and selective accuracy of scored results: from files to tables and JSON."""

import json
from dataclasses import replace

import pytest

import karat
from karat.experiment._answered import answered_of
from karat.experiment.calibrate import calibrate
from karat.files import as_runs, as_testset
from karat.report import objects
from karat.report.build.calibration import document as calibration_document
from karat.report.build.evaluation import document
from karat.report.render import console
from karat.results.serial import load_study, save_study
from karat.results.study import Configuration, Study

DECLINES = "I don't know."
QA = [
    {"id": "q1", "question": "One?", "answers": ["red"], "gold": [{"id": "a"}, {"id": "b"}]},
    {"id": "q2", "question": "Two?", "answers": ["red"], "gold": [{"id": "a"}, {"id": "x", "grade": 0}]},
    {"id": "q3", "question": "Three?", "answers": ["red"], "gold": [{"id": "a"}]},
    {"id": "q4", "question": "Four?", "answerable": False},
]
HITS = [{"id": "a", "text": "ta", "score": 2.0}, {"id": "b", "text": "tb", "score": 1.0}]


def rows(*given, **more):
    """Results of the questions in order: what each says besides its hits."""
    return [{"id": f"q{i}", "retrieved": HITS, **one, **more} for i, one in enumerate(given, 1)]


def sufficient(results, **options):
    report = karat.score(QA, {"s": results}, measures="ContextSufficient", **options)
    scores = report.evaluation.scores
    return [scores.value(0, q, 0) for q in range(len(QA))]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({}, [1, 1, 1, None]),  # nothing is said of contexts: all hits
        ({"context_ids": ["a"]}, [0, 1, 1, None]),
        ({"context_ids": ["b", "a"]}, [1, 1, 1, None]),
        ({"context_ids": []}, [0, 0, 0, None]),
        ({"context_ids": ["stranger"]}, [None] * 4),  # no hit
        ({"contexts": ["ta"]}, [0, 1, 1, None]),  # the text of a hit
        ({"contexts": ["ta", "another text"]}, [None] * 4),
    ],
)
def test_contexts_are_matched_as_the_hits_they_are(given, values):
    assert sufficient(rows(*[{"answer": "red", **given}] * 4)) == values


def test_the_grade_from_which_gold_is_relevant_counts():
    qa = [{**QA[0], "gold": [{"id": "a", "grade": 2}, {"id": "b", "grade": 1}]}]
    results = rows({"answer": "red", "context_ids": ["a"]})
    for rel, value in ((1, 0), (2, 1)):
        report = karat.score(qa, {"s": results}, measures="ContextSufficient", matching={"rel": rel})
        assert report.evaluation.scores.value(0, 0, 0) == value


def test_failed_rows_and_systems_without_hits_are_not_known():
    results = rows({"answer": "red"}, {"answer_error": "timeout"}, {"answer": "red"}, {"answer": DECLINES})
    assert sufficient(results) == [1, None, 1, None]
    bare = [{"id": "q1", "answer": "red", "contexts": ["ta"]}]
    report = karat.score(QA[:1], {"s": bare}, measures="ContextSufficient")
    assert report.evaluation.scores.value(0, 0, 0) is None


MIXED = rows(
    {"answer": "red", "confidence": 0.9},
    {"answer": "blue", "confidence": 0.9},
    {"answer": DECLINES, "context_ids": []},
    {"answer": DECLINES},
)


def scored(results=MIXED, measures=("CRAG", "ContextSufficient"), **more):
    return karat.score(QA, {"s": results}, measures=list(measures), **more).evaluation


def counts(evaluation):
    (table,) = evaluation.outcomes
    return {row.sufficient: [one.n for one in row.shares] for row in table.rows}


def test_the_table_is_there_where_both_are_computed():
    found = scored()
    assert counts(found) == {True: [1, 0, 1], False: [0, 1, 0], None: [1, 0, 0]}
    assert scored(measures=["CRAG"]).outcomes == ()
    assert scored(measures=["ContextSufficient"]).outcomes == ()
    assert scored(measures=["ContextSufficient"]).selective == ()
    text = console.render(document(found), width=120)
    assert "Outcomes by sufficiency of the contexts" in text
    assert "Contexts by ContextSufficient, outcomes by CRAG." in text
    told = json.loads(karat.score(QA, {"s": MIXED}, measures=["CRAG", "ContextSufficient"]).to_json())
    assert told["outcomes"][0]["rows"][0]["shares"][0]["n"] == 1
    assert told["selective"][0]["accuracy"] == [0.5, 0.5]


def test_the_dialect_moves_a_rightly_declined_question():
    assert counts(scored(dialect="crag"))[None] == [0, 1, 0]


def test_the_curve_ends_at_the_share_answered():
    (curve,) = scored().selective
    assert (curve.n, curve.answered, curve.right, curve.coverage) == (4, 2, 1, 0.5)
    assert curve.area == pytest.approx((0.5 + 0.5) / 4)
    assert "0 to .500" in console.render(document(scored()), width=140)


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (rows(*[{"answer": "red"}] * 4), "no confidences to rank its answers by"),
        (rows(*[{"answer": DECLINES}] * 4), "s answers nothing"),
        (rows(*[{"answer": "red", "confidence": 0.5}] * 3, {"answer": "red"}), "1 answer without a confidence"),
    ],
    ids=["no confidence", "all abstain", "some without"],
)
def test_what_a_curve_lacks_is_said(results, sentence):
    assert sentence in console.render(document(scored(results)), width=160)


def test_no_question_right_is_a_score_of_minus_1_and_no_error():
    found = scored(rows(*[{"answer": "blue", "confidence": 1.0}] * 4))
    mean = next(one.mean for one in found.summaries if one.measure == "CRAG")
    assert mean == -1.0
    assert found.selective[0].area == 0.0
    assert counts(found) == {True: [0, 0, 3], False: [0, 0, 0], None: [0, 0, 1]}


def test_an_answer_of_citations_abstains():
    assert counts(scored(rows(*[{"answer": "[1] [2]"}] * 4))) == {True: [0, 3, 0], False: [0, 0, 0], None: [0, 1, 0]}


def study(evaluation):
    return Study("mine", evaluation=evaluation, configurations=(Configuration("s"),), main="CRAG", k=5)


def test_a_stored_study_keeps_them(tmp_path):
    evaluation = scored()
    save_study(study(evaluation), tmp_path)
    again = load_study(tmp_path).evaluation
    assert (again.outcomes, again.selective) == (evaluation.outcomes, evaluation.selective)
    assert {name: list(held) for name, held in again.context_gold.items()} == {"s": [True, True, False, None]}
    told = json.loads(objects.study(study(evaluation)))
    assert told["outcomes"][0]["system"] == "s"


def test_calibration_gives_the_accuracy_of_the_surest_answers():
    labels = [{"id": f"q{i}", "system": "s", "measure": "TokenF1", "label": i % 2} for i in (1, 2, 3)]
    made = study(scored(measures=["TokenF1"]))
    (curve,) = calibrate(made, labels).selective
    # the question without an answer that is declined counts as not covered
    assert (curve.n, curve.answered, curve.right, curve.accuracy) == (4, 2, 1, (0.5, 0.5))
    assert curve.correct_by == "TokenF1 >= 0.5 (the default of --correct)"
    (never,) = calibrate(made, labels, correct="TokenF1>1").selective
    assert never.right == 0
    shown = console.render(calibration_document(calibrate(made, labels)), width=200)
    assert "s answers 2 of 4 questions (coverage .500), 50.0% of them rightly" in " ".join(shown.split())
    told = json.loads(objects.calibration(calibrate(made, labels)))
    assert told["selective"][0]["coverage"] == 0.5


def test_confidences_outside_0_to_1_rank_nothing():
    evaluation = scored(measures=["TokenF1"])
    labels = [{"id": "q1", "system": "s", "measure": "TokenF1", "label": 1}]
    made = study(replace(evaluation, confidence={"s": [95.0, 0.5, None, None]}))
    found = calibrate(made, labels)
    assert found.selective[0].area is None
    assert found.selective[0].accuracy == (0.5,)
    assert "s: 1 confidence outside 0 to 1 (such as 95), so its selective accuracy" in found.notes[-1].text


def test_the_answer_table_holds_confidence_and_gold():
    testset, _ = as_testset(QA)
    runs, _ = as_runs({"s": MIXED})
    answered = answered_of(testset, runs, context_gold={"s": [True, None, False, None]})
    assert answered.context_gold == [True, None, False, None]
    assert answered.confidence == [0.9, 0.9, None, None]
