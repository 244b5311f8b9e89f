"""Entries: one hit or one gold entry, given as an object, made into karat's fields."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

from karat.core.steps import hit_id
from karat.core.types import Gold
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.field_reader import MOST_SHAPES, FieldReader
from karat.io.fields import HIT
from karat.io.pages import PageReader, counts_from_0
from karat.io.shapes import hit_of

_HIT = FieldReader(HIT)
_PAGES = ("page_number", "page", "page_label")
_NAMING = frozenset(("id", "chunk", "url", "doc", "page", "span", "quote", "text"))
_CONVERT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("id", "chunk", "doc", "url"), cells.id_text),
    **dict.fromkeys(("text", "quote"), cells.plain_text),
    "tokens": partial(cells.whole_number, what="tokens"),
    "score": cells.finite_number,
    "grade": cells.whole_number,
}
_CONVERT_ALL: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    **dict.fromkeys(("id", "chunk", "doc", "url"), cells.id_texts),
    **dict.fromkeys(("text", "quote"), cells.filled_texts),
    "score": cells.finite_numbers,
    "grade": lambda values: list(map(cells.whole_number, values)),
}
GOLD_ENTRY = ("id", "doc", "page", "url", "chunk", "quote", "span", "grade")


def entry_fields(entry: Mapping[str, Any], pages: PageReader) -> dict[str, Any]:
    """The fields of a hit or gold entry; those of a nested `metadata` stand in for missing ones.

    Of several names of one field the first of its aliases counts. A score or grade of NaN is an error, not a gap.
    """
    raw: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, value in _HIT.read(entry).items():
        if not cells.is_missing(value) or (name in ("score", "grade") and isinstance(value, float)):
            raw[name] = value
            if (convert := _CONVERT.get(name)) is not None:
                fields[name] = convert(value)
    if not raw.keys().isdisjoint(_PAGES):
        page, label = pages.read(*map(raw.get, _PAGES), from_0="page" in raw and counts_from_0(entry))
        fields |= {name: text for name, text in (("page", page), ("page_label", label)) if text is not None}
    if "span" in raw or ("start" in raw and "end" in raw):
        fields["span"] = span_of(raw.get("span", [raw.get("start"), raw.get("end")]))
    unknown = _HIT.unknown(entry)
    if unknown or fields.keys().isdisjoint(_NAMING):
        _refuse_misspelled(unknown, fields)
    return fields


def hit_sources(entry: Any) -> dict[str, list[str]]:
    """Where each field of a hit is read; see FieldReader.sources."""
    if isinstance(entry, list | tuple) and len(entry) == 2:
        return {**hit_sources(entry[0]), "score": ["the pair"]}
    return _HIT.sources(hit_of(entry) or entry) if isinstance(entry, Mapping) else {"id": ["the list"]}


def are_hits(value: Any, *, named: bool = False) -> bool:
    """Whether a list holds hits in the shapes of frameworks; `named`: or objects that name a hit in karat's fields."""
    if not isinstance(value, list) or not value or not all(isinstance(one, Mapping) for one in value):
        return False
    return all(hit_of(one) or (named and not _NAMING.isdisjoint(_HIT.read(one))) for one in value)


def text_of(entry: Mapping[str, Any]) -> Any:
    """The text of a hit; nothing where it has none."""
    return _HIT.read(hit_of(entry) or entry).get("text")


def hit_columns(entries: Sequence[Any], pages: PageReader) -> HitColumns:
    """The hits of a list, each an object, an id, or either of them with its score; CellError names the faulty one."""
    if (columns := columns_of(entries)) is not None:
        return HitColumns(len(entries), columns)
    hits = []
    for place, entry in enumerate(entries, 1):
        try:
            hits.append(_hit(entry, pages))
        except CellError as error:
            raise CellError(f"hit {place}: {error.problem}", error.remedy) from None
    return HitColumns.of(hits)


def columns_of(entries: Sequence[Any]) -> dict[str, list[Any]] | None:
    """The fields of objects that all name the same ones, each once, and fill them; None where one does otherwise."""
    if not entries or set(map(type, entries)) != {dict} or (plan := _plan(tuple(entries[0]))) is None:
        return None
    if set(map(len, entries)) != {len(plan)}:
        return None
    with suppress(CellError, KeyError):  # a gap or another name, or else a fault that is named entry by entry
        return {field: convert(list(map(itemgetter(name), entries))) for field, name, convert in plan}
    return None


@lru_cache(maxsize=MOST_SHAPES)
def _plan(names: tuple[Any, ...]) -> list[tuple[str, Any, Callable[[Sequence[Any]], list[Any]]]] | None:
    """How to read many objects of these names at once: field, name and conversion; None where each is read alone."""
    plan = _HIT.single(names)
    if plan is None or _HIT.unknown(names) or not plan.keys() <= _CONVERT_ALL.keys() or plan.keys().isdisjoint(_NAMING):
        return None
    return [(field, name, _CONVERT_ALL[field]) for field, name in plan.items()]


def _hit(entry: Any, pages: PageReader) -> dict[str, Any]:
    if isinstance(entry, list | tuple) and len(entry) == 2:
        return {**_hit(entry[0], pages), "score": cells.finite_number(entry[1])}
    if isinstance(entry, Mapping):
        return entry_fields(hit_of(entry) or entry, pages)
    return {"id": cells.id_text(entry)}


def _refuse_misspelled(unknown: Sequence[str], fields: Mapping[str, Any]) -> None:
    named = not fields.keys().isdisjoint(_NAMING)
    for name in unknown:
        near = _nearest(name)
        if near is not None and (not named or _HIT.names[near][0] not in fields) and len(name) > 2:
            raise CellError(f'the field "{name}" is not known', f"Did you mean {near}?")
    if not named:
        others = f" (fields: {', '.join(unknown[:8])})" if unknown else ""
        raise CellError(
            f"the entry names no unit{others}", 'Give one of "id", "doc", "page", "url", "chunk", "quote", "span".'
        )


@lru_cache(maxsize=1024)
def _nearest(name: str) -> str | None:
    """The known name that an unknown one resembles."""
    return next(iter(difflib.get_close_matches(name, _HIT.names, n=1, cutoff=0.75)), None)


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
    return Gold(**{name: fields[name] for name in GOLD_ENTRY if name in fields})


@dataclass(frozen=True)
class HitColumns:
    """The hits of one question, best first: the values of each field that any of them has, None where one lacks it."""

    size: int = 0
    fields: Mapping[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, hits: Sequence[Mapping[str, Any]]) -> HitColumns:
        """From one object a hit."""
        names = dict.fromkeys(name for hit in hits for name in hit)
        return cls(len(hits), {name: [hit.get(name) for hit in hits] for name in names})

    def rows(self) -> list[dict[str, Any]]:
        """One object a hit."""
        return [
            {name: values[place] for name, values in self.fields.items() if values[place] is not None}
            for place in range(self.size)
        ]

    def ids(self) -> list[str]:
        """What each hit is called."""
        ids = self.fields.get("id")
        return ids if ids is not None and all(ids) else [hit_id(hit) for hit in self.rows()]
