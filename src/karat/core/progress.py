"""Progress: what a long step says of itself in one line, which a terminal or a notebook replaces by the next."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Progress = Callable[[str, int, int], None]
"""What is called with what is being done, how much of it is done, and how much there is."""
_P = ParamSpec("_P")
_T = TypeVar("_T")
_BAR = 24
_UNIT = re.compile(r" \[(\w+)\]$")
_SHOWN_FROM, _SHOWN_AGAIN = 1.0, 0.1  # seconds: what is quicker shows nothing, and a line stands at least so long


class ProgressLine:
    """Makes lines of steps: `line(what, done, total)`, None where the line before is too young to be replaced."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.what, self.first, self.begun, self.shown = "", 0, 0.0, 0.0

    def line(self, what: str, done: int = 0, total: int = 1, width: int | None = None) -> str | None:
        """The step in one printable line, with a bar, the pace and the time left where there is something to count.

        `what` may end in what is counted, `reading [MB]`. A line that is wider than `width` has no bar.
        """
        now = self.clock()
        if what != self.what:
            self.first, self.begun = done, now
        elif now - self.shown < _SHOWN_AGAIN and done < total:
            return None
        self.what, self.shown = what, now
        line = f"{what} ..." if what else ""
        if what and total > 1:
            full = _BAR * done // total
            match = _UNIT.search(what)
            label, unit = (what[: match.start()], f" {match[1]}") if match else (what, "")
            counts = f"{done:,} of {total:,}{unit}{_pace(done, total, now - self.begun, unit, self.first)}  {label}"
            line = f"[{'#' * full}{'.' * (_BAR - full)}] {counts}"
            if width is not None and len(line) > width:
                line = counts
        return "".join(c if c.isprintable() else "?" for c in line)


def seconds_left(done: int, total: int, seconds: float, first: int = 0) -> float | None:
    """The time left of a step that was at `first` so many seconds ago; None before that can be told.

    >>> seconds_left(50, 200, 10.0), seconds_left(950, 1000, 10.0, first=900)
    (30.0, 10.0)
    """
    if seconds < 1 or not first < done < total:
        return None
    return (total - done) * seconds / (done - first)


def _pace(done: int, total: int, seconds: float, unit: str = "", first: int = 0) -> str:
    """How many a second, and the time left, once that can be told.

    >>> _pace(50, 200, 10.0), _pace(1, 2, 0.1), _pace(10, 1000, 100.0, " MB")
    (', 5.0/s, 30 s left', '', ', 0.1 MB/s, 165 min left')
    """
    left = seconds_left(done, total, seconds, first)
    if left is None:
        return ""
    return f", {(done - first) / seconds:,.1f}{unit}/s, " + (
        f"{left:.0f} s left" if left < 120 else f"{left / 60:.0f} min left"
    )


class NotebookLine:
    """One output of a notebook's cell that each step replaces; a call that is done at once shows none."""

    def __init__(self, name: str, display: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.display, self.progress = name, display, ProgressLine(clock)
        self.begun = clock()
        self.handle: Any = None

    def __call__(self, what: str, done: int = 0, total: int = 1) -> None:
        if self.progress.clock() - self.begun < _SHOWN_FROM:
            return
        line = self.progress.line(what, done, total)
        if line is not None:
            self._put(f"{self.name}: {line}")

    def end(self, how: str) -> None:
        """Say how it ended in place of the last step, where any was shown."""
        if self.handle is not None:
            self._put(f"{self.name}: {how} after {self.progress.clock() - self.begun:,.1f} s")

    def _put(self, text: str) -> None:
        shown = {"text/plain": text}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)


def shown_in_notebook(parameter: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Where a notebook calls a function and asks for no progress by this parameter, one line shows it."""

    def decorated(function: Callable[_P, _T]) -> Callable[_P, _T]:
        @wraps(function)
        def called(*given: _P.args, **named: _P.kwargs) -> _T:
            display = None if named.get(parameter) is not None else _notebook_display()
            if display is None:
                return function(*given, **named)
            line = NotebookLine(f"karat.{function.__name__}", display)
            named[parameter] = line
            try:
                result = function(*given, **named)
            except BaseException:
                line.end("stopped")
                raise
            line.end("done")
            return result

        return called

    return decorated


def _notebook_display() -> Callable[..., Any] | None:
    """How IPython shows an object, where a notebook's kernel runs this; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[..., Any] = ipython.display.display
    return display
