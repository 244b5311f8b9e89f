"""Provenance: what was read, how gold was matched, every setting, and the run's manifest as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.core.text.words import NONE, plural
from karat.report.build._parts import input_items
from karat.report.build.evaluation import about
from karat.report.document import Block, Cell, Column, Detail, Heading, Link, Listing, ListItem, Table, facts
from karat.report.lookups import StudyView

FULL, PAGE = Detail.FULL, Detail.PAGE
FEW = 40  # entries of the manifest that need no folding


def blocks(view: StudyView, place: str) -> Iterator[Block]:
    """Where every figure comes from; `place` is the run's folder."""
    evaluation, study = view.evaluation, view.study
    yield Heading("Provenance", anchor="provenance", menu="Provenance")
    testset = evaluation.testset
    known = [("test set", testset.name), ("its digest", f"`{testset.digest}`")]
    known += [("its version", testset.version)] if testset.version is not None else []
    yield facts(known, detail=FULL)
    size = f"{plural(len(view.systems), 'system')} over {plural(len(testset), 'question')}"
    items = [*input_items(evaluation.taken), ListItem("compared", size), *about(view)]
    page = Path(place) / "report.html"
    if place:
        items.append(ListItem("report", str(page)) if page.is_file() else ListItem("files", place))
    yield Listing(items)
    settings = list(dict.fromkeys(name for c in study.configurations for name in c.settings))
    columns = [Column("system"), *map(Column, settings), Column("description"), Column("use case")]
    rows: list[list[Cell]] = [
        [c.name, *(_setting(c.settings.get(n)) for n in settings), c.description, c.use_case]
        for c in study.configurations
    ]
    yield Table("Settings of each system", columns, rows, detail=PAGE)
    entries = [ListItem(f"`{path}`", _linked(value)) for path, value in _flat(study.manifest)]
    yield Heading("manifest.json, entry by entry", depth=3, detail=PAGE)
    yield Listing(entries, folded=f"{len(entries):,} entries" if len(entries) > FEW else "", detail=PAGE)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every entry of the manifest, nested ones by their path."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(x, Mapping) for x in value):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{number}]")
    elif path:
        yield path, value


def _linked(value: Any) -> str | Link:
    text = _setting(value)
    return Link(text, text) if text.lower().startswith(("http://", "https://")) else text


def _setting(value: Any) -> str:
    if value is None or value == "":
        return NONE
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value)) or NONE
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_setting(v)}" for k, v in value.items()) or NONE
    return f"{value:g}" if isinstance(value, float) else str(value)
