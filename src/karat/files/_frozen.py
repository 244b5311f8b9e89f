"""Frozen test sets: the file beside a test set that says which version it is, and whether it still is that."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from karat.core.errors import InputError
from karat.core.types import TestSet
from karat.io.opening import read_whole
from karat.io.writing import write_whole

ENDING = ".frozen.json"
SHOWN = 12  # characters of a digest in sentences


@dataclass(frozen=True)
class Frozen:
    """A version of a test set: its digest, how many questions it has, of which kinds, and how they were made.

    `made_by` counts questions by what their tags `source` and `model` say; empty where they say nothing. `earlier` are
    the versions before this one, version -> digest.
    """

    version: str
    digest: str
    questions: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    made_by: Mapping[str, int] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)

    def changed(self, testset: TestSet) -> str | None:
        """In words how a test set is not what was frozen; None: it is."""
        if testset.digest == self.digest:
            return None
        size = f", {self.questions:,} questions" if self.questions != len(testset) else ""
        now = f", {len(testset):,} questions" if size else ""
        return (
            f"frozen as version {self.version} (digest {self.digest[:SHOWN]}{size}), and changed since (digest "
            f"{testset.digest[:SHOWN]}{now})"
        )


def frozen_path(testset: str | os.PathLike[str]) -> Path:
    """The file that says what a test set is frozen as."""
    path = Path(testset)
    return path.with_name(path.name + ENDING) if path.name else path / ENDING


def frozen_beside(testset: str | os.PathLike[str]) -> Frozen | None:
    """What the file beside a test set says; None: it is not frozen."""
    path = frozen_path(testset)
    try:
        text = read_whole(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise _unreadable(path, str(problem)) from None
    try:
        return _frozen(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as problem:
        raise _unreadable(path, f"{type(problem).__name__}: {problem}") from None


def _frozen(values: Any) -> Frozen:
    version, digest, questions = values["version"], values["digest"], values["questions"]
    if not isinstance(version, str) or not isinstance(digest, str) or isinstance(questions, bool):
        raise TypeError("version and digest are texts, questions is a number")
    counts = {name: {str(k): int(v) for k, v in values.get(name, {}).items()} for name in ("kinds", "made_by")}
    earlier = {str(k): str(v) for k, v in values.get("earlier", {}).items()}
    return Frozen(version, digest, int(questions), counts["kinds"], counts["made_by"], earlier)


def _unreadable(path: Path, problem: str) -> InputError:
    return InputError(
        f"what the test set is frozen as cannot be read: {problem}",
        place=str(path),
        remedy="Restore the file, or delete it and freeze the test set again.",
    )


def write_frozen(frozen: Frozen, testset: str | os.PathLike[str]) -> Path:
    """Write the file beside a test set."""
    path = frozen_path(testset)
    write_whole(path, json.dumps(asdict(frozen), ensure_ascii=False, indent=1) + "\n")
    return path
