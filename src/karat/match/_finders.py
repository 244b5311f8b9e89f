"""Finders: for one way of naming gold, which rows of an index hold it and why no row does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from karat.core.errors import UsageError
from karat.io.pages import pages_of, shift
from karat.match._files import FileNames
from karat.match._matcher import Context, Keys, Matcher, Options, plain_id
from karat.match._resolution import Place, Reason
from karat.match.doc import document_of
from karat.match.url import address_of

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.core.types import Gold
    from karat.match._table import Table

_NONE = np.zeros(0, np.int64)
_SHOWN = 60


@dataclass(frozen=True)
class Found:
    """Rows that hold one unit of a gold entry; where its quote stands, if it is one, and whether a row has it whole."""

    rows: Ints
    whole: bool = True
    places: tuple[Place, ...] = ()


class Finder(Protocol):
    """Looks gold up in a table. `keys` are the units of an entry; `find` gives each key what was found."""

    row_keys: Sequence[Keys] | None
    """All keys of every row, where rows have keys of this kind."""

    def keys(self, gold: Gold) -> Keys: ...

    def find(self, gold: Gold) -> dict[str, Found]: ...

    def why(self, gold: Gold, key: str | None) -> tuple[Reason, str]: ...


def each(keys: Keys) -> tuple[str, ...]:
    """Keys as a tuple."""
    return (keys,) if isinstance(keys, str) else keys or ()


def names_file(gold: Gold) -> bool:
    """Whether an entry says which document it stands in."""
    return gold.doc is not None and bool(gold.doc.strip())


class Keyed:
    """By a keyed matcher: pages, addresses, documents, ids, or what another package compares."""

    def __init__(self, matcher: Matcher, golds: Sequence[Gold], table: Table, options: Options, lift: bool) -> None:
        assert matcher.prepare is not None
        self.matcher, self.table, self.options, self.lift = matcher, table, options, lift
        self.refused: str | None = None
        self.row_keys: Sequence[Keys] | None = None
        self._of_gold: Callable[[Gold], Keys] = lambda gold: None
        golds = self._golds = [self._lifted(gold) for gold in golds if not self.is_ambiguous(gold)]
        try:
            self._of_gold, of_hits = matcher.prepare(Context(golds, [table.run], options))
            self.row_keys = [_prefixed(matcher.name, keys) for keys in of_hits(table.run)]
        except UsageError as error:
            self.refused = str(error)
        wanted = {key for gold in golds for key in each(self.keys(gold))}
        rows: dict[str, list[int]] = {key: [] for key in wanted}
        for row, keys in enumerate(self.row_keys or ()):
            for key in each(keys):
                if key in wanted:
                    rows[key].append(row)
        self._rows = {key: np.array(held, np.int64) for key, held in rows.items()}

    def _lifted(self, gold: Gold) -> Gold:
        """A plain id as the name of a document, where ids are to be read so."""
        return replace(gold, doc=plain_id(gold)) if self.lift and gold.doc is None else gold

    def is_ambiguous(self, gold: Gold) -> bool:
        """Whether a page is named without its file, and there are several."""
        lacking = gold.page is not None and not names_file(gold)
        return self.matcher.name == "page" and lacking and len(self.table.files) > 1

    def keys(self, gold: Gold) -> Keys:
        if self.refused is not None or self.is_ambiguous(gold):
            return None
        return _prefixed(self.matcher.name, self._of_gold(self._lifted(gold)))

    def find(self, gold: Gold) -> dict[str, Found]:
        return {key: Found(self._rows.get(key, _NONE)) for key in each(self.keys(gold))}

    def why(self, gold: Gold, key: str | None) -> tuple[Reason, str]:
        name = self.matcher.name
        if self.is_ambiguous(gold):
            files = f"the index holds {len(self.table.files):,} files"
            return "ambiguous", f"names page {_shown(gold.page)} without a file, and {files}"
        if self.refused is not None:
            return "ambiguous", self.refused
        if key is None:
            return "names no unit", f"names no {self.matcher.unit}"
        if name == "page":
            return self._why_page(gold, key)
        if name == "url":
            return "unknown address", f"no chunk comes from {_shown(gold.url or gold.doc or gold.label)}"
        if name in ("doc", "uuid"):
            return "unknown file", f"no chunk comes from the document {_shown(gold.doc or gold.label)}"
        return "unknown id", f"no chunk has the id {_shown(gold.label)}"

    def _why_page(self, gold: Gold, key: str) -> tuple[Reason, str]:
        file, _, page = key.partition("\x1d")[2].rpartition("\x1f")
        if file not in self._pages:
            return "unknown file", f"no chunk comes from the file {_shown(gold.doc)}"
        pages = self._pages[file]
        of_file = f" of {_shown(gold.doc)}" if gold.doc else ""
        if not pages:
            return "page without text", f"the chunks of {_shown(gold.doc)} say no pages"
        if page.isdecimal() or page.startswith("-"):
            first, last = shift("1", self.options.page_offset), max(pages)
            if int(page) < int(first):
                return "beyond the end", f"page {page}{of_file} stands before its first page, {first}"
            if int(page) > last and self.table.pages == "physical":
                return "beyond the end", f"page {page}{of_file} stands after its last page, {last}"
        return "page without text", f"no chunk stands on page {_shown(page)}{of_file}"

    @cached_property
    def _pages(self) -> dict[str, set[int]]:
        """Page numbers of each file, by its key: those that chunks stand on and those that its document has."""
        names = FileNames([gold for gold in self._golds if gold.page is not None], [self.table.run], "page numbers")
        found: dict[str, set[int]] = {names.of_hit(name) or "": set() for name in self.table.files}
        held = [(names.of_hit(doc.part_of or doc.id) or "", p.number) for doc in self.table.docs for p in doc.pages]
        held += [(names.of_hit(chunk.doc) or "", number) for chunk in self.table.chunks for number in chunk.pages]
        for file, number in held:
            found.setdefault(file, set()).add(int(shift(str(number), self.options.page_offset)))
        return found


class Quoted:
    """By a quote: it stands, word for word, in a document, and a row covers at least half of it."""

    def __init__(self, matcher: Matcher, golds: Sequence[Gold], table: Table, options: Options) -> None:
        self.table, self.options, self._unit_of = table, options, matcher.unit_of
        self.row_keys: Sequence[Keys] | None = None
        named = [gold for gold in golds if names_file(gold)]
        self._files = FileNames(named, [table.run], "quotes") if named and table.files else None
        self._found: dict[Gold, Found] = {}

    def keys(self, gold: Gold) -> Keys:
        return _prefixed("quote", self._unit_of(gold))

    def find(self, gold: Gold) -> dict[str, Found]:
        return {key: self._look(gold) for key in each(self.keys(gold))}

    def texts_of(self, gold: Gold) -> frozenset[int] | None:
        """The texts that an entry says its quote stands in; None where it says nothing."""
        if gold.doc is not None and names_file(gold):
            file = self._file(gold.doc)
            address = address_of(gold.doc)
            return frozenset(self._by_file.get(file, ())) | frozenset(self._by_url.get(address, ()) if address else ())
        if gold.url is not None:
            return frozenset(self._by_url.get(address_of(gold.url) or "", ()))
        return None

    def _file(self, name: str) -> str:
        return document_of(self._files.of(name) if self._files is not None else name)

    @cached_property
    def _by_file(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for text, name in enumerate(self.table.text_docs):
            found.setdefault(self._file(name), []).append(text)
        return found

    @cached_property
    def _by_url(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for text, url in enumerate(self.table.text_urls):
            if url is not None:
                found.setdefault(url, []).append(text)
        return found

    def _look(self, gold: Gold) -> Found:
        if gold not in self._found:
            texts = self.texts_of(gold)
            passages = [p for p in self.table.passages.find(gold.quote or "") if texts is None or p.text in texts]
            places = tuple(map(self.table.place, passages))
            held = [self.table.rows_holding(p) for p, at in zip(passages, places, strict=True) if self._on(gold, at)]
            rows = np.unique(np.concatenate([r for r, _ in held])) if held else _NONE
            self._found[gold] = Found(rows, not held or any(whole for _, whole in held), places)
        return self._found[gold]

    def nearest(self, gold: Gold) -> str | None:
        """The stretch of text most like a quote, in the document it names if the index has it, else anywhere."""
        passages = self.table.passages
        near = passages.nearest(gold.quote or "", self.texts_of(gold) or None)
        return None if near is None else passages.texts[near.text][near.start : near.end]

    def _on(self, gold: Gold, place: Place) -> bool:
        """Whether a place is on the page that the entry names, as far as pages are known there."""
        pages = [shift(p, self.options.page_offset) for p in self.table.pages_at(place)]
        return gold.page is None or not pages or not set(pages).isdisjoint(pages_of(gold.page, self.options.labels))

    def why(self, gold: Gold, key: str | None) -> tuple[Reason, str]:
        if key is None:
            return "names no unit", "names no quote"
        quote, texts = f'"{_shown(gold.quote)}"', self.texts_of(gold)
        where = _shown(gold.doc or gold.url)
        if texts is not None and not texts:
            return "unknown file", f"no document is called {where}"
        places = self._look(gold).places
        if places and gold.page is not None and not any(self._on(gold, place) for place in places):
            pages = sorted({p for place in places for p in self.table.pages_at(place)}, key=lambda p: (len(p), p))
            return "quote elsewhere", f"{quote} stands on page {', '.join(pages[:4])}, not on page {gold.page}"
        if places:
            return "quote not found", f"{quote} stands in {_shown(places[0].doc)}, in no chunk or split over many"
        if texts is not None:
            others = self.table.passages.find(gold.quote or "")
            if others:
                return "quote elsewhere", f"{quote} stands in {self.table.text_docs[others[0].text]}, not in {where}"
            return "quote not found", f"{quote} does not stand in {where}"
        return "quote not found", f"{quote} stands in no document"


class Decided:
    """By a matcher that decides gold by gold: spans, or what another package decides."""

    def __init__(self, matcher: Matcher, golds: Sequence[Gold], table: Table, options: Options) -> None:
        assert matcher.holds is not None
        self.matcher, self.table = matcher, table
        self.row_keys: Sequence[Keys] | None = None
        self.refused: str | None = None
        try:
            self._decide = matcher.holds(Context(golds, [table.run], options))
        except UsageError as error:
            self.refused = str(error)
        self._found: dict[Gold, Found] = {}

    def keys(self, gold: Gold) -> Keys:
        return None if self.refused is not None else _prefixed(self.matcher.name, self.matcher.unit_of(gold))

    def find(self, gold: Gold) -> dict[str, Found]:
        keys = each(self.keys(gold))
        if not keys:
            return {}
        if gold not in self._found:
            holds = self._decide(gold, self.table.run)
            self._found[gold] = Found(np.array([row for row in self._candidates(gold) if holds(row)], np.int64))
        return dict.fromkeys(keys, self._found[gold])

    def _candidates(self, gold: Gold) -> Sequence[int]:
        if self.matcher.name != "span" or gold.span is None:
            return range(len(self.table.chunks))
        return np.flatnonzero((self.table.starts < gold.span[1]) & (self.table.ends > gold.span[0])).tolist()

    def why(self, gold: Gold, key: str | None) -> tuple[Reason, str]:
        if self.refused is not None:
            return "ambiguous", self.refused
        if key is None:
            return "names no unit", f"names no {self.matcher.unit}"
        if gold.span is not None and self.matcher.name == "span":
            where = f" of {_shown(gold.doc)}" if gold.doc else ""
            return "span outside", f"no chunk overlaps characters {gold.span[0]} to {gold.span[1]}{where}"
        return "unknown id", f"no chunk holds {_shown(gold.label)}"


def _prefixed(kind: str, keys: Keys) -> Keys:
    """Keys that no other kind has."""
    return tuple(f"{kind}\x1d{key}" for key in each(keys)) or None


def _shown(text: str | None) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
