"""Entries: one hit or one gold entry, given as an object, made into karat's fields."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from karat.core.types import Gold
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.fields import HIT, FieldReader, field_name
from karat.io.pages import PageReader, counts_from_0

_HIT = FieldReader(HIT)
_PAGES = ("page_number", "page", "page_label")
_NAMING = ("id", "chunk", "url", "doc", "page", "span", "quote", "text")
_CONVERT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("id", "chunk", "doc", "url"), cells.id_text),
    **dict.fromkeys(("text", "quote"), cells.plain_text),
    "tokens": partial(cells.whole_number, what="tokens"),
    "score": cells.finite_number,
    "grade": cells.whole_number,
}


def entry_fields(entry: Mapping[str, Any], pages: PageReader) -> dict[str, Any]:
    """The fields of a hit or gold entry; those of a nested `metadata` stand in for missing ones.

    Of several names of one field the first of its aliases counts. A score or grade of NaN is an error, not a gap.
    """
    raw = {
        field: value
        for field, value in _HIT.read(entry).items()
        if not cells.is_missing(value) or (field in ("score", "grade") and isinstance(value, float))
    }
    fields = {field: _CONVERT[field](value) for field, value in raw.items() if field in _CONVERT}
    if not raw.keys().isdisjoint(_PAGES):
        page, label = pages.read(*map(raw.get, _PAGES), from_0="page" in raw and counts_from_0(entry))
        fields |= {name: text for name, text in (("page", page), ("page_label", label)) if text is not None}
    if "span" in raw or ("start" in raw and "end" in raw):
        fields["span"] = span_of(raw.get("span", [raw.get("start"), raw.get("end")]))
    _refuse_misspelled([name for name in map(field_name, map(str, entry)) if name not in _HIT.names], fields)
    return fields


def _refuse_misspelled(unknown: list[str], fields: Mapping[str, Any]) -> None:
    named = any(field in fields for field in _NAMING)
    for name in unknown:
        near = difflib.get_close_matches(name, _HIT.names, n=1, cutoff=0.75)
        if near and (not named or _HIT.names[near[0]][0] not in fields) and len(name) > 2:
            raise CellError(f'the field "{name}" is not known', f"Did you mean {near[0]}?")
    if not named:
        others = f" (fields: {', '.join(unknown[:8])})" if unknown else ""
        raise CellError(
            f"the entry names no unit{others}", 'Give one of "id", "doc", "page", "url", "chunk", "quote", "span".'
        )


def side_by_side(lists: Mapping[str, list[Any]], what: str, *, spread: bool = False) -> list[dict[str, Any]]:
    """Lists of one length read side by side, an entry of each place; `spread`: a single value holds for all entries."""
    size = max(map(len, lists.values()), default=0)
    if any(len(items) != size and not (spread and len(items) == 1) for items in lists.values()):
        counts = ", ".join(f"{name} {len(items)}" for name, items in lists.items())
        other = ", or one value for all entries" if spread else ", or one list alone"
        raise CellError(f"the {what} do not pair up ({counts})", f"Give lists of equal length{other}.")
    return [{name: items[place if len(items) == size else 0] for name, items in lists.items()} for place in range(size)]


def span_of(value: Any) -> tuple[int, int]:
    """A start and an end, given as a list, as text or as an object."""
    if isinstance(value, Mapping):
        value = [value.get("start"), value.get("end")]
    items = cells.as_list(value)
    if items is None or len(items) != 2:
        raise CellError(
            f"span {quoted(value)} is not a start and an end", "Give two character positions, [start, end]."
        )
    start, end = (cells.whole_number(item, "span") for item in items)
    if start < 0 or end < start:
        raise CellError(f"span {quoted(value)} does not run forward", "Give [start, end] with start at most end.")
    return start, end


def gold_of(entry: Any, pages: PageReader) -> Gold:
    """A gold entry: an object, or an id."""
    if not isinstance(entry, Mapping):
        return Gold(id=cells.id_text(entry))
    fields = entry_fields(entry, pages)
    if isinstance(fields.get("page"), tuple):
        raise CellError(f"page {quoted(fields['page'])} is a list", "Write one entry for each page.")
    fields.setdefault("quote", fields.get("text"))
    names = ("id", "doc", "page", "url", "chunk", "quote", "span")
    return Gold(**{name: fields.get(name) for name in names}, grade=fields.get("grade", 1))


def hit_id(fields: Mapping[str, Any]) -> str:
    """What a hit is called when it gives no id: the most special name it has, as gold is labelled."""
    if "id" in fields:
        return str(fields["id"])
    named = {name: fields[name] for name in ("doc", "page", "url", "chunk", "span") if name in fields}
    if not named:
        return str(fields.get("text", fields.get("quote", "")))
    if isinstance(named.get("page"), tuple):
        named["page"] = "-".join((named["page"][0], named["page"][-1]))
    return Gold(**named).label
