"""Gold of a row: all that it names is kept, in one entry where it names one unit."""

import json

import pytest

from karat.core.errors import InputError
from karat.core.types import Gold
from karat.files import as_testset, convert, read_testset

QUOTED = Gold(doc="h.pdf", page="34", quote="two years")


def gold_of(row, **options):
    (question,) = as_testset([{"id": 1, "question": "a?", **row}], **options)[0].questions
    return question.gold


@pytest.mark.parametrize(
    ("row", "gold"),
    [
        ({"gold_doc": "h.pdf", "gold_page": 34, "gold_quote": "two years"}, (QUOTED,)),
        ({"gold_quote": "two years", "file": "h.pdf", "page": 34}, (QUOTED,)),
        ({"gold_url": "http://x", "gold_quote": "two years"}, (Gold(url="http://x", quote="two years"),)),
        ({"gold_id": "g", "gold_quote": "two years"}, (Gold(id="g", quote="two years"),)),
        ({"gold_chunk": "c", "gold_doc": "d", "gold_quote": "q"}, (Gold(chunk="c", doc="d", quote="q"),)),
        ({"gold_doc": "h.pdf", "gold_span": [3, 9]}, (Gold(doc="h.pdf", span=(3, 9)),)),
        ({"gold_doc": "a", "gold_span": [[3, 9], [1, 2]]}, (Gold(doc="a", span=(3, 9)), Gold(doc="a", span=(1, 2)))),
        ({"gold_doc": ["a", "b"], "gold_grade": [2, 1]}, (Gold(doc="a", grade=2), Gold(doc="b"))),
        ({"gold_doc": ["a", "b"], "gold_quote": ["x", "y"]}, (Gold(doc="a", quote="x"), Gold(doc="b", quote="y"))),
        ({"gold_doc": "a", "gold_quote": ["x", "y"]}, (Gold(doc="a", quote="x"), Gold(doc="a", quote="y"))),
        ({"gold_doc": ["a", "b"], "gold_quote": "x"}, (Gold(doc="a", quote="x"), Gold(doc="b", quote="x"))),
        ({"gold_doc": ["a", "b"], "gold_quote": ["x", ""]}, (Gold(doc="a", quote="x"), Gold(doc="b"))),
        ({"gold_doc": ["a", "b"], "gold_page": ["34", "N/A"]}, (Gold(doc="a", page="34"), Gold(doc="b"))),
        ({"gold_doc": "a", "gold_page": ["34", "N/A"]}, (Gold(doc="a", page="34"),)),
        ({"gold_doc": "a", "gold_page": "N/A"}, (Gold(doc="a"),)),
        ({"reference_context_ids": ["c1"], "reference_contexts": ["words"]}, (Gold(id="c1", quote="words"),)),
        ({"gold_doc": "a", "gold_quote": "(a) The pump"}, (Gold(doc="a", quote="(a) The pump"),)),
        ({"gold": [{"doc": "a"}], "gold_quote": "x"}, (Gold(doc="a"), Gold(quote="x"))),
        ({"gold": [{"doc": "a", "quote": "x"}], "gold_doc": "a"}, (Gold(doc="a", quote="x"),)),
    ],
)  # fmt: skip
def test_nothing_that_a_row_names_is_dropped(row, gold):
    assert gold_of(row) == gold


@pytest.mark.parametrize("name", ["doc", "document", "file", "filename", "file_name", "file_path", "pdf", "source"])
def test_names_of_the_gold_document(name):
    assert gold_of({name: "h.pdf", "page": 34}) == (Gold(doc="h.pdf", page="34"),)


def test_quotes_of_tables(tmp_path):
    path = tmp_path / "qa.csv"
    path.write_text('id,question,gold_doc,gold_page,gold_quote\n1,a?,h.pdf,34,two years\n2,b?,g.pdf,,"x, y"\n')
    testset, _ = read_testset(path)
    assert [q.gold for q in testset] == [(QUOTED,), (Gold(doc="g.pdf", quote="x, y"),)]


def test_lists_that_do_not_pair_up_are_refused_with_row_and_fields(tmp_path):
    path = tmp_path / "qa.jsonl"
    path.write_text(
        json.dumps({"id": 1, "question": "?", "gold_doc": ["a", "b", "c"], "gold_quote": ["x", "y"]}) + "\n"
    )
    with pytest.raises(InputError) as caught:
        read_testset(path)
    assert "line 1" in str(caught.value)
    assert "doc 3, quote 2" in str(caught.value)


