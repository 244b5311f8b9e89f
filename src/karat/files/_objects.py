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
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, UsageError
from karat.core.run import Run
from karat.core.text.wellformed import well_formed, well_formed_values
from karat.core.text.words import plural
from karat.core.types import Answer, TestSet
from karat.files import _cells
from karat.files._cells import CellError, shown
from karat.files._runs import described
from karat.results.evaluation import Taken

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, str] | None
_BLANKS = tuple(sign for sign in map(chr, range(128)) if sign.isspace())


def as_testset(given: Any, *, columns: Columns = None) -> tuple[TestSet, Taken]:
    """A test set from a path, a TestSet, qrels as a dict, a list of dicts or a frame."""
    from karat.files._look import Look
    from karat.files._read import read_testset, testset_from

    if isinstance(given, TestSet):
        return given, Taken(given.name, "TestSet", plural(len(given), "question"))
    if isinstance(given, str | os.PathLike):
        return read_testset(given, columns=columns)
    if is_frame(given):
        return testset_from(Look.of_frame("test set (frame)", polars_frame(given), columns))
    if isinstance(given, Mapping):
        return qrels_from(given, "test set (dict)", "dict")
    if isinstance(given, Sequence):
        return testset_from(Look.of_records("test set (list)", given, columns))
    raise UsageError(
        f"a test set cannot be made of {type(given).__name__}. "
        "Give a path, a dict of judgements, a list of dicts or a frame."
    )


def as_runs(given: Any, name: str | None = None, *, columns: Columns = None) -> tuple[list[Run], list[Taken]]:
    """Runs from a path or several, a Run or several, dicts, lists of records or frames; see this module's docstring."""
    if isinstance(given, Run):
        return [given], [Taken(given.source, "Run", described([given]))]
    if isinstance(given, str | os.PathLike):
        return _from_path(given, name, columns)
    if is_frame(given):
        return _from_frame(given, name or "results", columns)
    if isinstance(given, Mapping):
        return _from_dict(given, name, columns)
    if isinstance(given, Sequence):
        return _from_list(given, name, columns)
    raise UsageError(
        f"results cannot be made of {type(given).__name__}. Give a path, a dict, a list of dicts, a frame, or several "
        "systems as {name: ...}."
    )


def _from_path(path: Any, name: str | None, columns: Columns) -> tuple[list[Run], list[Taken]]:
    from karat.files._read import read_results

    runs, taken = read_results(path, columns=columns)
    return _renamed(runs, name), [taken]


def _renamed(runs: list[Run], name: str | None) -> list[Run]:
    """Under a name of the caller's, one system takes it, and several are set under it."""
    if name is None:
        return runs
    return [replace(run, name=name if len(runs) == 1 else f"{name} {run.name}") for run in runs]


def _from_frame(given: Any, name: str, columns: Columns) -> tuple[list[Run], list[Taken]]:
    from karat.files._look import Look
    from karat.files._read import results_from

    look = Look.of_frame(name, polars_frame(given), columns)
    runs, taken = results_from(look)
    if len(runs) > 1 and name != "results":
        runs = _renamed(runs, name)
    return runs, [
        Taken("results (frame)" if name == "results" else f"{name} (frame)", taken.format, taken.what, taken.notes)
    ]


def _from_list(given: Sequence[Any], name: str | None, columns: Columns) -> tuple[list[Run], list[Taken]]:
    from karat.files._look import Look
    from karat.files._read import results_from

    if given and all(isinstance(item, str | os.PathLike | Run) for item in given):
        runs: list[Run] = []
        takens: list[Taken] = []
        for item in given:
            more, taken = as_runs(item, columns=columns)
            runs += more
            takens += taken
        return runs, takens
    if not all(isinstance(item, Mapping) for item in given):
        kinds = ", ".join(sorted({type(item).__name__ for item in given})[:4])
        raise UsageError(f"a list of results must hold paths only, or dicts only, and this one holds {kinds}.")
    found, taken_for = results_from(Look.of_records(name or "results", given, columns))
    return found, [Taken(f"{name or 'results'} (list)", taken_for.format, taken_for.what, taken_for.notes)]


