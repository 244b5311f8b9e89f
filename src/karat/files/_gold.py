"""Gold of a row: all that its fields name, one entry for each unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from karat.core.text.words import plural
from karat.core.types import Gold
from karat.files._entries import GOLD_ENTRY, columns_of, gold_of, side_by_side, span_of
from karat.io import cells
from karat.io.cells import CellError, Record
from karat.io.fields import FLAT_GOLD, Columns
from karat.io.pages import PageReader, pages_of

_FILE = r"\.(?:pdf|docx?|html?|md|txt|pptx?|xlsx?)\b"
_CROWDED = re.compile(rf"{_FILE}[\s,;(]+[^\W\d]{{0,7}}[.=]?\s?\d|{_FILE}\s*[;,|\n].*{_FILE}", re.I)
_IDS = {"gold_id": "id", "gold_chunk": "chunk", "gold_url": "url", "gold_doc": "doc"}
_PAGES = ("gold_page_number", "gold_page", "gold_page_label")


def complete_gold(columns: Columns, fields: Iterable[str]) -> None:
    """Let plain columns such as file and page name the gold, unless ids of chunks do; see FLAT_GOLD."""
    if columns.has("gold", "gold_id", "gold_chunk"):
        return
    flat = Columns(FLAT_GOLD, fields)
    for field, aliases in flat.of.items():
        if not columns.of[field] and not (field == "gold_doc" and columns.of["gold_url"]):
            columns.of[field] = aliases


class GoldReader:
    """Reads the gold of records.

    Lists of one length are read side by side, an entry of each place; a single value holds for all entries. A quote in
    a document on a page is one entry. Flat fields beside a list `gold` add what none of its entries says.
    """

    def __init__(self, columns: Columns, pages: PageReader, pages_in: Iterable[str] = ()) -> None:
        self.columns, self.pages = columns, pages
        self.pages_in = frozenset(pages_in)  # columns that hold pages, whatever the alias table says
        self.missing_pages = 0
        self._golds: dict[tuple[str, ...], dict[tuple[Any, ...], Gold]] = {}  # by the fields that name them
        self._names_units = columns.has(*_IDS, *_PAGES, "gold_quote", "gold_span", "gold_grade")

    def read(self, record: Record) -> list[Gold] | None:
        """The gold of a record; None when the source states that there is none to find."""
        value = cells.as_object(self.columns.value(record, "gold"))
        listed = self._listed(value) if value is not None else []
        if not self._names_units:
            return listed
        units, none_stated = self._units(record)
        if none_stated and not units and not listed:
            return None
        return listed + [entry for entry in _joined(units) if not any(_covers(other, entry) for other in listed)]

    def read_alike(self, entries: Sequence[Any]) -> list[Gold] | None:
        """Gold of objects that name the same fields and fill them; None where one does otherwise.

        What several questions name is one object, which makes it cheap to look up.
        """
        columns = columns_of(entries)
        if columns is None:
            return None
        names = tuple(name for name in columns if name in GOLD_ENTRY)
        known = self._golds.setdefault(names, {})
        rows = list(zip(*(columns[name] for name in names), strict=True))
        for values in rows:
            if values not in known:
                known[values] = Gold(**dict(zip(names, values, strict=True)))
        return [known[values] for values in rows]

    def _listed(self, value: Any) -> list[Gold]:
        if not isinstance(value, Mapping):
            entries = cells.as_list(value) or []
            alike = self.read_alike(entries)
            return [gold_of(entry, self.pages) for entry in entries] if alike is None else alike
        if any(isinstance(v, str | list | dict) for v in value.values()) or {"doc", "id", "page"} & set(value):
            return [gold_of(value, self.pages)]
        return [Gold(id=cells.id_text(doc), grade=cells.whole_number(grade)) for doc, grade in value.items()]

    def _units(self, record: Record) -> tuple[dict[str, list[Any]], bool]:
        """The items of each unit that the flat columns name, and whether they state that there is no gold."""
        units: dict[str, list[Any]] = {}
        pages: dict[str, list[Any]] = {}
        none_stated = False
        for field, unit in _IDS.items():
            alias, value = self.columns.first(record, field)
            if alias in self.pages_in:
                pages["gold_page"] = cells.page_items(value)
            elif unit == "url" and _states_no_gold(value):
                none_stated = True
            elif ids := cells.ids_of(value):
                units[unit] = ids
        for field in _PAGES:
            value = self.columns.value(record, field)
            if value is not None:
                pages[field] = cells.page_items(value)
        if pages:
            units["page"] = self._pages(pages)
        for unit, items_of in (("quote", _quotes), ("span", _spans), ("grade", _grades)):
            if items := items_of(self.columns.value(record, f"gold_{unit}")):
                units[unit] = items
        return units, none_stated

    def _pages(self, columns: dict[str, list[Any]]) -> list[str | None]:
        pages: list[str | None] = []
        for entry in side_by_side(columns, "gold fields", spread=True):
            page, _ = self.pages.read(*map(entry.get, _PAGES))
            if isinstance(page, tuple):
                raise CellError(f"page {cells.quoted(page)} is a list", "Write one entry for each page.")
            self.missing_pages += page is None
            pages.append(page)
        return pages


def _joined(units: Mapping[str, list[Any]]) -> list[Gold]:
    """Entries from parallel lists. What stands once for all entries makes none where their own cells are empty."""
    entries = side_by_side(units, "gold fields", spread=True)
    own = [unit for unit, items in units.items() if unit != "grade" and len(items) == len(entries)]
    return [
        Gold(**{unit: item for unit, item in entry.items() if item is not None})
        for entry in entries
        if any(entry[unit] is not None for unit in own)
    ]


def _covers(entry: Gold, other: Gold) -> bool:
    """Whether an entry says all that the other does."""
    fields = (field for field in GOLD_ENTRY if field != "grade")
    return all(getattr(other, field) in (None, getattr(entry, field)) for field in fields)


def _states_no_gold(value: Any) -> bool:
    items = cells.as_list(value) or []
    return len(items) == 1 and isinstance(items[0], str) and items[0].strip().upper() == "NONE"


def _quotes(value: Any) -> list[str | None]:
    """Quotes of a cell; a text that is no list, though it begins with a bracket, is a quote."""
    try:
        items = cells.as_list(value) or []
    except CellError:
        items = [value]
    quotes = [None if cells.is_missing(item) else cells.plain_text(item) for item in items]
    return quotes if any(quote is not None for quote in quotes) else []


def _spans(value: Any) -> list[tuple[int, int]]:
    items = [value] if isinstance(value, Mapping) else cells.as_list(value) or []
    one = len(items) == 2 and not any(isinstance(item, list | tuple | Mapping) for item in items)
    return [span_of(items)] if one else [span_of(item) for item in items]


def _grades(value: Any) -> list[int]:
    return [cells.whole_number(grade) for grade in cells.as_list(value) or []]


def range_note(golds: Iterable[Gold]) -> list[str]:
    """How gold pages such as "3-12" were read, where there are any."""
    ranges = {gold.page: pages_of(gold.page) for gold in golds if gold.page is not None}
    ranges = {page: numbers for page, numbers in ranges.items() if len(numbers) > 1}
    if not ranges:
        return []
    page, numbers = next(iter(ranges.items()))
    more = f", {len(ranges) - 1:,} more likewise" if len(ranges) > 1 else ""
    listed = ", ".join(numbers) if re.search("[,;]", page) else f"{numbers[0]} to {numbers[-1]}"
    return [
        f'page "{page}" read as pages {listed} ({len(numbers):,} gold pages){more}, unless a page '
        f'of the index is labelled so. If it is a label, write "label:{page}", or --map page=page_label'
    ]


def crowded_note(golds: Iterable[Gold]) -> list[str]:
    """What to do about gold documents that are a file and a page, or several files, in one text."""
    documents = dict.fromkeys(gold.doc or gold.id or "" for gold in golds)
    crowded = [name for name in documents if _CROWDED.search(name)]
    if not crowded:
        return []
    return [
        f"{cells.quoted(crowded[0], 40)} is read as one name ({plural(len(crowded), 'gold document')} like it): "
        'give pages a column "page", and several files a list'
    ]
