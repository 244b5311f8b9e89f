"""One meaning of pages: the same record names the same page in results, test sets, stores and corpora."""

import json

import pytest

from karat.corpus import read
from karat.files import as_runs, as_testset
from karat.io.pages import PageReader, counts_from_0, page_number, page_text, pages_of
from karat.retrieve._stored import chunk_of

LANGCHAIN = {"page_content": "words", "metadata": {"source": "h.pdf", "page": 33}}
RECORDS = [
    (LANGCHAIN, 34),
    ({"page_content": "words", "metadata": {"source": "h.pdf", "page": 0}}, 1),
    ({"text": "words", "source": "h.pdf", "page": 33}, 33),
    ({"text": "words", "metadata": {"source": "h.pdf", "page": 33}}, 33),
    ({"page_content": "words", "source": "h.pdf", "page": 33}, 33),
    ({"text": "words", "source": "h.pdf", "page": 33, "page_number": "34"}, 34),
    ({"page_content": "words", "metadata": {"source": "h.pdf", "page": 33, "page_number": 40}}, 40),
    ({"text": "words", "source": "h.pdf", "page_label": "12"}, 12),
    ({"text": "words", "source": "h.pdf", "page": 33, "page_label": "iv"}, 33),
    ({"page_content": "words", "metadata": {"source": "h.pdf", "page": 33, "page_label": "iv"}}, 34),
    ({"text": "words", "source": "h.pdf", "page": "p. 7"}, 7),
]


@pytest.mark.slow
@pytest.mark.parametrize(("record", "page"), RECORDS)
def test_a_record_names_the_same_page_wherever_it_is_read(tmp_path, record, page):
    (run,), _ = as_runs([{"id": "q", "retrieved": [record]}])
    assert pages_of(run.fields["page"][0]) == (str(page),)
    testset, _ = as_testset([{"id": "q", "gold": [record]}])
    assert pages_of(testset.questions[0].gold[0].page) == (str(page),)
    assert chunk_of("c", record).pages == (page,)
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (doc,) = read(path).docs
    assert [p.number for p in doc.pages] == [page]


def test_labels_are_kept_and_never_counted(tmp_path):
    record = {"id": "c", "text": "words", "source": "h.pdf", "page": 5, "page_label": "iii"}
    (run,), _ = as_runs([{"id": "q", "retrieved": [record]}])
    assert (run.fields["page"], run.fields["page_label"]) == (["5"], ["iii"])
    assert (chunk_of("c", record).pages, chunk_of("c", record).labels) == ((5,), ("iii",))
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (doc,) = read(path).docs
    assert (doc.pages[0].number, doc.pages[0].label) == (5, "iii")


def test_a_label_that_looks_like_a_range_is_one_page():
    testset, taken = as_testset([{"id": "q", "question": "?", "gold": [{"doc": "m.pdf", "page_label": "3-12"}]}])
    (gold,) = testset.questions[0].gold
    assert (gold.page, pages_of(gold.page)) == ("label:3-12", ("3-12",))
    assert not any("read as pages" in note for note in taken.notes)
    assert pages_of("3-12") == tuple(map(str, range(3, 13)))
    assert pages_of("Label: 3–12") == ("3-12",)


def test_how_a_range_was_read_is_said():
    testset, taken = as_testset([{"id": "q", "question": "?", "gold": [{"doc": "m.pdf", "page": "3-12"}]}])
    assert testset.questions[0].gold[0].page == "3-12"
    assert taken.notes[0].startswith('page "3-12" read as pages 3 to 12 (10 gold pages)')
    assert "--map page=page_label" in taken.notes[0]


def test_a_column_of_labels_is_mapped(tmp_path):
    path = tmp_path / "qa.csv"
    path.write_text("id,question,gold_doc,gold_page\n1,a?,m.pdf,3-12\n")
    testset, taken = as_testset(path, columns={"gold_page": "page_label"})
    assert testset.questions[0].gold[0].page == "label:3-12"
    assert not any("read as pages" in note for note in taken.notes)