def _from_dict(given: Mapping[Any, Any], name: str | None, columns: Columns) -> tuple[list[Run], list[Taken]]:
    if not given:
        raise UsageError("the dict of results is empty. Give {question: {doc: score}} or {system: run}.")
    level = {_level(value) for value in given.values()}
    if level <= {"list", "empty"} or level <= {"scores", "empty"} or level == {"answer"}:
        run, taken = run_from(given, name or "results", "results (dict)" if name is None else f"{name} (dict)", "dict")
        return [run], [taken]
    if level <= {"system", "path", "empty"}:
        return _systems(given, name, columns)
    raise UsageError(
        f"the dict of results mixes {_mixture(level)}. Give {{question: {{doc: score}}}}, {{question: [doc, ...]}} or "
        "{question: answer} for one system, and {system: one of these, a path or a frame} for several."
    )


def _mixture(level: set[str]) -> str:
    words = {
        "list": "lists of documents",
        "scores": "dicts of scores",
        "answer": "texts",
        "path": "paths of files",
        "system": "whole systems",
        "empty": "empty values",
        "other": "values of another kind",
    }
    return ", ".join(words[each] for each in sorted(level))


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


def _systems(given: Mapping[Any, Any], name: str | None, columns: Columns) -> tuple[list[Run], list[Taken]]:
    if name is not None:
        raise UsageError(f"system {name!r} is a dict of systems. Give one run for each name.")
    runs: list[Run] = []
    takens: list[Taken] = []
    for system, value in given.items():
        if isinstance(value, Run):
            value = replace(value, name=str(system))
        if _level(value) == "empty":
            value = Run.from_lists(str(system), {})
        more, taken = as_runs(value, str(system), columns=columns)
        runs += more
        takens += taken
    return runs, takens


def is_numbers(docs: Mapping[Any, Any]) -> bool:
    """Whether all values are numbers."""
    return all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in docs.values())


def _texts(keys: Iterable[Any], place: str) -> list[str] | None:
    """Keys as ids, or None when they all are already; two keys that are the same id are refused."""
    listed = list(keys)
    if _are_plain(listed):
        return None
    made: dict[str, Any] = {}
    for key in listed:
        try:
            text = _cells.id_text(key.item() if isinstance(key, np.generic) else key)
        except CellError as error:
            raise InputError(error.problem, place=place, remedy=error.remedy) from None
        if text in made:
            raise InputError(f"ids {shown(made[text])} and {shown(key)} are the same", place=place, remedy="Keep one.")
        made[text] = key
    return list(made)


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


def run_from(given: Mapping[Any, Any], name: str, place: str, format_name: str) -> tuple[Run, Taken]:
    """One run from a dict of scores, of lists or of answers; dicts of scores under ids are kept as they are."""
    questions = _texts(given, place)
    hits = dict(given) if questions is None and not isinstance(given, dict) else given
    if questions is not None:
        hits = dict(zip(questions, given.values(), strict=True))
    values = hits.values()
    if any(isinstance(value, Mapping) for value in values):
        run = _scored(hits, name, place)
    elif all(isinstance(value, str) for value in values):
        answers = {qid: Answer(qid, well_formed(text)) for qid, text in hits.items()}
        run = Run(name, answers=answers, source=place)
    else:
        run = Run.from_lists(name, {qid: _ids(docs, qid, place) for qid, docs in hits.items()}, place)
    return run, Taken(place, format_name, described([run]))


def _scored(hits: Mapping[str, Any], name: str, place: str) -> Run:
    changed: dict[str, Mapping[str, float]] = {}
    for qid, docs in hits.items():
        if not isinstance(docs, Mapping):
            if len(docs):
                raise InputError(f"question {shown(qid)} has a list among dicts of scores", place=place)
            changed[qid] = {}
        elif not _are_plain(docs):
            changed[qid] = dict(zip(_texts(docs, place) or docs, docs.values(), strict=True))
    return Run.from_scores(name, {**hits, **changed} if changed else hits, place)


