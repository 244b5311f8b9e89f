"""People's labels: the forms they are read in, and what is refused."""

import json

import polars as pl
import pytest

from karat.core.errors import InputError, UsageError
from karat.files import as_labels

ROWS = [
    {"id": "q1", "system": "bm25", "measure": "Faithfulness", "label": 1, "rater": "ann"},
    {"id": "q1", "system": "bm25", "measure": "Faithfulness", "label": 0, "rater": "ben"},
    {"id": 7, "system": "bm25", "measure": "Faithfulness", "label": 0.5, "rater": "ann"},
]


def plain(labels):
    return [(one.question, one.system, one.measure, one.value, one.rater) for one in labels.rows]


WANTED = [
    ("q1", "bm25", "Faithfulness", 1.0, "ann"),
    ("q1", "bm25", "Faithfulness", 0.0, "ben"),
    ("7", "bm25", "Faithfulness", 0.5, "ann"),
]


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_form_of_table_gives_the_same(written, tmp_path):
    names = list(ROWS[0])
    csv = "\n".join(",".join(str(row[name]) for name in names) for row in ROWS)
    frame = pl.DataFrame([{**row, "id": str(row["id"])} for row in ROWS], strict=False)
    frame.write_parquet(tmp_path / "labels.parquet")
    for given in (
        ROWS,
        frame,
        frame.to_pandas(),
        tmp_path / "labels.parquet",
        written("labels.csv", ",".join(names) + "\n" + csv + "\n"),
        written("labels.tsv", ("\t".join(names) + "\n" + csv.replace(",", "\t"))),
        written("labels.jsonl", "\n".join(map(json.dumps, ROWS))),
        written("labels.json", json.dumps(ROWS)),
    ):
        found = as_labels(given)
        assert plain(found) == WANTED
        assert (found.empty, found.taken.what) == (0, "3 labels by 2 raters")


def test_other_names_of_the_columns_are_understood(written):
    path = written("l.csv", "question_id,method,metric,rating,annotator\nq1,a,TokenF1,0.5,x\n")
    assert plain(as_labels(path)) == [("q1", "a", "TokenF1", 0.5, "x")]


def test_only_id_and_label_must_be_there(written):
    assert plain(as_labels(written("l.csv", "id,label\nq1,1\n"))) == [("q1", None, None, 1.0, None)]


def test_words_are_kept_apart_from_numbers(written):
    found = as_labels(written("l.csv", "id,label\nq1,Yes\nq2,no\nq3,TRUE\nq4,wrong\n"))
    assert [(one.value, one.is_word) for one in found.rows] == [(1, True), (0, True), (1, True), (0, True)]
    assert as_labels([{"id": "q1", "label": True}]).rows[0].is_word
    with pytest.raises(InputError, match=r"l.csv line 3: a number where line 2 has a word. Write all labels"):
        as_labels(written("l.csv", "id,label\nq1,yes\nq2,0\n"))


def test_rows_without_a_label_are_counted_and_told(written):
    found = as_labels(written("l.csv", "id,label\nq1,1\nq2,\nq3,n/a\nq4,?\n"))
    assert (len(found.rows), found.empty) == (1, 3)
    assert found.taken.notes == ("3 rows without a label", "used id, label")
    with pytest.raises(InputError, match="no row holds a label"):
        as_labels(written("l.csv", "id,label\nq1,\n"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,lable\nq1,1\n", r'no column holds the label \(there are id, lable\). The field "lable" is not known. Did'),
        ("label,rater\n1,x\n", "no column holds the id"),
        ("id,label\nq1,good\n", r'l.csv line 2 field "label": label "good" is neither a number nor yes or no'),
        ("id,label\nq1,inf\n", "neither a number"),
        ("id,label\n,1\n", "a label without its id"),
        ("id,system,label\nq1,a,1\nq2,,1\n", r'line 3 field "system": a label without its system'),
        ("id,label,rater\nq1,1,x\nq1,1,x\n", r'line 3: a label by "x" for the same answer to question "q1" .*2'),
        ("id,label\nq1,1\nq1,0\n", r'a label for the same answer.*name the raters in a column "rater"'),
        ("just text\n", "no table of labels"),
    ],
)
def test_what_cannot_be_read_is_named(written, text, sentence):
    with pytest.raises(InputError, match=sentence):
        as_labels(written("l.csv", text))


def test_what_is_no_labels_at_all(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        as_labels(tmp_path)
    with pytest.raises(UsageError, match="cannot be made of int"):
        as_labels(3)


def test_ids_and_empty_labels_are_read_as_in_test_sets(written):
    labels = as_labels(written("f.csv", "id,label\n7.0,1\n8.0,0\n9.0,unknown\n"))
    assert ([one.question for one in labels.rows], labels.empty) == (["7", "8"], 1)
