"""Records: JSONL, JSON, CSV, TSV, Parquet, BEIR, hybrid-rag, SQuAD and momento."""

import gzip
import json

import polars as pl
import pytest

from karat.core.docs import Page
from karat.core.errors import InputError, UsageError
from karat.corpus import _file, read


def lines(*rows):
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def reading_of(tmp_path, content, name="a.jsonl", **more):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, **more)


def doc_of(tmp_path, *rows, **more):
    return reading_of(tmp_path, lines(*rows), **more).docs[0]


@pytest.mark.parametrize(
    ("row", "id_"),
    [
        ({"id": 7, "text": "x"}, "7"),
        ({"_id": "a ", "text": "x"}, "a"),
        ({"id": 7.0, "content": "x"}, "7"),
        ({"doc_id": "d", "contents": "x"}, "d"),
        ({"docid": "d", "body": "x"}, "d"),
        ({"pid": 3, "passage": "x"}, "3"),
        ({"url": "https://e.org", "page_content": "x"}, "https://e.org"),
        ({"text": "x"}, "a.jsonl:1"),
        ({"id": "", "Doc-ID": "d", "Text": "x"}, "d"),
        ({"id": 0, "text": "x"}, "0"),
    ],
)
def test_ids_and_texts_under_their_usual_names(tmp_path, row, id_):
    doc = doc_of(tmp_path, row)
    assert (doc.id, doc.text, doc.part_of) == (id_, "x", None)


def test_other_fields(tmp_path):
    row = {"id": "a", "text": "x", "title": "T", "url": "u", "lang": "ru", "n": 3, "ok": True, "l": [1], "z": None}
    doc = doc_of(tmp_path, row)
    assert (doc.title, doc.url) == ("T", "u")
    assert doc.meta == {"lang": "ru", "n": "3", "ok": "true"}


def test_a_chunk_keeps_its_id_and_names_its_document(tmp_path):
    doc = doc_of(tmp_path, {"chunk_id": "c1", "doc_id": "d1", "text": "x"})
    assert (doc.id, doc.part_of) == ("c1", "d1")
    langchain = {"page_content": "x", "metadata": {"source": "h.pdf", "page": 33, "page_number": "34"}}
    reading = reading_of(tmp_path, lines(langchain))
    (doc,) = reading.docs
    assert (doc.id, doc.part_of, doc.pages) == ("a.jsonl:1", "h.pdf", (Page(34, 0, 1),))
    (problem,) = reading.problems
    assert problem.reason.startswith("page_number ")
    assert not problem.fatal


def test_pages_that_are_no_numbers_stay_where_they_are(tmp_path):
    assert doc_of(tmp_path, {"id": "a", "text": "x", "page": "12"}).pages == (Page(12, 0, 1),)
    assert doc_of(tmp_path, {"id": "a", "text": "x", "page": "iv"}).meta == {"page": "iv"}
    assert doc_of(tmp_path, {"id": "a", "text": "x", "page": "9" * 6000}).pages == ()


def test_unusual_columns_are_mapped(tmp_path):
    rows = lines({"nr": 5, "inhalt": "words", "text": "ignored"})
    doc = reading_of(tmp_path, rows, columns={"nr": "id", "inhalt": "text"}).docs[0]
    assert (doc.id, doc.text) == ("5", "words")
    with pytest.raises(UsageError, match=r"--map nr=txt: there is no field 'txt'\. Did you mean text\?"):
        reading_of(tmp_path, rows, columns={"nr": "txt"})
    with pytest.raises(UsageError, match=r"--map inhlat=text: no record has a field 'inhlat'\. Did you mean inhalt\?"):
        reading_of(tmp_path, rows, columns={"inhlat": "text"})


def test_bad_rows_are_named_and_the_rest_goes_on(tmp_path):
    reading = reading_of(
        tmp_path, lines({"id": "a", "text": "x"}, "{broken", "[1]", "7", {"id": "b", "text": " "}, {"id": "c"}, "",
                        {"id": "d", "text": "y"})
    )  # fmt: skip
    assert [doc.id for doc in reading.docs] == ["a", "d"]
    said = [(problem.place.rpartition(":")[2], problem.kind, problem.reason) for problem in reading.problems]
    assert said == [
        ("2", "broken", "not valid JSON (Expecting property name enclosed in double quotes, column 2)."),
        ("3", "broken", "the line is a list, not a record with fields."),
        ("4", "broken", "the line is 7, not a record with fields."),
        ("5", "empty", "the line has an empty text."),
        ("6", "textless", "the line has no text. Fields: id."),
    ]
    assert all(problem.fatal for problem in reading.problems), "each is a document that the corpus lacks"


def test_many_bad_rows_are_counted(tmp_path):
    reading = reading_of(tmp_path, lines({"id": "a", "text": "x"}, *["nonsense"] * 1_000))
    assert len(reading.problems) == 21
    assert sum(problem.count for problem in reading.problems) == 1_000
    assert reading.problems[-1].reason == "980 more rows have the same kind of problem, 1,000 in all."
    assert reading.problems[-1].fatal


