"""Tampered: how far a judge is moved by what must not move it, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import plain_table, texts, title
from karat.report._numbers import percent, short
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

_WEAK = 0.75  # share of the plain cases below which shifts say little


def show(found: Mapping[str, Any], stream: TextIO) -> None:
    """Write to a stream what a tamper test found, as a dict."""
    put(lambda width: _blocks(found), stream)


def render(found: Mapping[str, Any]) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(found))


def _blocks(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield title(f"Tamper test of {clean(found['model'], 80)}")
    yield from texts([_plain(one) for one in found["plain"]])
    table = plain_table("measure", "changed", "cases", "shift", "moved", "fooled", "lost", right=(2, 3, 4, 5, 6))
    for one in found["moved"]:
        shares = percent(one["moved"]), percent(one["fooled"])
        table.add_row(
            *texts([one["measure"], one["attack"], str(one["n"]), short(one["shift"]), *shares, str(one["lost"])])
        )
    yield table
    yield from texts([
        "shift: mean change of the score. moved: scores that changed. fooled: scores that went from the right side of "
        "the middle to the wrong one. lost: scores that the judge no longer gave."
    ])  # fmt: skip


def _plain(one: Mapping[str, Any]) -> str:
    counted = f"{one['cases']} cases" + (f", {one['failed']} of them without a score" if one["failed"] else "")
    if one["right"] is None:
        return f"{one['measure']}: no score ({counted})."
    alike = None not in (one["good"], one["bad"]) and one["good"] <= one["bad"]  # as of a judge that says one thing
    is_weak = alike or one["right"] < _WEAK
    weak = " It hardly tells good from bad, so what moves its scores says little." if is_weak else ""
    return (
        f"{one['measure']}: {percent(one['right'])} of the scores are on the right side where nothing is tampered with "
        f"({counted}; good ones {short(one['good'])} on average, bad ones {short(one['bad'])}).{weak}"
    )
