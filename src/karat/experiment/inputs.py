"""Inputs: a test set and results read from what is at hand, and brought under one set of question ids."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from karat.core.errors import UsageError, did_you_mean
from karat.core.text.normalise import normalise
from karat.core.text.words import plural
from karat.experiment._steps import SLICE as STEPS
from karat.experiment._steps import StepsOf, counted_steps
from karat.files import as_runs, as_testset
from karat.match import Exclusions
from karat.measures.dialects import dialect_named
from karat.results.evaluation import InputInfo, Note

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.experiment.settings import Choices
    from karat.match import Resolution
    from karat.stats.summary import Slice
    from karat.systems.index import Index

T = TypeVar("T")


def load_testset(source: Any, *, columns: Mapping[str, str] | None = None) -> TestSet:
    """The test set a path, dict, list of records or frame holds. `columns` maps column names to karat's fields."""
    return as_testset(source, columns=columns)[0]


def load_results(source: Any, *, columns: Mapping[str, str] | None = None) -> list[Run]:
    """The runs, one per system, that a path, dict, list or frame holds."""
    return as_runs(source, columns=columns)[0]


def mapped(taken: Sequence[InputInfo], columns: Mapping[str, str]) -> tuple[InputInfo, ...]:
    """Inputs without the notes on mapped columns that another input has; a column that none has is refused."""
    for column, field_ in columns.items():
        about = f"--map {column}={field_}: "
        lacking = [t for t in taken if any(note.startswith(about) for note in t.notes)]
        if len(lacking) == len(taken):
            notes = [f"{note} ({t.place})" for t in lacking for note in t.notes if note.startswith(about)]
            raise UsageError(next((n for n in notes if "Did you mean" in n), notes[0]))
        taken = [replace(t, notes=tuple(n for n in t.notes if not n.startswith(about))) for t in taken]
    return tuple(taken)


def aligned_runs(testset: TestSet, runs: Sequence[Run], dialect: str) -> tuple[list[Run], list[Note]]:
    """The runs under names of their own and the test set's question ids, in the order the dialect ranks them.

    Hits that a question excludes are taken out.
    """
    if not runs:
        raise UsageError("no results were given.")
    for name in _repeated(run.name for run in runs):
        raise UsageError(
            f"two systems are called {name!r}. Rename a file, or pass results as {{name: run}} from Python."
        )
    refuse_repeated(testset)
    by_score = dialect_named(dialect).by_score
    has_quotes = not testset.is_plain and any(g.quote is not None for q in testset.questions for g in q.gold)
    exclusions = Exclusions(testset)
    aligned, notes, bare = [], [], []
    for run in runs:
        if run.has_only_texts and not has_quotes:
            bare.append(Note("info", f"{run.name}: its hits are texts without ids: taken as contexts, not ranked."))
            run = run.without_rankings()
        run, align_notes = align(testset, run)
        run, left_out = without_excluded(exclusions, run)
        aligned.append(run.by_score() if by_score else run)
        notes += [*align_notes, *left_out]
    return aligned, [*notes, *bare]


def empty_notes(runs: Sequence[Run]) -> Iterator[Note]:
    """Systems of several that have nothing, or found nothing; one alone is refused where hits meet the gold."""
    for run in runs if len(runs) > 1 else ():
        if not run.asked:
            yield Note("warning", f"{run.name}: holds no results for any question.")
        elif run.has_rankings and not len(run):
            yield Note("warning", f"{run.name}: returned no hits for any question.")


def without_excluded(exclusions: Exclusions, run: Run) -> tuple[Run, list[Note]]:
    """The run less the hits that its questions exclude, and how many they were.

    Answers keep the contexts that they were made from, by whose places they cite them.
    """
    from karat.experiment._answered import keep_contexts

    whole = run
    run, many = exclusions.without(whole)
    run = keep_contexts(run, whole) if many and run.answers else run
    what = f"{plural(many, 'hit')} that {'its question excludes' if many == 1 else 'their questions exclude'}"
    text = f"{run.name}: {what} {'was' if many == 1 else 'were'} taken out before ranks were counted."
    return run, [Note("info", text)] if many else []


def _repeated(names: Iterable[str]) -> list[str]:
    """Names that stand more than once, in their order."""
    return [name for name, count in Counter(names).items() if count > 1]


def align(testset: TestSet, run: Run) -> tuple[Run, list[Note]]:
    """The run under the test set's ids.

    Where a run repeats the questions' texts and an id stands for another text than in the test set (rows numbered
    from 0 here and from 1 there), or no id is known, questions are matched by their texts.
    """
    if not run.texts or testset.is_plain:
        return run, []
    asked = {q.id: normalise(q.text, "words") for q in testset.questions if q.text}
    texts = {qid: normalise(text, "words") for qid, text in run.texts.items()}
    shared = [qid for qid in texts if qid in asked]
    clashing = [qid for qid in shared if texts[qid] and asked[qid] != texts[qid]]
    if shared and not clashing:
        return run, []
    agreed = set(shared) - set(clashing)
    times = Counter(asked.values())
    free = {text: qid for qid, text in asked.items() if text and times[text] == 1 and qid not in agreed}
    wanted = {qid: free[text] for qid, text in texts.items() if qid not in agreed and text in free}
    claims = Counter(wanted.values())
    renamed = {qid: target for qid, target in wanted.items() if claims[target] == 1}
    if not renamed:
        if not clashing:
            return run, []
        differing = (
            f"{run.name}: {len(clashing)} of {len(shared)} questions ask something else than the test set's of the "
            f"same id (id {clashing[0]!r}). Check that both belong together."
        )
        return run, [Note("warning", differing, guard="questions differ")]
    other = "id stands for another question" if len(clashing) == 1 else "ids stand for other questions"
    why = f"{len(clashing)} {other} than in the test set." if shared else "no id is shared."
    note = Note(
        "warning" if shared else "info",
        f"{run.name}: {len(renamed)} of {len(texts)} questions were matched by their texts, because {why}",
    )
    return _rename(run, renamed, set(asked) - agreed), [note]


