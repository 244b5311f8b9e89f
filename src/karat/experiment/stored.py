"""A study as one JSON file, from which every report can be made again without searching or scoring anything."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from karat.core import docs, scores, types
from karat.core.errors import InputError, UsageError
from karat.core.language import parse
from karat.core.measure import Measure, MeasureSpec
from karat.core.scores import Scores
from karat.core.types import TestSet
from karat.io.opening import read_whole
from karat.io.writing import write_whole
from karat.results import evaluation, study
from karat.results.evaluation import Note
from karat.results.study import Study

STUDY = "study.json.gz"
_KIND = "_"
_KNOWN: dict[str, type[Any]] = {
    kind.__name__: kind
    for module in (docs, evaluation, study, types)
    for kind in vars(module).values()
    if isinstance(kind, type) and is_dataclass(kind)
}


@dataclass
class _Shelf:
    """What stands in a study many times, kept once and referred to by number: chunks, and the texts of contexts."""

    chunks: dict[tuple[str, str], tuple[int, docs.Chunk]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)


def save_study(made: Study, folder: Path) -> None:
    """Write a study into a run's folder; the same study gives the same bytes."""
    shelf = _Shelf()
    whole = _plain(made, shelf)
    chunks = [_fields(chunk, _Shelf()) for _, chunk in shelf.chunks.values()]
    plain = {"study": whole, "chunks": chunks, "texts": list(shelf.texts)}
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    write_whole(folder / STUDY, gzip.compress(text.encode(), 6, mtime=0))


def load_study(folder: Path) -> Study:
    """The study of a run's folder."""
    path = folder / STUDY
    try:
        data = json.loads(read_whole(path))
        chunks = [_made(chunk, (), ()) for chunk in data["chunks"]]
        found = _made(data["study"], chunks, data.get("texts", ()))
    except FileNotFoundError:
        raise InputError(
            "this run was not finished, so there is nothing to show",
            place=str(folder),
            remedy="Resume it: `karat run`.",
        ) from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, RecursionError, zlib.error) as problem:
        raise InputError(f"the study cannot be read: {problem}", place=str(path), remedy="Run it again.") from None
    if not isinstance(found, Study):
        raise InputError("the file holds no study", place=str(path), remedy="Run it again.")
    return _with_strangers_told(found)


def _with_strangers_told(found: Study) -> Study:
    """The study with a note on each of its measures that is not registered here."""
    names = [measure.name for measure in found.evaluation.scores.measures if measure.spec.function is _unknown]
    if not names:
        return found
    is_one, listed = len(names) == 1, ", ".join(names)
    what = "is not a registered measure" if is_one else "are not registered measures"
    note = Note("info", f"{listed} {what}: the stored numbers are shown, and no code is loaded for them.")
    notes = tuple(one for one in found.evaluation.notes if one != note)
    return replace(found, evaluation=replace(found.evaluation, notes=(*notes, note)))


