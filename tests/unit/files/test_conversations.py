"""Histories, conversations and turns of test sets: every form they are read in, what is written, what is refused."""

from __future__ import annotations

import json

import pytest

from karat.core.errors import InputError
from karat.core.types import Turn
from karat.files import as_testset, convert, read_testset
from karat.files._history import MOST_TURNS

PAST = (Turn("How old?", "Ten."), Turn("Really?"))
MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "human", "content": "How old?"},
    {"role": "ai", "content": [{"type": "text", "text": "Ten."}]},
    {"role": "user", "content": "Really?"},
]
ROWS = [
    {"id": "b", "question": "And wide?", "answers": ["No.", "Not."], "conversation_id": 7, "turn_number": 10.0},
    {"id": "a", "question": "Is it old?", "answers": ["Yes."], "conversation_id": "7", "turn_number": "2"},
    {"id": "c", "question": "Who?", "answers": ["Ada."], "conversation_id": "8", "turn_number": 1},
]


def one(**fields):
    return as_testset([{"id": "1", "question": "Why?", "answers": ["So."], **fields}])


@pytest.mark.parametrize(
    "history",
    [
        [{"question": "How old?", "answer": "Ten."}, {"question": "Really?"}],
        [["How old?", "Ten."], ["Really?", None]],
        MESSAGES,
        [*MESSAGES, {"role": "user", "content": "Why?"}],
        [{"query": "How old?", "response": "Ten."}, "Really?"],
        [["How old?", "Ten."], "Really?", "Why?"],
        json.dumps(MESSAGES),
    ],
)
def test_every_form_of_a_history(history):
    testset, info = one(chat_history=history)
    assert testset["1"].history == PAST
    assert any(note.startswith("1 of 1 question has a history") for note in info.notes)
    skipped = "1 message without text, or by a system or a tool, left out of histories" in info.notes
    assert skipped == ("Be kind." in json.dumps(history))


def test_what_was_said_first_or_in_several_messages_is_kept():
    said = [
        {"from": who, "value": text} for who, text in (("gpt", "Hello."), ("human", "a"), ("gpt", "b"), ("gpt", "c"))
    ]
    assert one(messages=said)[0]["1"].history == (Turn("", "Hello."), Turn("a", "b\nc"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"history": "what"}, '"what" is no list'),
        ({"history": {"a": 1}}, "is no list"),
        ({"history": [3]}, "turn 1 of the history is 3"),
        ({"history": [["a", "b", "c"]]}, "turn 1 of the history is"),
        ({"history": [{"answer": ""}]}, "turn 1 of the history is"),
        ({"history": [{"role": "king", "content": "a"}]}, 'message 1 is by "king"'),
        ({"history": [{"role": "user", "content": 3}]}, "message 1 says 3, which is no text"),
        ({"history": [*MESSAGES, "a"]}, "message 5 names nobody"),
        ({"history": [{"role": "user", "content": "Why?"}, {"role": "ai", "content": "So."}]}, "a reply to it"),
        ({"history": ["a"] * (MOST_TURNS + 1)}, f"has {MOST_TURNS + 1} turns"),
        ({"turn": True}, "turn True is not a whole number"),
        ({"turn": 1.5}, "turn 1.5 is not a whole number"),
        ({"turn": -1}, "is below 0"),
        ({"conversation": ["a"]}, "is no id"),
    ],
)
def test_what_is_no_history_is_an_error_with_its_row_and_field(fields, problem):
    with pytest.raises(InputError) as raised:
        one(**fields)
    assert problem in str(raised.value)
    assert f'record 1 field "{next(iter(fields))}"' in str(raised.value)


