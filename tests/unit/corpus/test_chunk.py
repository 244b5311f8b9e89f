"""Chunks of documents: what they hold, what they are called, which pages they stand on."""

import pytest

from karat.core.docs import Doc, Page
from karat.core.errors import InputError, KaratError
from karat.corpus import CHUNKERS, Chunker, Chunking, Piece, chunk_docs


def words(first, last):
    return " ".join(f"w{i}" for i in range(first, last + 1))


def texts(doc, setting):
    return [chunk.text for chunk in chunk_docs([doc], Chunking.parse(setting)).chunks]


def test_a_short_document_is_one_numbered_chunk():
    doc = Doc("a.txt", "\n Two words. \n", "Title", url="http://x/a", meta={"lang": "en"})
    ((chunk,), notes) = chunk_docs([doc])
    assert notes.problems == ()
    assert (chunk.id, chunk.doc, chunk.text, chunk.span, chunk.tokens) == (
        "a.txt#0001",
        "a.txt",
        "Two words.",
        (2, 12),
        2,
    )
    assert (chunk.title, chunk.url, chunk.pages, chunk.labels, dict(chunk.meta)) == (
        "Title", "http://x/a", (), (), {"lang": "en"},
    )  # fmt: skip


def test_a_document_without_text_gives_no_chunk_and_is_named():
    chunks, notes = chunk_docs([Doc("a", " \n\u2003\t"), Doc("b", "x"), Doc("c", "")])
    assert chunks.ids == ["b#0001"]
    assert [(p.place, p.kind, p.fatal) for p in notes.problems] == [("a", "empty", True), ("c", "empty", True)]


def test_no_documents_are_no_chunks():
    chunks, notes = chunk_docs(iter(()))
    assert len(chunks) == 0
    assert notes.problems == ()


def test_rows_ascend_by_id_in_byte_order_and_inside_a_document_by_place():
    docs = [Doc("é", "x"), Doc("z", "y"), Doc("b", words(1, 12)), Doc("B", "y")]
    chunks = chunk_docs(docs, Chunking.parse("tokens:1:0")).chunks
    numbers = [f"b#{n:04d}" for n in range(1, 13)]
    assert chunks.ids == ["B#0001", *numbers, "z#0001", "é#0001"]
    assert [chunk.text for chunk in chunks][1:13] == words(1, 12).split()


def test_numbers_have_as_many_digits_as_the_document_needs():
    chunks = chunk_docs([Doc("a", words(1, 10_000)), Doc("b", "x")], Chunking.parse("tokens:1:0")).chunks
    assert chunks.ids[0] == "a#00001"
    assert chunks.ids[9_999] == "a#10000"
    assert chunks.ids[-1] == "b#0001"
    assert chunks[9_999].text == "w10000"


def test_whole_and_already_cut_documents_keep_their_ids():
    whole = chunk_docs([Doc("a", words(1, 500))], Chunking.parse("whole")).chunks
    assert (whole.ids, whole[0].doc, whole[0].tokens) == (["a"], "a", 500)
    cut_before = Doc("04_35_1", f" {words(1, 500)} ", part_of="book")
    (chunk,) = chunk_docs([cut_before]).chunks
    assert (chunk.id, chunk.doc, chunk.text, chunk.span) == ("04_35_1", "book", words(1, 500), None)


def test_a_chunk_is_never_called_what_a_document_is_called():
    docs = [Doc("a", words(1, 4)), Doc("a#0001", "other"), Doc("a#00002", "third", part_of="x")]
    expected = ["a#000001", "a#000002"]
    for order in (docs, docs[::-1]):
        chunks, notes = chunk_docs(order, Chunking.parse("tokens:2:0"))
        assert sorted(c.id for c in chunks if c.doc == "a") == expected
        assert {c.id for c in chunks if c.doc != "a"} == {"a#0001#0001", "a#00002"}
        assert [(p.place, p.kind, p.fatal) for p in notes.problems] == [("a", "renamed", False)]
        assert chunks.ids == sorted(chunks.ids)


def test_ids_that_only_look_alike_stay():
    docs = [Doc("a", "x"), Doc("a#0002", "y"), Doc("a#1", "z"), Doc("b#0001", "w")]
    chunks, notes = chunk_docs(docs)
    assert chunks.ids == ["a#0001", "a#0002#0001", "a#1#0001", "b#0001#0001"]
    assert notes.problems == ()


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(InputError, match="a: two documents have this id"):
        chunk_docs([Doc("a", "x"), Doc("b", "x"), Doc("a", "y")])


