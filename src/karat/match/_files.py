"""Where gold and hits stand: which file names, addresses and pages on the two sides mean the same."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from karat.core.judged import Ints
from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import MatchInputs, column, column_or_none

_RESERVED = "%/:?#[]@!$&'()*+,;=~"
_PLAIN = frozenset(string.ascii_letters + string.digits + "-._~")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(/|$)", re.IGNORECASE)


@lru_cache(maxsize=65536)
def address_of(url: str) -> str | None:
    """A url in the one form that is compared, or None for what is no web address.

    >>> address_of("HTTP://En.Wikipedia.org/wiki/Z%C3%BCrich/#History") == address_of("https://en.wikipedia.org/wiki/Zürich")
    True
    """
    text = url.strip()
    if not is_url(text) and not _HOST.match(text):
        return None
    try:
        parts = urlsplit(text if "//" in text else f"//{text}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    named_port = f":{port}" if port not in (None, 80, 443) else ""
    path = _encoded(parts.path).rstrip("/")
    return f"{host}{named_port}{path}{'?' + _encoded(parts.query) if parts.query else ''}"


def _encoded(text: str) -> str:
    """One percent-encoding for equal texts: everything but ASCII encoded, and no letter, digit or -._~ encoded."""
    encoded = quote(text, safe=_RESERVED)
    return _ESCAPE.sub(lambda escape: c if (c := chr(int(escape[1], 16))) in _PLAIN else escape[0].upper(), encoded)


def is_url(text: str) -> bool:
    """Whether a text is a web address: it has a scheme of the web, or begins with www."""
    return text.strip().lower().startswith(("http://", "https://", "www.", "//"))


def _parts(path: str) -> tuple[str, ...]:
    has_folders = "/" in path or "\\" in path
    parts = [part.strip() for part in path.replace("\\", "/").split("/")] if has_folders else [path.strip()]
    return tuple([part for part in parts if part not in ("", ".")])


def _named(values: Iterable[Any]) -> set[str]:
    return {text for v in values if v is not None and (text := str(v).strip())}


_Paths = list[tuple[str, ...]]


def _depth(sides: Sequence[_Paths]) -> int:
    """How many trailing parts of paths that end in one name are compared."""
    everything = [path for side in sides for path in side]
    longest = max(map(len, everything), default=1)
    for depth in range(1, longest):
        apart = all(len({p[-depth:] for p in side}) == len(set(side)) for side in sides)
        above = {(p[-depth:], p[-depth - 1]) for p in everything if len(p) > depth}
        if apart and len(above) == len({name for name, _ in above}):
            return depth
    return longest


def _depths(sides: Sequence[_Paths]) -> dict[tuple[str, ...], int]:
    """How many trailing parts are compared of paths that end in a name, for each name that stands in a folder."""
    foldered = {parts[-1:] for side in sides for parts in side if len(parts) > 1}
    named: list[dict[tuple[str, ...], _Paths]] = []
    for side in sides:
        by_name: dict[tuple[str, ...], _Paths] = {name: [] for name in foldered}
        for parts in side:
            if parts[-1:] in foldered:
                by_name[parts[-1:]].append(parts)
        named.append(by_name)
    return {name: _depth([by_name[name] for by_name in named]) for name in foldered}


class FileNames:
    """Names of the files that gold and hits come from, brought to one form.

    Folders differ from machine to machine, so as few of them are compared as tell the files of the gold and of each run
    apart; but `2020/report.pdf` is not `2021/report.pdf`. An entry without a file is of the only file of the other
    side; when there are several, it is ambiguous.
    """

    def __init__(self, golds: Sequence[Gold], runs: Sequence[Run]) -> None:
        self._all = golds
        self.golds = _named(g.doc for g in golds)
        sides = [self.golds, *(_named(set(column(run, "doc") or ())) for run in runs)]
        self.hits: set[str] = set().union(*sides[1:])
        self._parts = {name: _parts(name) for name in self.golds | self.hits}
        self.depth = _depths([[self._parts[name] for name in side] for side in sides])
        self.compared = bool(self.golds and self.hits)
        self._compared: dict[str, str] = {}

    def of(self, path: Any) -> str:
        """The part of a path that is compared."""
        name = str(path)
        if name not in self._compared:
            parts = self._parts.get(name) or _parts(name)
            self._compared[name] = "/".join(parts[-self.depth.get(parts[-1:], 1) :])
        return self._compared[name]

    def of_gold(self, gold: Gold) -> str | None:
        """The file of a gold entry, or None when files are not compared."""
        return self._file(gold.doc, self._hit_files)

    def of_hit(self, doc: Any) -> str | None:
        """The file of a hit, or None when files are not compared."""
        return self._file(doc, self._gold_files)

    @cached_property
    def _hit_files(self) -> set[str]:
        return {self.of(hit) for hit in self.hits}

    @cached_property
    def _gold_files(self) -> set[str]:
        return {self.of(gold) for gold in self.golds}

    def of_run(self, run: Run) -> list[str | None]:
        """The file of every hit of a run."""
        return [self.of_hit(doc) for doc in column_or_none(run, "doc")]

    def _file(self, doc: Any, others: set[str]) -> str | None:
        if not self.compared:
            return None
        if doc is not None and str(doc).strip():
            return self.of(doc)
        return next(iter(others)) if len(others) == 1 else "\x00"

    def is_ambiguous(self, gold: Gold) -> bool:
        """Whether an entry may mean several files: it names none, or no hit does."""
        if gold.doc is not None and gold.doc.strip():
            return not self.hits and len(self._gold_files) > 1
        return len(self._hit_files) > 1

    def ambiguity(self, what: str) -> str | None:
        """A sentence on the entries that may mean several files, and what to add; None where there is none."""
        count = sum(map(self.is_ambiguous, self._all))
        if not count:
            return None
        files = sorted(self.hits or self.golds)
        shown = f"{', '.join(files[:3])}{', ...' if len(files) > 3 else ''}"
        of = f"{count:,} of {len(self._all):,} gold {'entry' if len(self._all) == 1 else 'entries'}"
        if not self.hits:
            return (
                f"{of} cannot be matched by {what}: the gold names {len(files):,} files ({shown}) and the hits name "
                'none. Name the file of every hit in "doc".'
            )
        return (
            f"{of} {'names' if count == 1 else 'name'} a {what} and no file, and the hits come from {len(files):,} "
            f'files ({shown}). Name the file of each in a column "file" (or "gold_doc").'
        )


class Places:
    """Which hits may stand where an entry says: in its document, at its address and on its page.

    A hit without a page may stand on any; one without a document or an address only where no hit of its run has one.
    """

    def __init__(self, inputs: MatchInputs) -> None:
        self._options = inputs.options
        self._files = FileNames([g for g in inputs.golds if g.doc is not None and g.doc.strip()], inputs.runs)
        self._columns = lru_cache(maxsize=1)(self._read)

    def within(self, gold: Gold, run: Run, hits: Ints) -> Ints:
        """Those of the hits that may stand there."""
        wanted = self._names(gold.doc, gold.url)
        pages = frozenset(self._options.gold_pages(gold.page))
        if wanted == (None, None) and not pages:
            return hits
        names, pages_of_hits, known = self._columns(run)
        compared = [i for i in range(2) if wanted[i] is not None and known[i]]
        within = []
        for hit in hits.tolist():
            there = not compared or any(names[hit][i] == wanted[i] for i in compared)
            if there and not (pages and pages_of_hits[hit] and pages.isdisjoint(pages_of_hits[hit])):
                within.append(hit)
        return np.array(within, np.int64)

    def _names(self, doc: Any, url: Any) -> tuple[str | None, str | None]:
        """A document and an address in the forms that are compared; a document may be an address."""
        name = str(doc).strip() if doc is not None else ""
        address = address_of(str(url)) if url is not None else address_of(name) if name else None
        return (self._files.of(name) if name else None), address

    def _read(self, run: Run) -> tuple[list[tuple[str | None, str | None]], list[frozenset[str]], list[bool]]:
        """Document and address of each hit, its pages, and which of the two any hit names."""
        pages = [frozenset(self._options.hit_pages(page)) for page in column_or_none(run, "page")]
        docs, urls = column_or_none(run, "doc"), column_or_none(run, "url")
        names = [self._names(doc, url) for doc, url in zip(docs, urls, strict=True)]
        return names, pages, [any(name[i] is not None for name in names) for i in range(2)]
