import csv
import json
import re

import pytest

from karat.files import read_testset
from karat.io.records import JSONError, cell_rows, from_columns, json_lines, named_rows, parse_json, wrapped


def test_a_long_cell_is_read_and_the_limit_of_the_program_stays(tmp_path):
    path = tmp_path / "qa.csv"
    long = "x" * 200_000
    path.write_text(f'id,question,gold\nq1,"{long}, why?",d1\nq2,"{long}, who?",d2\n', encoding="utf-8")
    before = csv.field_size_limit()
    testset, _ = read_testset(path)
    assert [len(question.text) for question in testset] == [200_006, 200_006]
    assert csv.field_size_limit() == before


def refused(problems):
    return lambda row, problem, remedy: problems.append((row, problem))


def test_rows_that_do_not_fit_are_told_and_the_rest_goes_on():
    problems = []
    rows = cell_rows(["a,b\n", "\n", "1,2\n", "3\n", '4,"open\n', "5,6\n"], ",", refused(problems))
    _, header = next(rows)
    assert list(named_rows(header, rows, refused(problems))) == [(3, {"a": "1", "b": "2"})]
    assert problems == [
        (4, "the row has 1 cell and the header has 2"),
        (5, "the quotation marks do not pair up (unexpected end of data)"),
    ]


def test_lines_that_are_no_objects_are_told_and_the_rest_goes_on():
    problems = []
    lines = enumerate(['{"a": 1}', "", "[1]", "{", '{"a": 1, "a": 2}', '{"b": 2}'], 1)
    assert list(json_lines(lines, refused(problems))) == [(1, {"a": 1}), (6, {"b": 2})]
    assert problems == [
        (3, "an object with named fields was expected, and a list stands there"),
        (4, "not valid JSON (Expecting property name enclosed in double quotes, column 2)"),
        (5, 'the field "a" stands twice in one object'),
    ]


def test_records_of_an_object():
    assert from_columns({"id": [1, 2], "text": ["a", "b"]}) == [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
    assert from_columns({"id": [1, 2], "text": ["a"]}) is None


def test_columns_as_pandas_writes_them_are_records_and_a_run_of_numbered_documents_is_not():
    pandas_default = {"question": {"0": "why?", "1": "who?"}, "answer": {"0": "so", "1": None}}
    assert from_columns(pandas_default) == [{"question": "why?", "answer": "so"}, {"question": "who?", "answer": None}]
    assert from_columns({"q1": {"0": 2.0, "1": 1.0}, "q2": {"0": 1.0, "1": 0.5}}) is None
    assert from_columns({"id": {"d1": 2.0, "d2": 1.0}, "text": {"d1": 1.0, "d2": 0.5}}) is None
    assert wrapped({"metadata": {}, "questions": [{"id": 1}]}) == ("questions", [{"id": 1}])
    assert wrapped({"a": [{"id": 1}], "b": [{"id": 2}]}) is None


@pytest.mark.parametrize("text", ['{"a": }', "[1, ]", "", "x", '{"a": 1} x', '{"a"', '{"a": 1,}', " {'a': 1}"])
def test_what_is_no_json_is_said_as_the_decoder_says_it(text):
    with pytest.raises(json.JSONDecodeError) as plain:
        json.loads(text)
    with pytest.raises(JSONError, match=re.escape(f"({plain.value.msg}, column {plain.value.colno})")):
        parse_json(text)


def test_blanks_around_a_value_are_passed_over():
    assert (
        parse_json(' \t{"a": [1, {"b": null}]}\r\n') == {"a": [1, {"b": None}]} == parse_json('{"a": [1, {"b": null}]}')
    )