def _rename(run: Run, renamed: dict[str, str], taken: set[str]) -> Run:
    """The run with questions renamed; one that only shares an id with a question it does not ask leaves it."""
    claimed = set(renamed.values())

    def name(qid: str) -> str:
        if qid in renamed:
            return renamed[qid]
        leaves = qid in taken and (qid in run.texts or qid in claimed)
        return f"{qid} (results)" if leaves else qid

    def by_name(of_questions: Mapping[str, T]) -> dict[str, T]:
        return {name(qid): value for qid, value in of_questions.items()}

    return replace(
        run, question_ids=[name(qid) for qid in run.question_ids], answers=by_name(run.answers),
        failed=by_name(run.failed), unasked=by_name(run.unasked), texts=by_name(run.texts), steps=by_name(run.steps),
        by_question=None, _docs=run.docs, _scores=run.scores,
    )  # fmt: skip


def resolved(
    testset: TestSet, index: str | os.PathLike[str] | Index, choices: Choices, say: Callable[[str], None]
) -> Resolution:
    """The gold beside the chunks of an index that hold it."""
    from karat.match import resolve

    say("finding the gold in the index")
    opened = opened_index(index)
    dialect, matching = dialect_named(choices.dialect), choices.matching
    return resolve(
        testset, opened.chunks, opened.docs, by=matching.match or dialect.match, page_offset=matching.page_offset,
        pages=matching.pages, any_file=dialect.any_file,
    )  # fmt: skip


class Resolutions:
    """The gold beside the chunks of each of some indexes, found when it is first asked for."""

    def __init__(self, testset: TestSet, indexes: Sequence[Index], choices: Choices) -> None:
        self._testset, self._indexes, self._choices = testset, indexes, choices
        self._resolutions: dict[int, Resolution] = {}

    def of(self, run: Run, index: Index | None = None) -> Resolution | None:
        """For the index that a run is known to have searched; else for the one that knows most of its hits.

        Hits of other systems may be its chunks all the same. None where there is no index.
        """
        if index is None and self._indexes:
            known = [sum(i.strip() in one.chunks.row_of for i in run.doc_list) for one in self._indexes]
            index = self._indexes[known.index(max(known))]
        if index is None:
            return None
        if id(index) not in self._resolutions:
            self._resolutions[id(index)] = resolved(self._testset, index, self._choices, lambda step: None)
        return self._resolutions[id(index)]


def refuse_repeated(testset: TestSet) -> None:
    """Refuse a test set in which two questions have one id."""
    for name in _repeated(testset.ids):
        raise UsageError(f"{testset.name} holds question {name!r} twice. Give every question an id of its own.")


def refuse_unsearchable(testset: TestSet) -> None:
    """Refuse questions that no search could be measured by: without gold, or without a text."""
    if not testset.has_gold:
        raise UsageError(f"{testset.name} holds no gold, so nothing can be measured on it. Add gold to its questions.")
    refuse_textless(testset, testset.name)


def refuse_textless(testset: TestSet, place: str) -> None:
    """Refuse questions without a text where they are to be asked."""
    empty = [question.id for question in testset if not question.text.strip()]
    if empty:
        without = "1 has" if len(empty) == 1 else f"{len(empty):,} have"
        raise UsageError(f"{place}: question {empty[0]!r} has no text to search for ({without} none).")


def opened_index(index: str | os.PathLike[str] | Index) -> Index:
    """An index, opened where it is named by its folder."""
    from karat.systems.index import Index

    return index if isinstance(index, Index) else Index.open(index)


def slices_of(testset: TestSet, by: Sequence[str], steps: StepsOf | None = None) -> dict[str, Slice]:
    """The value of each slice for every question; of the number of steps these by system.

    `steps` are those of an evaluation; None: they are not known yet, and the slice by their number is left out.
    """
    known = [*testset.slices, *([STEPS] if steps and STEPS not in testset.slices else [])] if by else []
    slices: dict[str, Slice] = {}
    for name in by:
        if name == STEPS and name not in known and steps is None:
            continue
        if name not in known:
            offered = f"There are {', '.join(known)}." if known else "Its questions have no kind and no tags."
            lack = "the results have no steps, so there is" if name == STEPS else "the test set has"
            raise UsageError(f"{lack} no slice {name!r}.{did_you_mean(name, known)} {offered}")
        if name in testset.slices:
            slices[name] = [q.slice_value(name) for q in testset.questions]
        else:
            slices[name] = counted_steps(testset.ids, steps or {})
    return slices