def test_the_history_of_a_turn_is_taken_from_the_turns_before_it(tmp_path):
    testset, info = as_testset(ROWS)
    assert testset["b"].history == (Turn("Is it old?", "Yes."),)
    assert testset["a"].history == testset["c"].history == ()
    assert [(q.conversation, q.turn) for q in testset] == [("7", 10), ("7", 2), ("8", 1)]
    assert testset.conversations == (0, 0, 1)
    assert any(note.startswith("history of 1 question taken from the earlier turns") for note in info.notes)
    path = tmp_path / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    _, _, lost = convert(path, tmp_path / "again.jsonl")
    again, info = read_testset(tmp_path / "again.jsonl")
    assert (lost, again.digest) == ([], testset.digest)
    assert not any("taken from" in note for note in info.notes)  # an empty history is one too
    _, _, lost = convert(path, tmp_path / "ragas.json", format="ragas")
    assert lost[-2:] == ["earlier turns of conversations", "which conversation questions are of, and at which turn"]


def test_a_stated_history_is_not_completed_and_no_order_is_guessed():
    stated = as_testset([{**ROWS[0], "history": []}, ROWS[1]])[0]
    assert [q.history for q in stated] == [(), ()]
    rows = [{**row, "turn_number": None} for row in ROWS]
    testset, info = as_testset(rows)
    assert not any(q.history for q in testset)
    assert any(note.startswith("2 conversations without turn numbers") for note in info.notes)


def test_turns_without_a_conversation_are_taken_as_independent():
    testset, info = one(turn="3", history=["a"])
    assert (testset["1"].turn, testset["1"].conversation, testset.conversations) == (3, None, None)
    assert any("1 turn names no conversation: intervals take it as independent" in note for note in info.notes)


def test_a_place_of_a_conversation_twice_names_both_rows():
    with pytest.raises(InputError, match=r'record 2: turn 1 of conversation "c" stands twice \(first in record 1\)'):
        as_testset([{**row, "conversation_id": "c", "turn": 1} for row in ROWS])


