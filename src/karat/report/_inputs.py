"""Inputs: what each file was read as, and what its reader decided or noticed, a line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from karat.report._escape import clean

if TYPE_CHECKING:
    from karat.results.evaluation import Taken


def input_lines(inputs: Iterable[Taken]) -> Iterator[str]:
    """A line for each input, and one for each of its notes."""
    for taken in inputs:
        yield clean(f"{taken.place}: taken for {taken.format}, {taken.what}")
        yield from (clean(f"  {note}") for note in taken.notes)