def _plain(value: Any, shelf: _Shelf) -> Any:
    """JSON values; what is kept once is put on the shelf."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, docs.Chunk):
        number, _ = shelf.chunks.setdefault((value.id, value.text), (len(shelf.chunks), value))
        return {_KIND: "chunk", "number": number}
    if isinstance(value, Measure):
        return _plain_measure(value)
    if isinstance(value, TestSet):
        about = {"name": value.name, "version": value.version, "changed": value.changed, "norm": value.norm}
        return {_KIND: "testset", **about, "questions": [_plain(q, shelf) for q in value.questions]}
    if isinstance(value, Scores):
        return _plain_scores(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value, shelf)
    if isinstance(value, Mapping):
        return {_KIND: "map", "items": [[_plain(k, shelf), _plain(v, shelf)] for k, v in value.items()]}
    if isinstance(value, np.generic):
        return _plain(value.item(), shelf)
    if isinstance(value, Sequence | np.ndarray):
        return [_plain(item, shelf) for item in value]
    raise TypeError(f"{type(value).__name__} has no place in a study")


def _fields(value: Any, shelf: _Shelf) -> dict[str, Any]:
    named = {f.name: _plain(getattr(value, f.name), shelf) for f in fields(value) if f.init}
    if isinstance(value, study.StudyAnswer):
        numbers = [shelf.texts.setdefault(text, len(shelf.texts)) for text in value.contexts]
        named["contexts"] = {_KIND: "texts", "numbers": numbers}
    return {_KIND: type(value).__name__, **named}


def _plain_measure(measure: Measure) -> dict[str, Any]:
    spec = measure.spec
    about = {
        "stage": spec.stage,
        "bounds": _plain(measure.bounds, _Shelf()),
        "direction": spec.direction,
        "unit": spec.unit,
    }
    return {_KIND: "measure", "name": measure.name, **about}


def _made_measure(value: Mapping[str, Any]) -> Measure:
    """A registered measure by its name; any other, whose code is not loaded, by what was stored of it."""
    try:
        return parse(value["name"])
    except UsageError:
        low, high = (
            end if end is not None else far for end, far in zip(value["bounds"], (-np.inf, np.inf), strict=True)
        )
        about = {name: value[name] for name in ("stage", "direction", "unit")}
        return Measure(MeasureSpec(value["name"], _unknown, bounds=(low, high), **about))


def _unknown(**given: Any) -> Any:
    """Not a registered measure: what it computes is in the code that the run was scored with."""
    raise AssertionError("a stored measure is not computed again")


def _plain_scores(found: Scores) -> dict[str, Any]:
    values = np.where(found.status == scores.Status.ok, found.values, 0.0)
    return {
        _KIND: "scores",
        "systems": list(found.systems),
        "questions": list(found.questions),
        "measures": [_plain_measure(m) for m in found.measures],
        "values": values.ravel().tolist(),
        "status": found.status.ravel().tolist(),
        "reasons": [[*key, reason] for key, reason in sorted(found.reasons.items())],
        "details": [[*key, _json(shown)] for key, shown in sorted(found.details.items())],
        "floors": [[*key, *astuple(floor)] for key, floor in sorted(found.floors.items())],
        "lists_end": dict(found.lists_end),
    }


def _json(value: Any) -> Any:
    """What a measure shows for a score, as it stands in JSON: no kinds, and no number that JSON does not have."""
    if isinstance(value, Mapping):
        return {str(name): _json(one) for name, one in value.items()}
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return [_json(one) for one in value]
    return _plain(value, _Shelf())


def _made(value: Any, chunks: Sequence[Any], texts: Sequence[str]) -> Any:
    """The object that JSON values stand for; lists become tuples."""
    if isinstance(value, list):
        return tuple(_made(item, chunks, texts) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.get(_KIND)
    if kind == "chunk":
        return chunks[value["number"]]
    if kind == "texts":
        return tuple(texts[number] for number in value["numbers"])
    if kind == "measure":
        return _made_measure(value)
    if kind == "map":
        return {_made(k, chunks, texts): _made(v, chunks, texts) for k, v in value["items"]}
    if kind == "testset":
        about = {name: value.get(name) for name in ("version", "changed", "norm")}
        return TestSet(_made(value["questions"], chunks, texts), name=value["name"], **about)
    if kind == "scores":
        return _made_scores(value)
    known = _KNOWN[str(kind)]
    names = {f.name for f in fields(known) if f.init}  # what an earlier version stored besides is left aside
    return known(**{k: _made(v, chunks, texts) for k, v in value.items() if k in names})


def _made_scores(value: Mapping[str, Any]) -> Scores:
    shape = (len(value["systems"]), len(value["questions"]), len(value["measures"]))
    status = np.array(value["status"], np.uint8).reshape(shape)
    values = np.array(value["values"], np.float64).reshape(shape)
    return Scores(
        tuple(value["systems"]),
        tuple(value["questions"]),
        tuple(_made_measure(measure) for measure in value["measures"]),
        np.where(status == scores.Status.ok, values, np.nan),
        status,
        {(s, q, m): reason for s, q, m, reason in value["reasons"]},
        {(s, q, m): shown for s, q, m, shown in value.get("details", ())},
        {(s, m): scores.Floor(*floor) for s, m, *floor in value.get("floors", ())},
        value.get("lists_end", {}),
    )
