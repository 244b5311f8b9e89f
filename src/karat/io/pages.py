"""Pages: what a page number means, in test sets, results, stores and corpora alike.

- `page` counts from 1, everywhere but in the `metadata` beside a `page_content`: LangChain counts it from 0 there.
- `page_number` counts from 1 and wins over `page`.
- `page_label` is what is printed on the page. Nothing is ever added to it; where it stands alone, it is the page.
- "34-35" is a range of two pages, unless it is a label: manuals print "3-12" on the twelfth page of chapter 3.
  `label:3-12` says so.
- "3,4" is two pages, as rows.csv writes those of a chunk that spans them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from karat.io.cells import NOTHING, CellError
from karat.io.field_reader import metadata_of
from karat.io.fields import field_name

MOST_PAGES = 1000
"""The longest range that is read as one; a longer one is a single label."""

LABEL = "label:"

PageText = str | tuple[str, ...] | None

_PREFIX = re.compile(r"(?:pages?|pp?\.?|с\.|стр\.?)\s*", re.I)
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_WHOLE = re.compile(r"(\d{1,4000})(?:\.0+)?")
_DASH = re.compile("[-–—]")
_BETWEEN = re.compile("[,;]")


def page_of(text: object) -> str | None:
    """A page number in the one form that is compared: blanks, "p." and leading zeros aside.

    >>> [page_of(t) for t in ("34", " 34", "034", "p. 34", 34.0, "iv", "A–3", "label:3-12", "N/A")]
    ['34', '34', '34', '34', '34', 'iv', 'a-3', '3-12', None]
    """
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    page = str(text).strip().lower().removeprefix(LABEL).strip()
    if page in NOTHING:
        return None
    named = _PREFIX.match(page)
    rest = page[named.end() :] if named and page[named.end() :][:1].isdigit() else page
    whole = _WHOLE.fullmatch(rest)
    return str(int(whole[1])) if whole else "-".join(map(str.strip, _DASH.split(rest)))


def pages_of(value: object, labels: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """All pages a hit stands on: one, a list, several in one text such as "3,4", or a range such as "34-35".

    One of the `labels`, or a text marked as a label, is a single page.
    """
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(p for v in value for p in pages_of(v, labels)))
    page = page_of(value)
    if page is None or page in labels or is_label(value):
        return () if page is None else (page,)
    several = [part.strip() for part in _BETWEEN.split(page)]
    if len(several) > 1 and all(several):
        return pages_of(several, labels)
    spread = _RANGE.fullmatch(page)
    if spread and 0 <= int(spread[2]) - int(spread[1]) < MOST_PAGES:
        return tuple(str(p) for p in range(int(spread[1]), int(spread[2]) + 1))
    return (page,)


def is_label(value: object) -> bool:
    """Whether a page is marked as the label that is printed on it."""
    return isinstance(value, str) and value.lstrip().lower().startswith(LABEL)


def shift(page: str, offset: int) -> str:
    """A page number moved by an offset; what is no number stays."""
    return str(int(page) + offset) if offset and page.isdecimal() and _WHOLE.fullmatch(page) else page


def page_text(value: Any) -> str | None:
    """A page as text without blanks, or None where a file says there is none ("N/A"); CellError for what is no page.

    >>> [page_text(v) for v in (34, "34 ", 34.0, "iv", "N/A", None)]
    ['34', '34', '34', 'iv', None, None]
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CellError(f"{str(value)[:60]!r} is no page", "Give text or a whole number.")
    try:
        text = str(value).strip()
    except ValueError:
        raise CellError("a number of thousands of digits is no page", "Give text.") from None
    return None if text.lower() in NOTHING else text


def page_number(page: PageText) -> int | None:
    """A page as a number; None for a label and for several pages."""
    text = page_of(page) if isinstance(page, str) else None
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else None


def counts_from_0(record: Mapping[str, Any]) -> bool:
    """Whether the page of a record is LangChain's: in its metadata, beside a page_content."""
    names = {field_name(str(name)) for name in record}
    return "page_content" in names and "page" not in names and metadata_of(record).get("page") is not None


class PageReader:
    """Reads the pages that the records of one input name, and counts what its user should know of them.

    `of_gold`: they are those of gold, which offsets are not added to.
    """

    def __init__(self, *, of_gold: bool = False) -> None:
        self.of_gold = of_gold
        self.by_one = self.otherwise = self.from_0 = self.label_by_one = self.zeros = 0
        self.example = ""

    def read(
        self, number: Any = None, page: Any = None, label: Any = None, *, from_0: bool = False
    ) -> tuple[PageText, str | None]:
        """The page of a record that gives `page_number`, `page` and `page_label`, and its printed label.

        `from_0`: its page counts from 0 (`counts_from_0`). A list of pages is kept as a tuple.
        """
        counted, plain, printed = _texts(number), _texts(page), _text(_texts(label))
        if plain is not None and counted is not None and plain != counted:
            self._differ(counted, plain)
        if counted is None and plain is not None and from_0:
            self.from_0 += 1
            plain = tuple(shift(p, 1) for p in plain) if isinstance(plain, tuple) else shift(plain, 1)
        elif plain is not None and printed is not None and isinstance(plain, str) and shift(plain, 1) == printed:
            self.label_by_one += counted is None
        chosen = counted if counted is not None else plain
        self.zeros += chosen == "0"
        if chosen is None and printed is not None:
            return (LABEL + printed if len(pages_of(printed)) > 1 else printed), printed
        return chosen, printed

    def _differ(self, counted: PageText, plain: PageText) -> None:
        numbers = [int(text) for text in (counted, plain) if isinstance(text, str) and text.isdecimal()]
        if len(numbers) == 2 and abs(numbers[0] - numbers[1]) == 1:
            self.by_one += 1
        else:
            self.otherwise += 1
        self.example = self.example or f"page_number {_text(counted)}, page {_text(plain)}"

    @property
    def counts(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        return {name: value for name, value in vars(self).items() if name != "of_gold" and value}

    def add(self, counts: Mapping[str, Any]) -> None:
        """Count what a reader of a later part of the same input counted."""
        for name, value in counts.items():
            setattr(self, name, (self.example or value) if name == "example" else getattr(self, name) + value)

    def notes(self) -> list[str]:
        """What to say of the pages read, a sentence each."""
        taken = "page_number is read as the page; page differs by"
        offset = -1 if self.of_gold else 1
        notes = {
            f"{taken} one {_times(self.by_one)} ({self.example})": self.by_one,
            f"{taken} more than one {_times(self.otherwise)} ({self.example}): check which is right": self.otherwise,
            "page in the metadata beside page_content counts from 0, as LangChain writes it: 1 added "
            f"{_times(self.from_0)}": self.from_0,
            f"page_label is page + 1 {_times(self.label_by_one)}: page is read as counted from 1. If it counts from 0, "
            f"add --page-offset {offset}": self.label_by_one,
            f"page 0 stands {_times(self.zeros)}, and pages are read as counted from 1: if they count from 0 here, "
            f"add --page-offset {offset}": self.zeros,
        }
        return [note for note, count in notes.items() if count]


def _texts(value: Any) -> PageText:
    """A page as text; of a list, of those items that are pages."""
    if not isinstance(value, list | tuple):
        return page_text(value)
    several = tuple(text for item in value if (text := page_text(item)) is not None)
    return several if len(several) > 1 else several[0] if several else None


def _text(page: PageText) -> str | None:
    return ", ".join(page) if isinstance(page, tuple) else page


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
