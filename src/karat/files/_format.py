"""Format: what a file of this room registers, the registry that finds it, and how records are told apart.

A module `files/<name>.py` defines `FORMAT`, a Format; a plug-in names one under the entry-point group
`karat.formats`. See docs/extend/README.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from karat.core.registry import Registry, instance_of
from karat.core.run import Run
from karat.core.types import TestSet
from karat.io.fields import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TABLE, TESTSET, Columns
from karat.io.input import Input

Kind = Literal["testset", "results"]
KINDS: dict[Kind, str] = {"testset": "a test set", "results": "results"}
"""What a file may hold, in words."""

_OPEN = frozenset({"context", "contexts"})  # texts that test sets carry as well


@dataclass(frozen=True)
class Fit:
    """How surely an input is of a format (0 to 1), and by what it was told."""

    confidence: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class Format:
    """One way to write down test sets, results or both.

    `sniff` looks at content, never at the file's name alone, and returns None when the input is something else;
    it may raise nothing but KaratError. `by_head`: the head of a file tells it from all others, which are not asked
    then, so that a file too long to be held is never read whole. Readers return what they read and notes on it, a
    sentence each. Writers name each kind of thing that the format cannot hold.
    """

    name: str
    about: str  # one line
    sniff: Callable[[Input, Kind], Fit | None]
    read_testset: Callable[[Input], tuple[TestSet, Sequence[str]]] | None = None
    read_results: Callable[[Input], tuple[list[Run], Sequence[str]]] | None = None
    write_testset: Callable[[TestSet, Path], list[str]] | None = None
    write_results: Callable[[Sequence[Run], Path], list[str]] | None = None
    by_head: bool = False
    endings: tuple[str, ...] = ()  # of file names, for choosing a writer when no format is named

    def reader(self, kind: Kind) -> Callable[[Input], tuple[Any, Sequence[str]]] | None:
        """What reads a kind of input, if anything does."""
        return self.read_testset if kind == "testset" else self.read_results

    def writer(self, kind: Kind) -> Callable[[Any, Path], list[str]] | None:
        """What writes a kind of thing, if anything does."""
        return self.write_testset if kind == "testset" else self.write_results


@cache
def formats() -> Registry[Format]:
    """Every format, by name."""
    return Registry("format", ("karat.files",), "karat.formats", instance_of(Format, "FORMAT"))


def lists_hits(input: Input) -> bool:
    """Whether a field holds what a system retrieved."""
    columns = Columns(RESULTS, input.fields)
    return any(alias not in _OPEN for field in RETRIEVED_FIELDS for alias in columns.of[field])


def names_gold(input: Input) -> bool:
    """Whether a field holds gold."""
    return Columns(TESTSET, input.fields).has(*GOLD_FIELDS)


def fits(input: Input, kind: Kind) -> bool:
    """Whether the records can be of this kind."""
    return input.has_records and (_is_testset(input) if kind == "testset" else _is_results(input))


def _is_testset(input: Input) -> bool:
    """Whether the records can be questions: not what a system returned, without gold or a reference beside it."""
    columns, hit = Columns(TESTSET, input.fields), Columns(TABLE, input.fields)
    has_gold = columns.has(*GOLD_FIELDS)
    is_hit = hit.has("doc") and hit.has("score", "rank")  # a row a hit, not a question
    returned = lists_hits(input) or "response" in input.fields or is_hit
    if returned and not has_gold and not any(alias != "answer" for alias in columns.of["answers"]):
        return False
    return columns.has("question") or (columns.has("id") and (has_gold or columns.has("answers")))


def _is_results(input: Input) -> bool:
    """Whether the records can be results: not a test set whose `answer` is the reference."""
    columns, hits = Columns(RESULTS, input.fields), lists_hits(input)
    answered = any(alias != "answer" for alias in columns.of["answer"])
    if not columns.has("id", "question") or (names_gold(input) and not hits and not answered):
        return False
    return hits or columns.has("answer", "retrieved_text", "status", "error", "steps")
