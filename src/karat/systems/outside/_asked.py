"""Systems that are not karat's own, asked one question after the other: what a function and an endpoint share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from karat.core.errors import UsageError
from karat.core.run import Run
from karat.core.text.normalise import normalise
from karat.core.text.words import plural
from karat.files import as_runs, described
from karat.systems.outside._jobs import in_jobs
from karat.systems.outside._reply import SystemReply
from karat.systems.source import RunRequest, SystemRun, known_seconds, retrieval_seconds

if TYPE_CHECKING:
    from karat.core.types import Question
    from karat.results.study import Configuration


_SUSPICIOUS = 5  # questions with the same hits that are more than chance


class Outside(Protocol):
    """A system that can be asked.

    `kind` is what it was recognised as. `remarks` are what should be known of all its replies together, `places` where
    in them hits and answers were read.
    """

    name: str

    @property
    def kind(self) -> str: ...

    @property
    def remarks(self) -> tuple[str, ...]: ...

    @property
    def places(self) -> tuple[str, ...]: ...

    def ask(self, question: Question, k: int) -> SystemReply: ...

    def close(self) -> None: ...


class AskedSettings:
    """How to ask a system, and `jobs` questions of it at once."""

    jobs: int

    def open(self, name: str | None = None) -> Outside:
        """The system, ready to be asked."""
        raise NotImplementedError

    def reads(self) -> Iterator[Path]:
        """Files that its replies depend on."""
        return iter(())

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        """What it replies to every question, each asked once: rows that are known from before are taken as they are."""
        from karat.results.evaluation import InputInfo, Note

        name, testset = configuration.name, request.testset
        rows = dict(request.rows.known(name))
        missing = [question for question in testset if question.id not in rows]
        remarks, places, kind, longer = tuple(request.rows.notes(name)) if rows else (), tuple[str, ...](), "", 0
        ids = {normalise(question.text, "words"): question.id for question in testset}

        def keep(question: Question, reply: SystemReply) -> None:
            nonlocal longer
            longer += reply.longer
            rows[question.id] = _of_question(reply, question, ids).record(question)
            request.rows.keep(name, rows[question.id])
            request.progress(f"asking {name}", len(missing) - len(testset) + len(rows), len(missing))

        if missing:
            with opened(self, name) as system:
                ask_all(system, missing, request.asked_k, self.jobs, keep, max_failures=request.max_failures)
                places, kind = system.places, system.kind
                remarks = tuple(dict.fromkeys((*remarks, *system.remarks)))
            if remarks != tuple(request.rows.notes(name)):
                request.rows.keep_notes(name, remarks)
        ordered = [rows[qid] for qid in testset.ids]
        run = run_of_records(name, ordered)
        yield SystemRun(
            configuration=configuration,
            run=run,
            seconds=known_seconds(retrieval_seconds(row.get("seconds", {}), run.has_answers) for row in ordered),
            notes=[
                *(Note("warning", f"{name}: {remark}") for remark in (*remarks, *_same_hits(ordered))),
                *(Note("info", f"{name}: {remark}") for remark in _odd_lists(ordered, longer, request.asked_k)),
            ],
            about=InputInfo(name, kind, described([run]).removeprefix(f"{name}: "), places) if kind else None,
        )


def _of_question(reply: SystemReply, question: Question, ids: Mapping[str, str]) -> SystemReply:
    """The reply, or a failure where it repeats another question of the test set; `ids` are by the words of each."""
    echo = None if reply.echo is None else normalise(reply.echo, "words")
    if echo is None or echo not in ids or echo == normalise(question.text, "words"):
        return reply
    return SystemReply(seconds=reply.seconds, error=f"replied to another question, {ids[echo]!r}.")


def _same_hits(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence where every question got the same hits: the system does not listen."""
    lists = [row["retrieved"] for row in rows if row.get("retrieved")]
    if len(lists) < _SUSPICIOUS or any(hits != lists[0] for hits in lists):
        return []
    return [f"all {len(lists)} questions got the same hits. Check that it is given the question."]


def _odd_lists(rows: Sequence[Mapping[str, Any]], longer: int, k: int) -> Iterator[str]:
    """Sentences on lists of hits that are cut, or that hold a hit several times."""
    if longer:
        yield f"more than the {k} hits that are kept in {plural(longer, 'list')}: the rest is left out."
    lists = [[_named_parts(hit) for hit in row.get("retrieved") or ()] for row in rows]
    repeating = sum(len(set(hits)) < len(hits) for hits in lists)
    if repeating:
        yield f"the same hit several times for {plural(repeating, 'question')}: it keeps its ranks, and counts once."


def _named_parts(hit: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(part)) for name, part in hit.items() if name != "score")


@contextmanager
def opened(settings: AskedSettings, name: str | None = None) -> Iterator[Outside]:
    """A system that is ready to be asked, closed when the block ends. Opening a function runs its module."""
    with redirect_stdout(sys.stderr):
        system = settings.open(name)
    with closing(system):
        yield system


def ask_all(
    system: Outside,
    questions: Sequence[Question],
    k: int,
    jobs: int,
    done: Callable[[Question, SystemReply], None],
    *,
    max_failures: int | None = None,
) -> None:
    """Ask every question, `jobs` at a time; `done` is called in this thread for each as it is finished.

    Once more than `max_failures` questions failed, the rest are not asked: their replies say so. What a function prints
    goes to standard error.
    """
    if k < 1:
        raise UsageError(f"k={k}: a cut-off is 1 or more.")
    in_jobs(
        questions,
        lambda question: system.ask(question, k),
        lambda reason: SystemReply(error=reason, asked=False),
        done,
        jobs=jobs,
        max_failures=max_failures,
    )


def run_of(name: str, replies: Iterable[tuple[Question, SystemReply]]) -> Run:
    """The replies of a system as a run that can be scored; failed ones are failed rows in it."""
    return run_of_records(name, [reply.record(question) for question, reply in replies])


def run_of_records(name: str, records: Sequence[Mapping[str, Any]]) -> Run:
    """The same from rows of canonical results, as a journal keeps them."""
    if all(row.get("status") == "failed" for row in records):
        failed = {str(row["id"]): str(row["error"]) for row in records}
        return Run(name, failed=failed)
    (run,), _ = as_runs(list(records), name)
    return replace(run, name=name)
