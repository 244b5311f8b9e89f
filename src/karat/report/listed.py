"""Listed: runs in a table, the latest last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import plain_table, texts
from karat.report._numbers import number
from karat.report._screen import as_text, put

if TYPE_CHECKING:
    from rich.console import RenderableType


def show(runs: Sequence[Mapping[str, Any]], place: str, stream: TextIO, *, most: int = 20) -> None:
    """Write the latest runs to a stream; `most` 0 shows all."""
    put(lambda width: _blocks(runs, place, most), stream)


def render(runs: Sequence[Mapping[str, Any]], place: str, *, most: int = 20) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(runs, place, most))


def _blocks(runs: Sequence[Mapping[str, Any]], place: str, most: int) -> Iterator[RenderableType]:
    if not runs:
        yield from texts([f"There are no runs in {clean(place)}. Make one with `karat run`."])
        return
    shown = runs[-most:] if most else runs
    if len(shown) < len(runs):
        yield from texts([f"{len(runs) - len(shown):,} earlier runs are not shown: -n 0 shows all."])
    table = plain_table("run", "status", "systems", "questions", "best", "mean", right=(2, 3, 5))
    for run in shown:
        found = summary if isinstance(summary := run.get("summary"), Mapping) else {}
        best = f"{found.get('best', '')} by {found.get('main', '')}" if found.get("best") else ""
        mean = found.get("mean")
        systems, questions = (clean(str(found.get(name, "")), 12) for name in ("systems", "questions"))
        row = [
            clean(str(run["run"]), 60), clean(str(run.get("status", "?")), 12), systems, questions, clean(best, 50),
            number(mean) if isinstance(mean, float) else "",
        ]  # fmt: skip
        table.add_row(*texts(row))
    yield table
