"""Results as JSON: plain values to print, and a study as one file from which every report can be made again.

Both are driven by the fields of the dataclasses. In a study's file every object says of what kind it is, one of those
known here: names out of data load no code.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core import docs, scores, types
from karat.core.errors import InputError, UsageError
from karat.core.language import parse
from karat.core.measure import ANYTHING, Measure, MeasureSpec
from karat.core.scores import Scores, Status
from karat.core.types import TestSet
from karat.io.opening import read_whole
from karat.io.writing import write_whole
from karat.results import evaluation
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.results.study import Study

STUDY = "study.json.gz"
_KIND = "_"
_FORMER = {"taken": "InputInfo"}
"""Kinds that files of earlier versions call by another name, in small letters."""
_OF_A_MEASURE = ("stage", "direction", "unit")


@cache
def _kinds() -> dict[str, type[Any]]:
    """What a study's file may hold, by name; who only prints results does not load it."""
    from karat.results import study

    every = (kind for module in (docs, evaluation, study, types) for kind in vars(module).values())
    return {kind.__name__: kind for kind in every if isinstance(kind, type) and is_dataclass(kind)}


def plain(value: Any) -> Any:
    """A result as dicts, lists, texts and numbers, by its fields; None for a number that JSON cannot hold.

    >>> plain(Note("info", "a guess")), plain({1: (0.5, float("nan"))})
    ({'level': 'info', 'text': 'a guess', 'guard': None}, {'1': [0.5, None]})
    """
    return _Plain().of(value)


class _Plain:
    """What stands in JSON for a value."""

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, str | bool | int):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else None
        if isinstance(value, np.generic):
            return self.of(value.item())
        if is_dataclass(value):
            return self.of_fields(value)
        if isinstance(value, Mapping):
            return self.of_mapping(value)
        if isinstance(value, Sequence | np.ndarray):
            return [self.of(item) for item in value]
        raise TypeError(f"{type(value).__name__} has no place in a result")

    def of_fields(self, value: Any) -> dict[str, Any]:
        return {f.name: self.of(getattr(value, f.name)) for f in fields(value) if f.init}

    def of_mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        return {str(name): self.of(entry) for name, entry in value.items()}


class _Stored(_Plain):
    """The same with the kind of each object; chunks and texts of contexts, which stand in many places, only once."""

    def __init__(self) -> None:
        self.chunks: dict[tuple[str, str], tuple[int, docs.Chunk]] = {}
        self.texts: dict[str, int] = {}

    def of(self, value: Any) -> Any:
        if isinstance(value, docs.Chunk):
            number, _ = self.chunks.setdefault((value.id, value.text), (len(self.chunks), value))
            return {_KIND: "chunk", "number": number}
        if isinstance(value, Measure):
            about = {name: getattr(value.spec, name) for name in _OF_A_MEASURE}
            return {_KIND: "measure", "name": value.name, **about, "bounds": plain(value.bounds)}
        if isinstance(value, TestSet):
            about = {"name": value.name, "version": value.version, "changed": value.changed, "norm": value.norm}
            return {_KIND: "testset", **about, "questions": self.of(value.questions)}
        return self._of_scores(value) if isinstance(value, Scores) else super().of(value)

    def of_fields(self, value: Any) -> dict[str, Any]:
        named = {_KIND: type(value).__name__, **super().of_fields(value)}
        if type(value) is _kinds()["StudyAnswer"]:
            numbers = [self.texts.setdefault(text, len(self.texts)) for text in value.contexts]
            named["contexts"] = {_KIND: "texts", "numbers": numbers}
        return named

    def of_mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        return {_KIND: "map", "items": [[self.of(name), self.of(entry)] for name, entry in value.items()]}

    def _of_scores(self, value: Scores) -> dict[str, Any]:
        return {
            _KIND: "scores",
            "systems": list(value.systems),
            "questions": list(value.questions),
            "measures": self.of(value.measures),
            "values": np.where(value.status == Status.ok, value.values, 0.0).ravel().tolist(),
            "status": value.status.ravel().tolist(),
            "reasons": [[*key, reason] for key, reason in sorted(value.reasons.items())],
            "details": [[*key, plain(shown)] for key, shown in sorted(value.details.items())],
            "floors": [[*key, *astuple(floor)] for key, floor in sorted(value.floors.items())],
            "lists_end": dict(value.lists_end),
        }


