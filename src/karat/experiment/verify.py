"""Verify: printed figures against the rows they are said to come from, or by themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, UsageError
from karat.files import as_runs, as_testset, read_raw_table, read_tables
from karat.match import JudgingSettings, check_questions
from karat.match import match as matched
from karat.measures.dialects import dialect_named
from karat.results.verification import Verification

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.diagnose.verify.rows import QuestionRows


def verify(
    rows: Any,
    table: Any = None,
    *,
    testset: Any = None,
    dialect: str | None = None,
    match: str = "auto",
    n: int | None = None,
    k: int | None = None,
    one_gold: bool = False,
    columns: Mapping[str, str] | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> Verification:
    """Every printed figure beside what it should be, with the likely cause where it is something else.

    `rows` is a file with a row a question, a table of means alone, or a run (a folder, a name, LAST), whose own rows
    and summary are taken. `table` (csv, tsv, json) is what is said to summarise the rows. With a `testset`, `rows` may
    be results of any format: measures are computed from their rankings. `dialect` says how the rows count repeats
    (healthcare where they hold pages). `n` is the number of questions behind a table that does not say, `k` what a
    literal k in its names stands for, and `one_gold` that every question has a single gold unit.
    """
    from karat.diagnose.verify import rows_of, verify_rows, verify_table
    from karat.diagnose.verify.documents import parted

    if n is not None and n < 1:
        raise UsageError(f"n={n}: a table is over 1 question or more.")
    if k is not None and k < 1:
        raise UsageError(f"k={k}: a cut-off is 1 or more.")
    rows, table = _run_files(rows, table, runs_dir)
    if testset is not None:
        return _by_testset(rows, table, testset, dialect, match, n, k, columns, one_gold)
    tables = read_tables(rows, "rows")
    name = tables[0].name
    records, beside = parted(tables[0]) if len(tables) == 1 else (None, None)
    summary = read_raw_table(table, "table") if table is not None else beside
    single = rows_of(records, k, sure=table is not None or beside is not None) if records is not None else None
    if single is None:
        if table is not None:
            raise InputError(
                "holds no rows of single questions", place=name,
                remedy="Give a file with a column that names questions, or give it alone as a table.",
            )  # fmt: skip
        figures = verify_table(tables, n=n, k=k, one_gold=one_gold)
        return Verification(None, name, tuple(figures), (f"{name}: read as a table of summaries",))
    notes: list[str] = []
    repeats = _repeats(single, dialect, notes)
    notes.insert(0, f"{name}: {single.size}")
    if table is not None and summary is not None:
        notes.append(f"{summary.name}: read as its summary")
    figures = verify_rows(single, summary, repeats=repeats, n=n, one_gold=one_gold, beside=table is None)
    return Verification(name, None if summary is None else summary.name, tuple(figures), tuple(notes))


def _repeats(rows: QuestionRows, dialect: str | None, notes: list[str]) -> Repeats:
    name = dialect or ("healthcare" if {"retrieved_pages", "relevant_pages"} <= set(rows.names) else "karat")
    if name != "karat":
        notes.append(f"repeats are counted as the dialect {name} does")
    return dialect_named(name).repeats


def _run_files(rows: Any, table: Any, runs_dir: str | os.PathLike[str]) -> tuple[Any, Any]:
    """The rows and summary of a run, where `rows` names one."""
    if not isinstance(rows, str | os.PathLike) or Path(rows).is_file():
        return rows, table
    from karat.experiment.store import find_run

    if Path(rows).exists() or "." not in Path(rows).name:
        folder = find_run(runs_dir, str(rows)).path
        if not (folder / "rows.csv").is_file():
            raise InputError(
                "the run was not finished: it has no rows.csv", place=str(folder), remedy="Resume it: `karat run`."
            )
        return folder / "rows.csv", table if table is not None else folder / "summary.csv"
    return rows, table


def _by_testset(
    results: Any, table: Any, testset: Any, dialect: str | None, match: str, n: int | None, k: int | None,
    columns: Mapping[str, str] | None, one_gold: bool,
) -> Verification:  # fmt: skip
    """A table against rankings that are scored here, by a test set."""
    from karat.diagnose.verify import verify_rows
    from karat.diagnose.verify.printed import read_figures
    from karat.diagnose.verify.recompute import from_testset
    from karat.diagnose.verify.rows import QuestionRows
    from karat.experiment.inputs import aligned_runs, empty_notes

    if table is None:
        raise UsageError("with a test set, give the table that is to be verified: --table summary.csv.")
    questions, _ = as_testset(testset, columns=columns or {})
    runs, _ = as_runs(results, columns=columns or {})
    runs, joined = aligned_runs(questions, runs, dialect or "karat")
    joined += empty_notes(runs)
    check_questions(questions, runs)
    summary = read_raw_table(table, "table")
    repeats = dialect_named(dialect or "karat").repeats
    scored = matched(questions, runs, JudgingSettings(repeats=repeats), by=match)
    names = list(dict.fromkeys(one.name for one in read_figures(summary)[0] if one.name))
    computed = from_testset(scored, runs, names, k)
    rows = [{"system": run.name, "question_id": qid} for run in runs for qid in questions.ids]
    result_table = read_raw_table(rows, _named(results))
    single = QuestionRows(result_table, k)
    figures = verify_rows(single, summary, computed=computed, n=n, one_gold=one_gold)
    against = f"{result_table.name}: {single.size}, scored against {questions.name}"
    notes = (f"{against}, matched by {scored.join.name}", f"{summary.name}: read as its summary")
    return Verification(result_table.name, summary.name, tuple(figures), (*notes, *(note.text for note in joined)))


def _named(given: Any) -> str:
    return str(given) if isinstance(given, str | os.PathLike) else "results"
