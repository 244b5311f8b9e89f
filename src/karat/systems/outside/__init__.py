"""Systems and answerers that are not karat's own: a function of the user's, an HTTP endpoint; asked one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from karat.core.errors import UsageError
from karat.systems.outside._answering import ANSWER_BODY, ANSWER_PATH, answerer_outside
from karat.systems.outside._call import CallSettings, CallSystem
from karat.systems.outside._endpoint import HttpSettings
from karat.systems.outside._http import HttpSystem
from karat.systems.outside._jobs import in_jobs
from karat.systems.outside._reply import Hit, SystemReply

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import Question

__all__ = [
    "ANSWER_BODY",
    "ANSWER_PATH",
    "CallSettings",
    "CallSystem",
    "Hit",
    "HttpSettings",
    "HttpSystem",
    "Outside",
    "SystemReply",
    "answerer_outside",
    "ask_all",
    "opened",
    "run_of",
    "run_of_records",
]


class Outside(Protocol):
    """A system that can be asked. `remarks` are what should be known of all its replies together."""

    name: str

    @property
    def remarks(self) -> tuple[str, ...]: ...

    def ask(self, question: Question, k: int) -> SystemReply: ...

    def close(self) -> None: ...


@contextmanager
def opened(settings: CallSettings | HttpSettings, name: str | None = None) -> Iterator[Outside]:
    """A system that is ready to be asked, closed when the block ends. Opening a function runs its module."""
    with redirect_stdout(sys.stderr):
        system: Outside = (
            CallSystem(settings, name) if isinstance(settings, CallSettings) else HttpSystem(settings, name)
        )
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
    from karat.core.run import Run
    from karat.files import as_runs

    if all(row.get("status") == "failed" for row in records):
        failed = {str(row["id"]): str(row["error"]) for row in records}
        return Run(name, failed=failed)
    (run,), _ = as_runs(list(records), name)
    return replace(run, name=name)
