"""Whatever bytes a file holds, under whatever name, it becomes documents or problems, and its neighbours are read."""

import gzip
import io
import json
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from docx import Document
from fpdf import FPDF
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import READERS, read

LIGHT = settings(max_examples=2 * settings.default.max_examples)
ENDINGS = sorted({ending for reader in READERS for ending in reader.endings} | {"", ".zip", ".png", ".jsonl.gz", ".x"})


def _pdf(**encryption):
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for style, text in (("r", "A preface."), ("D", "The first page, with informa-\ntion.")):
        pdf.add_page(label_style=style)
        pdf.start_section(text[:5])
        pdf.multi_cell(60, text=text)
    if encryption:
        pdf.set_encryption(**encryption)
    return bytes(pdf.output())


def _docx():
    document = Document()
    document.add_heading("Boats", 1)
    document.add_paragraph("A boat floats.")
    table = document.add_table(1, 2)
    table.rows[0].cells[0].text = "x"
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def _zip():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("word/document.xml", "<a>")
        archive.writestr("[Content_Types].xml", "<b/>")
    return made.getvalue()


def _parquet():
    made = io.BytesIO()
    pl.DataFrame({"id": [1, 2], "text": ["one", "two"], "page": [0, 1]}).write_parquet(made)
    return made.getvalue()


@cache
def valid():
    rows = [{"_id": "a", "text": "one", "page": 3}, {"id": 2, "contents": "two", "metadata": {"source": "s", "x": [1]}}]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return {
        ".pdf": [_pdf(), _pdf(owner_password="x", user_password="y")],
        ".docx": [_docx(), _zip()],
        ".html": [
            b"<!doctype html><html><head><meta charset=windows-1251><title>T</title></head><body><nav>n</nav><h1 id=a>"
            b"H</h1><table><tr><td>1<td>2</table><ul><li>x</ul><pre> p\n q</pre><p hidden>h</p>\xcf\xf0\xe8</html>"
        ],
        ".md": [
            b"---\ntitle: T\nurl: https://e.org/\n---\n# One #\n[a](b) ![c](d) `[e](f)`\n\nTwo\n===\n```\n# no\n```\n"
        ],
        ".txt": [b"plain", "\u0442\u0435\u043a\u0441\u0442".encode("cp1251"), "text".encode("utf-16")],
        ".jsonl": [lines],
        ".jsonl.gz": [gzip.compress(lines)],
        ".json": [
            json.dumps(rows).encode(),
            json.dumps({"chunks": [{"text": "t", "url": "u", "chunk_id": "c", "doc_id": "d"}]}).encode(),
            json.dumps({"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": []}]}]}).encode(),
            json.dumps({"id": ["a", "b"], "text": ["x", "y"]}).encode(),
            json.dumps({"a": {"text": "x"}, "b": {"text": "y"}}).encode(),
        ],
        ".csv": [b'id,text,page\n1,"a, b",2\n2,c,0\n'],
        ".tsv": [b'id\ttext\n1\ta "b" c\n2\t"d"\n'],
        ".parquet": [_parquet()],
    }


WEIRD = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b'"', b"'",
    b'{"a":' * 2000, b"\t", b"\r", b"\n", b",", b"null", b"{}", b"[]", b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1",
    b"\x1f\x8b", b"<" * 50, b"<div>" * 900, b"<b>" * 300, b"<!--", b"-->", b"```", b"# ", b"---\n", b"](", b"%PDF-",
    b"PK\x03\x04", b"<table><tr>", b"endobj", b"/Count 99999", b"<h1>",
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def in_this_process():
    """Files are read here: a process of its own for each would take most of the time, and has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.corpus._read._is_plain", lambda file, reader: True)
        yield


def attempt(name, content):
    """Read the file beside a sound one and check what comes out."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        Path(folder, "a sound one.txt").write_text("All is well.")
        Path(folder, name).write_bytes(content)
        reading = read(folder)
    assert reading.docs[0].text == "All is well."
    assert [str(problem) for problem in reading.problems if problem.kind == "failed"] == []
    assert len(reading.docs) > 1 or reading.problems, "lost without a word"
    assert len({doc.id for doc in reading.docs}) == len(reading.docs) == sum(taken.docs for taken in reading.taken)
    for doc in reading.docs:
        sound(doc)
    for problem in reading.problems:
        assert problem.reason
        assert " " not in problem.kind
        str(problem).encode("utf-8")
    return reading


def sound(doc):
    """What cutting and searching build on."""
    assert doc.id
    assert doc.text.strip()
    assert "\0" not in doc.text
    assert "\r" not in doc.text
    for said in (doc.id, doc.text, doc.title, doc.url, doc.part_of, *doc.meta, *doc.meta.values()):
        assert said is None or said.encode("utf-8") is not None
    end = 0
    for number, page in enumerate(doc.pages, 1):
        assert end <= page.start <= page.end <= len(doc.text)
        assert page.number == number or len(doc.pages) == 1
        assert page.number >= 0  # pages count from 1; a record that says 0 is reported and kept
        end = page.end
    starts = [section.start for section in doc.sections]
    assert starts == sorted(starts)
    for section in doc.sections:
        assert 0 <= section.start < len(doc.text)
        assert section.title.strip()
        assert section.level >= 1
        section.title.encode("utf-8")


