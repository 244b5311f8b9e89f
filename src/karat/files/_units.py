"""Units: one hit or one gold entry, given as an object, made into karat's fields."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from karat.core.types import Gold
from karat.files import _cells
from karat.files._aliases import HIT, field_name
from karat.files._cells import CellError, shown

_FIELD_OF = {alias: field for field, aliases in HIT.items() for alias in aliases}
_NAMING = ("id", "chunk", "url", "doc", "page", "span", "quote", "text")


def times(count: int) -> str:
    """A count of occurrences in words."""
    return "once" if count == 1 else f"{count:,} times"


class Pages:
    """Counts entries whose `page_number` and `page` disagree, for a note."""

    def __init__(self) -> None:
        self.by_one = self.otherwise = 0
        self.example = ""

    def choose(self, page_number: Any, page: Any) -> str | tuple[str, ...] | None:
        """The page: `page_number` (from 1) wins over `page` (LangChain counts it from 0). A hit may span several."""
        if page_number is None and isinstance(page, list | tuple):
            several = tuple(text for item in page if (text := _cells.page_text(item)) is not None)
            return several if len(several) > 1 else several[0] if several else None
        printed, counted = _cells.page_text(page_number), _cells.page_text(page)
        if printed is None:
            return counted
        if counted is not None and counted != printed:
            if printed.isdecimal() and counted.isdecimal() and abs(int(printed) - int(counted)) == 1:
                self.by_one += 1
            else:
                self.otherwise += 1
            self.example = self.example or f"page_number {printed}, page {counted}"
        return printed

    def notes(self) -> list[str]:
        made = []
        if self.by_one:
            made.append(f"page_number taken as the page; page differs by one {times(self.by_one)} ({self.example})")
        if self.otherwise:
            made.append(
                f"page_number taken as the page; page differs by more than one {times(self.otherwise)} "
                f"({self.example}): check which is right"
            )
        return made


def fields_of(entry: Mapping[str, Any], pages: Pages) -> dict[str, Any]:
    """The fields of a hit or gold entry; those of a nested `metadata` stand in for missing ones."""
    raw: dict[str, Any] = {}
    unknown: list[str] = []
    inner = entry.get("metadata", entry.get("meta"))
    for part in (entry, inner if isinstance(inner, Mapping) else {}):
        for key, value in part.items():
            name = field_name(str(key))
            field = _FIELD_OF.get(name)
            if field is None:
                if part is entry:
                    unknown.append(name)
            elif not _cells.is_missing(value):
                raw.setdefault(field, value)
    made: dict[str, Any] = {}
    for field in ("id", "chunk", "doc", "url"):
        if field in raw:
            made[field] = _cells.id_text(raw[field])
    page = pages.choose(raw.get("page_number"), raw.get("page"))
    if page is not None:
        made["page"] = page
    for field in ("text", "quote"):
        if field in raw:
            made[field] = _cells.plain_text(raw[field])
    if "span" in raw or ("start" in raw and "end" in raw):
        made["span"] = _span(raw.get("span", [raw.get("start"), raw.get("end")]))
    if "tokens" in raw:
        made["tokens"] = _cells.whole(raw["tokens"], "tokens")
    if "score" in raw:
        made["score"] = _cells.finite(raw["score"])
    elif isinstance(entry.get("score"), float):
        _cells.finite(entry["score"])
    if "grade" in raw:
        made["grade"] = _cells.whole(raw["grade"])
    elif isinstance(entry.get("grade"), float):
        _cells.whole(entry["grade"])
    _refuse_misspelled(unknown, made)
    return made


def _refuse_misspelled(unknown: list[str], made: Mapping[str, Any]) -> None:
    named = any(field in made for field in _NAMING)
    for name in unknown:
        near = difflib.get_close_matches(name, _FIELD_OF, n=1, cutoff=0.75)
        if near and (not named or _FIELD_OF[near[0]] not in made) and len(name) > 2:
            raise CellError(f'the field "{name}" is not known', f"Did you mean {near[0]}?")
    if not named:
        found = f" (fields: {', '.join(unknown[:8])})" if unknown else ""
        raise CellError(
            f"the entry names no unit{found}", 'Give one of "id", "doc", "page", "url", "chunk", "quote", "span".'
        )


def _span(value: Any) -> tuple[int, int]:
    if isinstance(value, Mapping):
        value = [value.get("start"), value.get("end")]
    items = _cells.as_list(value)
    if items is None or len(items) != 2:
        raise CellError(f"span {shown(value)} is not a start and an end", "Give two character positions, [start, end].")
    start, end = (_cells.whole(item, "span") for item in items)
    if start < 0 or end < start:
        raise CellError(f"span {shown(value)} does not run forward", "Give [start, end] with start at most end.")
    return start, end


def gold_of(entry: Any, pages: Pages) -> Gold:
    """A gold entry: an object, or an id."""
    if not isinstance(entry, Mapping):
        return Gold(id=_cells.id_text(entry))
    fields = fields_of(entry, pages)
    if isinstance(fields.get("page"), tuple):
        raise CellError(f"page {shown(fields['page'])} is a list", "Write one entry for each page.")
    quote = fields.get("quote", fields.get("text"))
    return Gold(
        id=fields.get("id"),
        doc=fields.get("doc"),
        page=fields.get("page"),
        url=fields.get("url"),
        chunk=fields.get("chunk"),
        quote=quote,
        span=fields.get("span"),
        grade=fields.get("grade", 1),
    )


def hit_id(fields: Mapping[str, Any]) -> str:
    """What a hit is called when it gives no id: the most special name it has, as gold is labelled."""
    if "id" in fields:
        return str(fields["id"])
    if not any(name in fields for name in ("chunk", "url", "doc", "page", "span")):
        return str(fields.get("text", fields.get("quote", "")))
    named = {k: fields[k] for k in ("doc", "page", "url", "chunk", "span") if k in fields}
    if isinstance(named.get("page"), tuple):
        named["page"] = "-".join((named["page"][0], named["page"][-1]))
    return Gold(**named).label