def test_a_file_without_any_text_is_one_problem(tmp_path):
    with pytest.raises(InputError, match=r"no line has a text\. Fields: id, question\. Name the column .* --map"):
        reading_of(tmp_path, lines(*[{"id": n, "question": "q"} for n in range(100)]))


@pytest.mark.parametrize(("name", "content"), [("a.csv", "id,text\n"), ("a.json", "[]"), ("a.jsonl", "\n\n")])
def test_a_file_without_records(tmp_path, name, content):
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / name).write_text(content)
    (problem,) = read(tmp_path).problems
    assert (problem.kind, problem.reason, problem.fatal) == ("empty", "holds no records.", True)


def test_an_empty_text_with_a_title_is_its_title(tmp_path):
    assert doc_of(tmp_path, {"_id": "a", "title": "Only a title", "text": ""}).text == "Only a title"


def test_a_line_beyond_the_limit_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(_file, "LINE_LIMIT", 1 << 20)
    long = {"id": "long", "text": "w " * (2 << 20)}
    reading = reading_of(tmp_path, lines({"id": "a", "text": "x"}, long, {"id": "b", "text": "y"}, long))
    assert [doc.id for doc in reading.docs] == ["a", "b"]
    assert [p.place[-2:] for p in reading.problems] == [":2", ":4"]
    assert reading.problems[0].reason == "the line is longer than 1 MB, the most that is read."


def test_lines_in_another_encoding(tmp_path):
    data = lines({"id": "a", "text": "Вахта длится"}).encode("cp1251") + lines({"id": "b", "text": "Вахта"}).encode()
    reading = reading_of(tmp_path, data)
    assert [doc.text for doc in reading.docs] == ["Вахта длится", "Вахта"]
    assert reading.problems[0].reason == "is not UTF-8; such lines are read as Windows-1251."
    reading = reading_of(tmp_path, lines({"id": "a", "text": "Вахта"}).encode("utf-16"))
    assert reading.docs[0].text == "Вахта"


def test_lone_surrogates_and_nul_cannot_reach_a_document(tmp_path):
    doc = doc_of(tmp_path, r'{"id": "a\ud800", "text": "x\u0000y\ud83d\ude00\udc00"}')
    assert (doc.id, doc.text) == ("a\ufffd", "xy\U0001f600\ufffd")


def test_gzip_and_what_was_read_before_it_breaks(tmp_path):
    rows = lines(*({"id": n, "text": f"{n * 7919 % 1000003} {n * n}"} for n in range(60_000)))
    packed = gzip.compress(rows.encode())
    assert len(reading_of(tmp_path, packed, "a.jsonl.gz").docs) == 60_000
    reading = reading_of(tmp_path, packed[: len(packed) // 2], "a.jsonl.gz")
    kept = len(reading.docs)
    assert 1_000 < kept < 60_000
    truncated = reading.problems[-1] if reading.problems[-1].kind == "broken" else reading.problems[0]
    assert f"{kept:,} documents before that are kept." in str(truncated)
    assert truncated.fatal


@pytest.mark.parametrize(
    "value",
    [
        [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}],
        {"documents": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]},
        {"a": {"text": "x"}, "b": {"text": "y"}},
        {"id": ["a", "b"], "text": ["x", "y"]},
    ],
    ids=["list", "object with a list", "object by id", "columns"],
)
def test_json_shapes(tmp_path, value):
    docs = reading_of(tmp_path, json.dumps(value, indent=1), "a.json").docs
    assert [(doc.id, doc.text) for doc in docs] == [("a", "x"), ("b", "y")]


