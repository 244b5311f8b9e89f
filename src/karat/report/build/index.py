"""Index: what it was made of, what it holds, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from karat.core.text.words import plural
from karat.report.document import Block, Detail, Document, Heading, Listing, ListItem, facts

_FEW = 12  # problems named unless all are asked for


def document(about: Mapping[str, Any], place: str, default: str, reused: str | None = None) -> Document:
    """What `index.json` says of an index; `default` is what it is searched by unless told otherwise.

    `reused` is what was there before it was built.
    """
    problems = about["problems"]
    fatal, noted = [p for p in problems if p["fatal"]], [p for p in problems if not p["fatal"]]
    return Document(
        place,
        [
            facts([*_facts(about, place, default), *([("reused", reused)] if reused else ())]),
            *_problems("Could not be read or built", fatal, Detail.QUIET),
            *_problems("Worth knowing", noted, Detail.BRIEF),
        ],
    )


def _facts(about: Mapping[str, Any], place: str, default: str) -> Iterator[tuple[str, str]]:
    corpus, settings = about["corpus"], about["settings"]
    formats = Counter[str]()
    for taken in about["taken"]:
        formats[taken["format"]] += taken["docs"]
    read = ", ".join(f"{count:,} {name}" for name, count in formats.most_common())
    pages = f", {plural(corpus['pages'], 'page')}" if corpus["pages"] else ""
    yield "documents", f"{corpus['docs']:,} ({read}){pages}"
    mean = corpus["tokens"] / max(corpus["chunks"], 1)
    yield "chunks", f"{corpus['chunks']:,} by {settings['chunk']}, {mean:.0f} tokens on average"
    for name, values in settings["engines"].items():
        yield name, ", ".join(f"{key} {_value(value)}" for key, value in values.items() if value not in (None, ""))
    yield "default", default
    yield "index", place


def _value(value: Any) -> str:
    """A setting; of settings within it, only those that are set."""
    if isinstance(value, Mapping):
        named = [str(value[key]) for key in ("name", "target") if value.get(key)]
        more = [f"{k} {value[k]!r}" for k in ("query_prefix", "passage_prefix", "base_url") if value.get(k)]
        return " ".join((":".join(named), *more))
    return str(value)


def _problems(title: str, problems: Sequence[Mapping[str, Any]], detail: Detail) -> Iterator[Block]:
    count = sum(problem["count"] for problem in problems)
    items = [ListItem(p["kind"], f"{p['place']}: {p['reason']} {p['remedy']}") for p in problems]
    yield Heading(f"{title}: {count:,}", detail=detail)
    yield Listing(items, most=_FEW, detail=detail)
