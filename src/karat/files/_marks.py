"""Marks: labels.jsonl, to which people's labels of a run are appended, a line each.

A line is written whole, under a lock, and is on the disk before it is acknowledged. It begins with its checksum;
lines that people wrote themselves need none.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karat.core.errors import InputError
from karat.io.checksum import DamagedError, sealed_line, unsealed_line
from karat.io.fields import MARK, MARKED_HIT
from karat.io.lock import locked
from karat.io.opening import read_whole
from karat.io.writing import unwritable
from karat.results.marks import LABELS_FILE, MOST_GRADE, VALUES, Mark, MarkedHit, Marks

LOCK = ".labels.lock"
KINDS = ("hit", *VALUES)
MOST_NAME, MOST_NOTE, MOST_ID = 80, 4_000, 20_000  # characters
_TRIES = 500  # for the lock: about five seconds
_HEAD = 64 << 10
_writing = threading.Lock()


def read_marks(path: str | os.PathLike[str]) -> Marks:
    """The marks of a file; a last line that was torn off by a kill is left out."""
    if not Path(path).is_file():
        raise InputError("there is no such file", place=os.fspath(path), remedy="Name a labels.jsonl.")
    *lines, rest = read_whole(Path(path)).split(b"\n")
    marks = [_mark(path, row, line) for row, line in enumerate(lines, 1) if line.strip()]
    torn = bool(rest.strip())
    if torn:  # a file that people wrote may end without a line's end
        try:
            marks.append(_mark(path, len(lines) + 1, rest))
            torn = False
        except InputError:
            pass
    return Marks(place=os.fspath(path), every=tuple(marks), torn=torn)


def are_marks(given: object) -> bool:
    """Whether this is a file of marks rather than a table of labels."""
    if not isinstance(given, str | os.PathLike) or not Path(given).is_file():
        return False
    with open(given, "rb") as file:
        line = file.readline(_HEAD)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.get("kind") in KINDS and {"question", "by", "at"} <= set(record)


def append_mark(folder: Path, mark: Mark) -> Mark:
    """Append a mark to the file of a run, with an id and a time; it is on the disk when this returns."""
    stamped = replace(mark, id=secrets.token_hex(8), at=datetime.now(UTC).isoformat(timespec="milliseconds"))
    line = sealed_line(_record(stamped))
    path = folder / LABELS_FILE
    with _writing, locked(folder, "others are writing labels. Try again.", LOCK, tries=_TRIES):
        is_new = not path.exists()
        try:
            _append(path, line)
            if is_new:
                _keep_name(folder)
        except OSError as problem:
            remedy = "Make room, or allow writing there, and try again."
            raise unwritable(path, problem, "the label cannot be written", remedy=remedy) from None
    return stamped


def _append(path: Path, line: bytes) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        whole = end = os.fstat(file).st_size
        rest = b""
        while whole and b"\n" not in rest:
            begin = max(0, whole - max(_HEAD, len(rest)))
            rest, whole = os.pread(file, whole - begin, begin) + rest, begin
        if (rest := rest[rest.rfind(b"\n") + 1 :]) and _is_whole(rest):
            line, whole = b"\n" + line, end
        else:  # what a kill tore off was never acknowledged
            os.ftruncate(file, whole := end - len(rest))
        try:
            if os.write(file, line) != len(line):
                raise OSError(28, "No space left on device")
            os.fsync(file)
        except OSError:
            os.ftruncate(file, whole)
            raise
    finally:
        os.close(file)


def _is_whole(rest: bytes) -> bool:
    try:
        _mark("", 0, rest)
    except InputError:
        return False
    return True


def _keep_name(folder: Path) -> None:
    """Put the name of a new file onto the disk."""
    if os.name == "posix":
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)


def _record(mark: Mark) -> dict[str, Any]:
    """A mark as a line holds it: what is not said is not there."""
    hit = mark.hit
    values = {name: getattr(mark, name) for name in MARK}
    values["hit"] = hit and {name: value for name in MARKED_HIT if (value := getattr(hit, name)) is not None}
    return {name: value for name, value in values.items() if value is not None and value not in ((), "")}


def _mark(path: str | os.PathLike[str], row: int, line: bytes) -> Mark:
    """The mark of a line."""

    def wrong(problem: str) -> InputError:
        remedy = f"Put the file back from a copy, or delete line {row}."
        return InputError(problem, place=os.fspath(path), row=row, unit="line", remedy=remedy)

    try:
        record = unsealed_line(line) if line.startswith(b'{"crc32"') else json.loads(line)
    except DamagedError as problem:
        raise wrong(f"it is not what was written: {problem}") from None
    except (ValueError, RecursionError):
        raise wrong("it is no JSON") from None
    try:
        return mark_of(record, row)
    except ValueError as problem:
        raise wrong(str(problem)) from None


def mark_of(record: object, row: int = 0) -> Mark:
    """A mark from its fields; what is wrong with them is a ValueError."""
    if not isinstance(record, Mapping):
        raise ValueError("it is no object")
    if unknown := [name for name in record if name not in MARK and name != "crc32"]:
        raise ValueError(f"there is no field {unknown[0]!r:.60} in a label")
    kind = record.get("kind")
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r:.40} is none of {', '.join(KINDS)}")
    texts = {name: _text(record, name) for name in ("id", "question", "by", "at", "system", "claim", "value", "undoes")}
    texts |= {name: _text(record, name) for name in ("testset", "digest")}
    for name in ("question", "by"):
        if not texts[name]:
            raise ValueError(f"a label needs its {name}")
    hit, grade, value = _hit(record.get("hit")), record.get("grade"), texts["value"]
    needs = {"hit": hit, "answer": texts["system"], "claim": texts["claim"] and texts["system"], "question": "-"}
    if not needs[kind]:
        raise ValueError(f"a label of {'an answer' if kind == 'answer' else 'a ' + kind} must say which it is of")
    if texts["undoes"] is None:
        if kind == "hit" and (type(grade) is not int or not 0 <= grade <= MOST_GRADE):
            raise ValueError(f"grade {grade!r:.40} is no whole number from 0 (not gold) to {MOST_GRADE}")
        if kind != "hit" and value not in VALUES[kind]:
            raise ValueError(f"value {value!r:.40} is none of {', '.join(VALUES[kind])}")
    reasons = record.get("reasons", ())
    if not isinstance(reasons, Sequence) or isinstance(reasons, str) or not all(isinstance(r, str) for r in reasons):
        raise ValueError("reasons are no list of texts")
    return Mark(
        kind=kind, hit=hit, grade=grade if kind == "hit" else None, reasons=tuple(r[:MOST_NAME] for r in reasons[:40]),
        note=(_text(record, "note") or "")[:MOST_NOTE], row=row,
        **{**texts, "id": texts["id"] or f"line {row}", "at": texts["at"] or ""},  # type: ignore[arg-type]
    )  # fmt: skip


def _hit(value: object) -> MarkedHit | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or not _text(value, "id"):
        raise ValueError("a hit needs its id")
    if unknown := [name for name in value if name not in MARKED_HIT]:
        raise ValueError(f"there is no field {unknown[0]!r:.60} of a hit")
    return MarkedHit(**{name: _text(value, name) for name in MARKED_HIT})  # type: ignore[arg-type]


def _text(record: Mapping[Any, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name} {value!r:.40} is no text")
    if len(value) > MOST_ID and name != "claim":
        raise ValueError(f"{name} has {len(value):,} characters, and {MOST_ID:,} is the most")
    return value
