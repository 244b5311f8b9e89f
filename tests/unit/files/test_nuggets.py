"""Nuggets in test sets, and files of assignments as nuggetizer documents them."""

from __future__ import annotations

import json

import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import InputError
from karat.core.language import parse
from karat.core.types import Nugget
from karat.files import as_testset, convert, read_testset
from karat.files.claims import read_claims
from karat.files.claims._assignments import assignment_frame, has_assignments
from karat.io.input import Input

VITAL, OKAY = {"text": "It is old.", "importance": "vital"}, {"text": "It is wide.", "importance": "okay"}


def test_a_test_set_of_nuggets(tmp_path):
    path = tmp_path / "qa.jsonl"
    rows = [
        {"id": "1", "question": "How is the bridge?", "answers": ["Old."], "nuggets": [VITAL, OKAY]},
        {"id": "2", "question": "And the road?", "answers": ["New."]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    testset, info = read_testset(path)
    assert info.format == "canonical"
    assert testset["1"].nuggets == (Nugget("It is old.", True), Nugget("It is wide.", False))
    assert testset["2"].nuggets == ()
    assert "2 nuggets, 1 of them vital" in info.notes
    _, _, lost = convert(path, tmp_path / "again.jsonl")
    again, _ = read_testset(tmp_path / "again.jsonl")
    assert (lost, again.digest) == ([], testset.digest)
    other = as_testset([{**rows[0], "nuggets": [VITAL, {**OKAY, "importance": "vital"}]}, rows[1]])[0]
    assert other.digest != testset.digest
    _, _, lost = convert(path, tmp_path / "ragas.json", format="ragas")
    assert "nuggets" in lost


def test_nuggets_alone_are_gold_enough():
    testset, info = as_testset([{"qid": "1", "query": "How is it?", "nuggets": [VITAL]}])
    assert testset["1"].nuggets == (Nugget("It is old."),)
    assert "no gold: only answers can be scored" in info.notes
    mixed = [{"id": "1", "question": "a?", "gold": [{"id": "x"}]}, {"id": "2", "question": "b?", "nuggets": [VITAL]}]
    assert len(as_testset(mixed)[0]) == 2


def test_nuggets_in_the_cells_of_a_table(tmp_path):
    path = tmp_path / "qa.csv"
    cell = json.dumps([VITAL, OKAY]).replace('"', '""')
    path.write_text(f'id,question,answer,nuggets\n1,How?,Old.,"{cell}"\n2,Why?,So.,\n')
    testset, _ = read_testset(path)
    assert [nugget.vital for nugget in testset["1"].nuggets] == [True, False]
    assert testset["2"].nuggets == ()


def test_nuggets_without_any_importance_are_vital():
    rows = [{"id": "1", "question": "a?", "nuggets": ["It is old.", {"text": "It is wide."}]}]
    testset, info = as_testset(rows)
    assert testset["1"].nuggets == (Nugget("It is old."), Nugget("It is wide."))
    assert "2 nuggets, all taken as vital: none says whether it is vital or okay" in info.notes


@pytest.mark.parametrize(
    ("nuggets", "problem"),
    [
        ([VITAL, {"text": "x"}], "record 1.*nugget 2 has no importance, and others have one"),
        (["x", VITAL], "record 1.*nugget 2 has an importance, and others before it have none"),
        ([{"text": " ", "importance": "vital"}], "record 1.*nugget 1 has no text"),
        ([{**VITAL, "importance": "very"}], 'the importance "very" of nugget 1 is not known'),
        ([{**VITAL, "importance": 1}], "the importance 1 of nugget 1 is not known"),
        ([7], "nugget 1 has no text"),
        ([None], "nugget 1 has no text"),
        ("[{", "is not a list"),
    ],
)
def test_nuggets_that_cannot_be(nuggets, problem):
    with pytest.raises(InputError, match=problem):
        as_testset([{"id": "1", "question": "a?", "answers": ["x"], "nuggets": nuggets}])


def assigned(qid, assignments, **more):
    facts = [{"text": f"n{i}", "importance": "vital" if v else "okay", "assignment": a} for i, (v, a) in assignments]
    return {"query": "?", "qid": qid, "answer_text": "said", "nuggets": facts, **more}


RECORDS = [
    assigned("q1", enumerate([(1, "support"), (1, "partial_support"), (0, "support"), (0, "not_support")]), run_id="r"),
    assigned("q2", enumerate([(0, "support")]), run_id="r"),
]


def test_assignments_give_the_scores_of_the_track():
    table, info = read_claims(RECORDS, ["mine"], ["q1", "q2"])
    assert (info.format, info.what) == ("nugget assignments", "5 claims, 5 verdicts for 2 answers")
    assert table.vital.tolist() == [True, True, False, False, False]
    answered = AnswerTable(
        ("mine",), ("q1", "q2"), texts=["?"] * 2, answers=["said"] * 2, references=[()] * 2, contexts=[None] * 2,
        answerable=[True] * 2, claims=table,
    )  # fmt: skip
    # as the metrics of the assignments file have them: vital, strict vital, all, strict all
    wanted = {"vital": (0.75, 0.0), "vital, strict": (0.5, 0.0), "all": (2.5 / 4, 1.0), "all, strict": (2 / 4, 1.0)}
    for over, values in wanted.items():
        assert tuple(parse(f"NuggetRecall(over={over}, empty=zero)").of(answered).values) == values


def test_assignments_of_several_runs():
    records = [*RECORDS, {**RECORDS[0], "run_id": "other"}]
    frame, _, _ = assignment_frame(Input.of_records("a.jsonl", records), ["r", "other"])
    assert frame["system"].to_list() == ["r"] * 5 + ["other"] * 4
    with pytest.raises(InputError, match='question "q1" stands twice'):
        assignment_frame(Input.of_records("a.jsonl", [RECORDS[0], RECORDS[0]]), ["r"])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"nuggets": [VITAL]}, "record 2.*nugget 1 has no assignment"),
        ({"nuggets": [{"text": "x", "assignment": "support"}]}, "record 2.*nugget 1 has no importance"),
        ({"nuggets": [{**VITAL, "assignment": 3}]}, "the assignment 3 of nugget 1 is no word"),
        ({"nuggets": [{"importance": "vital", "assignment": "support"}]}, "nugget 1 has no text"),
        ({"qid": None}, "no id"),
    ],
)
def test_assignments_that_cannot_be(change, problem):
    with pytest.raises(InputError, match=problem):
        assignment_frame(Input.of_records("a.jsonl", [RECORDS[0], {**RECORDS[1], **change}]), ["r"])


def test_assignments_are_told_from_a_test_set():
    assert has_assignments(Input.of_records("a.jsonl", RECORDS))
    assert not has_assignments(Input.of_records("t.jsonl", [{"id": "1", "nuggets": [VITAL]}]))
    frame, _, _ = assignment_frame(Input.of_records("a.jsonl", [RECORDS[0], {**RECORDS[1], "nuggets": []}]), ["r"])
    assert frame.filter(frame["question"] == "q2")["text"].to_list() == [None]
    table, _ = read_claims([RECORDS[0], {**RECORDS[1], "nuggets": []}], ["r"], ["q1", "q2"])
    assert (table.pair.tolist(), table.known[1].sum()) == ([0] * 4, 1)


def test_a_word_that_is_no_assignment_is_named():
    records = [RECORDS[0], assigned("q2", enumerate([(1, "maybe")]), run_id="r")]
    with pytest.raises(InputError, match=r'record 2 .*the verdict "maybe" is not known'):
        read_claims(records, ["r"], ["q1", "q2"])