class _StudyReader:
    """The objects that stored values stand for; lists become tuples."""

    def __init__(self, chunks: Sequence[Any] = (), texts: Sequence[str] = ()) -> None:
        self.chunks, self.texts = chunks, texts

    def of(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(self.of, value))
        if not isinstance(value, dict):
            return value
        kind = value.get(_KIND)
        if kind == "chunk":
            return self.chunks[value["number"]]
        if kind == "texts":
            return tuple(self.texts[number] for number in value["numbers"])
        if kind == "measure":
            return _measure(value)
        if kind == "map":
            return {self.of(name): self.of(entry) for name, entry in value["items"]}
        if kind == "testset":
            about = {name: value.get(name) for name in ("version", "changed", "norm")}
            return TestSet(self.of(value["questions"]), name=value["name"], **about)
        if kind == "scores":
            return _scores(value)
        known = _kinds().get(str(kind)) or _kinds()[_FORMER[str(kind).lower()]]
        types = {
            f.name: f.type for f in fields(known) if f.init
        }  # what an earlier version stored besides is left aside
        held = {name: self.of(entry) for name, entry in value.items() if name in types}
        # JSON has no NaN: null in place of a number that is never None is one
        return known(**{name: np.nan if v is None and types[name] == "float" else v for name, v in held.items()})


def _measure(value: Mapping[str, Any]) -> Measure:
    """A registered measure by its name; any other, whose code is not loaded, by what was stored of it."""
    try:
        return parse(value["name"])
    except UsageError:
        low, high = (far if end is None else end for end, far in zip(value["bounds"], ANYTHING, strict=True))
        about = {name: value[name] for name in _OF_A_MEASURE}
        return Measure(MeasureSpec(value["name"], _unknown, bounds=(low, high), **about))


def _unknown(**given: Any) -> Any:
    """Not a registered measure: what it computes is in the code that the run was scored with."""
    raise AssertionError("a stored measure is not computed again")


def _scores(value: Mapping[str, Any]) -> Scores:
    shape = (len(value["systems"]), len(value["questions"]), len(value["measures"]))
    status = np.array(value["status"], np.uint8).reshape(shape)
    values = np.array(value["values"], np.float64).reshape(shape)
    return Scores(
        tuple(value["systems"]),
        tuple(value["questions"]),
        tuple(map(_measure, value["measures"])),
        values=np.where(status == Status.ok, values, np.nan),
        status=status,
        reasons={(s, q, m): reason for s, q, m, reason in value["reasons"]},
        details={(s, q, m): shown for s, q, m, shown in value.get("details", ())},
        floors={(s, m): scores.Floor(*floor) for s, m, *floor in value.get("floors", ())},
        lists_end=value.get("lists_end", {}),
    )


def save_study(made: Study, folder: Path) -> None:
    """Write a study into a run's folder; the same study gives the same bytes."""
    stored = _Stored()
    whole = stored.of(made)
    chunks = [stored.of_fields(chunk) for _, chunk in stored.chunks.values()]
    document = {"study": whole, "chunks": chunks, "texts": list(stored.texts)}
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    write_whole(folder / STUDY, gzip.compress(text.encode(), 6, mtime=0))


def load_study(folder: Path) -> Study:
    """The study of a run's folder."""
    path = folder / STUDY
    try:
        document = json.loads(read_whole(path))
        chunks = [_StudyReader().of(chunk) for chunk in document["chunks"]]
        found = _StudyReader(chunks, document.get("texts", ())).of(document["study"])
    except FileNotFoundError:
        raise InputError(
            "this run was not finished, so there is nothing to show",
            place=str(folder),
            remedy="Resume it: `karat run`.",
        ) from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, RecursionError, zlib.error) as problem:
        raise InputError(f"the study cannot be read: {problem}", place=str(path), remedy="Run it again.") from None
    if not isinstance(found, _kinds()["Study"]):
        raise InputError("the file holds no study", place=str(path), remedy="Run it again.")
    return _noted(found)


def _noted(found: Study) -> Study:
    """The study with a note on each of its measures that is not registered here."""
    names = [measure.name for measure in found.evaluation.scores.measures if measure.spec.function is _unknown]
    if not names:
        return found
    is_one, listed = len(names) == 1, ", ".join(names)
    what = "is not a registered measure" if is_one else "are not registered measures"
    note = Note("info", f"{listed} {what}: the stored numbers are shown, and no code is loaded for them.")
    notes = tuple(one for one in found.evaluation.notes if one != note)
    return replace(found, evaluation=replace(found.evaluation, notes=(*notes, note)))
