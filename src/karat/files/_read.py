"""Read: find the format that fits an input best, by content, and read it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat.core.collection import without_collection
from karat.core.errors import InputError, KaratError
from karat.core.run import Run
from karat.core.types import TestSet
from karat.files._format import KINDS, Fit, Format, Kind, formats
from karat.files._frozen import frozen_beside
from karat.files._questions import described_testset
from karat.files._runs import described
from karat.io.fields import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TESTSET, Columns
from karat.io.input import TABLES, Input
from karat.results.evaluation import InputInfo

Path = str | os.PathLike[str]


def read_testset(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet, InputInfo]:
    """A test set from a file or folder; `columns` renames the user's columns to karat's fields (`--map`).

    One that is frozen carries its version, or else, where it was changed since, a sentence on that.
    """
    testset, taken = read_input(Input.open(path, columns), "testset")
    frozen = frozen_beside(path)
    if frozen is None:
        return testset, taken
    testset.changed = frozen.changed(testset)
    if testset.changed is not None:
        return testset, replace(taken, notes=(*taken.notes, testset.changed))
    testset.version = frozen.version
    return testset, replace(taken, what=f"{taken.what}, frozen as version {frozen.version}")


def read_results(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[list[Run], InputInfo]:
    """The systems of a results file."""
    return read_input(Input.open(path, columns), "results")


def read_any(path: Path, *, columns: Mapping[str, str] | None = None) -> tuple[TestSet | list[Run], InputInfo]:
    """Whatever the file holds; what could be both is taken for what it fits better, a test set when in doubt."""
    input = Input.open(path, columns)
    testset, results = _best(input, "testset"), _best(input, "results")
    is_results = results is not None and (testset is None or results[1].confidence > testset[1].confidence)
    return read_input(input, "results" if is_results else "testset")


@without_collection
def read_input(input: Input, kind: Kind) -> tuple[Any, InputInfo]:
    """A test set, or the runs of a results input, by the format that fits it best."""
    entry = _fitting(input, kind)
    reader = entry.reader(kind)
    assert reader is not None
    try:
        content, notes = reader(input)
        is_read = not input.learn_fields()
    except InputError:
        if not input.learn_fields():
            raise
        is_read = False
    if not is_read:  # some names stand in later records alone: what they say is known the second time
        content, notes = reader(input)
    what = described_testset(content) if kind == "testset" else described(content)
    return content, InputInfo(input.name, entry.name, what, _all_notes(entry, notes, input))


def _all_notes(entry: Format, notes: Sequence[str], input: Input) -> tuple[str, ...]:
    """What a reader and its input have to say."""
    if isinstance(notes, list | tuple):
        chosen = (
            () if input.selection is None else (f"dataset folder{input.selection.note and ': '}{input.selection.note}",)
        )
        return (*chosen, *notes, *input.map_notes)
    raise KaratError(
        f"the format {entry.name!r} returned {type(notes).__name__} where its notes belong, a list of sentences, as "
        "readers did before karat 0.4. See docs/extend/README.md."
    )


def _best(input: Input, kind: Kind) -> tuple[Format, Fit] | None:
    """The format that fits best, if any does; of equals the first by name."""
    known = next((entry for entry in formats() if entry.by_head and _fits_any(entry, input)), None)
    if known is not None:
        fit = known.sniff(input, kind) if known.reader(kind) else None
        return None if fit is None else (known, fit)
    others = (entry for entry in formats() if entry.reader(kind) and not entry.by_head)
    fitting = [(entry, fit) for entry in others if (fit := entry.sniff(input, kind))]
    return max(fitting, key=lambda pair: pair[1].confidence, default=None)


def _fits_any(entry: Format, input: Input) -> bool:
    return any(entry.reader(kind) and entry.sniff(input, kind) for kind in KINDS)


def _fitting(input: Input, kind: Kind) -> Format:
    best = _best(input, kind)
    if best is not None:
        return best[0]
    other: Kind = "results" if kind == "testset" else "testset"
    swapped = _best(input, other)
    if swapped is not None and swapped[1].confidence >= 0.5:
        raise input.error(
            f"holds {KINDS[other]} ({swapped[0].name}: {swapped[1].reason}) where {KINDS[kind]} should be",
            remedy="The test set comes first, then the results.",
        )
    raise _nothing_fits(input, kind)


def _nothing_fits(input: Input, kind: Kind) -> InputError:
    known = ", ".join(entry.name for entry in formats() if entry.reader(kind))
    if input.folder is not None:
        inside = ", ".join(sorted(path.name for path in input.folder.iterdir())[:6]) or "nothing"
        return input.error(
            f"is a folder where a file is meant (it holds {inside})",
            remedy="Name a file in it; of folders, BEIR and MTEB (queries, qrels/), momento (queries, qrels) and "
            "datasets of Hugging Face (saved by save_to_disk, or files named by their splits) are read.",
        )
    others = "" if input.selection is None else f"Read: {input.selection.note or 'its only split'}."
    if input.fields:
        if kind == "results":
            near = Columns(RESULTS, input.fields).nearest((*RETRIEVED_FIELDS, "id", "question", "answer"))
        else:
            near = Columns(TESTSET, input.fields).nearest((*GOLD_FIELDS, "id", "question", "answers"))
        hints = (near, others, *input.map_notes, "Rename the fields, or say --map column=field.", f"Formats: {known}.")
        return input.error(
            f"{input.shape} with the fields {input.named(input.fields)} is no known form of {KINDS[kind]}",
            remedy=" ".join(hints).strip(),
        )
    line = "" if input.source is None else input.source.first_line[:60]
    what = "an empty table" if input.shape in TABLES else f"text that starts with {line!r}"
    if input.shape.startswith("json"):
        what = "JSON without records"
    return input.error(f"{what} is no known form of {KINDS[kind]}", remedy=f"Formats: {known}.")
