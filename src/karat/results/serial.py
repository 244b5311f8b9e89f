"""Results as JSON: plain values to print, and a study as one file from which every report can be made again.

Both are driven by the fields of the dataclasses. In a study's file every object says of what kind it is, one of those
known here: names out of data load no code. What there is of every question and system stands in columns: arrays as
their bytes, many objects of one kind a list for each field, ids once each beside their numbers.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, astuple, fields, is_dataclass, replace
from functools import cache, partial
from itertools import chain
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
from karat.io.packed import packed, unpacked
from karat.io.writing import replaced
from karat.results import evaluation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.results.study import HitTable, Study

STUDY = "study.json.gz"
_KIND = "_"
_FORMER = {"taken": "InputInfo"}
"""Kinds that files of earlier versions call by another name, in small letters."""
_OF_A_MEASURE = ("stage", "direction", "unit")
_LISTS = ("ranked", "ranked_scores", "docs", "pages")
"""What an evaluation has a list of for every question of a system."""
_SCALARS = (str, int, bool, type(None))
_MANY = 50  # objects of one kind from which on a list for each field takes less
_LEVEL = 3  # of gzip: half the time of its default for a tenth more bytes


@cache
def _kinds() -> dict[str, type[Any]]:
    """What a study's file may hold, by name; who only prints results does not load it."""
    from karat.results import marks, pareto, study

    every = (kind for module in (docs, evaluation, marks, pareto, study, types) for kind in vars(module).values())
    return {kind.__name__: kind for kind in every if isinstance(kind, type) and is_dataclass(kind)}


def _stored(kind: type[Any]) -> list[Field[Any]]:
    """The fields of a kind of object that a file holds."""
    return [f for f in fields(kind) if f.init]


def _held(value: Any) -> dict[str, Any]:
    """The fields of an object that a file holds; without steps it is the file that earlier versions wrote."""
    return {f.name: getattr(value, f.name) for f in _stored(type(value)) if f.name != "steps" or value.steps}


def _are_many(value: Any) -> bool:
    """Whether these are so many objects of one kind that columns pay."""
    if not isinstance(value, list | tuple) or len(value) < _MANY:
        return False
    kind = type(value[0])
    return kind in _kinds().values() and kind is not docs.Chunk and all(type(one) is kind for one in value)