def test_page_number_and_page_that_differ_by_one_are_reported_everywhere(tmp_path):
    record = {"id": "c", "text": "words", "source": "h.pdf", "page": 33, "page_number": 34}
    said = "page_number is read as the page; page differs by one once (page_number 34, page 33)"
    assert as_runs([{"id": "q", "retrieved": [record]}])[1][0].notes[0] == said
    assert as_testset([{"id": "q", "gold": [record]}])[1].notes[0] == said
    flat = [{"id": "q", "question": "?", "file": "h.pdf", "page": 33, "page_number": 34}]
    testset, taken = as_testset(flat)
    assert (testset.questions[0].gold[0].page, taken.notes[0]) == ("34", said)
    table = [{"query": "q", "doc": "d", "score": 1.0, "page": 33, "page_number": 34}]
    (run,), (taken,) = as_runs(table)
    assert (run.fields["page"], said in taken.notes) == (["34"], True)
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(record) + "\n")
    assert any("page_number" in str(problem) for problem in read(path).problems)


def test_a_page_0_is_kept_and_reported(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "a", "text": "x", "page": 4}\n{"id": "b", "text": "y", "page": 0}\n')
    reading = read(path)
    assert [[p.number for p in doc.pages] for doc in reading.docs] == [[4], [0]]
    (problem,) = reading.problems
    assert (problem.kind, problem.fatal) == ("pages", False)
    assert problem.reason.startswith("page 0 stands once, and pages are read as counted from 1")
    _, (taken,) = as_runs([{"id": "q", "retrieved": [{"id": "c", "page": 0}]}])
    assert taken.notes == (problem.reason.removesuffix("."),)


def test_flat_records_of_langchain_in_a_store():
    record = {"source": "h.pdf", "page": 33}
    assert chunk_of("c", record, "words", from_0=True).pages == (34,)
    assert chunk_of("c", record, "words").pages == (33,)


def test_notes_of_the_reader():
    pages = PageReader()
    assert pages.read(page=33, from_0=True) == ("34", None)
    assert pages.read(page=[1, 2], from_0=True) == (("2", "3"), None)
    assert pages.read(page="iv", from_0=True) == ("iv", None)
    assert pages.read(page=33, label="34") == ("33", "34")
    assert pages.read(page=["N/A"]) == (None, None)
    assert [note.partition(":")[0] for note in pages.notes()] == [
        "page in the metadata beside page_content counts from 0, as LangChain writes it",
        "page_label is page + 1 once",
    ]


@pytest.mark.parametrize("value", [True, {}, object()])
def test_what_is_no_page(value):
    with pytest.raises(ValueError, match="is no page"):
        page_text(value)


def test_numbers_of_pages():
    assert [page_number(p) for p in ("7", "0", "iv", None, ("1", "2"), "9" * 40)] == [7, 0, None, None, None, None]
    assert counts_from_0(LANGCHAIN)
    assert not counts_from_0({**LANGCHAIN, "page": 3})


@pytest.mark.parametrize(
    ("record", "doc"),
    [
        ({"text": "words", "source": "x", "metadata": {"doc": "y"}}, "x"),
        ({"text": "words", "doc": "x", "metadata": {"source": "y"}}, "x"),
        ({"text": "words", "metadata": {"source": "y", "doc_id": "x"}}, "x"),
    ],
)
def test_the_name_of_a_document_beside_a_text_stands_before_that_in_its_metadata(tmp_path, record, doc):
    (run,), _ = as_runs([{"id": "q", "retrieved": [record]}])
    testset, _ = as_testset([{"id": "q", "question": "q", "gold": [record]}])
    path = tmp_path / "docs.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (read_doc,) = read(path).docs
    assert (run.fields["doc"], testset.questions[0].gold[0].doc, read_doc.id) == ([doc], doc, doc)


def test_several_pages_in_one_text_are_several_as_rows_csv_writes_them():
    assert pages_of("3,4") == pages_of("p. 3; 4") == ("3", "4")
    assert pages_of("i,ii,1-2") == ("i", "ii", "1", "2")
    assert pages_of("3,4", frozenset({"3,4"})) == pages_of("label:3,4") == ("3,4",)
    assert pages_of("3,") == ("3,",)
