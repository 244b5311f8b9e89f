"""Asking strangers several things at a time: in threads, with what is done outcome in the thread that asked."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Protocol, TypeVar

from karat.core.errors import UsageError


class HasError(Protocol):
    """What came of asking."""

    @property
    def error(self) -> str | None: ...


A = TypeVar("A")
B = TypeVar("B", bound=HasError)


def in_jobs(
    items: Sequence[A],
    ask: Callable[[A], B],
    unasked: Callable[[str], B],
    done: Callable[[A, B], None],
    *,
    jobs: int,
    max_failures: int | None = None,
) -> None:
    """Ask about every item, `jobs` at a time; `done` is called in this thread for each as it is finished.

    Once more than `max_failures` of them failed, the rest are not asked: `unasked` makes what stands for them, from the
    reason. What a function prints goes to standard error.
    """
    if jobs < 1:
        raise UsageError(f"jobs={jobs}: it is 1 or more.")
    waiting = iter(items)
    lock, stop, failures = threading.Lock(), threading.Event(), 0
    finished: queue.Queue[tuple[A, B | BaseException]] = queue.Queue()
    nothing = object()

    def work() -> None:
        nonlocal failures
        while not stop.is_set():
            with lock:
                item = next(waiting, nothing)
                enough = max_failures is not None and failures > max_failures
            if item is nothing:
                return
            one: A = item  # type: ignore[assignment]
            try:
                outcome = unasked(f"not asked: more than {max_failures} questions had failed.") if enough else ask(one)
                with lock:
                    failures += outcome.error is not None
                finished.put((one, outcome))
            except BaseException as error:
                finished.put((one, error))

    with redirect_stdout(sys.stderr):
        for _ in range(min(jobs, len(items))):
            threading.Thread(target=work, name="karat job", daemon=True).start()
        try:
            for _ in range(len(items)):
                one, outcome = finished.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                done(one, outcome)
        finally:
            stop.set()