def test_a_chunk_knows_every_page_it_has_characters_of():
    text = "one two\n   \nthree four\nfive"
    pages = (Page(1, 0, 8, "i"), Page(2, 8, 12), Page(3, 12, 23, "1"), Page(4, 23, 27, "2"))
    chunks = chunk_docs([Doc("a", text, pages=pages)], Chunking.parse("tokens:3:1")).chunks
    assert [(c.text, c.pages, c.labels) for c in chunks] == [
        ("one two\n   \nthree", (1, 3), ("i", "1")),
        ("three four\nfive", (3, 4), ("1", "2")),
    ]
    plain = (Page(1, 0, 8), Page(2, 8, 27, "7"))
    chunks = chunk_docs([Doc("a", text, pages=plain)], Chunking.parse("tokens:3:0")).chunks
    assert [(c.pages, c.labels) for c in chunks] == [((1, 2), ("", "7")), ((2,), ("7",))]
    chunks = chunk_docs([Doc("a", text, pages=(Page(5, 0, 27),))]).chunks
    assert [(c.pages, c.labels) for c in chunks] == [((5,), ())]


def test_by_page_each_page_with_text_is_a_chunk():
    text = "Cover\f  \fFirst page.\fLast."
    pages = (Page(1, 0, 5), Page(2, 6, 8), Page(3, 9, 20, "1"), Page(4, 21, 26, "2"))
    chunks, notes = chunk_docs([Doc("a", text, pages=pages)], Chunking.parse("page"))
    assert [(c.id, c.text, c.pages, c.labels) for c in chunks] == [
        ("a#0001", "Cover", (1,), ()),
        ("a#0002", "First page.", (3,), ("1",)),
        ("a#0003", "Last.", (4,), ("2",)),
    ]
    assert notes.problems == ()


def test_by_page_text_between_pages_is_kept():
    doc = Doc("a", "before one between two after", pages=(Page(1, 7, 10), Page(2, 19, 22)))
    assert texts(doc, "page") == ["before one between", "two after"]


def test_a_document_without_pages_is_cut_by_tokens_and_noted_once():
    docs = [Doc("b", words(1, 300)), Doc("a", words(1, 300)), Doc("c", "x", pages=(Page(1, 0, 1),))]
    chunks, notes = chunk_docs(docs, Chunking.parse("page"))
    assert [c.tokens for c in chunks] == [200, 140, 200, 140, 1]
    (note,) = notes.problems
    assert (note.place, note.fatal) == ("a", False)
    assert "no pages" in note.reason
    assert "tokens:200:40" in note.reason
    assert "1 other document." in note.reason
    assert (
        chunk_docs(docs[:1], Chunking.parse("page")).notes.problems[0].reason
        == "has no pages, so it was cut by tokens:200:40."
    )


def test_progress_is_told():
    told = []
    chunk_docs([Doc(f"d{i}", "x") for i in range(1200)], Chunking(), lambda *step: told.append(step))
    assert told == [("chunking", 500, 1200), ("chunking", 1000, 1200), ("chunking", 1200, 1200)]
    chunk_docs(iter([Doc("d", "x")]), Chunking(), lambda *step: told.append(step))
    assert told[-1] == ("chunking", 1, 0)


@pytest.mark.parametrize(
    ("pieces", "sentence", "keeps_id"),
    [
        ([Piece(0, 3)], "left out 'two' of the document a", False),
        ([Piece(4, 7)], "left out 'one' of the document a", False),
        ([], "left out 'one two'", False),
        ([Piece(-7, 3), Piece(3, 7)], "went beyond the document a", False),
        ([Piece(0, 3), Piece(3, 7)], "2 chunks of one id of the document a", True),
    ],
)
def test_a_way_that_loses_text_is_caught(pieces, sentence, keeps_id, monkeypatch):
    way = Chunker("mine", "", lambda doc, size, overlap: pieces, keeps_id=keeps_id)
    monkeypatch.setitem(CHUNKERS._loaded, "mine", way)
    with pytest.raises(KaratError, match=f"chunking by mine .*{sentence}"):
        chunk_docs([Doc("a", "one two")], Chunking("mine"))
