"""Units: one hit or one gold entry, given as an object, made into karat's fields."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from karat.core.types import Gold
from karat.files import _cells
from karat.files._aliases import HIT
from karat.files._cells import CellError, shown
from karat.io.fields import field_name, nested
from karat.io.pages import PageReader, counts_from_0

_FIELD_OF = {alias: field for field, aliases in HIT.items() for alias in aliases}
_NAMING = ("id", "chunk", "url", "doc", "page", "span", "quote", "text")


def fields_of(entry: Mapping[str, Any], pages: PageReader) -> dict[str, Any]:
    """The fields of a hit or gold entry; those of a nested `metadata` stand in for missing ones.

    Of several names of one field the first of its aliases counts.
    """
    ranked: dict[str, tuple[int, Any]] = {}
    unknown: list[str] = []
    outer = {field_name(str(key)): value for key, value in entry.items()}
    for depth, part in enumerate((outer, nested(entry))):
        for name, value in part.items():
            field = _FIELD_OF.get(name)
            if field is None:
                if part is outer:
                    unknown.append(name)
            elif not _cells.is_missing(value):
                rank = depth * len(_FIELD_OF) + HIT[field].index(name)
                if field not in ranked or rank < ranked[field][0]:
                    ranked[field] = rank, value
    raw = {field: value for field, (_, value) in ranked.items()}
    made: dict[str, Any] = {}
    for field in ("id", "chunk", "doc", "url"):
        if field in raw:
            made[field] = _cells.id_text(raw[field])
    names = ("page_number", "page", "page_label")
    try:
        page, label = pages.read(*(raw.get(name) for name in names), from_0="page" in raw and counts_from_0(entry))
    except ValueError as problem:
        raise CellError(str(problem), "Give text or a whole number.") from None
    made |= {name: text for name, text in (("page", page), ("page_label", label)) if text is not None}
    for field in ("text", "quote"):
        if field in raw:
            made[field] = _cells.plain_text(raw[field])
    if "span" in raw or ("start" in raw and "end" in raw):
        made["span"] = span_of(raw.get("span", [raw.get("start"), raw.get("end")]))
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


def span_of(value: Any) -> tuple[int, int]:
    """A start and an end, given as a list, as text or as an object."""
    if isinstance(value, Mapping):
        value = [value.get("start"), value.get("end")]
    items = _cells.as_list(value)
    if items is None or len(items) != 2:
        raise CellError(f"span {shown(value)} is not a start and an end", "Give two character positions, [start, end].")
    start, end = (_cells.whole(item, "span") for item in items)
    if start < 0 or end < start:
        raise CellError(f"span {shown(value)} does not run forward", "Give [start, end] with start at most end.")
    return start, end


def gold_of(entry: Any, pages: PageReader) -> Gold:
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
