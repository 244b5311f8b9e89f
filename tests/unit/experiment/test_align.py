"""Questions brought together by id, or by what they ask."""

import numpy as np

from karat.core.run import Run
from karat.core.types import Answer, Question, TestSet
from karat.experiment._align import align

TESTSET = TestSet([Question("1", "What is it?"), Question("2", "Who made it?"), Question("3", "Why?")])


def run_of(texts, **more):
    ids = list(texts)
    return Run("s", ids, np.arange(len(ids) + 1), [f"d-{q}" for q in ids], texts=texts, **more)


def test_ids_that_agree_with_the_texts_are_left_alone():
    run = run_of({"1": "what is it", "3": "WHY?"})
    assert align(TESTSET, run) == (run, [])


def test_a_run_without_texts_is_left_alone():
    run = Run.from_lists("s", {"x": ["d"]})
    assert align(TESTSET, run) == (run, [])
    plain = TestSet(qrels={"1": {"d": 1}})
    run = run_of({"9": "What is it?"})
    assert align(plain, run) == (run, [])


def test_rows_numbered_from_another_start_are_matched_by_their_texts_and_said():
    """Ids 0, 1, 2 here stand for 1, 2, 3 there: by id, two of three would be the wrong question."""
    answers = {"0": Answer("0", "a"), "2": Answer("2", "c")}
    run = run_of({"0": "What is it?", "1": "Who made it?", "2": "Why?"}, answers=answers, failed={"1": "broke"})
    aligned, (note,) = align(TESTSET, run)
    assert aligned.question_ids == ["1", "2", "3"]
    assert aligned.doc_list == ["d-0", "d-1", "d-2"]
    assert {q: a.text for q, a in aligned.answers.items()} == {"1": "a", "3": "c"}
    assert aligned.failed == {"2": "broke"}
    assert note.level == "warning"
    assert "3 of 3 questions were matched by their texts, because 2 ids stand for other questions" in note.text


def test_unknown_ids_are_matched_by_their_texts():
    aligned, (note,) = align(TESTSET, run_of({"a": "what is it?", "b": "not asked there"}))
    assert aligned.question_ids == ["1", "b"]
    assert note.level == "info"
    assert "no id is shared" in note.text


def test_other_questions_under_the_same_ids_are_a_warning():
    run = run_of({"1": "Something else entirely", "2": "Who made it?"})
    same, (note,) = align(TESTSET, run)
    assert same is run
    assert note.guard
    assert "1 of 2 questions ask something else" in note.text


def test_a_text_asked_twice_is_not_guessed():
    twice = TestSet([Question("1", "Why?"), Question("2", "why")])
    run = run_of({"a": "Why?"})
    assert align(twice, run) == (run, [])
