"""Lines: text put together line by line from a tree of elements, with the headings met on the way."""

from __future__ import annotations

import re

from karat.core.docs import Section

_BLANKS = re.compile(r"[ \t\n\r\f\v\u00a0]+")
_CELL = " | "


class LineBuilder:
    """Lines of text as they grow. White space is one blank; within a row of a table, a line's end is too."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.verbatim = 0
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""  # what separates the next words from the last: nothing, a blank, a line's end
        self._mark = ""  # what stands before the next words
        self._rows: list[int] = []  # cells begun in each open row
        self._heading: tuple[int, int, int] | None = None

    @property
    def text(self) -> str:
        """All lines."""
        return "".join(self._parts)

    def add(self, text: str) -> None:
        """Words, or within `pre` the text as it stands."""
        if self.verbatim and not self._rows:
            if text:
                self._put(text)
            return
        words = _BLANKS.sub(" ", text)
        if words.startswith(" "):
            self._gap = self._gap or " "
            words = words[1:]
        trailing = words.endswith(" ")
        if words := words.rstrip(" "):
            self._put(words)
        if trailing:
            self._gap = self._gap or " "

    def _put(self, words: str) -> None:
        if self._length and self._gap:
            self._write(self._gap)
        self._write(self._mark + words)
        self._gap = self._mark = ""

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def end_line(self) -> None:
        """The next words begin a line; in a row, they follow after a blank."""
        self._gap = (self._gap or " ") if self._rows else "\n"

    def begin_item(self) -> None:
        """An entry of a list."""
        if not self._rows:
            self._mark = "- "

    def begin_row(self) -> None:
        """A row of a table."""
        self._rows.append(0)

    def begin_cell(self) -> None:
        """A cell of the open row."""
        if self._rows:
            if self._rows[-1] and self._gap != "\n":
                self._gap = self._gap.rstrip(" ") + _CELL
            self._rows[-1] += 1

    def end_row(self) -> None:
        """The end of the open row."""
        if self._rows:
            self._rows.pop()
        self.end_line()

    def begin_heading(self, level: int) -> None:
        """A heading: what is added until its end is its title."""
        self._heading = (level, self._length + (1 if self._length else 0), len(self._parts))

    def end_heading(self) -> None:
        """The end of a heading; one without words is none."""
        if self._heading is None:
            return
        level, start, first = self._heading
        self._heading = None
        title = " ".join("".join(self._parts[first:]).split())
        if title:
            self.sections.append(Section(title, level, start))
