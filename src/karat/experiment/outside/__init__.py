"""Systems that are not karat's own: a function of the user's, an HTTP endpoint; asked question by question."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, Protocol

from karat.core.errors import UsageError
from karat.experiment.outside._call import CallSettings, CallSystem
from karat.experiment.outside._http import HttpSettings, HttpSystem
from karat.experiment.outside._reply import Hit, Reply

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import Question

__all__ = [
    "CallSettings",
    "CallSystem",
    "Hit",
    "HttpSettings",
    "HttpSystem",
    "Outside",
    "Reply",
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

    def ask(self, question: Question, k: int) -> Reply: ...

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
    done: Callable[[Question, Reply], None],
    *,
    max_failures: int | None = None,
) -> None:
    """Ask every question, `jobs` at a time; `done` is called in this thread for each as it is finished.

    Once more than `max_failures` questions failed, the rest are not asked: their replies say so. What a function prints
    goes to standard error.
    """
    if k < 1 or jobs < 1:
        raise UsageError(f"k={k}, jobs={jobs}: both are 1 or more.")
    waiting = iter(questions)
    lock, stop, failures = threading.Lock(), threading.Event(), 0
    finished: queue.Queue[tuple[Question, Reply | BaseException]] = queue.Queue()

    def work() -> None:
        nonlocal failures
        while not stop.is_set():
            with lock:
                question = next(waiting, None)
                enough = max_failures is not None and failures > max_failures
            if question is None:
                return
            try:
                unasked = Reply(error=f"not asked: more than {max_failures} questions had failed.", asked=False)
                reply = unasked if enough else system.ask(question, k)
                with lock:
                    failures += reply.error is not None
                finished.put((question, reply))
            except BaseException as error:
                finished.put((question, error))

    with redirect_stdout(sys.stderr):
        for _ in range(min(jobs, len(questions))):
            threading.Thread(target=work, name="karat job", daemon=True).start()
        try:
            for _ in range(len(questions)):
                question, reply = finished.get()
                if isinstance(reply, BaseException):
                    raise reply
                done(question, reply)
        finally:
            stop.set()


def run_of(name: str, replies: Iterable[tuple[Question, Reply]]) -> Run:
    """The replies of a system as a run that can be scored; failed ones are failed rows in it."""
    return run_of_records(name, [reply.record(question) for question, reply in replies])


def run_of_records(name: str, records: Sequence[Mapping[str, Any]]) -> Run:
    """The same from rows of canonical results, as a journal keeps them."""
    import numpy as np

    from karat.core.run import Run
    from karat.files import as_runs

    if all(row.get("status") == "failed" for row in records):
        failed = {str(row["id"]): str(row["error"]) for row in records}
        return Run(name, [], np.zeros(1, np.int64), [], failed=failed)
    (run,), _ = as_runs(list(records), name)
    run.name = name
    return run
