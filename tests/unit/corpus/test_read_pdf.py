"""PDFs: pages, labels, outline, and every kind that cannot be read."""

import pytest
from fpdf import FPDF

from karat.core.docs import Page
from karat.core.errors import InputError
from karat.corpus import READERS, File, read
from karat.corpus._reader import content_of
from karat.corpus.readers.pdf import tidy


def paper(*pages, title=None, labels=()):
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    if title:
        pdf.set_title(title)
    for number, text in enumerate(pages):
        pdf.add_page(**(labels[number] if number < len(labels) else {}))
        if text:
            pdf.multi_cell(0, text=text)
    return pdf


def saved(pdf, path):
    path.write_bytes(bytes(pdf.output()))
    return path


def the_problem(path):
    """What is said of the only file that cannot be read, beside one that can."""
    (path.parent / "zz sound.txt").write_text("sound")
    reading = read(path.parent)
    assert [doc.id for doc in reading.docs] == ["zz sound.txt"]
    (problem,) = reading.problems
    assert problem.fatal
    assert problem.place == str(path)
    return problem


def test_pages_keep_their_number_and_their_text(tmp_path):
    path = saved(paper("First words.", "Second words.\nAnother line.", "Third."), tmp_path / "watch.pdf")
    (doc,) = read(path).docs
    assert doc.id == "watch.pdf"
    assert doc.title == "watch"
    assert doc.text == "First words.\nSecond words.\nAnother line.\nThird."
    assert doc.pages == (Page(1, 0, 12), Page(2, 13, 40), Page(3, 41, 47))
    assert doc.text[doc.pages[1].start : doc.pages[1].end] == "Second words.\nAnother line."


def test_printed_labels_stand_beside_physical_numbers(tmp_path):
    labels = (
        {"label_style": "r"},
        {},
        {"label_style": "D", "label_start": 1},
        {"label_style": "D", "label_prefix": "A-"},
    )
    path = saved(paper("Preface", "More", "Chapter", "Annex", labels=labels), tmp_path / "a.pdf")
    (doc,) = read(path).docs
    assert [(page.number, page.label) for page in doc.pages] == [(1, "i"), (2, "ii"), (3, "1"), (4, "A-1")]


@pytest.mark.slow
def test_labels_that_count_too_far_do_not_end_the_process(tmp_path):
    labels = ({"label_style": "A", "label_start": 2**31 - 1},)
    reading = read(saved(paper("One", "Two", "Three", labels=labels), tmp_path / "a.pdf"))
    assert [(page.number, page.label) for page in reading.docs[0].pages] == [(1, None), (2, None), (3, None)]
    assert [(p.kind, p.fatal) for p in reading.problems] == [("pages", False)]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Night watch", "Night watch"),
        ("Microsoft Word - x.doc", "a"),
        ("untitled", "a"),
        ("scan.pdf", "a"),
        ("12", "a"),
    ],
)
def test_the_title_is_the_metadata_where_a_person_wrote_it(tmp_path, title, expected):
    (doc,) = read(saved(paper("Words", title=title), tmp_path / "a.pdf")).docs
    assert doc.title == expected


def test_the_outline_makes_sections_where_their_titles_stand(tmp_path):
    below = {"new_x": "LMARGIN", "new_y": "NEXT"}
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    pdf.add_page()
    pdf.start_section("Watches")
    pdf.multi_cell(0, text="An opening line.\nRelief is told of below.\nWatches\nThey last four hours.", **below)
    pdf.start_section("Relief", level=1)
    pdf.multi_cell(0, text="1.1 Relief\nIt comes at dawn.", **below)
    pdf.add_page()
    pdf.start_section("Not printed on the page")
    pdf.multi_cell(0, text="Other things.")
    (doc,) = read(saved(pdf, tmp_path / "a.pdf")).docs
    starts = [(s.title, s.level, doc.text[s.start :].split("\n")[0]) for s in doc.sections]
    assert starts == [
        ("Watches", 1, "Watches"),
        ("Relief", 2, "1.1 Relief"),
        ("Not printed on the page", 1, "Other things."),
    ]


def test_words_divided_at_a_line_end_are_joined_and_ligatures_are_letters():
    assert tidy("informa\ufffetion and sta\x02tions") == "information and stations"
    assert tidy("COVID\x0219 and Anna\x02Maria") == "COVID-19 and Anna-Maria"
    assert tidy("\ufb01re e\ufb03cient \u00bd\u2075") == "fire efficient \u00bd\u2075", "only ligatures are changed"
    assert tidy("so\u00ad\nme wo\u00adrds\r\nend\0") == "some words\nend"


def test_a_hyphenated_word_in_a_real_file(tmp_path):
    (doc,) = read(saved(paper("The informa-\ntion is here."), tmp_path / "a.pdf")).docs
    assert doc.text == "The information is here."


def test_500_pages_with_progress(tmp_path):
    path = saved(paper(*(f"This is page {n} of the handbook." for n in range(1, 501))), tmp_path / "long.pdf")
    seen = []
    reading = read(path, progress=lambda what, done, total: seen.append((what, done, total)))
    (doc,) = reading.docs
    assert len(doc.pages) == 500
    assert doc.text[doc.pages[499].start : doc.pages[499].end] == "This is page 500 of the handbook."
    assert reading.taken[0].pages == 500
    within = [(done, total) for what, done, total in seen if what == f"pages of {path}"]
    assert len(within) > 20
    assert within[0] == (0, 500)
    assert within[-1] == (500, 500)
    assert [step for step in seen if step[0] == "reading"] == [("reading", 0, 1), ("reading", 1, 1)]


