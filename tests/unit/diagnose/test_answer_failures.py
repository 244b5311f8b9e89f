"""What became of gold that was found: one label a question, and what mending each would add to the answers."""

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks, Doc
from karat.core.measure import Measure, MeasureSpec
from karat.core.ranked import Ranked
from karat.core.scores import Scores
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.answers import AnswerScores, answer_scores, attribute_answers, gold_given
from karat.diagnose.failures import attribute
from karat.match import resolve
from karat.results.study import StudyAnswer

CHUNKS = Chunks([Chunk(f"d{n}", f"d{n}", f"text number {n}") for n in range(6)])
DOCS = [Doc(f"d{n}", f"text number {n}") for n in range(6)]


def labelled(answers, values=(), support=(), *, golds=None, unanswerable=(), skipped=(), k=2, measure="TokenF1"):
    """Answers to questions whose gold d0 stands first and d1 second; failures and counts by their labels."""
    golds = golds or [["d0"]] * len(answers)
    questions = [
        Question(
            f"q{n}", f"question {n}", gold=tuple(Gold(doc=name) for name in gold), answerable=n not in unanswerable
        )
        for n, gold in enumerate(golds)
    ]
    resolution = resolve(TestSet(questions), CHUNKS, DOCS)
    rows = np.tile([0, 1, 2], len(answers))
    ranked = Ranked.ordered(len(answers), np.repeat(np.arange(len(answers)), 3), rows, -rows.astype(float))
    given = {f"q{n}": StudyAnswer("s", f"q{n}", **a) for n, a in enumerate(answers) if a is not None}
    found = attribute("s", resolution, ranked, k, skipped=skipped)
    scores = AnswerScores(measure, values, "SupportDensity", support)
    given = {qid: answer for qid, answer in given.items() if qid not in {f"q{n}" for n in skipped}}
    gold = gold_given(resolution, ranked, k, given)
    return attribute_answers(found, "s", resolution.testset, given, scores, gold)


def labels(found):
    return {f.question: f.label for f in found.failures}


SAID = {"text": "forty", "given": ("d0", "d1")}
NO = {"text": "I do not know.", "declined": True, "given": ("d0", "d1")}


def test_each_bad_answer_has_the_label_of_the_step_that_spoiled_it():
    found = labelled(
        [SAID, SAID, SAID, NO, {"text": "forty", "given": ("d1",)}, {"text": " ", "given": ("d0",)}],
        [0.5, 0.49, 0.9, 0.0, 0.1, 0.0],
        [1.0, 0.8, 0.2, None, 0.1, None],
    )
    assert labels(found) == {
        "q1": "wrong_answer", "q2": "unsupported", "q3": "refused", "q4": "cut_by_budget", "q5": "refused",
    }  # fmt: skip
    assert {f.question: f.detail for f in found.failures} == {
        "q1": "TokenF1 is 0.49, below 0.5.",
        "q2": "SupportDensity is 0.20, below 0.5.",
        "q3": "it declines.",
        "q4": "it stands at rank 1, and the answerer was given 1 context without it.",
        "q5": "it says nothing.",
    }


def test_a_missing_answer_is_no_refusal():
    assert labels(labelled([{"text": None, "given": ("d0", "d1")}], [None], [None])) == {}


def test_a_bad_answer_that_left_its_contexts_is_unsupported_rather_than_wrong():
    assert labels(labelled([SAID], [0.0], [0.4])) == {"q0": "unsupported"}


def test_answers_that_no_measure_scores_do_not_pass_for_retrieval():
    found = labelled([NO, SAID], unanswerable=(1,), measure="")
    assert [(c.label, c.gain, c.measure) for c in found.counts] == [
        ("refused", 0.0, "answers"), ("unsupported", 0.0, "answers"),
    ]  # fmt: skip


def test_a_question_that_retrieval_lost_keeps_that_label_whatever_was_answered():
    found = labelled([SAID, NO], [0.0, 0.0], golds=[["d2"], ["d0", "d2"]])
    assert labels(found) == {"q0": "below_k", "q1": "below_k"}
    assert [(c.label, c.measure) for c in found.counts] == [("below_k", "")]


def test_an_answer_that_is_good_without_all_the_gold_was_not_cut():
    assert labels(labelled([{"text": "forty", "given": ("d1",)}], [0.9], [0.9])) == {}


def test_where_the_contexts_are_not_known_nothing_was_cut():
    assert labels(labelled([{"text": "forty"}], [0.1], [0.9])) == {"q0": "wrong_answer"}


def test_one_of_two_units_that_did_not_fit_is_enough():
    found = labelled([{"text": "forty", "given": ("d0",)}], [0.1], golds=[["d0", "d1"]])
    assert labels(found) == {"q0": "cut_by_budget"}
    assert "rank 2" in found.failures[0].detail


def test_declining_is_right_where_there_is_no_answer_and_answering_is_unsupported():
    found = labelled([NO, SAID, {"text": None}], golds=[[], [], []], unanswerable=(0, 1, 2))
    assert labels(found) == {"q1": "unsupported"}
    assert found.failures[0].detail == "it answers a question that the documents do not answer."
    assert [(c.label, c.gain) for c in found.counts] == [("unsupported", 0.0)]


def test_without_gold_nobody_knows_whether_the_contexts_held_it():
    assert labels(labelled([SAID, NO], [0.0, 0.0], [1.0, None], golds=[[], []])) == {}


def test_answers_that_failed_or_are_missing_are_no_failures_of_answering():
    answers = [{"text": None, "error": "timed out"}, None, {"text": "x"}]
    assert labels(labelled(answers, [None, None, 0.0], skipped=[2])) == {}


def test_what_mending_would_add_to_the_mean_answer_score():
    found = labelled([SAID, SAID, NO, SAID], [1.0, 0.25, 0.0, None], [1.0, 1.0, None, 0.1])
    assert [(c.label, c.questions, c.measure, pytest.approx(c.gain)) for c in found.counts] == [
        ("refused", ("q2",), "TokenF1", 1 / 3),
        ("unsupported", ("q3",), "TokenF1", 0.0),  # it has no score to mend
        ("wrong_answer", ("q1",), "TokenF1", 0.75 / 3),
    ]
    assert (1.0 + 0.25) / 3 + sum(c.gain for c in found.counts) == pytest.approx(1)


def measured(**columns):
    measures = tuple(
        Measure(MeasureSpec(name, len, stage="answer", bounds=(-1.0, 1.0) if name == "Faithfulness" else (0.0, 1.0)))
        for name in columns
    )
    values = np.array(list(columns.values()), float).T[None]
    status = np.isnan(values).astype(np.uint8)
    return Scores(("s",), tuple(f"q{n}" for n in range(values.shape[1])), measures, values=values, status=status)


def test_the_judge_is_asked_first_and_its_range_does_not_matter():
    nan = float("nan")
    scores = measured(TokenF1=[0.1, 0.2], Correctness=[0.9, nan], SupportDensity=[1, 1], Faithfulness=[-1, 0.5])
    found = answer_scores(scores, "s")
    assert (found.measure, found.values) == ("Correctness", (0.9, None))
    assert (found.support_measure, found.support) == ("Faithfulness", (0.0, 0.75))
    assert answer_scores(scores, "s", ("TokenF1",)).values == (0.1, 0.2)


def test_a_judge_that_judged_nothing_is_passed_over():
    nan = float("nan")
    assert answer_scores(measured(Correctness=[nan], TokenF1=[0.3]), "s").measure == "TokenF1"
    assert answer_scores(measured(MRR=[1.0]), "s") == AnswerScores()
