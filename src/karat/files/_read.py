"""Read: find the format that fits an input best, by content, and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.errors import InputError, KaratError
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
    input = Input.open(path, columns)
    testset, results = _best(input, "testset"), _best(input, "results")
    if results is not None and (testset is None or results[1].confidence > testset[1].confidence):
        return results_from(input)
    return testset_from(input)


def testset_from(input: Input) -> tuple[TestSet, Taken]:
    """A test set from an input."""
    entry = _fitting(input, "testset")
    assert entry.read_testset is not None
    testset, notes = entry.read_testset(input)
    return testset, Taken(input.name, entry.name, described_testset(testset), _all_notes(entry, notes, input))


def results_from(input: Input) -> tuple[list[Run], Taken]:
    """Results from an input."""
    entry = _fitting(input, "results")
    assert entry.read_results is not None
    runs, notes = entry.read_results(input)
    return runs, Taken(input.name, entry.name, described(runs), _all_notes(entry, notes, input))


def _all_notes(entry: Format, notes: Sequence[str], input: Input) -> tuple[str, ...]:
    """What a reader and its input have to say."""
    if isinstance(notes, list | tuple):
        return (*notes, *input.map_notes)
    raise KaratError(
        f"the format {entry.name!r} returned {type(notes).__name__} where its notes belong, a list of sentences, as "
        "readers did before karat 0.4. See docs/adding-a-format.md."
    )


def _best(input: Input, kind: Kind) -> tuple[Format, Fit] | None:
    """The format that fits best, if any does; of equals the first by name."""
    fitting = [(entry, fit) for entry in formats() if kind in entry.kinds and (fit := entry.sniff(input, kind))]
    return max(fitting, key=lambda pair: pair[1].confidence, default=None)


def _fitting(input: Input, kind: Kind) -> Format:
    best = _best(input, kind)
    if best is not None:
        return best[0]
    other: Kind = "results" if kind == "testset" else "testset"
    swapped = _best(input, other)
    if swapped is not None and swapped[1].confidence >= 0.5:
        raise input.error(
            f"holds {_WORD[other]} ({swapped[0].name}: {swapped[1].reason}) where {_WORD[kind]} should be",
            remedy="The test set comes first, then the results.",
        )
    raise _nothing_fits(input, kind)


def _nothing_fits(input: Input, kind: Kind) -> InputError:
    known = ", ".join(entry.name for entry in formats() if kind in entry.kinds)
    if input.folder is not None:
        inside = ", ".join(sorted(path.name for path in input.folder.iterdir())[:6]) or "nothing"
        return input.error(
            f"is a folder where a file is meant (it holds {inside})",
            remedy="Name a file in it; of folders, BEIR (queries.jsonl, qrels/) and momento (queries, qrels) are read.",
        )
    if input.fields:
        if kind == "results":
            near = Columns(RESULTS, input.fields).nearest((*RETRIEVED_FIELDS, "id", "question", "answer"))
        else:
            near = Columns(TESTSET, input.fields).nearest((*GOLD_FIELDS, "id", "question", "answers"))
        hints = (near, *input.map_notes, "Rename the fields, or say --map column=field.", f"Formats: {known}.")
        return input.error(
            f"{input.shape} with the fields {input.named(input.fields)} is no known form of {_WORD[kind]}",
            remedy=" ".join(hints).strip(),
        )
    line = "" if input.source is None else input.source.first_line[:60]
    what = "an empty table" if input.shape in TABLES else f"text that starts with {line!r}"
    if input.shape.startswith("json"):
        what = "JSON without records"
    return input.error(f"{what} is no known form of {_WORD[kind]}", remedy=f"Formats: {known}.")
