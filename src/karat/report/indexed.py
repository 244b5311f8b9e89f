"""Indexed: what an index was made of, what it holds, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import listing, texts, title
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

_FEW = 12  # problems named unless all are asked for


def show(
    about: Mapping[str, Any],
    place: str,
    default: str,
    stream: TextIO,
    *,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Write to a stream what `index.json` says of an index, and what it is searched by unless told otherwise."""
    put(lambda width: _blocks(about, place, default, quiet, verbose), stream)


def render(about: Mapping[str, Any], place: str, default: str, *, quiet: bool = False, verbose: bool = False) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(about, place, default, quiet, verbose))


def as_json(about: Mapping[str, Any], place: str) -> str:
    """One JSON object: the index, its corpus, settings and problems."""
    import json

    kept = {name: about[name] for name in ("karat", "settings", "corpus", "taken", "problems", "generation")}
    return json.dumps({"index": place, **kept}, ensure_ascii=False, indent=2)


def _blocks(about: Mapping[str, Any], place: str, default: str, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    problems = about["problems"]
    lost, noted = [p for p in problems if p["fatal"]], [p for p in problems if not p["fatal"]]
    if not quiet:
        yield listing(*_head(about, place, default))
    if lost:
        yield title(f"Could not be read or built: {_counted(lost)}")
        yield from _named(lost, verbose)
    if noted and not quiet:
        yield title(f"Worth knowing: {_counted(noted)}")
        yield from _named(noted, verbose)


def _head(about: Mapping[str, Any], place: str, default: str) -> Iterator[tuple[str, str]]:
    corpus, settings = about["corpus"], about["settings"]
    formats = Counter[str]()
    for taken in about["taken"]:
        formats[taken["format"]] += taken["docs"]
    read = ", ".join(f"{count:,} {clean(name)}" for name, count in formats.most_common())
    pages = f", {corpus['pages']:,} pages" if corpus["pages"] else ""
    yield "documents", f"{corpus['docs']:,} ({read}){pages}"
    mean = corpus["tokens"] / max(corpus["chunks"], 1)
    yield "chunks", f"{corpus['chunks']:,} by {settings['chunk']}, {mean:.0f} tokens on average"
    for name, values in settings["engines"].items():
        yield (
            clean(name),
            clean(", ".join(f"{key} {_value(value)}" for key, value in values.items() if value not in (None, ""))),
        )
    yield "default", clean(default)
    yield "index", clean(place)


def _value(value: Any) -> str:
    """A setting; of settings within it, only those that are set."""
    if isinstance(value, Mapping):
        named = [str(value[key]) for key in ("name", "target") if value.get(key)]
        more = [f"{k} {value[k]!r}" for k in ("query_prefix", "passage_prefix", "base_url") if value.get(k)]
        return " ".join((":".join(named), *more))
    return str(value)


def _counted(problems: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(problem['count'] for problem in problems):,}"


def _named(problems: Sequence[Mapping[str, Any]], verbose: bool) -> Iterator[RenderableType]:
    shown = problems if verbose else problems[:_FEW]
    yield listing(*((p["kind"], clean(f"{p['place']}: {p['reason']} {p['remedy']}")) for p in shown))
    if len(shown) < len(problems):
        kinds = Counter(p["kind"] for p in problems[len(shown) :])
        yield from texts([f"and {len(problems) - len(shown):,} more ({', '.join(kinds)}): -v names them all."])
