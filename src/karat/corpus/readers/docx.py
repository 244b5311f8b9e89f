"""docx: paragraphs and tables in their order, headings as sections, by python-docx (extra `docx`)."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from karat.core.docs import Doc, Section
from karat.corpus._file import File, ReadError
from karat.corpus._reader import Reader
from karat.io.decoding import cleaned
from karat.io.opening import check_zip

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MAIN = "word/document.xml"
_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_BROKEN = "Open it in a word processor and save it again."
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def _sniff(file: File) -> bool | None:
    if file.head.startswith(_OLE):
        return True if file.ending == ".docx" else None
    if not file.head.startswith(_ZIP):
        return False
    if file.ending == ".docx" or b"word/" in file.head:
        return True
    if b"[Content_Types].xml" not in file.head:
        return None
    return _MAIN.encode() in file.data()  # names stand in the list at the end of an archive


def _read(file: File) -> Iterator[Doc]:
    data = file.data()
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise ReadError("encrypted", "is encrypted and needs a password.", "Save a copy without the password.")
        raise ReadError("unsupported", "is an old Word file (doc) named docx.", "Save it as docx or PDF.")
    _check_archive(data, file.place)
    try:
        from docx import Document
    except ImportError:
        raise ReadError(
            "unreadable",
            "is a Word file, and the package python-docx is not installed.",
            "Run: pip install 'karat[docx]'.",
        ) from None
    try:
        document = Document(io.BytesIO(data))
        lines = _DocxLines(_heading_styles(document))
        lines.walk(document.element.body)
        for notes in _notes(document):
            lines.walk(notes)
        title = " ".join(cleaned(document.core_properties.title or "").split())
    except ReadError:
        raise
    except Exception as error:  # whatever XML or archive the library trips over
        what = (str(error).splitlines() or [""])[0][:100] or type(error).__name__
        raise ReadError("broken", f"cannot be opened as a Word file ({cleaned(what)}).", _BROKEN) from None
    text = "\n".join(lines.lines)
    if not text.strip():
        raise ReadError("empty", "holds no text.", "If it holds scanned pages, run OCR on them.")
    yield Doc(file.id, text, title or file.stem, sections=tuple(lines.sections))


def _check_archive(data: bytes, place: str) -> None:
    """Refuse archives that are damaged, encrypted, no Word file, or that unpack to more than the limit."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        raise ReadError("broken", "is damaged or cut short: it cannot be unpacked.", _BROKEN) from None
    if any(part.flag_bits & 1 for part in parts):
        raise ReadError("encrypted", "is an encrypted archive.", "Save a copy without the password.")
    if _MAIN not in {part.filename for part in parts}:
        raise ReadError("unsupported", "is an archive (zip) without a Word document.", "Unpack it.")
    check_zip(io.BytesIO(data), place)


def _heading_styles(document: Any) -> dict[str, int]:
    """Level of each style that makes a heading; a title is one of level 1."""
    levels = {}
    for style in document.styles:
        heading = _HEADING.match(style.name or "")
        if heading or style.name == "Title":
            levels[style.style_id] = int(heading[1]) if heading else 1
    return levels


def _notes(document: Any) -> Iterator[Any]:
    """Footnotes and endnotes."""
    from docx.oxml import parse_xml

    for relation in document.part.rels.values():
        if relation.reltype.endswith(("/footnotes", "/endnotes")) and not relation.is_external:
            yield parse_xml(relation.target_part.blob)


class _DocxLines:
    """Lines of text in the order of the document."""

    def __init__(self, headings: dict[str, int]) -> None:
        self.headings = headings
        self.lines: list[str] = []
        self.sections: list[Section] = []
        self._length = 0

    def walk(self, root: Any) -> None:
        """Every paragraph and table below an element, whatever it is wrapped in."""
        stack = list(reversed(list(root)))
        while stack:
            element = stack.pop()
            if element.tag == f"{_W}p":
                self._paragraph(element)
            elif element.tag == f"{_W}tbl":
                for row in element.iter(f"{_W}tr"):
                    cells = [" ".join(_words(cell).split()) for cell in row if cell.tag == f"{_W}tc"]
                    self._add(" | ".join(cells) if any(cells) else "")
            elif element.tag != _FALLBACK:
                stack.extend(reversed(list(element)))

    def _paragraph(self, element: Any) -> None:
        text = _words(element).strip()
        style = element.find(f"{_W}pPr/{_W}pStyle")
        level = self.headings.get(style.get(f"{_W}val"), 0) if style is not None else 0
        if level and text:
            self.sections.append(Section(" ".join(text.split()), level, self._length))
        is_item = not level and element.find(f"{_W}pPr/{_W}numPr") is not None
        is_item = is_item or (style is not None and (style.get(f"{_W}val") or "").startswith("List"))
        self._add(f"- {text}" if is_item and text else text)

    def _add(self, line: str) -> None:
        if line:
            self.lines.append(line)
            self._length += len(line) + 1


def _words(element: Any) -> str:
    """The text below an element; paragraphs within it are separated by line ends."""
    parts: list[str] = []
    stack = [element]
    while stack:
        here = stack.pop()
        if here.tag == f"{_W}t":
            parts.append(here.text or "")
        elif here.tag in _BREAKS:
            parts.append(_BREAKS[here.tag])
        elif here.tag not in (_FALLBACK, f"{_W}tabs"):
            if here.tag == f"{_W}p" and parts:
                parts.append("\n")
            stack.extend(reversed(list(here)))
    return cleaned("".join(parts))


READER = Reader("docx", "a Word file", (".docx",), _sniff, _read)