def _ids(docs: Any, qid: str, place: str) -> list[str]:
    if isinstance(docs, np.ndarray):
        docs = docs.tolist()
    if isinstance(docs, Mapping) and not docs:
        return []
    if not isinstance(docs, list | tuple):
        raise InputError(f"question {shown(qid)} has {type(docs).__name__} where a list of ids is meant", place=place)
    if _are_plain(docs):
        return list(docs)
    try:
        return [_cells.id_text(doc.item() if isinstance(doc, np.generic) else doc) for doc in docs]
    except CellError as error:
        raise InputError(f"question {shown(qid)}: {error.problem}", place=place, remedy=error.remedy) from None


def qrels_from(given: Mapping[Any, Any], place: str, format_name: str) -> tuple[TestSet, Taken]:
    """A test set from `{question: {doc: grade}}` or `{question: [doc, ...]}`."""
    if not given:
        raise InputError("no questions", place=place, remedy="Give {question: {doc: grade}}.")
    questions = _texts(given, place)
    table: dict[str, dict[str, int]] = {}
    for qid, docs in zip(questions or given, given.values(), strict=True):
        if isinstance(docs, Mapping):
            names = _texts(docs, place)
            table[qid] = dict(zip(names or docs, (_grade(g, qid, place) for g in docs.values()), strict=True))
        elif isinstance(docs, list | tuple | set | frozenset | np.ndarray):
            table[qid] = dict.fromkeys(_ids(list(docs), qid, place), 1)
        else:
            raise InputError(
                f"question {shown(qid)} has {type(docs).__name__} where its documents are meant",
                place=place,
                remedy="Give {question: {doc: grade}} or {question: [doc, ...]}.",
            )
    judgements = sum(len(docs) for docs in table.values())
    what = f"{plural(len(table), 'question')}, {plural(judgements, 'judgement')}"
    return TestSet(qrels=table), Taken(place, format_name, what)


def _grade(value: Any, qid: str, place: str) -> int:
    if type(value) is int and abs(value) < _cells.GRADE_LIMIT:
        return value
    try:
        return _cells.whole(value.item() if isinstance(value, np.generic) else value)
    except CellError as error:
        raise InputError(f"question {shown(qid)}: {error.problem}", place=place, remedy=error.remedy) from None


def is_frame(given: Any) -> bool:
    """Whether this is a polars or pandas frame, told without importing either."""
    kind = type(given)
    return kind.__name__ in ("DataFrame", "LazyFrame") and kind.__module__.split(".")[0] in ("polars", "pandas")


def polars_frame(given: Any) -> pl.DataFrame:
    """A polars frame of a polars or pandas one; pandas is not imported, its index is left aside."""
    import polars as pl

    if type(given).__module__.split(".")[0] == "polars":
        frame: pl.DataFrame = given.collect() if type(given).__name__ == "LazyFrame" else given
        return frame
    columns: dict[str, pl.Series] = {}
    for place, name in enumerate(given.columns):
        column = given.iloc[:, place]
        values = column.to_numpy() if column.dtype.kind in "iuf" else _plain(column.tolist())
        if str(name) in columns:
            raise InputError(f"the frame has the column {str(name)!r} twice", remedy="Rename one of the two.")
        columns[str(name)] = _column(str(name), values)
    return pl.DataFrame(columns)


def _plain(values: list[Any]) -> list[Any]:
    """Python values, None for what pandas has instead of a value."""
    made: list[Any] = []
    for value in values:
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value is np.nan:
            made.append(None)
        else:
            made.append(value.tolist() if isinstance(value, np.ndarray | np.generic) else well_formed_values(value))
    return made


def _column(name: str, values: Any) -> pl.Series:
    import polars as pl

    if isinstance(values, np.ndarray):
        return pl.Series(name, values)
    if all(value is None or isinstance(value, str) for value in values):
        return pl.Series(name, values, dtype=pl.String)
    return pl.Series(name, values, dtype=pl.Object)
