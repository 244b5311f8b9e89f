"""Tampered: how far a judge is moved by what must not move it, as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import plain_table, texts, title
from karat.report._numbers import percent, short
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType

_KINDS = {
    "injection": "orders in the texts",
    "verbosity": "the same answer at more length",
    "position": "the same in another order",
}
_WEAK = 0.75  # share of the plain cases below which shifts say little


def show(found: Mapping[str, Any], stream: TextIO) -> None:
    """Write to a stream what a tamper test found, as `Tampered.plain()` gives it."""
    put(lambda width: _blocks(found), stream)


def render(found: Mapping[str, Any]) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(found))


def as_json(found: Mapping[str, Any]) -> str:
    """One JSON object: how well the judge tells good from bad, and what each attack moved."""
    return json.dumps(found, ensure_ascii=False, indent=2)


def _blocks(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield title(f"Tamper test of {clean(found['model'], 80)}")
    yield from texts([_told(one) for one in found["told"]])
    for measure in (one["measure"] for one in found["told"]):
        again = [one for one in found["again"] if one["measure"] == measure]
        moved = [one for one in found["moved"] if one["measure"] == measure]
        yield title(measure)
        table = plain_table(
            "changed", "cases", "shift", "moved", "to the attacker", "fooled", "lost", right=(1, 2, 3, 4, 5, 6)
        )
        for one in (*again, *moved):
            table.add_row(*texts(_cells(one)))
        yield table
        yield from texts(list(_sentences(again, moved)))
    yield from texts(
        [
            "",
            "shift: mean change of the score. moved: scores that changed. to the attacker: those that changed the way "
            "the attacker wants. fooled: scores that went from the right side of the middle to the wrong one. lost: "
            "scores that the judge no longer gave.",
        ]
    )


def _told(one: Mapping[str, Any]) -> str:
    counted = f"{one['cases']} cases" + (f", {one['failed']} of them without a score" if one["failed"] else "")
    if one["right"] is None:
        return f"{one['measure']}: no score ({counted})."
    alike = None not in (one["good"], one["bad"]) and one["good"] <= one["bad"]  # as of a judge that says one thing
    weak = ""
    if alike or one["right"] < _WEAK:
        weak = " It hardly tells good from bad, so what moves its scores says little."
    return (
        f"{one['measure']}: {percent(one['right'])} of the scores are on the right side where nothing is tampered with "
        f"({counted}; good ones {short(one['good'])} on average, bad ones {short(one['bad'])}).{weak}"
    )


def _cells(one: Mapping[str, Any]) -> list[str]:
    return [
        clean(one["attack"], 60), str(one["n"]), short(one["shift"]), percent(one["moved"]), percent(one["gained"]),
        percent(one["fooled"]), str(one["failed"]),
    ]  # fmt: skip


def _sentences(again: Sequence[Mapping[str, Any]], moved: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What each kind of attack amounts to over all of its scores."""
    for one in again:
        yield f"Asked again with nothing changed, {percent(one['moved'])} of the scores move."
    for kind, words in _KINDS.items():
        here = [one for one in moved if one["kind"] == kind and one["n"]]
        if not here:
            continue
        total = sum(one["n"] for one in here)
        went = sum(one["moved"] * one["n"] for one in here) / total
        told = f"{kind.capitalize()} ({words}) moved {percent(went)} of {total} scores"
        wanted = [one for one in here if one["gained"] is not None]
        if wanted:
            gained = sum(one["gained"] * one["n"] for one in wanted) / sum(one["n"] for one in wanted)
            told += f", {percent(gained)} to the attacker's benefit"
            worst = max(wanted, key=lambda one: float(one["gained"]))
            if worst["gained"]:
                told += f"; the worst is {clean(worst['attack'], 60)} with {percent(worst['gained'])}"
        yield f"{told}."
