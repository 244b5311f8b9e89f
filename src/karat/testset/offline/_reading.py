"""A fragment as it is asked about: whole sentences, lists with what opens them, and the heading above each.

A chunk may begin and end in the middle of a sentence, and lines of a page end where the paper does. Only what is
whole is kept, with its place, so that a quote is the text itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from karat.core.text.sentences import sentence_spans

_HASHED = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_NUMBERED = re.compile(r"\s*\d{1,3}(?:\.\d{1,3})*\.?\s+([^\W\d_].*?)\s*$")
_ITEM = re.compile(r"\s*(?:[-*•–·]|\(?\d{1,3}[.)])\s+(?=\S)")
_ROW = re.compile(r"\s*\d[\d.,:]* [^\W\d_][^.!?]{0,58}$")  # of a table that has lost its lines
_SPACE = re.compile(r"\s+")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_STOPPED = re.compile(r"[.!?…:;,][\"'»”’)\]]*$")
_WHOLE = re.compile(r"[.!?…][\"'»”’)\]]*$")
_ODD = re.compile(r"[|{}<>\\=\[\]~^@\ufffd]|https?:|www\.|\.{3}|…|\s{3}|_{2}|\t")
_LONGEST_HEADING = 9  # words
FEWEST, MOST = 4, 42  # words of a sentence that is asked about


@dataclass(frozen=True)
class Told:
    """A whole sentence or item: its text on one line, and where it stands."""

    text: str
    start: int
    end: int
    heading: str = ""
    item: bool = False


@dataclass(frozen=True)
class Listed:
    """A list and the words that open it, with where both stand together. A numbered list is of steps, mostly."""

    opening: str
    items: tuple[str, ...]
    start: int
    end: int
    heading: str = ""
    numbered: bool = False


@dataclass(frozen=True)
class Headed:
    """A heading and the sentences right below it."""

    title: str
    told: tuple[Told, ...]


@dataclass(frozen=True)
class Read:
    """What there is to ask about."""

    told: tuple[Told, ...]
    listed: tuple[Listed, ...]
    headed: tuple[Headed, ...]


@dataclass
class _Block:
    kind: str  # text, item, heading
    start: int
    end: int
    title: str = ""


def one_line(text: str) -> str:
    """A text with its lines joined and marks of emphasis gone."""
    return _SPACE.sub(" ", _MARKUP.sub("", text)).strip()


def read(text: str, title: str = "", *, begins: bool = True) -> Read:
    """The whole sentences and lists of a text. A line that is the document's title is the head of a page.

    Unless it `begins` with a sentence, the first one counts as cut.
    """
    blocks = _blocks(text, title.strip())
    told: list[Told] = []
    headed: list[Headed] = []
    heading, below = "", 0
    for block in blocks:
        if block.kind == "heading":
            _close(headed, heading, told[below:])
            heading, below = block.title, len(told)
        else:
            told += [one for one in _sentences(text, block, heading) if begins or one.start]
    _close(headed, heading, told[below:])
    return Read(tuple(told), tuple(_lists(text, blocks)), tuple(headed))


def _close(headed: list[Headed], heading: str, told: list[Told]) -> None:
    if heading and told:
        headed.append(Headed(heading, tuple(told)))


def _blocks(text: str, running: str) -> list[_Block]:
    lines = _lines(text)
    blocks: list[_Block] = []
    open_: _Block | None = None
    for number, (start, end) in enumerate(lines):
        line = text[start:end]
        after = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        before = text[slice(*lines[number - 1])] if number else ""
        row = bool(_ROW.match(line)) and bool(_ROW.match(after) or _ROW.match(before))
        if not line.strip() or _is_noise(line) or row or (number and line.strip() == running):
            open_ = None
        elif title := _heading(line, after, open_ is None or _is_over(text, open_, line)):
            blocks.append(_Block("heading", start, end, title))
            open_ = None
        elif _ITEM.match(line):
            open_ = _Block("item", start + len(_ITEM.match(line)[0]), end)  # type: ignore[index]
            blocks.append(open_)
        elif open_ is not None and not (open_.kind == "item" and _is_over(text, open_, line)):
            open_.end = end
        else:
            open_ = _Block("text", start, end)
            blocks.append(open_)
    return blocks


def _lines(text: str) -> list[tuple[int, int]]:
    found, start = [], 0
    for line in text.split("\n"):
        found.append((start, start + len(line)))
        start += len(line) + 1
    return found


def _is_noise(line: str) -> bool:
    """Rows of tables, numbers of pages and lines of contents."""
    told = line.strip()
    return "|" in told or told.isdecimal() or bool(re.search(r"[^\W\d_]\s?\.*\s?\d{1,3}$", told) and len(told) < 60)


def _heading(line: str, after: str, alone: bool) -> str:
    """The title that a line is, or "". A line of plain words is one if what follows begins anew."""
    hashed = _HASHED.match(line)
    if hashed:
        return one_line(hashed[1])
    told = line.strip()
    if (_STOPPED.search(told) and not told.endswith("?")) or len(told.split()) > _LONGEST_HEADING or not alone:
        return ""
    numbered = _NUMBERED.match(told)
    title = numbered[1] if numbered else told
    following = after.strip()
    anew = not following or following[0].isupper() or following[0].isdigit() or bool(_ITEM.match(after))
    return one_line(title) if title[:1].isupper() and anew else ""


def _is_over(text: str, block: _Block, line: str) -> bool:
    """Whether a block has ended before this line: with a full stop, or, an item, short of the line's width."""
    told = text[block.start : block.end]
    if _WHOLE.search(told):
        return True
    return block.kind == "item" and line[:1].isupper() and len(told.split("\n")[-1]) < 55


def _sentences(text: str, block: _Block, heading: str) -> list[Told]:
    found = []
    whole = text[block.start : block.end]
    spans = sentence_spans(whole)
    for start, end in spans:
        told = one_line(whole[start:end])
        size = len(told.split())
        if FEWEST <= size <= MOST and _is_whole(told):
            found.append(Told(told, block.start + start, block.start + end, heading, block.kind == "item"))
    return found


def _is_whole(told: str) -> bool:
    first = told.lstrip("\"'«“(")[:1]
    if not (first.isupper() or first.isdigit()) or not _WHOLE.search(told) or _ODD.search(told):
        return False
    pairs = (("(", ")"), ("«", "»"), ("“", "”"))
    return all(told.count(a) == told.count(b) for a, b in pairs) and told.count('"') % 2 == 0


def _lists(text: str, blocks: list[_Block]) -> list[Listed]:
    found = []
    heading = ""
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            heading = block.title
        if block.kind != "text" or not text[block.start : block.end].rstrip().endswith(":"):
            continue
        items = []
        for after in blocks[number + 1 :]:
            if after.kind != "item":
                break
            items.append(after)
        if len(items) < 2 or (items[-1].end >= len(text.rstrip()) and not _WHOLE.search(text.rstrip())):
            continue
        whole = text[block.start : block.end]
        first, last = sentence_spans(whole)[-1]
        opening = one_line(whole[first:last])
        mark = text[: items[0].start].rstrip(" ")[-1:]
        told = tuple(one_line(text[one.start : one.end]).rstrip(" ;.,") for one in items)
        if opening[:1].isupper() and not any(_ODD.search(one) for one in told):
            found.append(Listed(opening, told, block.start + first, items[-1].end, heading, mark in ".)"))
    return found
