"""section: one chunk for each headed part of a Markdown, HTML or Word document.

Text before the first heading is a section too, and a document without headings is one. A section of more than `size`
words is cut on as by `tokens`. One that holds nothing but its heading goes with the sub-section that follows it.
A chunk's title is the way to it: "Handbook > Night watch > Duties".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from karat.core.docs import Doc, Section
from karat.core.text.normalise import tokenise
from karat.corpus._chunk import Chunker, Piece
from karat.corpus.chunkers.tokens import windows


def _pieces(doc: Doc, size: int, overlap: int) -> Sequence[Piece]:
    if not doc.sections:
        return [Piece(start, end) for start, end in windows(doc.text, size, overlap)]
    return [
        Piece(start, end, title)
        for begin, stop, title in _parts(doc)
        for start, end in windows(doc.text, size, overlap, begin, stop)
    ]


def _parts(doc: Doc) -> Iterator[tuple[int, int, str | None]]:
    """Where each section to keep together begins and ends, and its title."""
    sections = sorted(doc.sections, key=lambda section: section.start)
    ends = [section.start for section in sections[1:]] + [len(doc.text)]
    yield 0, sections[0].start, doc.title
    path: list[Section] = []
    begin = sections[0].start
    for i, (section, end) in enumerate(zip(sections, ends, strict=True)):
        while path and path[-1].level >= section.level:
            path.pop()
        path.append(section)
        deeper = i + 1 < len(sections) and sections[i + 1].level > section.level
        if deeper and _is_bare(section, doc.text[section.start : end]):
            continue
        yield begin, end, _title(doc, path)
        begin = end


def _is_bare(section: Section, text: str) -> bool:
    """Whether a section holds no more than its heading."""
    return len(text) < 2 * len(section.title) + 200 and tokenise(text, "words") == tokenise(section.title, "words")


def _title(doc: Doc, path: Sequence[Section]) -> str | None:
    """The way to a section; a heading that repeats the one above it, or the document's title, is said once."""
    steps: list[str] = []
    for step in (doc.title, *(section.title for section in path)):
        if step and step.strip() and (not steps or step != steps[-1]):
            steps.append(step)
    return " > ".join(steps) or doc.title


CHUNKER = Chunker(
    "section",
    "one chunk for each headed part, its heading at the start; a long one is cut on by tokens",
    _pieces,
    unit="tokens",
    size=400,
)
