"""Word files: paragraphs and tables in their order, headings, and archives that are none."""

import builtins
import io
import zipfile

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from karat.core.docs import Section
from karat.corpus import READERS, File, read
from karat.corpus._reader import content_of


def saved(document, path):
    document.save(path)
    return path


def handbook():
    document = Document()
    document.core_properties.title = "Handbook"
    document.add_heading("Watches", 1)
    document.add_paragraph("They last\tfour hours.")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("Item", "Count", "Lamp", "2"), strict=True):
        cell.text = text
    document.add_paragraph("A lamp", style="List Bullet")
    document.add_heading("Relief", 2)
    document.add_paragraph("At dawn.")
    return document


def problem_of(tmp_path, content, name="a.docx"):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "b.txt").write_text("sound")
    reading = read(tmp_path)
    assert [doc.id for doc in reading.docs] == ["b.txt"]
    (problem,) = reading.problems
    assert problem.fatal
    return problem


def archive(**parts):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return made.getvalue()


def test_a_whole_file(tmp_path):
    (doc,) = read(saved(handbook(), tmp_path / "a.docx")).docs
    assert doc.text == "Watches\nThey last\tfour hours.\nItem | Count\nLamp | 2\n- A lamp\nRelief\nAt dawn."
    assert doc.sections == (Section("Watches", 1, 0), Section("Relief", 2, 61))
    assert doc.text[61:].startswith("Relief")
    assert (doc.id, doc.title) == ("a.docx", "Handbook")


def test_inserted_text_and_content_controls_are_not_lost_and_deleted_text_is(tmp_path):
    document = Document()
    document.element.body.insert(
        0,
        parse_xml(
            f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:ins><w:r><w:t>put in</w:t></w:r></w:ins>"
            "<w:del><w:r><w:delText>taken out</w:delText></w:r></w:del></w:p></w:sdtContent></w:sdt>"
        ),
    )
    (doc,) = read(saved(document, tmp_path / "a.docx")).docs
    assert doc.text == "put in"


def test_a_file_without_text(tmp_path):
    path = saved(Document(), tmp_path / "x")
    content = path.read_bytes()
    path.unlink()
    problem = problem_of(tmp_path, content)
    assert (problem.kind, problem.reason) == ("empty", "holds no text.")


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_truncated_file(tmp_path, share):
    path = saved(handbook(), tmp_path / "x")
    content = path.read_bytes()
    path.unlink()
    problem = problem_of(tmp_path, content[: int(len(content) * share)])
    assert problem.kind == "broken"
    assert problem.reason == "is damaged or cut short: it cannot be unpacked."


def test_xml_that_is_broken_inside(tmp_path):
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    problem = problem_of(tmp_path, archive(word__document_xml="<a>", **{"[Content_Types]_xml": types}))
    assert problem.kind == "broken"
    assert problem.reason.startswith("cannot be opened as a Word file (")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    packed = archive(word__document_xml=b"\0" * (40 << 20))
    problem = problem_of(tmp_path, packed)
    assert problem.kind == "large"
    assert problem.reason == f"unpacks to more than 32 MB, and has {len(packed):,} bytes itself."


def test_an_archive_that_is_no_word_file(tmp_path):
    problem = problem_of(tmp_path, archive(other_xml="x"))
    assert problem.reason == "is an archive (zip) without a Word document."


def test_an_encrypted_file(tmp_path):
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    assert problem_of(tmp_path, ole).kind == "encrypted"


def test_an_old_word_file_under_its_own_name_is_not_read(tmp_path):
    problem = problem_of(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc")
    assert problem.kind == "unsupported"
    assert "Save it as docx" in problem.remedy


def test_without_the_extra_the_remedy_is_named(tmp_path, monkeypatch):
    path = saved(handbook(), tmp_path / "a.docx")
    ordinary = builtins.__import__

    def missing(name, *args, **more):
        if name == "docx":
            raise ImportError(name)
        return ordinary(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    _, fault = content_of(File(path, "a.docx", "a.docx"), READERS.get("docx"))
    assert fault.kind == "unreadable"
    assert fault.remedy == "Run: pip install 'karat[docx]'."


def test_a_word_file_named_pdf_is_read_and_said(tmp_path):
    reading = read(saved(handbook(), tmp_path / "a.pdf"))
    assert reading.taken[0].format == "docx"
    assert reading.problems[0].reason == "is named .pdf but holds a Word file; read as docx."
