"""Doing something within some seconds: in a thread that is left behind when the time is over.

A thread cannot be killed. One that hangs goes on until it ends or the process does; it keeps no process alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class TimeIsOver(Exception):  # noqa: N818
    """What was to be done is not done."""


class Threads:
    """Counts the threads that were left behind and still hang."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hanging = 0

    def within(self, seconds: float, act: Callable[[], Any]) -> Any:
        """What `act` returns or raises, or TimeIsOver after so many seconds."""
        done = threading.Event()
        outcome: list[Any] = []
        problem: list[BaseException] = []
        left = False

        def work() -> None:
            try:
                outcome.append(act())
            except BaseException as error:
                problem.append(error)
            with self._lock:
                done.set()
                if left:
                    self.hanging -= 1

        threading.Thread(target=work, name="karat asks", daemon=True).start()
        if not done.wait(seconds):
            with self._lock:
                if not done.is_set():
                    left = True
                    self.hanging += 1
                    raise TimeIsOver
        if problem:
            raise problem[0]
        return outcome[0]
