"""Contexts as units that can be quoted: sentences, items of lists, rows of tables; with the headings above them.

Lines of a page are joined again where they were broken for want of room: a line that would have had room for the next
word ended on purpose. Numbers of pages and lines of contents are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from karat.answer._extract.words import Word, words_of
from karat.core.text import guess_language
from karat.core.text.sentences import sentence_spans

MOST_CHARACTERS = 100_000  # of a context that are read
_MOST_UNITS = 2000  # of a context that are looked at
_LONGEST = 1200  # characters of a sentence; what is longer is parted
_LONGEST_HEADING = 10  # words
_ENDS = re.compile(r"[.!?…।॥。！？:;][\"'»”’)\]]*$")
_STOPPED = re.compile(r"[.!?…।॥。！？][\"'»”’)\]]*$")
_MARKED = re.compile(r"\s*(?:[-*•–—·]|\(?\d{1,3}[.)]|#{1,6})\s+")
_SECTION = re.compile(r"#{1,6}\s+|(?:\d{1,3}(?:\.\d{1,3})+\.?|\d{1,3}\.?)\s+(?=[^\W\d_])(?=\S*[A-ZА-ЯЁ])")
_SKIPPED = re.compile(r"^\d{1,4}$|^.{3,80}?[ .…]{2,}\d{1,4}$|^(?:\d+(?:\.\d+)*|[A-Z]) \S.{2,70} \d{1,4}$")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_]|[*_](?!\w)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\ufeff]")
_OUTSIDE = "\"'«»“”‘’„()[]{},;:.!?…*_`"
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Unit:
    """Something that can be quoted. `cells` and `head` are those of a row and of the first row of its table."""

    text: str
    heading: str = ""
    kind: str = "sentence"  # sentence, item, row
    cells: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    words: list[Word] = field(default_factory=list)
    heading_stems: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()  # words that its context writes without a capital


def read(text: str, title: str = "") -> list[Unit]:
    """The units of a context, in order."""
    language = guess_language(text[:4000])
    units: list[Unit] = []
    heading = ""
    table: list[tuple[str, ...]] = []
    row = False  # whether the last block was a line of its own among others, as in a table
    blocks = _blocks(text[:MOST_CHARACTERS], title)
    for place, block in enumerate(blocks):
        cells = _cells(block)
        if cells:
            table.append(cells)
            if len(table) > 1:
                units.append(Unit(" | ".join(cells), heading, "row", cells, table[0]))
            continue
        table = []
        marked = _MARKED.match(block)
        following = blocks[place + 1] if place + 1 < len(blocks) else ""
        alone = _stands_alone(block, marked) and bool(following)
        row = alone and (row or _stands_alone(following, _MARKED.match(following))) and not _is_numbered(block)
        if alone and not row:
            numbered = _SECTION.match(block)
            heading = _clean(block[numbered.end() :] if numbered else block)
            continue
        body = _clean(block[marked.end() :] if marked else block)
        for start, end in _parts(body):
            if body[end - 1] in "?？" and not marked:  # a question in the text stands above its answer
                heading = body[start:end]
                continue
            units.append(Unit(body[start:end], heading, "item" if marked else "sentence"))
    del units[_MOST_UNITS:]
    known: dict[str, frozenset[str]] = {}
    plain = frozenset(
        piece.strip(_OUTSIDE) for piece in text[:MOST_CHARACTERS].split() if piece.strip(_OUTSIDE).islower()
    )
    for unit in units:
        unit.words = words_of(unit.text, language)
        unit.plain = plain
        unit.stems = frozenset(word.stem for word in unit.words if not word.stop)
        above = f"{title} {unit.heading} {' '.join(unit.head)}"
        if above not in known:
            known[above] = frozenset(word.stem for word in words_of(above, language) if not word.stop)
        unit.heading_stems = known[above]
    return [unit for unit in units if unit.words]


def _blocks(text: str, title: str) -> list[str]:
    """The lines of a text, those that were broken for want of room joined; the title on top of a page is left out."""
    lines = [_SPACE.sub(" ", line).strip() for line in text.splitlines()]
    width = max(map(len, lines), default=0)
    room = max(width - max(6, width // 8), 1)
    blocks: list[str] = []
    open_ = False  # whether the last block may go on
    last = ""
    for line in lines:
        if not line or (len(line) < 120 and (_SKIPPED.search(line) or line == title)):
            open_ = open_ and bool(line) and not _ENDS.search(last)
            continue
        goes_on = open_ and not _STOPPED.search(last) and not _MARKED.match(line) and "|" not in line
        if goes_on:
            first = line.split(" ", 1)[0]
            full = len(last) + 1 + len(first) > room
            goes_on = full or line[0].islower() or last[-1] in ",-–—("
        if goes_on:
            blocks[-1] = f"{blocks[-1]} {line}"
        else:
            blocks.append(line)
        open_, last = "|" not in line, line
    return blocks


def _cells(block: str) -> tuple[str, ...]:
    if "|" not in block or len(block) > _LONGEST:
        return ()
    cells = tuple(_clean(cell) for cell in block.strip("| ").split("|"))
    return cells if len(cells) > 1 and not all(set(cell) <= set("-: ") for cell in cells) else ()


def _stands_alone(block: str, marked: re.Match[str] | None) -> bool:
    """Whether a block looks like a heading, or like a row of a table that lost its lines."""
    if block.startswith("#"):
        return True
    if (marked and not block[0].isdecimal()) or _ENDS.search(block) or block[:1].islower():
        return False
    return len(block) < 90 and len(block.split()) <= _LONGEST_HEADING and "|" not in block


def _is_numbered(block: str) -> bool:
    return bool(_SECTION.match(block))


def _clean(text: str) -> str:
    return _SPACE.sub(" ", _MARKUP.sub("", text)).strip()


def _parts(text: str) -> list[tuple[int, int]]:
    """Sentences, those that are too long parted at white space."""
    parts = []
    for start, end in sentence_spans(text):
        while end - start > _LONGEST:
            cut = text.rfind(" ", start + 1, start + _LONGEST)
            cut = cut if cut > start else start + _LONGEST
            parts.append((start, cut))
            start = cut + 1 if text[cut : cut + 1] == " " else cut
        if start < end:
            parts.append((start, end))
    return parts
