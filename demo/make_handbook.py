"""Set the demo's handbook (demo/handbook/*.md) as the PDF that karat ships.

    python demo/make_handbook.py [OUT.pdf]

Needs fpdf2. The same sources give the same bytes: core fonts, a fixed date, no random ids. Lines break only at
spaces, so that no word is split and a sentence can be found again in the extracted text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "demo" / "handbook"
SHIPPED = ROOT / "src" / "karat" / "experiment" / "_demo" / "docs" / "handbook.pdf"
RUNNING_HEADER = "Orrinsund Station Operations Handbook"

WIDTH, HEIGHT = 148.0, 210.0
LEFT, TOP, BOTTOM = 18.0, 24.0, 190.0
MEASURE = WIDTH - 2 * LEFT


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, a list item or the rows of a table."""

    kind: str
    text: str = ""
    mark: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Style:
    """A font and the height of its lines, in millimetres."""

    family: str
    emphasis: str
    points: float
    leading: float
    before: float = 0.0


STYLES = {
    "chapter": Style("helvetica", "B", 16, 8.0),
    "section": Style("helvetica", "B", 11, 5.6, before=3.4),
    "text": Style("times", "", 10, 4.5, before=1.5),
    "item": Style("times", "", 10, 4.5, before=0.6),
    "row": Style("helvetica", "", 8, 4.2, before=0.5),
    "small": Style("helvetica", "", 8, 4.0),
}


def blocks(source: str) -> Iterator[Block]:
    """The blocks of a source page: a small Markdown of `#`, `##`, lists, tables and one-line paragraphs."""
    rows: list[tuple[str, ...]] = []
    for line in [*source.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("| ").split("|")))
            continue
        if rows:
            yield Block("table", rows=tuple(rows))
            rows = []
        numbered = re.match(r"(\d+\.) (.*)", line)
        if line.startswith("## "):
            yield Block("section", line[3:])
        elif line.startswith("# "):
            yield Block("chapter", line[2:])
        elif line.startswith("- "):
            yield Block("item", line[2:], mark="-")
        elif numbered:
            yield Block("item", numbered[2], mark=numbered[1])
        elif line.strip():
            yield Block("text", line.strip())


def roman(number: int) -> str:
    """1 as i, 4 as iv; enough for front matter."""
    digits = [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]
    text = ""
    for value, letters in digits:
        count, number = divmod(number, value)
        text += letters * count
    return text


