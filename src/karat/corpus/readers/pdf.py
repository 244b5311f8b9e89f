"""pdf: pages with their numbers and printed labels, the outline as sections, by pypdfium2."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from karat.core.docs import Doc, Page, Section
from karat.core.text.words import plural
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.io.decoding import cleaned
from karat.io.limits import raise_limit

_SIGN = b"%PDF-"
_SIGN_WITHIN = 1024
_PASSWORD = 4  # FPDF_ERR_PASSWORD
_OUTLINE_LIMIT = 20_000
_STEP = 20  # pages between two reports of progress
_HYPHEN = re.compile("(\\w?)[\ufffe\x02](\\s*)(\\w?)")
_LIGATURE = re.compile("[\ufb00-\ufb06\ufb13-\ufb17]")
_SOFT_AT_LINE_END = re.compile("\u00ad\n?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")
_MADE_BY_PROGRAM = re.compile(
    r"untitled|microsoft (word|powerpoint) - |^(slide|document|page|title)\s*\d*$"
    r"|\.(docx?|pdf|tex|dvi|indd|qxd|rtf|odt|pptx?)$",
    re.IGNORECASE,
)
_LABELS_TOO_FAR = re.compile(rb"/St\s*[+-]?\d{8,}")  # pdfium ends the process where such a count passes 2**31
_LOCK = threading.Lock()  # pdfium may be used by one thread at a time


def _sniff(file: File) -> bool | None:
    return _SIGN in file.head[:_SIGN_WITHIN]


def _read(file: File) -> Iterator[Doc]:
    data = file.data()
    with _LOCK:
        doc = _document(file, data)
    yield doc


def _document(file: File, data: bytes) -> Doc:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD:
            raise ReadError(
                "encrypted", "is encrypted and needs a password.", "Save a copy without the password."
            ) from None
        raise ReadError(
            "broken", "is damaged or cut short: it cannot be opened as a PDF.", "Make or download it again."
        ) from None
    with closing(pdf):
        labelled = not _LABELS_TOO_FAR.search(data)
        if not labelled:
            file.problem("pages", "its page labels begin at an impossible number; they are left out.")
        return _pages(file, pdf, labelled)


def _pages(file: File, pdf: Any, labelled: bool) -> Doc:
    pages: list[Page] = []
    texts: list[str] = []
    blank: list[int] = []
    nameless: list[int] = []
    start, total = 0, len(pdf)
    if total > file.limits.pages:
        reason = f"has {total:,} pages, and at most {file.limits.pages:,} are read."
        raise ReadError("limit", reason, raise_limit("max-pages", "pages"))
    for index in range(total):
        if index % _STEP == 0:
            file.progress(f"pages of {file.place}", index, total)
        text, fault = _text(pdf, index)
        if fault:
            file.problem("broken", f"page {index + 1} cannot be read ({fault}).", "Make the PDF again.")
        elif not text.strip():
            blank.append(index + 1)
        texts.append(text)
        label, unread = _label(pdf, index) if labelled else (None, False)
        if unread:
            nameless.append(index + 1)
        pages.append(Page(index + 1, start, start + len(text), label))
        start += len(text) + 1
    file.progress(f"pages of {file.place}", total, total)
    whole = "\n".join(texts)
    if not whole.strip():
        if not blank:
            raise ReadError("broken", f"none of its {plural(total, 'page')} can be read.", "Make or download it again.")
        raise ReadError(
            "scanned",
            f"{plural(total, 'page')}, but no text: it is scanned or holds only images.",
            "Run OCR on it (for example ocrmypdf) and index again.",
        )
    if blank:
        one = len(blank) == 1
        file.problem(
            "scanned",
            f"{'page' if one else 'pages'} {_ranges(blank)} of {total} {'has' if one else 'have'} no text.",
            f"If {'it is' if one else 'they are'} not blank, run OCR on the file.",
        )
    if nameless:
        file.problem("pages", f"the printed numbers of pages {_ranges(nameless)} cannot be read; they are left out.")
    title = _title(file, pdf)
    return Doc(file.id, whole, title or file.stem, pages=tuple(pages), sections=_outline(file, pdf, pages, whole))


def _text(pdf: Any, index: int) -> tuple[str, str | None]:
    """A page's text, or why there is none."""
    try:
        with closing(pdf[index]) as page, closing(page.get_textpage()) as words:
            text = words.get_text_bounded() or words.get_text_range()
    except Exception as error:
        return "", str(error) or type(error).__name__
    return tidy(text), None


def tidy(text: str) -> str:
    r"""pdfium's text with words joined that a line's end divides, and ligatures as letters.

    A hyphen stays where it may belong to the word: before a capital or a digit.

    >>> tidy("informa\x02tion, COVID\x0219, \ufb01ne\r\nline")
    'information, COVID-19, fine\nline'
    """
    text = cleaned(text)
    if "\x02" in text or "\ufffe" in text:
        text = _HYPHEN.sub(_joined, text)
    if "\u00ad" in text:
        text = _SOFT_AT_LINE_END.sub("", text)
    text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _CONTROL.sub("", text)


def _joined(match: re.Match[str]) -> str:
    before, blank, after = match.groups()
    if before.isalpha() and after.isalpha() and after.islower():
        return before + after
    return f"{before}-{blank}{after}"


def _label(pdf: Any, index: int) -> tuple[str | None, bool]:
    """The label of a page, and whether it could not be read; the physical number stays then."""
    try:
        return cleaned(pdf.get_page_label(index)).strip() or None, False
    except Exception:
        return None, True


def _title(file: File, pdf: Any) -> str | None:
    try:
        title = " ".join(cleaned(pdf.get_metadata_value("Title")).split())
    except Exception as error:  # the name of the file stands for it
        file.problem("broken", f"its title cannot be read ({error or type(error).__name__}); its name is used.")
        return None
    letters = sum(letter.isalpha() for letter in title)
    return title if letters >= 3 and not _MADE_BY_PROGRAM.search(title) else None


def _outline(file: File, pdf: Any, pages: list[Page], text: str) -> tuple[Section, ...]:
    """Bookmarks as sections: where the title stands on its page, else where the page begins."""
    sections: list[Section] = []
    try:
        for mark in pdf.get_toc():
            target = mark.get_dest()
            index = None if target is None else target.get_index()
            title = " ".join(tidy(mark.get_title()).split())
            if index is None or index >= len(pages) or not title:
                continue
            sections.append(Section(title, mark.level + 1, _start(title, pages[index], text, sections)))
            if len(sections) >= _OUTLINE_LIMIT:
                break
    except Exception as error:  # a damaged outline costs the sections, never the text
        file.problem("broken", f"its outline cannot be read ({error or type(error).__name__}); it has no sections.")
        return ()
    inside = (section for section in sections if section.start < len(text))
    return tuple(sorted(inside, key=lambda section: section.start))


def _start(title: str, page: Page, text: str, before: list[Section]) -> int:
    """Where a line of a page begins with a title, after the bookmark before it; else where the page begins."""
    first = page.start
    if before and page.start <= before[-1].start <= page.end:
        first = before[-1].start
    words = r"\s+".join(map(re.escape, title.split()))
    match = re.compile(rf"^[ \t]{{0,9}}(?:[\d.]{{1,12}}\s+)?{words}", re.IGNORECASE | re.MULTILINE).search(
        text, first, page.end
    )
    return match.start() if match else first


def _ranges(numbers: list[int]) -> str:
    """Numbers as people write them: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in runs]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more places" if len(shown) > 20 else "")


READER = Reader("pdf", "a PDF", (".pdf",), _sniff, _read)
