"""Tracker: what sends a run to where a team keeps its results; and what is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from karat.core.registry import Registry, instance_of
from karat.results.serial import plain

if TYPE_CHECKING:
    from karat.results.evaluation import Mean, Usage


@dataclass(frozen=True, kw_only=True)
class TrackedSystem:
    """A system: its settings in plain values, its means over all questions, what it used, and a line on it."""

    name: str
    settings: Mapping[str, Any]
    means: Sequence[Mean]
    usage: Sequence[Usage]
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class TrackedRun:
    """A run, without the text of any question, document or answer unless the user asks for them.

    `facts` are few words each: dialect, testset, testset_digest, version, verdict. `files`, which `made` makes
    when they are needed, hold aggregates alone, and with texts all else. `rows` makes a dict for each system and
    question.
    """

    id: str
    name: str
    systems: Sequence[TrackedSystem]
    facts: Mapping[str, str]
    made: Callable[[], Mapping[str, bytes]]
    rows: Callable[[], Iterable[Mapping[str, Any]]]

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """What goes with it, by name."""
        return self.made()

    @cached_property
    def digest(self) -> str:
        """The same for the same content, and for no other."""
        files = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}
        content = plain([self.id, self.name, self.systems, self.facts, files])
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Tracker:
    """What sends a run, and says in a sentence what was done.

    `send` gets the run and a place: of a tracker with `is_server` the address that the user names, which no data ever
    do; of another the file that is written; None where the user names none.
    """

    name: str
    about: str
    send: Callable[[TrackedRun, str | None], str]
    is_server: bool = True


TRACKERS = Registry("tracker", ("karat.report.trackers",), "karat.trackers", instance_of(Tracker, "TRACKER"))
