import pytest

from karat.core.errors import UsageError
from karat.io.field_reader import FieldReader
from karat.io.fields import (
    DOCUMENT,
    HIT,
    RESULTS,
    STORED,
    TESTSET,
    Columns,
    checked_map,
    looks_keyed,
)


def test_the_first_alias_that_a_record_fills_counts_and_is_remembered():
    columns = Columns(TESTSET, ["answer", "expected_answer", "note"])
    assert columns.of["answers"] == ("expected_answer", "answer")
    assert columns.first({"expected_answer": "a", "answer": "b"}, "answers") == ("expected_answer", "a")
    assert columns.first({"expected_answer": " ", "answer": "b"}, "answers") == ("answer", "b")
    assert columns.first({}, "answers") == ("", None)
    assert (list(columns.used), columns.at, columns.unknown) == (["expected_answer", "answer"], "answer", ["note"])


def test_an_unknown_column_that_resembles_a_field_is_named():
    columns = Columns(RESULTS, ["qid", "retreived_ids"])
    assert columns.nearest(("retrieved_id",)) == 'The field "retreived_ids" is not known. Did you mean retrieved_ids?'
    assert columns.nearest(("answer",)) == ""


def test_columns_are_mapped_to_known_fields_only():
    assert checked_map({"Frage": "Question"}) == {"Frage": "question"}
    with pytest.raises(UsageError, match=r"--map a=qestion: there is no field 'qestion'\. Did you mean question\?"):
        checked_map({"a": "qestion"})


def test_keys_that_are_ids():
    assert looks_keyed({"q1": {}, "q2": {}})
    assert not looks_keyed({"q1": {}, "Query-ID": "x"})


def test_a_record_is_read_by_its_own_names_before_those_of_its_metadata():
    record = {"source": "x", "Body": " ", "metadata": {"doc": "y", "text": "words", "Page": 3}}
    assert FieldReader(HIT).read(record) == {"doc": "x", "text": "words", "page": 3}
    assert FieldReader(STORED).read({"document": "words", "chunk_id": 7, "title": None, "other": 1}) == {
        "text": "words",
        "id": 7,
        "title": None,
    }
    reader = FieldReader(DOCUMENT, {"Inhalt": "text"})
    assert reader.read({"text": "a", "metadata": {"inhalt": "b"}}) == {"text": "b"}
    assert reader.read({"text": "a", "inhalt": ""}) == {"text": "a"}


@pytest.mark.parametrize("table", [HIT, DOCUMENT, STORED])
def test_in_the_tables_of_single_records_no_name_stands_for_two_fields(table):
    names = [name for aliases in table.values() for name in aliases]
    assert len(names) == len(set(names))
