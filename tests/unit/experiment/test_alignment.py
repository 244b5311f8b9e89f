"""Questions brought together by id, or by what they ask."""

from dataclasses import replace

from karat.core.run import Run
from karat.core.types import Answer, Question, TestSet
from karat.experiment.inputs import align


def run_of(texts, answers=None):
    return replace(
        Run.from_lists("s", {q: [q] for q in texts}),
        texts={q: t for q, t in texts.items() if t},
        answers={q: Answer(q, a) for q, a in (answers or {}).items()},
    )


ASKED = TestSet([Question(str(i), text) for i, text in enumerate(["How high?", "How deep?", "How far?"], 1)])


def test_ids_that_agree_are_left_alone():
    run = run_of({"1": "how high", "2": "How deep?"})
    assert align(ASKED, run) == (run, [])
    assert align(ASKED, Run.from_lists("s", {"9": []}))[1] == []


def test_rows_numbered_from_zero_are_matched_by_text():
    aligned, (note,) = align(ASKED, run_of({"0": "How high?", "1": "How deep?", "2": "How far?"}))
    assert aligned.question_ids == ["1", "2", "3"]
    assert note.level == "warning"
    assert "3 of 3 questions were matched by their texts" in note.text


def test_no_common_id_but_common_texts():
    aligned, (note,) = align(ASKED, run_of({"a": "How far?", "b": "How deep?"}, {"b": "x"}))
    assert aligned.question_ids == ["3", "2"]
    assert set(aligned.answers) == {"2"}
    assert note.level == "info"


def test_other_questions_under_known_ids_are_a_warning():
    run = run_of({"1": "What colour?", "2": "How deep?"})
    aligned, (note,) = align(ASKED, run)
    assert aligned is run
    assert (note.level, note.guard) == ("warning", "questions differ")


def test_a_text_asked_twice_is_not_guessed():
    asked = TestSet([Question("1", "Why?"), Question("2", "Why?")])
    run = run_of({"a": "Why?"})
    assert align(asked, run) == (run, [])


def test_rows_that_agree_keep_their_ids_when_others_move():
    asked = TestSet([Question(str(i), t) for i, t in enumerate(["a?", "b?", "c?", "Explain.", "Explain."], 1)])
    run = run_of({"1": "b?", "2": "c?", "3": "a?", "4": "Explain.", "5": "Explain."})
    aligned, _ = align(asked, run)
    assert aligned.question_ids == ["2", "3", "1", "4", "5"]


def test_rows_without_texts_keep_their_ids_unless_claimed():
    aligned, _ = align(ASKED, run_of({"1": "How deep?", "2": None, "3": None}))
    assert aligned.question_ids == ["2", "2 (results)", "3"]