@dataclass
class Setter:
    """Sets blocks line by line on small pages and remembers where each heading came to stand."""

    pdf: FPDF = field(default_factory=lambda: FPDF(format=(WIDTH, HEIGHT)))
    y: float = TOP
    label: str = ""
    part: str = ""
    headings: list[tuple[str, str, str]] = field(default_factory=list)
    _numbers: int = 0

    def __post_init__(self) -> None:
        self.pdf.set_auto_page_break(False)
        self.pdf.set_creation_date(datetime(2024, 11, 1, tzinfo=UTC))
        self.pdf.set_title(RUNNING_HEADER)
        self.pdf.set_author("Candrel Polar Trust")
        self.pdf.set_lang("en")

    def use(self, style: Style) -> None:
        self.pdf.set_font(style.family, style.emphasis, style.points)

    def page(self, part: str) -> None:
        """Begin a page of the cover, the front matter or the body, numbered on from the last of its part."""
        self.foot()
        if part == self.part:
            self._numbers += 1
            self.pdf.add_page()
        else:
            self._numbers = 1
            prefix = "Cover" if part == "cover" else ""
            style = {"cover": None, "front": "r", "body": "D"}[part]
            self.pdf.add_page(label_style=style, label_prefix=prefix, label_start=1)
        self.part = part
        self.y = TOP
        if part == "cover":
            return
        self.label = roman(self._numbers) if part == "front" else str(self._numbers)
        self.use(STYLES["small"])
        self.pdf.text(LEFT, 14, RUNNING_HEADER)
        self.pdf.line(LEFT, 16, WIDTH - LEFT, 16)

    def foot(self) -> None:
        """Print the label at the foot of the page that is full."""
        if self.label:
            self.use(STYLES["small"])
            self.pdf.text((WIDTH - self.pdf.get_string_width(self.label)) / 2, 200, self.label)

    def wrap(self, text: str, width: float) -> list[str]:
        """Lines that fit the width in the font in use, broken at spaces only."""
        space = self.pdf.get_string_width(" ")
        lines: list[str] = []
        used = width
        for word in text.split():
            wide = self.pdf.get_string_width(word)
            if used + space + wide > width:
                lines.append(word)
                used = wide
            else:
                lines[-1] += f" {word}"
                used += space + wide
        return lines

    def lines(self, lines: list[str], style: Style, indent: float = 0.0, mark: str = "") -> None:
        """Set lines, going on to the next page with at least two of them on either side of the break."""
        self.y += style.before if self.y > TOP else 0.0
        room = int((BOTTOM - self.y) / style.leading)
        if room < len(lines):
            here = min(room, len(lines) - 2)
            if here < 2:
                here = 0
        else:
            here = len(lines)
        for number, line in enumerate(lines):
            if number == here:
                self.page(self.part)
            self.use(style)
            self.y += style.leading
            if mark and number == 0:
                self.pdf.text(LEFT, self.y - 1, mark)
            self.pdf.text(LEFT + indent, self.y - 1, line)

    def heading(self, block: Block) -> None:
        """A chapter begins a page; a section keeps at least three lines of text below it."""
        style = STYLES[block.kind]
        if block.kind == "chapter" and self.y > TOP:
            self.page(self.part)
        if block.kind == "section" and self.y + 28 > BOTTOM:
            self.page(self.part)
        self.use(style)
        self.lines(self.wrap(block.text, MEASURE), style)
        self.y += 1.5 if block.kind == "chapter" else 0.0
        self.headings.append((block.kind, block.text, self.label))

    def table(self, rows: tuple[tuple[str, ...], ...]) -> None:
        """Rows under a bold head, columns as wide as they need, the last one wrapped; never split over two pages."""
        style = STYLES["row"]
        self.use(Style(style.family, "B", style.points, style.leading))
        columns = range(len(rows[0]))
        wide = [min(max(self.pdf.get_string_width(row[c]) for row in rows) + 3, 40) for c in columns]
        wide[-1] = MEASURE - sum(wide[:-1])
        while wide[-1] < 20:
            widest = max(columns[:-1], key=lambda c: wide[c])
            wide[widest] -= 2
            wide[-1] += 2
        cells = [[self.wrap(cell, width - 2) for cell, width in zip(row, wide, strict=True)] for row in rows]
        deep = [max(map(len, row)) * style.leading + style.before for row in cells]
        if self.y + 2 + sum(deep) > BOTTOM:
            self.page(self.part)
        self.y += 2
        for number, (row, height) in enumerate(zip(cells, deep, strict=True)):
            self.pdf.set_font(style.family, "" if number else "B", style.points)
            x = LEFT
            for lines, width in zip(row, wide, strict=True):
                for down, line in enumerate(lines, 1):
                    self.pdf.text(x, self.y + down * style.leading - 1, line)
                x += width
            self.y += height
            if number == 0:
                self.pdf.line(LEFT, self.y, WIDTH - LEFT, self.y)
        self.y += 1

    def flow(self, all_blocks: Iterable[Block]) -> None:
        for block in all_blocks:
            if block.kind in ("chapter", "section"):
                self.heading(block)
            elif block.kind == "table":
                self.table(block.rows)
            else:
                style = STYLES[block.kind]
                indent = 6.0 if block.mark else 0.0
                self.use(style)
                self.lines(self.wrap(block.text, MEASURE - indent), style, indent, block.mark)

    def cover(self) -> None:
        """The cover: a lantern in lines, the title, the issue."""
        self.page("cover")
        middle = WIDTH / 2
        self.pdf.set_line_width(0.6)
        self.pdf.rect(middle - 9, 38, 18, 26)
        self.pdf.polygon([(middle - 11, 38), (middle + 11, 38), (middle, 29)])
        self.pdf.ellipse(middle - 3, 46, 6, 11)
        self.pdf.line(middle - 13, 64, middle + 13, 64)
        self.pdf.set_line_width(0.2)
        for y, style, points, text in (
            (92, "B", 22, "Orrinsund Station"),
            (104, "B", 16, "Operations Handbook"),
            (122, "", 11, "Seventh issue"),
            (129, "", 11, "In force from 1 November of season 31"),
            (180, "", 10, "Candrel Polar Trust"),
        ):
            self.pdf.set_font("helvetica", style, points)
            self.pdf.text(middle - self.pdf.get_string_width(text) / 2, y, text)

    def contents(self, entries: Iterable[tuple[str, str, str]]) -> None:
        """The table of contents: chapters and their sections with the printed page."""
        self.heading(Block("chapter", "Contents"))
        for kind, text, label in entries:
            style = Style("helvetica", "B" if kind == "chapter" else "", 8.5, 4.3, 1.6 if kind == "chapter" else 0.0)
            if self.y + 2 * style.leading > BOTTOM:
                self.page(self.part)
            self.lines([text], style, 0.0 if kind == "chapter" else 5.0)
            self.pdf.text(WIDTH - LEFT - self.pdf.get_string_width(label), self.y - 1, label)


def _set(front: list[Block], body: list[Block], entries: list[tuple[str, str, str]]) -> Setter:
    setter = Setter()
    setter.cover()
    setter.page("front")
    setter.flow(front)
    setter.contents(entries)
    setter.headings.clear()
    setter.page("body")
    setter.flow(body)
    setter.foot()
    return setter


def build(out: Path, sources: Path = SOURCES) -> Path:
    """Write the handbook to a file; set twice, since the contents come before the pages they name."""
    first, *rest = sorted(sources.glob("*.md"))
    front = list(blocks(first.read_text(encoding="utf-8")))
    body = [block for path in rest for block in blocks(path.read_text(encoding="utf-8"))]
    unnumbered = [(block.kind, block.text, "") for block in body if block.kind in ("chapter", "section")]
    entries = _set(front, body, unnumbered).headings
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(bytes(_set(front, body, entries).pdf.output()))
    return out


if __name__ == "__main__":
    written = build(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
    print(f"{written}: {written.stat().st_size:,} bytes")
