"""Objects: test sets and results from what a notebook holds: paths, dicts, lists of dicts, frames.

How a dict of results is told, by its values:

- numbers in dicts, `{question: {doc: score}}`: one run, ordered by score;
- lists of ids, `{question: [doc, ...]}`: one run, best first;
- texts that name no existing file, `{question: answer}`: one run of answers;
- runs in any of these forms, frames, lists of records, `Run` objects or paths of existing files, `{name: ...}`: several
  systems.

A mix of these, or texts of which only some name files, is an error.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.core.errors import InputError, UsageError
from karat.core.run import Run
from karat.core.text.wellformed import well_formed
from karat.core.types import Answer, TestSet
from karat.files._questions import described_testset
from karat.files._read import read_input, read_results, read_testset
from karat.files._runs import described
from karat.io import cells
from karat.io.cells import CellError, quoted
from karat.io.frames import is_frame
from karat.io.input import Input
from karat.results.evaluation import InputInfo

Names = Mapping[str, str] | None
"""The user's column -> field."""

Read = tuple[list[Run], list[InputInfo]]
_BLANKS = tuple(sign for sign in map(chr, range(128)) if sign.isspace())
_LEVELS = {
    "list": "lists of documents",
    "scores": "dicts of scores",
    "answer": "texts",
    "path": "paths of files",
    "system": "whole systems",
    "empty": "empty values",
    "other": "values of another kind",
}
"""What a value of a dict of results may be, in words."""


def as_testset(testset: Any, *, columns: Names = None) -> tuple[TestSet, InputInfo]:
    """A test set from a path, a TestSet, qrels as a dict, a list of dicts or a frame."""
    if isinstance(testset, TestSet):
        return testset, InputInfo(testset.name, "TestSet", described_testset(testset))
    if isinstance(testset, str | os.PathLike):
        return read_testset(testset, columns=columns)
    if isinstance(testset, Mapping):
        judged = qrels_testset(testset, "test set (dict)")
        return judged, InputInfo("test set (dict)", "dict", described_testset(judged))
    return read_input(Input.from_any(testset, "test set", columns), "testset")


def as_runs(results: Any, name: str | None = None, *, columns: Names = None) -> Read:
    """Runs from a path or several, a Run or several, dicts, lists of records or frames; see this module's docstring."""
    if isinstance(results, Run):
        return [results], [InputInfo(results.source, "Run", described([results]))]
    if isinstance(results, str | os.PathLike):
        runs, taken = read_results(results, columns=columns)
        return _renamed(runs, name), [taken]
    if is_frame(results):
        runs, taken = read_input(Input.of_frame(name or "results", results, columns), "results")
        runs = _renamed(runs, name) if len(runs) > 1 else runs
        return runs, [replace(taken, place=f"{name or 'results'} (frame)")]
    if isinstance(results, Mapping):
        return _from_dict(results, name, columns)
    if isinstance(results, Sequence):
        return _from_list(results, name, columns)
    raise UsageError(
        f"results cannot be made of {type(results).__name__}. Give a path, a dict, a list of dicts, a frame, or "
        "several systems as {name: ...}."
    )


def _renamed(runs: list[Run], name: str | None) -> list[Run]:
    """Under a name of the caller's, one system takes it, and several are set under it."""
    if name is None:
        return runs
    return [replace(run, name=name if len(runs) == 1 else f"{name} {run.name}") for run in runs]


def _from_list(results: Sequence[Any], name: str | None, columns: Names) -> Read:
    if results and all(isinstance(item, str | os.PathLike | Run) for item in results):
        return _joined([as_runs(item, columns=columns) for item in results])
    if not all(isinstance(item, Mapping) for item in results):
        kinds = ", ".join(sorted({type(item).__name__ for item in results})[:4])
        raise UsageError(f"a list of results must hold paths only, or dicts only, and this one holds {kinds}.")
    runs, taken = read_input(Input.of_records(name or "results", results, columns), "results")
    return runs, [replace(taken, place=f"{name or 'results'} (list)")]


def _joined(parts: Iterable[Read]) -> Read:
    runs, takens = zip(*parts, strict=True)
    return [run for some in runs for run in some], [taken for some in takens for taken in some]


def _from_dict(results: Mapping[Any, Any], name: str | None, columns: Names) -> Read:
    if not results:
        raise UsageError("the dict of results is empty. Give {question: {doc: score}} or {system: run}.")
    level = {_level(value) for value in results.values()}
    if level <= {"list", "empty"} or level <= {"scores", "empty"} or level == {"answer"}:
        run = run_of(results, name or "results", f"{name or 'results'} (dict)")
        return [run], [InputInfo(run.source, "dict", described([run]))]
    if level <= {"system", "path", "empty"}:
        return _systems(results, name, columns)
    mixture = ", ".join(_LEVELS[each] for each in sorted(level))
    raise UsageError(
        f"the dict of results mixes {mixture}. Give {{question: {{doc: score}}}}, {{question: [doc, ...]}} or "
        "{question: answer} for one system, and {system: one of these, a path or a frame} for several."
    )


