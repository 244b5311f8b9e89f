"""Resolving gold: from pages, documents, addresses, quotes, spans or ids to the chunks that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.text.normalise import normalise
from karat.io.pages import page_of, shift
from karat.match._credit import Units, units_of
from karat.match._finders import Decided, Finder, Found, Keyed, Quoted, each, names_file
from karat.match._judge import matcher_named
from karat.match._matcher import MATCHERS, Context, Keys, Options, plain_id
from karat.match._resolution import Pages, Place, Resolution, Unresolved
from karat.match._table import Table
from karat.match.doc import document_of
from karat.match.url import is_url

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.judged import Ints
    from karat.core.types import Gold, TestSet

_IDS = "ids"  # stands for the kind by which plain ids are compared, until it is known


def resolve(
    testset: TestSet,
    chunks: Chunks,
    docs: Sequence[Doc] | None = None,
    *,
    by: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
) -> Resolution:
    """Which chunks hold which gold unit, under any chunking.

    With `auto` each gold entry is looked for by the strictest thing it names that the chunks can tell: its span, its
    quote, its page, its address, its chunk where the index has it, its document, its id. `by` names one matcher for
    all. Page numbers are those of the file (`physical`) or those on the paper (`printed`); `page_offset` is added to
    them. Without `docs` a quote must stand in one chunk to be found.
    """
    if pages not in ("physical", "printed"):
        raise UsageError(f"pages={pages!r} is not one of physical, printed.")
    table = Table(chunks, docs, pages)
    if pages == "printed" and len(chunks) and not table.tells("page"):
        raise UsageError("--pages printed: no chunk of this index knows the number printed on its page.")
    golds = list(dict.fromkeys(gold for question in testset.questions for gold in question.gold))
    options = Options(page_offset=page_offset, labels=table.labels)
    if by == "auto":
        kind_of, finders, notes = _automatic(golds, table, options)
    else:
        matcher, options = matcher_named(by, page_offset=page_offset)
        options = replace(options, labels=table.labels)
        finders, notes = {matcher.name: _finder(matcher.name, golds, table, options)}, ()
        kind_of = dict.fromkeys(golds, matcher.name)
    notes += _printed_twice(
        [gold for gold in golds if kind_of[gold] == "page"], finders.get("page"), table, page_offset
    )
    return _resolved(testset, chunks, kind_of, finders, notes)


def _finder(kind: str, golds: Sequence[Gold], table: Table, options: Options, *, lift: bool = False) -> Finder:
    matcher = MATCHERS.get(kind)
    if kind == "quote":
        return Quoted(matcher, golds, table, options)
    if matcher.prepare is not None:
        return Keyed(matcher, golds, table, options, lift)
    return Decided(matcher, golds, table, options)


def _automatic(
    golds: Sequence[Gold], table: Table, options: Options
) -> tuple[dict[Gold, str], dict[str, Finder], tuple[str, ...]]:
    """The kind of each entry, a finder for each kind, and what should be known of the choice."""
    kinds = {gold: _kind(gold, table) for gold in golds}
    finders: dict[str, Finder] = {}
    plain = [gold for gold, kind in kinds.items() if kind == _IDS]
    lifted = False
    if plain:
        kind, lifted = _kind_of_ids(plain, table, options)
        kinds.update(dict.fromkeys(plain, kind))
    for kind in dict.fromkeys(kinds.values()):
        of_kind = [gold for gold in golds if kinds[gold] == kind]
        finders[kind] = _finder(kind, of_kind, table, options, lift=lifted and kind == "doc")
    loosened = [
        _named(gold) for gold, kind in kinds.items() if kind in ("url", "doc") and not (lifted and gold in plain)
    ]
    notes = []
    for named, count in Counter(filter(None, loosened)).items():
        notes.append(
            f"{count:,} gold {'entry names' if count == 1 else 'entries name'} {named} that the chunks cannot tell: "
            f"{'it is' if count == 1 else 'they are'} looked for by address or document, and any chunk of it counts as "
            "found."
        )
    if lifted:
        notes.append("the ids of the gold are no chunk ids: they are taken for the documents that chunks come from.")
    return kinds, finders, tuple(notes)


def _named(gold: Gold) -> str | None:
    """What an entry names within its document."""
    fields = {"a span": gold.span, "a quote": gold.quote, "a page": gold.page, "a chunk": gold.chunk, "an id": gold.id}
    inside = gold.doc is not None or gold.url is not None
    return next((name for name, value in fields.items() if value is not None), None) if inside else None


def _kind(gold: Gold, table: Table) -> str:
    """The strictest thing that an entry names and that the chunks can tell."""
    has_file = names_file(gold) or len(table.files) <= 1
    if gold.span is not None and has_file and table.tells("span"):
        return "span"
    if gold.quote is not None and table.has_texts and normalise(gold.quote, "words"):
        return "quote"
    if gold.page is not None and table.tells("page") and (has_file or gold.url is None):
        return "page"
    if gold.url is not None and (table.tells("url") or gold.doc is None):
        return "url"
    if gold.id is None and gold.chunk is None:
        if gold.doc is not None:
            return "url" if is_url(gold.doc) and gold.doc not in table.files and table.tells("url") else "doc"
        return "page" if gold.page is not None else "span" if gold.span is not None else "exact"
    return _IDS if gold.doc is None or gold.label.strip() in table.chunks.row_of else "doc"


def _kind_of_ids(golds: Sequence[Gold], table: Table, options: Options) -> tuple[str, bool]:
    """By what plain ids are compared: as they are if that finds any, else by the strictest matcher that does.

    Last, an id may be that of the document a chunk comes from: then it is lifted to a document.
    """
    context = Context(golds, [table.run], options)
    otherwise = "exact"
    for matcher in sorted(MATCHERS, key=lambda m: m.strictness):
        if matcher.prepare is None or not (matcher.name == "exact" or matcher.fits(context)):
            continue
        finder = _finder(matcher.name, golds, table, options)
        if any(len(found.rows) for gold in golds for found in finder.find(gold).values()):
            return matcher.name, False
        if isinstance(finder, Keyed) and finder.refused is not None:
            otherwise = matcher.name  # its reason says more than that no chunk has such an id
    named = [plain_id(gold) or "" for gold in golds]
    if any(document_of(name) != name.strip() and name not in table.files for name in named):
        return otherwise, False  # ids of chunks stay so: that their document is there says nothing of them
    finder = _finder("doc", golds, table, options, lift=True)
    if any(len(found.rows) for gold in golds for found in finder.find(gold).values()):
        return "doc", True
    return otherwise, False


def _printed_twice(golds: Sequence[Gold], finder: Finder | None, table: Table, offset: int) -> tuple[str, ...]:
    """What to say where gold names a printed number that several pages of its file bear."""
    if finder is None or table.pages == "physical":
        return ()
    bearing: dict[tuple[str, str], set[int]] = {}
    for doc in table.docs:
        for page in doc.pages:
            if page.label is not None and (label := page_of(page.label)):
                bearing.setdefault((doc.part_of or doc.id, shift(label, offset)), set()).add(page.number)
    several = 0
    for gold in golds:
        held = [(key.partition("\x1d")[2].rpartition("\x1f")[2], f.rows[:1]) for key, f in finder.find(gold).items()]
        several += any(
            len(bearing.get((table.names[row], page), ())) > 1 for page, rows in held for row in rows.tolist()
        )
    if not several:
        return ()
    name = "1 gold entry names" if several == 1 else f"{several:,} gold entries name"
    return (
        f"{name} a printed page number that several pages of the file bear: a chunk on any of them counts as found.",
    )


def _resolved(
    testset: TestSet, chunks: Chunks, kind_of: dict[Gold, str], finders: dict[str, Finder], notes: tuple[str, ...]
) -> Resolution:
    def gold_keys(gold: Gold) -> Keys:
        kind = kind_of.get(gold)
        return None if kind is None else finders[kind].keys(gold)

    units = units_of(testset, gold_keys)
    number = _numbers(units)
    rows: list[list[Ints]] = [[] for _ in units.gold]
    whole = [True] * len(units.gold)
    missing: dict[int, Unresolved] = {}
    places: dict[tuple[int, int], tuple[Place, ...]] = {}
    kinds = [kind_of[gold] for gold in units.gold]
    for q, question in enumerate(testset.questions):
        for entry, gold in enumerate(question.gold):
            finder = finders[kind_of[gold]]
            found = finder.find(gold) or {f"\x00{q}\x00{entry}": Found(np.zeros(0, np.int64))}
            keyed = bool(each(finder.keys(gold)))
            for key, held in found.items():
                unit = number[q, units.codes[key]]
                if held.places:
                    places[q, entry] = held.places
                if len(held.rows):
                    rows[unit].append(held.rows)
                    whole[unit] = held.whole if len(rows[unit]) == 1 else whole[unit] or held.whole
                elif unit not in missing:
                    reason, why = finder.why(gold, key if keyed else None)
                    missing[unit] = Unresolved(question.id, gold, kind_of[gold], reason, why)
    holders = [_union(parts) for parts in rows]
    unresolved = tuple(missing[u] for u in sorted(missing) if not len(holders[u]))
    row_keys = {kind: finder.row_keys for kind, finder in finders.items() if finder.row_keys is not None}
    quoted = finders.get("quote")
    nearest = quoted.nearest if isinstance(quoted, Quoted) else lambda gold: None
    return Resolution(
        testset, chunks, units, holders, kinds, whole, places, unresolved, notes, gold_keys, row_keys, nearest
    )  # fmt: skip


def _numbers(units: Units) -> dict[tuple[int, int], int]:
    """The number of each unit, by question and code."""
    pairs = zip(units.question.tolist(), units.code.tolist(), strict=True)
    return {pair: unit for unit, pair in enumerate(pairs)}


def _union(parts: Sequence[Ints]) -> Ints:
    if not parts:
        return np.zeros(0, np.int64)
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