def test_an_encrypted_file(tmp_path):
    pdf = paper("Secret")
    pdf.set_encryption(owner_password="owner", user_password="user")
    problem = the_problem(saved(pdf, tmp_path / "locked.pdf"))
    assert problem.kind == "encrypted"
    assert str(problem).endswith("locked.pdf: is encrypted and needs a password. Save a copy without the password.")


def test_a_file_that_only_forbids_changes_is_read(tmp_path):
    pdf = paper("Open words")
    pdf.set_encryption(owner_password="owner")
    (doc,) = read(saved(pdf, tmp_path / "a.pdf")).docs
    assert doc.text == "Open words"


def test_an_empty_file(tmp_path):
    path = tmp_path / "none.pdf"
    path.write_bytes(b"")
    problem = the_problem(path)
    assert problem.kind == "empty"
    assert problem.reason == "is empty (0 bytes)."


def test_a_scanned_file(tmp_path):
    pdf = paper("", "", "")
    pdf.rect(20, 20, 50, 50)
    problem = the_problem(saved(pdf, tmp_path / "scan.pdf"))
    assert problem.kind == "scanned"
    assert problem.reason == "3 pages, but no text: it is scanned or holds only images."
    assert "OCR" in problem.remedy


def test_single_pages_without_text_are_named(tmp_path):
    path = saved(paper("Words", "", "", "More", ""), tmp_path / "a.pdf")
    reading = read(path)
    (problem,) = reading.problems
    assert not problem.fatal
    assert problem.kind == "scanned"
    assert problem.reason == "pages 2-3, 5 of 5 have no text."
    assert len(reading.docs[0].pages) == 5


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6])
def test_a_truncated_file(tmp_path, share):
    whole = bytes(paper(*["Some words on a page"] * 20).output())
    path = tmp_path / "cut.pdf"
    path.write_bytes(whole[: int(len(whole) * share)])
    problem = the_problem(path)
    assert problem.kind == "broken"
    assert problem.reason == "is damaged or cut short: it cannot be opened as a PDF."


def test_garbage_that_is_named_pdf(tmp_path):
    path = tmp_path / "garbage.pdf"
    path.write_bytes(bytes(range(256)) * 40)
    problem = the_problem(path)
    assert problem.kind == "broken"
    assert problem.reason == "is named .pdf but holds no pdf."


def test_one_page_that_cannot_be_read_does_not_stop_the_others(tmp_path, monkeypatch):
    import pypdfium2

    whole = pypdfium2.PdfDocument.__getitem__

    def getitem(self, index):
        if index == 1:
            raise pypdfium2.PdfiumError("Failed to load page.")
        return whole(self, index)

    monkeypatch.setattr(pypdfium2.PdfDocument, "__getitem__", getitem)
    file = File(saved(paper("One", "Two", "Three"), tmp_path / "a.pdf"), "a.pdf", "a.pdf")
    (doc,), _ = content_of(file, READERS.get("pdf"))
    assert doc.text == "One\n\nThree"
    assert [page.number for page in doc.pages] == [1, 2, 3]
    (problem,) = file.problems
    assert problem.reason == "page 2 cannot be read (Failed to load page.)."
    assert not problem.fatal


def test_a_pdf_under_another_name_is_read_and_said(tmp_path):
    reading = read(saved(paper("Words"), tmp_path / "a.txt"))
    assert reading.taken[0].format == "pdf"
    (problem,) = reading.problems
    assert problem.reason == "is named .txt but holds a PDF; read as pdf."
    assert not problem.fatal


def test_a_corpus_of_nothing_but_bad_files_is_an_error_that_names_them(tmp_path):
    saved(paper(""), tmp_path / "scan.pdf")
    (tmp_path / "none.pdf").write_bytes(b"")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}: no document could be read. Could not be read or built: 2. (1) ")
    for part in (
        "none.pdf: is empty (0 bytes)",
        "scan.pdf: 1 page, but no text",
        "photo.png: is an image",
        "Readable: ",
    ):
        assert part in said


def test_labels_a_title_and_an_outline_that_cannot_be_read_are_said(tmp_path, monkeypatch):
    import pypdfium2

    def fails(*args, **kwargs):
        raise ValueError("torn")

    file = File(saved(paper("one", "two"), tmp_path / "a.pdf"), "a.pdf", "a.pdf")
    monkeypatch.setattr(pypdfium2.PdfDocument, "get_page_label", fails)
    monkeypatch.setattr(pypdfium2.PdfDocument, "get_metadata_value", fails)
    monkeypatch.setattr(pypdfium2.PdfDocument, "get_toc", fails)
    (doc,), _ = content_of(file, READERS.get("pdf"))
    assert [page.label for page in doc.pages] == [None, None]
    assert doc.title == "a"
    assert [problem.reason for problem in file.problems] == [
        "the printed numbers of pages 1-2 cannot be read; they are left out.",
        "its title cannot be read (torn); its name is used.",
        "its outline cannot be read (torn); it has no sections.",
    ]
    assert not any(problem.fatal for problem in file.problems)