def test_calls_of_tools_say_nothing():
    messages = [
        {"role": "user", "content": "How old?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "search"}}]},
        {"role": "tool", "content": {"hits": []}},
        {"role": "assistant", "content": "Ten."},
        {"role": "assistant", "content": ""},
    ]
    testset, info = one(history=messages)
    assert testset["1"].history == (Turn("How old?", "Ten."),)
    assert "3 messages without text, or by a system or a tool, left out of histories" in info.notes


def test_turns_of_a_record_that_number_themselves_otherwise_are_in_their_order(tmp_path):
    turns = [{"question": "a?", "answers": ["x"], "turn_id": 7}, {"question": "b?", "answers": ["y"], "turn_id": "m2"}]
    path = tmp_path / "qa.json"
    path.write_text(json.dumps([{"conversation": "c", "turns": turns}]))
    assert [(q.id, q.turn) for q in read_testset(path)[0]] == [("c/1", 1), ("c/2", 2)]
    path.write_text(json.dumps([{"conversation": "c", "turns": [{**turns[0], "turn_id": 9}, turns[0]]}]))
    assert [(q.id, q.turn) for q in read_testset(path)[0]] == [("c/9", 9), ("c/7", 7)]


@pytest.mark.parametrize(
    ("turn_ids", "why"),
    [
        (["m-1", "m-2", "m-3"], 'turn "m-1" is not a whole number'),
        ([1, -2, 3], "turn -2 is below 0"),
        ([1, 1, 3], 'turn 1 of conversation "c" stands twice'),
    ],
)
def test_a_column_that_may_be_turns_and_is_none_is_left_aside(turn_ids, why):
    rows = [
        {"id": f"{n}", "question": f"q{n}?", "answers": ["a"], "session_id": "c", "turn_id": turn}
        for n, turn in enumerate(turn_ids)
    ]
    testset, info = as_testset(rows)
    assert [(q.turn, q.history, q.conversation) for q in testset] == [(None, (), "c")] * 3
    assert f'"turn_id" is left aside: {why}. For a number of the turn, call it "turn"' in info.notes
    with pytest.raises(InputError):
        as_testset([{**row, "turn": row.pop("turn_id")} for row in rows])


def test_turns_by_another_name_are_read_where_they_are_such_for_several_systems_too():
    row = {"question": "Why?", "reference": "So.", "answer": "x", "session_id": "c"}
    rows = [{**row, "id": q, "turn_id": q, "system": s} for q in "12" for s in "st"]
    assert [q.turn for q in as_testset(rows)[0]] == [1, 2]


def test_one_conversation_of_all_questions_is_said_and_can_be_left_aside():
    rows = [{"id": f"{n}", "question": f"q{n}?", "answers": ["a"], "session_id": "c"} for n in range(3)]
    testset, info = as_testset(rows)
    assert testset.conversations == (0, 0, 0)
    note = 'all 3 questions in one conversation ("session_id"): no intervals. If it is none: --map session_id=-'
    assert note in info.notes
    testset, info = as_testset(rows, columns={"session_id": "-"})
    assert (testset.conversations, testset.questions[0].tags) == (None, {})
    assert not any("conversation" in note for note in info.notes)


def test_rows_of_several_systems_agree_on_the_history():
    row = {"id": "1", "question": "Why?", "reference": "So.", "answer": "x", "history": ["a"]}
    assert len(as_testset([{**row, "system": "s"}, {**row, "system": "t"}])[0]) == 1
    with pytest.raises(InputError, match="another history than in record 1"):
        as_testset([{**row, "system": "s"}, {**row, "system": "t", "history": ["b"]}])


def test_a_conversation_longer_than_any_is_refused():
    rows = [{"id": f"{n}", "question": f"q{n}", "answers": ["a"], "session_id": "c", "turn": n} for n in range(501)]
    assert len(as_testset(rows[:500])[0]["499"].history) == 499
    with pytest.raises(InputError, match=r'conversation "c" has 501 turns'):
        as_testset(rows)


def test_a_record_a_conversation(tmp_path):
    turns = [{"question": "Is it old?", "answers": ["Yes."]}, {"id": "own", "Query": "And wide?", "answers": ["No."]}]
    path = tmp_path / "qa.json"
    path.write_text(json.dumps([{"dialogue_id": "c", "type": "x", "turns": turns}, {"id": 2, "turns": turns[:1]}]))
    testset, info = read_testset(path)
    assert info.format == "conversations"
    assert [(q.id, q.text, q.conversation, q.turn, q.kind) for q in testset] == [
        ("c/1", "Is it old?", "c", 1, "x"), ("own", "And wide?", "c", 2, "x"), ("2/1", "Is it old?", "2", 1, None)
    ]  # fmt: skip
    assert testset["own"].history == (Turn("Is it old?", "Yes."),)
    path.write_text(json.dumps([{"conversation": "c", "turns": [{**turns[1], "turn": 1}, {**turns[1], "turn": 2}]}]))
    with pytest.raises(InputError, match='question id "own" stands twice in the conversation'):
        read_testset(path)
    path.write_text(json.dumps([{"conversation": "c", "turns": turns}, {"conversation": "d", "turns": [3]}]))
    with pytest.raises(InputError, match="no list of turns"):
        read_testset(path)


def test_histories_are_redacted(tmp_path):
    path = tmp_path / "qa.jsonl"
    past = [{"question": "Is it ada@example.org?", "answer": "No, bo@example.org."}]
    path.write_text(json.dumps({"id": "1", "question": "Why?", "answers": ["So."], "history": past}))
    convert(path, tmp_path / "out.jsonl", redact=["email"])
    assert read_testset(tmp_path / "out.jsonl")[0]["1"].history == (Turn("Is it [email]?", "No, [email]."),)


@pytest.mark.parametrize("name", ["conversation", "session_id", "id"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_one_conversation_is_one_conversation(tmp_path, name, indent):
    """Its turns are no list of questions that something wraps."""
    path = tmp_path / ("talk.jsonl" if indent is None else "talk.json")
    turns = [{"question": "Is it old?", "answers": ["Yes."]}, {"question": "And wide?", "answers": ["No."]}]
    path.write_text(json.dumps({name: "c", "turns": turns}, indent=indent))
    testset, info = read_testset(path)
    assert info.format == "conversations"
    assert [(q.id, q.conversation, q.turn) for q in testset] == [("c/1", "c", 1), ("c/2", "c", 2)]
    assert testset["c/2"].history == (Turn("Is it old?", "Yes."),)
