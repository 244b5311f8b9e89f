"""Read: find the format that fits an input best, by content, and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.errors import InputError
from karat.files._aliases import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TESTSET, Names
from karat.files._format import Fit, Format, Kind, formats
from karat.files._frozen import frozen_beside
from karat.files._look import TABLES, Look

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.results.evaluation import Taken

Path = str | os.PathLike[str]
_WORD: dict[Kind, str] = {"testset": "a test set", "results": "results"}


def read_testset(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet, Taken]:
    """A test set from a file or folder; `columns` renames the user's columns to karat's fields (`--map`).

    One that is frozen carries its version, or else, where it was changed since, a sentence on that.
    """
    testset, taken = testset_from(Look(path, columns))
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
    return results_from(Look(path, columns))


def read_any(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet | list[Run], Taken]:
    """Whatever the file holds; what could be both is taken for what it fits better, a test set when in doubt."""
    look = Look(path, columns)
    testset, results = best(look, "testset"), best(look, "results")
    if results is not None and (testset is None or results[1].confidence > testset[1].confidence):
        return results_from(look)
    return testset_from(look)


def testset_from(look: Look) -> tuple[TestSet, Taken]:
    """A test set from what was looked at."""
    found = _found(look, "testset")
    if found.read_testset is None:
        raise AssertionError(found.name)
    testset, taken = found.read_testset(look)
    return testset, _noted(look, taken)


def results_from(look: Look) -> tuple[list[Run], Taken]:
    """Results from what was looked at."""
    found = _found(look, "results")
    if found.read_results is None:
        raise AssertionError(found.name)
    runs, taken = found.read_results(look)
    return runs, _noted(look, taken)


def _noted(look: Look, taken: Taken) -> Taken:
    return replace(taken, notes=(*taken.notes, *look.map_notes)) if look.columns else taken


def best(look: Look, kind: Kind) -> tuple[Format, Fit] | None:
    """The format that fits best, if any does; of equals the first by name."""
    found: tuple[Format, Fit] | None = None
    for entry in formats():
        if kind not in entry.kinds:
            continue
        fit = entry.sniff(look, kind)
        if fit is not None and (found is None or fit.confidence > found[1].confidence):
            found = entry, fit
    return found


def _found(look: Look, kind: Kind) -> Format:
    found = best(look, kind)
    if found is not None:
        return found[0]
    other: Kind = "results" if kind == "testset" else "testset"
    swapped = best(look, other)
    if swapped is not None and swapped[1].confidence >= 0.5:
        raise look.error(
            f"holds {_WORD[other]} ({swapped[0].name}: {swapped[1].reason}) where {_WORD[kind]} should be",
            remedy="The test set comes first, then the results.",
        )
    raise _nothing_fits(look, kind)


def _nothing_fits(look: Look, kind: Kind) -> InputError:
    known = ", ".join(entry.name for entry in formats() if kind in entry.kinds)
    if look.shape == "folder" and look.folder is not None:
        inside = ", ".join(sorted(path.name for path in look.folder.iterdir())[:6]) or "nothing"
        return look.error(
            f"is a folder where a file is meant (it holds {inside})",
            remedy="Name a file in it; of folders, BEIR (queries.jsonl, qrels/) and momento (queries, qrels) are read.",
        )
    if look.fields:
        if kind == "results":
            near = Names(RESULTS, look.fields).nearest((*RETRIEVED_FIELDS, "id", "question", "answer"))
        else:
            near = Names(TESTSET, look.fields).nearest((*GOLD_FIELDS, "id", "question", "answers"))
        shown = ", ".join(look.original.get(name, name) for name in look.fields[:12])
        return look.error(
            f"{look.shape} with the fields {shown} is no known form of {_WORD[kind]}",
            remedy=" ".join(
                (near, *look.map_notes, "Rename the fields, or say --map column=field.", f"Formats: {known}.")
            ).strip(),
        )
    line = "" if look.source is None else look.source.first_line[:60]
    what = "an empty table" if look.shape in TABLES else f"text that starts with {line!r}"
    if look.shape.startswith("json"):
        what = "JSON without records"
    return look.error(f"{what} is no known form of {_WORD[kind]}", remedy=f"Formats: {known}.")