def test_an_id_names_the_unit_and_a_column_of_files_is_ignored_aloud():
    testset, taken = as_testset([{"id": 1, "question": "a?", "relevant_chunk_ids": ["c"], "source": "wiki"}])
    assert testset.questions[0].gold == (Gold(chunk="c"),)
    assert taken.notes[-1].endswith("ignored source")


def test_ragas_keeps_quotes_beside_what_they_stand_in(tmp_path):
    source, target = tmp_path / "qa.jsonl", tmp_path / "qa.ragas.jsonl"
    gold = [{"id": "c1", "quote": "one"}, {"id": "c2"}, {"quote": "two"}]
    source.write_text(json.dumps({"id": "q", "question": "a?", "gold": gold}) + "\n")
    convert(source, target)
    assert read_testset(target)[0].questions[0].gold == (Gold(id="c1", quote="one"), Gold(id="c2"), Gold(quote="two"))


def test_an_empty_reference_is_undefined_and_no_fault():
    rows = [{"id": 1, "question": "a?", "answers": ["A"]}, {"id": 2, "question": "b?", "answers": [""]}]
    testset, taken = as_testset(rows)
    assert [q.answers for q in testset] == [("A",), ()]
    assert "1 of 2 questions have neither gold nor a reference answer" in taken.notes


@pytest.mark.parametrize("cell", ["nan", "NaN", ["nan"], [float("nan")], float("nan"), [], ""])
def test_nan_names_no_document(cell):
    rows = [{"id": 1, "question": "a?", "gold_doc": ["a"], "answers": ["A"]},
            {"id": 2, "question": "b?", "gold_doc": cell, "answers": ["B"]}]  # fmt: skip
    assert [q.gold for q in as_testset(rows)[0]] == [(Gold(doc="a"),), ()]


def test_an_object_in_a_cell_of_a_table_is_read_as_in_json(tmp_path):
    path = tmp_path / "qa.csv"
    path.write_text(
        'id,question,gold\n1,a?,"{""doc"": ""h.pdf"", ""page"": 34}"\n2,b?,"{""d1"": 2, ""d2"": 1}"\n', "utf-8"
    )
    testset, _ = read_testset(path)
    assert [question.gold for question in testset] == [
        (Gold(doc="h.pdf", page="34"),), (Gold(id="d1", grade=2), Gold(id="d2")),
    ]  # fmt: skip


def test_ids_that_were_floats_are_the_same_in_judgements_with_and_without_pages(tmp_path):
    (tmp_path / "a.csv").write_text("query_id,doc_id,relevance\n7.0,d1,1\n8.0,d2,1\n")
    (tmp_path / "b.csv").write_text("query_id,doc_id,page,relevance\n7.0,d1,3,1\n8.0,d2,4,1\n")
    assert read_testset(tmp_path / "a.csv")[0].ids == read_testset(tmp_path / "b.csv")[0].ids == ("7", "8")


def test_judgements_of_two_pages_of_a_document_are_two(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("query_id,doc_id,page,relevance\n1,d,3,1\n1,d,4,2\n")
    assert read_testset(path)[0]["1"].gold == (Gold(doc="d", page="3"), Gold(doc="d", page="4", grade=2))
    path.write_text("query_id,doc_id,page,relevance\n1,d,3,1\n1,d,3,2\n")
    with pytest.raises(InputError, match=r"line 3: a judgement of .* stands twice \(first in line 2\)"):
        read_testset(path)


@pytest.mark.parametrize(
    "name",
    [
        "r.pdf, p. 3-4",
        "r.pdf p.3",
        "r.PDF (page 3)",
        "R\u00e9sum\u00e9.docx, S. 2",
        "a.pdf; b.pdf",
        "a.pdf, p. 1; b.pdf",
    ],
)
def test_a_file_and_its_page_in_one_text_are_told_how_to_be_written(name):
    rows = [{"question": "a?", "source": name}, {"question": "b?", "source": "c.pdf"}]
    (note,) = [note for note in as_testset(rows)[1].notes if "read as one name" in note]
    assert note.endswith('(1 gold document like it): give pages a column "page", and several files a list')


@pytest.mark.parametrize(
    "name", ["r.pdf", "h.pdf#0012", "h.pdf::chunk-3", "2 reports, p. 3.pdf", "a 3.pdf", "x.pdf.md"]
)
def test_a_plain_name_of_a_document_is_no_page(name):
    assert not any("read as one name" in note for note in as_testset([{"question": "a?", "source": name}])[1].notes)