SEEDS = [(ending, number) for ending, contents in valid().items() for number in range(len(contents))]


@pytest.mark.fuzz
@pytest.mark.parametrize(("ending", "number"), SEEDS)
def test_the_seeds_are_read_under_every_name(ending, number):
    content = valid()[ending][number]
    reading = attempt(f"file{ending}", content)
    hopeless = (ending, number) in ((".pdf", 1), (".docx", 1))
    assert (len(reading.docs) > 1) != hopeless
    for other in ENDINGS:
        attempt(f"file{other}", content)


@LIGHT
@given(data=st.binary(max_size=300), ending=st.sampled_from(ENDINGS))
def test_random_bytes(data, ending):
    attempt(f"file{ending}", data)


@pytest.mark.slow
@settings(LIGHT, max_examples=6 * settings.default.max_examples)
@given(data=st.data())
def test_mutations_of_valid_files(data):
    ending, number = data.draw(st.sampled_from(SEEDS))
    content = valid()[ending][number]
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.sampled_from([0, 1, 6, 10_000]))
        piece = data.draw(
            st.one_of(st.sampled_from(WEIRD), st.binary(max_size=3), st.just(content[place // 2 : place]))
        )
        content = content[:place] + piece + content[place + length :]
    attempt(f"file{ending}", content)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(10**4400),
    st.sampled_from(["\ud800", "", " ", "1.0", "iv", "\x00", "a\r\nb", "12"]),
)  # fmt: skip
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from(["page", "id"]), SCALARS))
FIELDS = st.sampled_from(
    ["id", "_id", "doc_id", "chunk_id", "text", "content", "page_content", "title", "url", "page", "page_number",
     "metadata", "source", "x", "", "\ud800"]
)  # fmt: skip
RECORDS = st.lists(st.one_of(st.dictionaries(FIELDS, VALUES, max_size=6), VALUES), min_size=1, max_size=4)


@pytest.mark.slow
@settings(LIGHT, max_examples=4 * settings.default.max_examples)
@given(rows=RECORDS, shape=st.sampled_from(["jsonl", "list", "docs", "one", "data"]))
def test_random_records(rows, shape):
    if shape == "jsonl":
        text = "".join(_dumped(row) + "\n" for row in rows)
    else:
        text = _dumped({"list": rows, "docs": {"docs": rows}, "one": rows[0], "data": {"data": rows}}[shape])
    attempt("file.jsonl" if shape == "jsonl" else "file.json", text.encode())


def _dumped(value):
    try:
        return json.dumps(value)
    except ValueError:  # Python refuses to write numbers of thousands of digits
        return "[" + "9" * 4400 + "]"


CELLS = st.text(alphabet="ab1.0'\"[], \n\t\r\0\u0434", max_size=10)


@pytest.mark.slow
@settings(LIGHT, max_examples=2 * settings.default.max_examples)
@given(
    header=st.lists(FIELDS.filter(str.isascii), min_size=1, max_size=4),
    rows=st.lists(st.lists(CELLS, max_size=4), max_size=4),
    separator=st.sampled_from(",\t;"),
    ending=st.sampled_from([".csv", ".tsv"]),
)
def test_random_tables(header, rows, separator, ending):
    attempt(f"file{ending}", "\n".join(separator.join(cells) for cells in [header, *rows]).encode())


@pytest.mark.slow
@LIGHT
@given(
    pieces=st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<h1>", "</h1>", "<h2 id=x>", "<li>", "<ul>", "</ul>", "<table>", "<tr>", "<td>", "</td>",
             "</table>", "<pre>", "</pre>", "<nav>", "</nav>", "<br>", "word", " ", "\n", "&amp;", "<header>",
             "<span hidden>", "</span>", "<main>", "<!-- c -->", "<script>", "</script>", "<svg>", "\u0434"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_random_pages(pieces):
    attempt("file.html", "".join(pieces).encode())


@pytest.mark.slow
@LIGHT
@given(
    lines=st.lists(
        st.sampled_from(
            ["# a", "## b ##", "c", "===", "---", "```", "~~~", "    # code", "- d", "> e", "", "[f](g \"h\")",
             "![i](j)", "[k]: http://l", "<!-- m", "n -->", "`[o](p)`", "title: q", "#", "##  {#r}", "\x0c", "s\u2028t"]
        ),
        max_size=15,
    )
)  # fmt: skip
def test_random_markdown(lines):
    attempt("file.md", "\n".join(lines).encode())


@pytest.mark.slow
@LIGHT
@given(name=st.binary(min_size=1, max_size=12).filter(lambda raw: not set(raw) & set(b"/\0") and raw[:1] != b"."))
def test_random_names(name):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a sound one.txt").write_text("All is well.")
        path = Path(folder.encode().decode(), name.decode("utf-8", "surrogateescape"))
        path.write_text("words")
        reading = read(folder)
        assert len(reading.docs) == 2 or any(problem.fatal for problem in reading.problems) or name.startswith(b"~$")
        for doc in reading.docs:
            sound(doc)
        for place in (*reading.problems, *reading.taken):
            place.place.encode("utf-8")
