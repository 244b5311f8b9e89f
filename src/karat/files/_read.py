"""Read: find the format that fits an input best, by content, and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.errors import InputError
from karat.files._format import Fit, Format, Kind, formats
from karat.files._frozen import frozen_beside
from karat.files._questions import described_testset
from karat.files._runs import described
from karat.io.fields import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TESTSET, Columns
from karat.io.input import TABLES, Input
from karat.results.evaluation import Taken

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet

Path = str | os.PathLike[str]
_WORD: dict[Kind, str] = {"testset": "a test set", "results": "results"}


def read_testset(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet, Taken]:
    """A test set from a file or folder; `columns` renames the user's columns to karat's fields (`--map`).

    One that is frozen carries its version, or else, where it was changed since, a sentence on that.
    """
    testset, taken = testset_from(Input.open(path, columns))
    frozen = frozen_beside(path)
    if frozen is None:
        return testset, taken
    testset.changed = frozen.changed(testset)
    if testset.changed is not None:
        return testset, replace(taken, notes=(*taken.notes, testset.changed))
    testset.version = frozen.version
    return testset, replace(taken, what=f"{taken.what}, frozen as version {frozen.version}")


def read_results(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[list[Run], Taken]:
    """The systems of a results file."""
    return results_from(Input.open(path, columns))


def read_any(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet | list[Run], Taken]:
    """Whatever the file holds; what could be both is taken for what it fits better, a test set when in doubt."""
    given = Input.open(path, columns)
    testset, results = _best(given, "testset"), _best(given, "results")
    if results is not None and (testset is None or results[1].confidence > testset[1].confidence):
        return results_from(given)
    return testset_from(given)


def testset_from(given: Input) -> tuple[TestSet, Taken]:
    """A test set from an input."""
    entry = _fitting(given, "testset")
    assert entry.read_testset is not None
    testset, notes = entry.read_testset(given)
    return testset, Taken(given.name, entry.name, described_testset(testset), (*notes, *given.map_notes))


def results_from(given: Input) -> tuple[list[Run], Taken]:
    """Results from an input."""
    entry = _fitting(given, "results")
    assert entry.read_results is not None
    runs, notes = entry.read_results(given)
    return runs, Taken(given.name, entry.name, described(runs), (*notes, *given.map_notes))


def _best(given: Input, kind: Kind) -> tuple[Format, Fit] | None:
    """The format that fits best, if any does; of equals the first by name."""
    fitting = [(entry, fit) for entry in formats() if kind in entry.kinds and (fit := entry.sniff(given, kind))]
    return max(fitting, key=lambda pair: pair[1].confidence, default=None)


def _fitting(given: Input, kind: Kind) -> Format:
    best = _best(given, kind)
    if best is not None:
        return best[0]
    other: Kind = "results" if kind == "testset" else "testset"
    swapped = _best(given, other)
    if swapped is not None and swapped[1].confidence >= 0.5:
        raise given.error(
            f"holds {_WORD[other]} ({swapped[0].name}: {swapped[1].reason}) where {_WORD[kind]} should be",
            remedy="The test set comes first, then the results.",
        )
    raise _nothing_fits(given, kind)


def _nothing_fits(given: Input, kind: Kind) -> InputError:
    known = ", ".join(entry.name for entry in formats() if kind in entry.kinds)
    if given.folder is not None:
        inside = ", ".join(sorted(path.name for path in given.folder.iterdir())[:6]) or "nothing"
        return given.error(
            f"is a folder where a file is meant (it holds {inside})",
            remedy="Name a file in it; of folders, BEIR (queries.jsonl, qrels/) and momento (queries, qrels) are read.",
        )
    if given.fields:
        if kind == "results":
            near = Columns(RESULTS, given.fields).nearest((*RETRIEVED_FIELDS, "id", "question", "answer"))
        else:
            near = Columns(TESTSET, given.fields).nearest((*GOLD_FIELDS, "id", "question", "answers"))
        hints = (near, *given.map_notes, "Rename the fields, or say --map column=field.", f"Formats: {known}.")
        return given.error(
            f"{given.shape} with the fields {given.named(given.fields)} is no known form of {_WORD[kind]}",
            remedy=" ".join(hints).strip(),
        )
    line = "" if given.source is None else given.source.first_line[:60]
    what = "an empty table" if given.shape in TABLES else f"text that starts with {line!r}"
    if given.shape.startswith("json"):
        what = "JSON without records"
    return given.error(f"{what} is no known form of {_WORD[kind]}", remedy=f"Formats: {known}.")