def plain(value: Any) -> Any:
    """A result as dicts, lists, texts and numbers, by its fields; None for a number that JSON cannot hold.

    >>> plain(evaluation.Note("info", "a guess")), plain({1: (0.5, float("nan"))})
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
    """The same with the kind of each object; chunks, ids and texts, which stand in many places, only once."""

    def __init__(self) -> None:
        self.chunks: dict[tuple[str, str], tuple[int, docs.Chunk]] = {}
        self.texts: dict[str, int] = {}

    def chunk(self, value: docs.Chunk) -> int:
        return self.chunks.setdefault((value.id, value.text), (len(self.chunks), value))[0]

    def of(self, value: Any) -> Any:
        if isinstance(value, docs.Chunk):
            return {_KIND: "chunk", "number": self.chunk(value)}
        if isinstance(value, Measure):
            about = {name: getattr(value.spec, name) for name in _OF_A_MEASURE}
            return {_KIND: "measure", "name": value.name, **about, "bounds": plain(value.bounds)}
        if isinstance(value, TestSet):
            about = {"name": value.name, "version": value.version, "changed": value.changed, "norm": value.norm}
            return {_KIND: "testset", **about, "questions": self.of(value.questions)}
        if isinstance(value, Scores):
            return self._of_scores(value)
        if type(value) is _kinds()["HitTable"]:
            return self._of_hits(value)
        return self.of_many(value) if _are_many(value) else super().of(value)

    def of_fields(self, value: Any) -> dict[str, Any]:
        return {_KIND: (kind := type(value).__name__), **{n: self.field(kind, n, v) for n, v in _held(value).items()}}

    def field(self, kind: str, name: str, value: Any) -> Any:
        if type(value) in _SCALARS:
            return value
        if kind == "StudyAnswer" and name == "contexts":
            return {_KIND: "texts", "numbers": [self._text(text) for text in value]}
        if kind == "Evaluation" and name in _LISTS:
            return {_KIND: "lists", "systems": {system: self._of_lists(lists) for system, lists in value.items()}}
        return self.of(value)

    def of_many(self, values: Sequence[Any]) -> dict[str, Any]:
        """Objects of one kind, a list for each field."""
        kind = type(values[0])
        names = [f.name for f in _stored(kind)]
        columns = {n: [self.field(kind.__name__, n, getattr(value, n)) for value in values] for n in names}
        return {_KIND: "table", "kind": kind.__name__, "columns": columns}

    def of_mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        entries = list(value.values())
        if _are_many(entries):
            return {_KIND: "map", "names": self.of(list(value)), "entries": self.of_many(entries)}
        return {_KIND: "map", "items": [[self.of(name), self.of(entry)] for name, entry in value.items()]}

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def _of_lists(self, lists: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Lists of ids, of places or of scores: how long each is, and what stands in all of them."""
        flat = list(chain.from_iterable(lists))
        numbered = bool(flat) and isinstance(flat[0], str)
        held = np.array([self._text(text) for text in flat] if numbered else flat, np.int64 if numbered else np.float64)
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        return {"sizes": packed(sizes), "texts" if numbered else "numbers": packed(held)}

    def _of_hits(self, value: HitTable) -> dict[str, Any]:
        rows, of = np.unique(value.rows, return_inverse=True)
        numbers = np.array([self.chunk(value.chunks[row]) for row in rows.tolist()], np.int64)
        return {
            _KIND: "hits",
            "questions": list(value.questions),
            "offsets": packed(value.offsets),
            "rows": packed(numbers[of] if len(of) else rows),
            "scores": packed(value.scores),
            "holds": [[number, list(units)] for number, units in value.holds.items()],
            "legs": [[name, packed(ranks), packed(scores)] for name, (ranks, scores) in value.legs.items()],
        }

    def _of_scores(self, value: Scores) -> dict[str, Any]:
        return {
            _KIND: "scores",
            "systems": list(value.systems),
            "questions": list(value.questions),
            "measures": self.of(value.measures),
            "values": packed(np.where(value.status == Status.ok, value.values, 0.0).ravel()),
            "status": packed(value.status.ravel()),
            "reasons": [[*key, reason] for key, reason in sorted(value.reasons.items())],
            "details": [[*key, plain(shown)] for key, shown in sorted(value.details.items())],
            "floors": [[*key, *astuple(floor)] for key, floor in sorted(value.floors.items())],
            "lists_end": dict(value.lists_end),
            **({"conversations": list(value.conversations)} if value.conversations else {}),
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
        if kind == "table":
            return self._table(value)
        if kind == "lists":
            return _StoredLists(value["systems"], self.texts)
        if kind == "hits":
            return self._hits(value)
        if kind == "map" and "names" in value:
            return dict(zip(self.of(value["names"]), self.of(value["entries"]), strict=True))
        if kind == "map":
            return {self.of(name): self.of(entry) for name, entry in value["items"]}
        if kind == "testset":
            about = {name: value.get(name) for name in ("version", "changed", "norm")}
            return TestSet(self.of(value["questions"]), name=value["name"], **about)
        if kind == "scores":
            return _scores(value)
        known = _kinds().get(str(kind)) or _kinds()[_FORMER[str(kind).lower()]]
        types = {f.name: f.type for f in _stored(known)}  # what an earlier version stored besides is left aside
        held = {name: self.of(entry) for name, entry in value.items() if name in types}
        # JSON has no NaN: null in place of a number that is never None is one
        return known(**{name: np.nan if v is None and types[name] == "float" else v for name, v in held.items()})

    def _table(self, value: Mapping[str, Any]) -> tuple[Any, ...]:
        """Objects of one kind, of a list for each field."""
        names, columns = list(value["columns"]), value["columns"].values()
        rows = ({_KIND: value["kind"], **dict(zip(names, row, strict=True))} for row in zip(*columns, strict=True))
        return tuple(map(self.of, rows))

    def _hits(self, value: Mapping[str, Any]) -> HitTable:
        from karat.results.study import HitTable

        hits = HitTable(
            questions=tuple(value["questions"]),
            offsets=unpacked(value["offsets"]),
            rows=unpacked(value["rows"]),
            scores=unpacked(value["scores"]),
            chunks=self.chunks,
            holds={number: tuple(units) for number, units in value["holds"]},
            legs={name: (unpacked(ranks), unpacked(scores)) for name, ranks, scores in value["legs"]},
        )
        _check_places(hits.rows, len(self.chunks))
        _check_sizes(np.diff(hits.offsets), len(hits.questions), len(hits.rows))
        if any(len(column) != len(hits.rows) for column in (hits.scores, *chain.from_iterable(hits.legs.values()))):
            raise ValueError("columns of hits differ in length")
        return hits


class _StoredLists(Mapping[str, Sequence[Sequence[Any]]]):
    """System -> a list for each question, made when it is asked for."""

    def __init__(self, systems: Mapping[str, Mapping[str, Any]], texts: Sequence[str]) -> None:
        self._systems, self._texts = systems, texts
        for column in systems.values():
            held, sizes = unpacked(column["texts" if "texts" in column else "numbers"]), unpacked(column["sizes"])
            _check_sizes(sizes, len(sizes), len(held))
            if "texts" in column:
                _check_places(held, len(texts))

    def __getitem__(self, system: str) -> list[tuple[Any, ...]]:
        column = self._systems[system]
        ends = np.cumsum(unpacked(column["sizes"])).tolist()
        if "texts" in column:
            flat = [self._texts[number] for number in unpacked(column["texts"]).tolist()]
        else:
            flat = unpacked(column["numbers"]).tolist()
        return [tuple(flat[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)


def _check_places(numbers: NDArray[Any], most: int) -> None:
    if len(numbers) and not (numbers.dtype.kind == "i" and 0 <= numbers.min() <= numbers.max() < most):
        raise ValueError("a number names nothing")


def _check_sizes(sizes: NDArray[Any], lists: int, total: int) -> None:
    if sizes.dtype.kind != "i" or len(sizes) != lists or (sizes < 0).any() or sizes.sum() != total:
        raise ValueError("lists are not as long as their content")


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
    status, values = (  # earlier versions stored lists of numbers
        np.array(unpacked(numbers) if len(numbers) == 2 and isinstance(numbers[0], str) else numbers).reshape(shape)
        for numbers in (value["status"], value["values"])
    )
    return Scores(
        tuple(value["systems"]),
        tuple(value["questions"]),
        tuple(map(_measure, value["measures"])),
        values=np.where(status == Status.ok, values.astype(np.float64), np.nan),
        status=status.astype(np.uint8),
        reasons={(s, q, m): reason for s, q, m, reason in value["reasons"]},
        details={(s, q, m): shown for s, q, m, shown in value.get("details", ())},
        floors={(s, m): scores.Floor(*floor) for s, m, *floor in value.get("floors", ())},
        lists_end=value.get("lists_end", {}),
        conversations=tuple(value.get("conversations", ())) or None,
    )


def save_study(made: Study, folder: Path) -> None:
    """Write a study into a run's folder, field by field; the same study gives the same bytes."""
    stored = _Stored()
    document = {
        "study": _fields_of(stored, made) | {"evaluation": _fields_of(stored, made.evaluation)},
        "chunks": lambda: stored.of_many([c for _, c in stored.chunks.values()]) if stored.chunks else [],
        "texts": lambda: list(stored.texts),
    }
    with (
        replaced(folder / STUDY) as part,
        part.open("wb") as out,
        gzip.GzipFile("", "wb", _LEVEL, out, mtime=0) as file,  # without a name, which differs from time to time
    ):
        file.writelines(text.encode() for text in _json_parts(document))


def _fields_of(stored: _Stored, value: Any) -> dict[str, Any]:
    """An object with what stores each of its fields."""
    kind = type(value).__name__
    return {_KIND: kind, **{name: partial(stored.field, kind, name, held) for name, held in _held(value).items()}}


def _json_parts(value: Any) -> Iterator[str]:
    """JSON, the entries of a dict one after another; what is to be called is called when it is written."""
    value = value() if callable(value) else value
    if not isinstance(value, dict):
        yield json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return
    for number, (name, entry) in enumerate(value.items()):
        yield f"{',' if number else '{'}{json.dumps(name)}:"
        yield from _json_parts(entry)
    yield "}" if value else "{}"


def load_study(folder: Path) -> Study:
    """The study of a run's folder."""
    path = folder / STUDY
    try:
        document = json.loads(read_whole(path))
        chunks = _StudyReader().of(document["chunks"])
        study = _StudyReader(chunks, document.get("texts", ())).of(document["study"])
    except FileNotFoundError:
        raise InputError(
            "this run was not finished, so there is nothing to show",
            place=str(folder),
            remedy="Resume it: `karat run`.",
        ) from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, RecursionError, zlib.error) as problem:
        raise InputError(f"the study cannot be read: {problem}", place=str(path), remedy="Run it again.") from None
    if not isinstance(study, _kinds()["Study"]):
        raise InputError("the file holds no study", place=str(path), remedy="Run it again.")
    return _noted(study)


def _noted(study: Study) -> Study:
    """The study with a note on each of its measures that is not registered here."""
    names = [measure.name for measure in study.evaluation.scores.measures if measure.spec.function is _unknown]
    if not names:
        return study
    is_one, listed = len(names) == 1, ", ".join(names)
    what = "is not a registered measure" if is_one else "are not registered measures"
    note = evaluation.Note("info", f"{listed} {what}: the stored numbers are shown, and no code is loaded for them.")
    notes = tuple(one for one in study.evaluation.notes if one != note)
    return replace(study, evaluation=replace(study.evaluation, notes=(*notes, note)))
