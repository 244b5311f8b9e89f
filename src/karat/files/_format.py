"""Format: what a file of this room registers, and the registry that finds it.

A module `files/<name>.py` defines `FORMAT`, a Format; a plug-in names one under the entry-point group
`karat.formats`. See docs/adding-a-format.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from karat.core.registry import Registry

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.files._look import Look
    from karat.results.evaluation import Taken

Kind = Literal["testset", "results"]


@dataclass(frozen=True)
class Fit:
    """How surely an input is of a format (0 to 1), and by what it was told."""

    confidence: float
    reason: str


@dataclass(frozen=True)
class Format:
    """One way to write down test sets, results or both.

    `sniff` looks at content, never at the file's name alone, and returns None when the input is something else;
    it may raise nothing but KaratError. Writers name each kind of thing that the format cannot hold.
    """

    name: str
    about: str  # one line
    sniff: Callable[[Look, Kind], Fit | None]
    read_testset: Callable[[Look], tuple[TestSet, Taken]] | None = None
    read_results: Callable[[Look], tuple[list[Run], Taken]] | None = None
    write_testset: Callable[[TestSet, Path], list[str]] | None = None
    write_results: Callable[[Sequence[Run], Path], list[str]] | None = None
    endings: tuple[str, ...] = ()  # of file names, for choosing a writer when no format is named

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What it reads."""
        kinds: tuple[tuple[Kind, Any], ...] = (("testset", self.read_testset), ("results", self.read_results))
        return tuple(kind for kind, reader in kinds if reader is not None)


def _find(found: Any) -> Format | None:
    entry = found if isinstance(found, Format) else getattr(found, "FORMAT", None)
    return entry if isinstance(entry, Format) else None


@cache
def formats() -> Registry[Format]:
    """Every format, by name."""
    return Registry("format", ("karat.files",), "karat.formats", _find)
