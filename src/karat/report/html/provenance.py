"""Provenance: what was read, how gold was matched, every setting, and the run's manifest as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.report._numbers import percent
from karat.report.html._markup import Column, Row, folded, section, table, terms, text

if TYPE_CHECKING:
    from karat.report.html._shown import Shown
    from karat.results.evaluation import Matching

URLS = ("http://", "https://")


def make(shown: Shown) -> str:
    """Where every figure comes from."""
    evaluation = shown.evaluation
    testset = evaluation.testset
    facts = [("test set", text(testset.name)), ("its digest", f"<code>{testset.digest}</code>")]
    facts += [("its version", text(testset.version))] if testset.version is not None else []
    for taken in evaluation.taken:
        notes = "".join(f"<br>{text(note)}" for note in taken.notes)
        facts.append((text(taken.place), f"taken for {text(taken.format)}: {text(taken.what)}{notes}"))
    facts.append(("dialect", text(evaluation.dialect)))
    if evaluation.matching is not None:
        facts += _matching(evaluation.matching)
    body = terms(facts) + _settings(shown) + _manifest(shown.study.manifest)
    return section("provenance", "Provenance", body)


def _matching(matching: Matching) -> Iterator[tuple[str, str]]:
    yield "matched by", f"{text(matching.matcher)} ({text(matching.unit)}): {text(matching.why)}"
    if matching.share:
        shares = ", ".join(f"{text(s)} {percent(share)}" for s, share in list(matching.share.items())[:8])
        more = f" and {len(matching.share) - 8} more systems" if len(matching.share) > 8 else ""
        yield "relevant gold found among the hits", shares + more
    if matching.suggestion:
        yield "suggestion", text(matching.suggestion)


def _settings(shown: Shown) -> str:
    """What tells the systems apart."""
    found = shown.study.configurations
    if not found:
        return ""
    names = list(dict.fromkeys(name for c in found for name in c.settings))
    rows: list[Row] = [
        [text(c.name), *(_value(c.settings.get(n)) for n in names), text(c.description), text(c.use_case)]
        for c in found
    ]
    columns = [Column("system"), *(Column(text(n)) for n in names), Column("description"), Column("use case")]
    return table("Settings of each system", columns, rows)


def _manifest(manifest: Mapping[str, Any]) -> str:
    """Every entry of the manifest, nested ones by their path."""
    if not manifest:
        return ""
    rows = [(f"<code>{text(path)}</code>", _value(value)) for path, value in _flat(manifest)]
    return folded("manifest.json, entry by entry", terms(rows), opened=len(rows) <= 40)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(x, Mapping) for x in value):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{number}]")
    else:
        yield path, value


def _value(value: Any) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value)) or "–"
    if isinstance(value, Mapping):
        return ", ".join(f"{text(k)} {_value(v)}" for k, v in value.items()) or "–"
    if isinstance(value, float):
        return f"{value:g}"
    return link(value) if isinstance(value, str) else text(value)


def link(value: str) -> str:
    """An address as a link where it is one of the web, all else as text.

    >>> link("javascript:alert(1)")
    'javascript:alert(1)'
    """
    shown = text(value)
    if not value.lower().startswith(URLS) or any(c.isspace() for c in value):
        return shown
    return f'<a href="{shown}" rel="noopener noreferrer">{shown}</a>'
