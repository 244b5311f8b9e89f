"""Tamper test: how far a judge is moved by what must not move it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.core.text.words import number, percent, plural
from karat.report.document import Cell, Column, Document, Heading, Table, Text, text_columns

_WEAK = 0.75  # share of the plain cases below which shifts say little
_LEGEND = (
    "shift: mean change of the score. moved: scores that changed. fooled: scores that went from the right side of the "
    "middle to the wrong one. lost: scores that the judge no longer gave."
)


def document(tampered: Mapping[str, Any]) -> Document:
    """How right the judge is where nothing is tampered with, then what each attack does to it."""
    title = f"Tamper test of {tampered['model']}"
    columns = [
        *text_columns("measure", "changed"), Column("cases", "count"), Column("shift", "score"),
        Column("moved", "percent"), Column("fooled", "percent"), Column("lost", "count"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [one["measure"], one["attack"], one["n"], number(one["shift"], 3), one["moved"], one["fooled"], one["lost"]]
        for one in tampered["moved"]
    ]
    plain = [Text(_untampered(one)) for one in tampered["plain"]]
    return Document(title, [Heading(title), *plain, Table("", columns, rows, footnotes=[_LEGEND])])


def _untampered(one: Mapping[str, Any]) -> str:
    cases = plural(one["cases"], "case") + (f", {one['failed']} of them without a score" if one["failed"] else "")
    if one["right"] is None:
        return f"{one['measure']}: no score ({cases})."
    alike = None not in (one["good"], one["bad"]) and one["good"] <= one["bad"]  # as of a judge that says one thing
    weak = " It hardly tells good from bad, so what moves its scores says little."
    return (
        f"{one['measure']}: {percent(one['right'])} of the scores are on the right side where nothing is tampered with "
        f"({cases}; good ones {number(one['good'], 3)} on average, bad ones {number(one['bad'], 3)})."
        f"{weak if alike or one['right'] < _WEAK else ''}"
    )