def test_json_with_lines_in_it(tmp_path):
    docs = reading_of(tmp_path, lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"}), "a.json").docs
    assert [doc.id for doc in docs] == ["a", "b"]


def test_hybrid_rag_keeps_the_ids_of_chunks(tmp_path):
    chunk = {"text": "t", "url": "https://e.org/a", "title": "A", "chunk_id": "c0", "doc_id": "d0"}
    value = {"metadata": {"n": 1}, "chunks": [chunk, {**chunk, "chunk_id": 12, "doc_id": None}]}
    reading = reading_of(tmp_path, json.dumps(value), "corpus.json")
    assert reading.taken[0].format == "jsonl"
    assert [(d.id, d.part_of, d.url, d.title) for d in reading.docs] == [
        ("c0", "d0", "https://e.org/a", "A"),
        ("12", "https://e.org/a", "https://e.org/a", "A"),
    ]


def test_squad_paragraphs_are_named_as_its_test_set_names_them(tmp_path):
    value = {
        "data": [{"title": "Polar_bear", "paragraphs": [{"context": "It swims.", "qas": []}, {"context": "It eats."}]}]
    }
    reading = reading_of(tmp_path, json.dumps(value), "dev.json")
    assert reading.taken[0].format == "squad"
    assert [(d.id, d.text, d.title) for d in reading.docs] == [
        ("Polar_bear/1", "It swims.", "Polar bear"),
        ("Polar_bear/2", "It eats.", "Polar bear"),
    ]


def test_a_beir_folder(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(lines({"_id": "4983", "title": "T", "text": "x", "metadata": {"y": 1}}))
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "1", "text": "a question"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t4983\t1\n")
    reading = read(tmp_path)
    assert [(d.id, d.title, d.text, d.meta) for d in reading.docs] == [("4983", "T", "x", {"y": "1"})]
    assert reading.taken[0].format == "jsonl"
    (problem,) = reading.problems
    assert problem.reason == "not documents, passed over: 2 files of a test set beside its corpus."
    assert not problem.fatal


def test_the_tables_of_momento(tmp_path):
    pl.DataFrame({"id": [1, 2], "content": ["x", "y"]}).write_parquet(tmp_path / "docs.parquet")
    pl.DataFrame({"id": [1], "text": ["q"], "answer": ["a"]}).write_parquet(tmp_path / "queries.parquet")
    pl.DataFrame({"query_id": [1], "doc_id": [2], "relevance": [1]}).write_parquet(tmp_path / "qrels.parquet")
    reading = read(tmp_path)
    assert [(d.id, d.text) for d in reading.docs] == [("1", "x"), ("2", "y")]


def test_csv_with_quotes_separators_and_line_ends_in_cells(tmp_path):
    content = 'id;text;lang\n1;"a; ""b""\nc";ru\n2;plain;\n'
    docs = reading_of(tmp_path, content, "a.csv").docs
    assert [(d.id, d.text, d.meta) for d in docs] == [("1", 'a; "b"\nc', {"lang": "ru"}), ("2", "plain", {})]


def test_csv_rows_that_do_not_fit_are_named(tmp_path):
    reading = reading_of(tmp_path, 'id,text\n1,x\n2,y,z\n3\n4,w\n5,"open\n6,v\n', "a.csv")
    assert [doc.id for doc in reading.docs] == ["1", "4"]
    assert [(p.place[-1], p.reason) for p in reading.problems] == [
        ("3", "the row has 3 cells and the header has 2."),
        ("4", "the row has 1 cell and the header has 2."),
        ("6", "the quotation marks do not pair up (unexpected end of data)."),
    ]


def test_tsv_takes_lone_quotes_as_they_are(tmp_path):
    docs = reading_of(tmp_path, 'id\ttext\n1\t"quoted" at first\n2\t5" wide\n3\t"whole ""cell"""\n', "a.tsv").docs
    assert [doc.text for doc in docs] == ['"quoted" at first', '5" wide', 'whole "cell"']


def test_passages_and_documents_of_ms_marco_have_no_header(tmp_path):
    reading = reading_of(tmp_path, '0\tThe "atomic bomb".\n1\tIt is 5" wide.\n2\tmore\tcells\n', "collection.tsv")
    assert [(doc.id, doc.text) for doc in reading.docs] == [("0", 'The "atomic bomb".'), ("1", 'It is 5" wide.')]
    assert [(p.fatal, p.reason) for p in reading.problems] == [
        (False, "has no header line; its columns were read as id, text."),
        (True, "the row has 3 cells and the header has 2."),
    ]
    doc = reading_of(tmp_path, "D15\thttps://e.org\tWatches\tThey last four hours.\n", "docs.tsv").docs[0]
    assert (doc.id, doc.url, doc.title, doc.text) == ("D15", "https://e.org", "Watches", "They last four hours.")


@pytest.mark.parametrize("first", ["nummer\tinhalt", "1\t2", "q1 0\td7 1", "1\t0\td7\t1"])
def test_a_table_that_may_have_a_header_is_not_guessed_at(tmp_path, first):
    with pytest.raises(InputError, match="no line has a text"):
        reading_of(tmp_path, f"{first}\n{first}\n", "a.tsv")


def test_a_csv_in_windows_1251(tmp_path):
    reading = reading_of(tmp_path, "id,text\n1,Ночная вахта\n".encode("cp1251"), "a.csv")
    assert reading.docs[0].text == "Ночная вахта"
    assert reading.problems[0].reason == "is not UTF-8; read as Windows-1251."


def test_a_damaged_parquet_file(tmp_path):
    (tmp_path / "b.txt").write_text("x")
    pl.DataFrame({"id": [1], "text": ["x"]}).write_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    (problem,) = read(tmp_path).problems
    assert problem.kind == "broken"
    assert problem.reason.startswith("is a damaged Parquet file (")


def test_two_records_of_one_id(tmp_path):
    reading = reading_of(
        tmp_path, lines({"id": "a", "text": "x"}, {"id": "a", "text": "x"}, {"id": "a", "text": "other"})
    )
    place = str(tmp_path / "a.jsonl")
    assert [doc.text for doc in reading.docs] == ["x"]
    assert [(p.kind, p.fatal, p.reason) for p in reading.problems] == [
        ("duplicate", False, f"the document 'a' is also in {place}, with the same text; kept once."),
        ("clash", True, f"the id 'a' is taken by another text, in {place}; this one is left out."),
    ]