def _level(value: Any) -> str:
    """What a value of a dict of results is: the hits or answer of one question, or a whole system."""
    if isinstance(value, Run) or is_frame(value):
        return "system"
    if isinstance(value, os.PathLike):
        return "path"
    if isinstance(value, str):
        return "path" if _names_file(value) else "answer"
    if isinstance(value, Mapping):
        first = next(iter(value.values()), None)
        if first is None:
            return "other" if value else "empty"
        return "system" if isinstance(first, Mapping | list | tuple | str | os.PathLike) else "scores"
    if isinstance(value, list | tuple | np.ndarray):
        if not len(value):
            return "empty"
        return "system" if isinstance(value[0], Mapping | os.PathLike) else "list"
    return "other"


def _names_file(text: str) -> bool:
    try:
        return len(text) < 4096 and "\n" not in text and os.path.isfile(text)
    except (ValueError, OSError):
        return False


def _systems(results: Mapping[Any, Any], name: str | None, columns: Names) -> Read:
    if name is not None:
        raise UsageError(f"system {name!r} is a dict of systems. Give one run for each name.")
    parts = []
    for system, value in results.items():
        if isinstance(value, Run):
            value = replace(value, name=str(system))
        elif _level(value) == "empty":
            value = Run.from_lists(str(system), {})
        parts.append(as_runs(value, str(system), columns=columns))
    return _joined(parts)


def is_numbers(docs: Mapping[Any, Any]) -> bool:
    """Whether all values are numbers."""
    return all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in docs.values())


def _texts(keys: Iterable[Any], place: str) -> list[str] | None:
    """Keys as ids, or None when they all are already; two keys that are the same id are refused."""
    listed = list(keys)
    if _are_plain(listed):
        return None
    originals: dict[str, Any] = {}
    with Input(place).reading():
        for key in listed:
            text = _id(key)
            if text in originals:
                raise CellError(f"ids {quoted(originals[text])} and {quoted(key)} are the same", "Keep one.")
            originals[text] = key
    return list(originals)


def _are_plain(keys: Collection[Any]) -> bool:
    """Whether keys are ids as they stand: texts without blanks around them.

    Of millions of ids hardly any holds a blank, so all are looked through as one text first.
    """
    try:
        text = "".join(keys)
    except TypeError:
        return False
    if text.isascii() and not any(blank in text for blank in _BLANKS):
        return True
    return all(key == key.strip() == well_formed(key) for key in keys)


def run_of(results: Mapping[Any, Any], name: str, place: str) -> Run:
    """One run from a dict of scores, of lists or of answers; dicts of scores under ids are kept as they are."""
    questions = _texts(results, place)
    hits = results
    if questions is not None or not isinstance(results, dict):
        hits = dict(zip(questions or results, results.values(), strict=True))
    values = hits.values()
    if values and all(isinstance(value, str) for value in values):
        answers = {qid: Answer(qid, well_formed(text)) for qid, text in hits.items()}
        return Run(name, answers=answers, source=place)
    if any(isinstance(value, Mapping) for value in values):
        return _scored(hits, name, place)
    return Run.from_lists(name, {qid: _ids(docs, qid, place) for qid, docs in hits.items()}, source=place)


def _scored(hits: Mapping[str, Any], name: str, place: str) -> Run:
    changed: dict[str, Mapping[str, float]] = {}
    for qid, docs in hits.items():
        if not isinstance(docs, Mapping):
            if len(docs):
                raise InputError(f"question {quoted(qid)} has a list among dicts of scores", place=place)
            changed[qid] = {}
        elif not _are_plain(docs):
            changed[qid] = dict(zip(_texts(docs, place) or docs, docs.values(), strict=True))
    return Run.from_scores(name, {**hits, **changed} if changed else hits, source=place)


def _ids(docs: Any, qid: str, place: str) -> list[str]:
    if isinstance(docs, np.ndarray):
        docs = docs.tolist()
    if isinstance(docs, Mapping) and not docs:
        return []
    if not isinstance(docs, list | tuple):
        raise InputError(f"question {quoted(qid)} has {type(docs).__name__} where a list of ids is meant", place=place)
    if _are_plain(docs):
        return list(docs)
    with Input(f"{place} question {quoted(qid)}").reading():
        return [_id(doc) for doc in docs]


def _id(key: Any) -> str:
    return cells.id_text(key.item() if isinstance(key, np.generic) else key)


def qrels_testset(qrels: Mapping[Any, Any], place: str) -> TestSet:
    """A test set from `{question: {doc: grade}}` or `{question: [doc, ...]}`."""
    if not qrels:
        raise InputError("no questions", place=place, remedy="Give {question: {doc: grade}}.")
    table: dict[str, dict[str, int]] = {}
    for qid, docs in zip(_texts(qrels, place) or qrels, qrels.values(), strict=True):
        if isinstance(docs, Mapping):
            grades = [_grade(grade, qid, place) for grade in docs.values()]
            table[qid] = dict(zip(_texts(docs, place) or docs, grades, strict=True))
        elif isinstance(docs, list | tuple | set | frozenset | np.ndarray):
            table[qid] = dict.fromkeys(_ids(list(docs), qid, place), 1)
        else:
            raise InputError(
                f"question {quoted(qid)} has {type(docs).__name__} where its documents are meant",
                place=place,
                remedy="Give {question: {doc: grade}} or {question: [doc, ...]}.",
            )
    return TestSet(qrels=table)


def _grade(value: Any, qid: str, place: str) -> int:
    if type(value) is int and abs(value) < cells.GRADE_LIMIT:
        return value
    with Input(f"{place} question {quoted(qid)}").reading():
        return cells.whole_number(value.item() if isinstance(value, np.generic) else value)
