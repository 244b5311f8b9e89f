"""RAGBench's records: marked sentences and the figures that follow from them, made by hand."""

from __future__ import annotations

import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import InputError
from karat.core.language import parse
from karat.files.claims import read_claims
from karat.files.claims._ragbench import is_ragbench, ragbench_frame
from karat.io.input import Input

RECORD = {
    "id": "7",
    "question": "How old is the bridge?",
    "documents": ["The bridge is old. It is very wide, too.", "Rain falls."],
    "response": "It is old. It is blue.",
    "generation_model_name": "some-model",
    "documents_sentences": [[["0a", "The bridge is old."], ["0b", "It is very wide, too."]], [["1a", "Rain falls."]]],
    "response_sentences": [["a", "It is old."], ["b", "It is blue."]],
    "all_relevant_sentence_keys": ["0a", "0b"],
    "all_utilized_sentence_keys": ["0a", "1a"],
    "unsupported_response_sentence_keys": ["b"],
    "adherence_score": False,
}
INFORMATION = [
    {"response_sentence_key": "a", "fully_supported": True, "supporting_sentence_keys": ["0a"], "explanation": ""},
    {"response_sentence_key": "b", "fully_supported": False, "supporting_sentence_keys": [], "explanation": ""},
]


def frame_of(*records):
    return ragbench_frame(Input.of_records("bench", records), ["mine"])


def value(measure, record):
    table, info = read_claims([record], ["mine"], ["7"])
    assert info.format == "RAGBench records"
    answered = AnswerTable(
        ("mine",), ("7",), texts=["?"], answers=["said"], references=[()], contexts=[None], answerable=[True],
        claims=table,
    )  # fmt: skip
    result = parse(measure).of(answered)
    assert (result.undefined, result.failed) == ({}, {})
    return float(result.values[0])


@pytest.mark.parametrize(
    ("measure", "figure"),
    [
        ("TraceRelevance", (4 + 5) / (4 + 5 + 2)),
        ("TraceRelevance(length=sentences)", 2 / 3),
        ("TraceUtilisation", (4 + 2) / 11),
        ("TraceUtilisation(length=sentences)", 2 / 3),
        ("TraceCompleteness", 4 / (4 + 5)),
        ("TraceCompleteness(length=sentences)", 1 / 2),
        ("TraceAdherence", 0),
    ],
)
def test_figures_of_a_record(measure, figure):
    assert value(measure, RECORD) == pytest.approx(figure)


def test_support_of_the_sentences_of_an_answer():
    told = {**RECORD, "unsupported_response_sentence_keys": None, "sentence_support_information": INFORMATION}
    assert value("TraceAdherence", told) == 0
    told["sentence_support_information"] = [{**one, "fully_supported": True} for one in INFORMATION]
    assert value("TraceAdherence", {**told, "adherence_score": True}) == 1
    assert frame_of(told)[2] == ["1 record: adherence_score says otherwise than their sentences, which count"]
    assert frame_of(RECORD)[2] == []


def test_rows_name_their_record_and_their_system():
    second = {**RECORD, "id": "8"}
    frame, rows, _ = frame_of(RECORD, second)
    assert rows == [1] * (len(rows) // 2) + [2] * (len(rows) // 2)
    assert set(frame["system"]) == {"mine"}
    both, _, _ = frame_of(RECORD, {**RECORD, "generation_model_name": "another"})
    assert set(both["system"]) == {"some-model", "another"}
    assert is_ragbench(Input.of_records("bench", [RECORD]))
    assert not is_ragbench(Input.of_records("bench", [{"id": "1"}]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"all_relevant_sentence_keys": ["0a", "9z"]}, 'names the sentence "9z", which is not there'),
        ({"unsupported_response_sentence_keys": ["q"]}, 'names the sentence "q", which is not there'),
        ({"documents_sentences": [[["0a", "x"], ["0a", "y"]]]}, "a key of documents_sentences stands twice"),
        ({"documents_sentences": [["0a", "x"]]}, "documents_sentences: sentence 1 is"),
        ({"response_sentences": [["a", " "]]}, 'the sentence "a" has no text'),
        (
            {"unsupported_response_sentence_keys": None, "sentence_support_information": INFORMATION[:1]},
            'lacks the sentence "b"',
        ),
        ({"adherence_score": "perhaps"}, "neither true nor false"),
    ],
)
def test_records_that_cannot_be(change, problem):
    with pytest.raises(InputError, match=problem) as error:
        frame_of(RECORD, {**RECORD, "id": "8", **change})
    assert "record 2" in str(error.value)


def test_a_record_without_marks_says_nothing_of_them():
    bare = {k: v for k, v in RECORD.items() if k in ("id", "documents_sentences", "response_sentences")}
    frame, _, _ = frame_of(bare)
    assert frame["verdict"].null_count() == frame.height
    assert frame.filter(frame["side"] == "passages")["claim"].to_list() == [2]
