"""Sentences of a page as it is laid out: lines that were broken for want of room joined, headings above what they head.

A chunk may begin and end in the middle of a sentence, and lines of a page end where the paper does. Every sentence has
its place, so that a quote is the text itself. Numbers of pages and lines of contents are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from karat.core.text.sentences import sentence_spans

_HASHES = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_SECTION_NUMBER = re.compile(r"^\d{1,3}(?:\.\d{1,3})*\.?\s+(?=[^\W\d_])")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?\d{1,3}[.)])\s+(?=\S)")
_LOST_ROW = re.compile(r"\s*\d[\d.,:]* [^\W\d_][^.!?]{0,58}$")  # of a table that has lost its lines
_CONTENTS = re.compile(r".{3,80}?[ .…]{2,}\d{1,4}$|(?:\d+(?:\.\d+)*|[A-Z]) \S.{2,70} \d{1,4}$")
_RULE = re.compile(r"[|:\-\s]+$")  # the line below the head of a table
_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_CLOSED = re.compile(r"[.!?…:;,][\"'»”’)\]]*$")
_ENDED = re.compile(r"[.!?…][\"'»”’)\]]*$")
_HEADING_WORDS = 9  # at most
_CONTENTS_LINE = 120  # characters at most
_ITEM_LINE = 55  # characters of a line below which an item ended on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSentence:
    """A sentence, an item of a list or a row of a table: its text on one line, and where it stands on the page.

    The heading of a row ends with the first row of its table, which names the columns.
    """

    text: str
    start: int
    end: int
    heading: str = ""
    kind: Literal["sentence", "item", "row"] = "sentence"

    @property
    def is_whole(self) -> bool:
        """Whether it begins and ends as a sentence does, and no bracket or quotation is left open."""
        pairs = (("(", ")"), ("«", "»"), ("“", "”"))
        first = self.text.lstrip("\"'«“(")[:1]
        return (
            (first.isupper() or first.isdigit())
            and _ENDED.search(self.text[-8:]) is not None
            and all(self.text.count(a) == self.text.count(b) for a, b in pairs)
            and self.text.count('"') % 2 == 0
        )


def page_sentences(text: str, title: str = "") -> list[PageSentence]:
    """The sentences of a page, in order. A line that is the document's title is the head of a page and left out.

    >>> [(one.heading, one.text) for one in page_sentences("# Hours\\nOpen from nine\\nto five. Closed on Sundays.")]
    [('Hours', 'Open from nine to five.'), ('Hours', 'Closed on Sundays.')]
    """
    on_page: list[PageSentence] = []
    for block in _blocks(text, title.strip()):
        whole = text[block.start : block.end]
        for start, end in [(0, len(whole))] if block.kind == "row" else sentence_spans(whole):
            plain = _SPACE.sub(" ", _MARKUP.sub("", whole[start:end])).strip()
            if plain:
                place = block.start + start
                on_page.append(
                    PageSentence(
                        text=plain, start=place, end=place + end - start, heading=block.heading, kind=block.kind
                    )
                )
    return on_page


@dataclass(slots=True)
class _TextBlock:
    start: int
    end: int
    heading: str
    kind: Literal["sentence", "item", "row"] = "sentence"


def _blocks(text: str, title: str) -> list[_TextBlock]:
    """Paragraphs, items and rows, each with the heading above it."""
    lines = text.rstrip().split("\n")
    blocks: list[_TextBlock] = []
    open_: _TextBlock | None = None  # the block that the next line may go on with
    heading, columns, end = "", "", -1
    for number, line in enumerate(lines):
        start, end = end + 1, end + 1 + len(line)
        before = lines[number - 1] if number else ""
        after = lines[number + 1] if number + 1 < len(lines) else ""
        item = _ITEM.match(line)
        if "|" in line:
            columns = columns if "|" in before else line
            if not _RULE.match(line):
                blocks.append(_TextBlock(start, end, heading if columns is line else f"{heading} {columns}", "row"))
            open_ = None
        elif not line.strip() or _is_skipped(line, before, after) or (number and line.strip() == title):
            open_ = None
        elif number + 1 < len(lines) and (
            heads := _heading(line, after, open_ is None or _is_over(open_, before, line))
        ):
            heading, open_ = heads, None
        elif item:
            open_ = _TextBlock(start + item.end(), end, heading, "item")
            blocks.append(open_)
        elif open_ is not None and not (open_.kind == "item" and _is_over(open_, before, line)):
            open_.end = end
        else:
            open_ = _TextBlock(start, end, heading)
            blocks.append(open_)
    return blocks


def _is_skipped(line: str, before: str, after: str) -> bool:
    """Numbers of pages, lines of contents, rows of tables that have lost their lines."""
    stripped = line.strip()
    if stripped.isdecimal() or (len(stripped) < _CONTENTS_LINE and _CONTENTS.match(stripped)):
        return True
    return bool(_LOST_ROW.match(line)) and bool(_LOST_ROW.match(after) or _LOST_ROW.match(before))


def _heading(line: str, after: str, alone: bool) -> str:
    """The title that a line is, or "". A line of plain words is one if what follows begins anew."""
    hashes = _HASHES.match(line)
    if hashes:
        return line[hashes.end() :].strip(" #\t\r")
    stripped = line.strip()
    if (
        not alone
        or (_CLOSED.search(stripped[-8:]) and not stripped.endswith("?"))
        or len(stripped.split()) > _HEADING_WORDS
    ):
        return ""
    title = _SECTION_NUMBER.sub("", stripped, count=1)
    following = after.strip()
    anew = not following or following[0].isupper() or following[0].isdigit() or bool(_ITEM.match(after))
    return title if title[:1].isupper() and anew else ""


def _is_over(block: _TextBlock, last: str, line: str) -> bool:
    """Whether a block ended with its last line: by a full stop, or, an item, short of the line's width."""
    if _ENDED.search(last.rstrip()[-8:]):
        return True
    return block.kind == "item" and line[:1].isupper() and len(last) < _ITEM_LINE
