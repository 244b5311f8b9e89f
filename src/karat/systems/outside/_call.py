"""A function or an object of the user's as a system: `module:name` in karat.yaml, the thing itself in Python.

A function is called with the question's text and, where it takes them, with `k` and with `history`, the earlier turns
of the conversation as messages. A first parameter annotated `Question` gets `karat.core.types.Question` with id, text
and history alone: gold and answers are never shown to a system.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.core.loading import file_of, load_named
from karat.core.text.words import excerpt, plural
from karat.core.types import Question
from karat.files import ReplyReader
from karat.systems.outside._asked import AskedSettings
from karat.systems.outside._callee import Callee, callee_of
from karat.systems.outside._reply import LONGEST, BadReply, SystemReply, read_returned

SECONDS = 60.0  # that a call may take for one question
MOST_HANGING = 32  # calls left behind after which no more are made


@dataclass(frozen=True)
class CallSettings(AskedSettings):
    """Which function or object, where its file may stand, and how long it may take for a question."""

    target: str
    folder: Path | None = None
    timeout_seconds: float = SECONDS
    jobs: int = 1

    def open(self, name: str | None = None) -> CallSystem:
        target = load_named(self.target, "function", self.folder, uncallable=True)
        callee = callee_of(target, self.target)
        return CallSystem(callee, name or self.target, self.timeout_seconds)

    def reads(self) -> Iterator[Path]:
        file = file_of(self.target, self.folder)
        return iter(() if file is None else (file,))


@dataclass(frozen=True, kw_only=True)
class ObjectSettings(AskedSettings):
    """An object of the user's, as `karat.system` takes it: what it is, and how what it returns is read.

    `hits` and `answer` are functions of what it returns: one gives the list of hits, the other the text of the answer.
    `k` is how many hits it is asked for, where more are kept of what it returns. Seconds that are None, and
    no jobs, are not set yet.
    """

    target: Any
    name: str | None = None
    hits: Callable[[Any], Any] | None = None
    answer: Callable[[Any], Any] | None = None
    columns: Mapping[str, str] | None = None
    k: int | None = None
    timeout_seconds: float | None = None
    jobs: int = 0  # 0: not set

    def open(self, name: str | None = None) -> CallSystem:
        label = name or self.label
        callee = callee_of(self.target, label)
        return CallSystem(callee, label, self.timeout_seconds or SECONDS, self._picked, self.columns, self.k)

    @property
    def label(self) -> str:
        """What the system is called where nobody says."""
        own = getattr(self.target, "__name__", None)
        return self.name or (own if isinstance(own, str) and own.isidentifier() else type(self.target).__name__)

    def _picked(self, returned: Any) -> Any:
        """What was returned, less what is left to `hits` and `answer`."""
        if self.hits is None and self.answer is None:
            return returned
        picked: dict[str, Any] = {}
        if self.hits is not None:
            picked["retrieved"] = self.hits(returned)
        if self.answer is not None:
            picked["answer"] = self.answer(returned)
        return picked


@dataclass(frozen=True)
class CallOutcome:
    """What a stranger gave, read and checked, or why there is nothing; and the seconds it took."""

    value: Any = None
    seconds: float | None = None
    error: str | None = None
    asked: bool = True

    def reply(self) -> SystemReply:
        """The reply that was read, with the seconds it took."""
        if self.error is not None:
            return SystemReply(seconds=self.seconds, error=self.error, asked=self.asked)
        read: SystemReply = self.value
        return replace(read, seconds=self.seconds)


class TimeIsOver(Exception):  # noqa: N818
    """What was to be done is not done."""


class Threads:
    """Calls within some seconds, each in a thread that is left behind when the time is over.

    A thread cannot be killed. One that hangs goes on until it ends or the process does; it keeps no process alive.
    """

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


class Function:
    """What is called within a limit of time, and awaited where it is async."""

    def __init__(self, function: Callable[..., Any], timeout_seconds: float) -> None:
        self.function, self._limit = function, timeout_seconds
        self._threads = Threads()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all calls together."""
        hanging = self._threads.hanging
        return (f"{plural(hanging, 'call')} did not end, and will not before karat does.",) if hanging else ()

    def call(self, positional: Sequence[Any], read: Callable[[Any], Any]) -> CallOutcome:
        """What `read` makes of what the function returns; whatever goes wrong is an error."""
        if self._threads.hanging >= MOST_HANGING:
            return CallOutcome(error=f"not asked: {MOST_HANGING} earlier calls still hang.", asked=False)
        limit = self._limit
        begun = time.perf_counter()

        def called() -> Any:
            returned = self.function(*positional)
            if inspect.isawaitable(returned):
                returned = self._awaited(returned, begun + limit)
            return read(returned)

        try:
            value = self._threads.within(limit, called)
        except (TimeIsOver, TimeoutError) as over:
            if isinstance(over, TimeoutError) and time.perf_counter() - begun < limit:
                return _failed(over, begun)
            return CallOutcome(seconds=time.perf_counter() - begun, error=f"did not return within {limit:g} seconds.")
        except BadReply as bad:
            return CallOutcome(seconds=time.perf_counter() - begun, error=str(bad))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _failed(error, begun)
        return CallOutcome(value, time.perf_counter() - begun)

    def _awaited(self, awaitable: Awaitable[Any], end: float) -> Any:
        """What an async function gives, on one loop for all questions, so that it may keep its connections."""

        async def awaiting() -> Any:
            return await asyncio.wait_for(awaitable, max(0.001, end - time.perf_counter()))

        return asyncio.run_coroutine_threadsafe(awaiting(), self._running()).result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="karat loop", daemon=True).start()
            return self._loop

    def close(self) -> None:
        """Let go of what was opened for asking."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            for _ in range(200):
                if not loop.is_running():
                    loop.close()
                    return
                time.sleep(0.01)


def without_history(questions: int) -> tuple[str, ...]:
    """What should be known where a system was asked questions of conversations without their earlier turns."""
    if not questions:
        return ()
    what = "question was asked without its" if questions == 1 else "questions were asked without their"
    return (f"{questions:,} {what} history: the system takes none (a parameter or placeholder called history).",)


def _failed(error: BaseException, begun: float) -> CallOutcome:
    words = excerpt(str(error), LONGEST)
    return CallOutcome(
        seconds=time.perf_counter() - begun, error=f"{type(error).__name__}: {words}" if words else type(error).__name__
    )


class CallSystem:
    """A function or an object that retrieves, answers or both."""

    def __init__(
        self,
        callee: Callee,
        name: str,
        timeout_seconds: float,
        picked: Callable[[Any], Any] = lambda returned: returned,
        columns: Mapping[str, str] | None = None,
        k: int | None = None,
    ) -> None:
        self.name, self._callee, self._picked, self._k = name, callee, picked, k
        self._function, self._reader = Function(callee.call, timeout_seconds), ReplyReader(columns)
        self._turn = threading.Lock() if callee.alone else nullcontext()
        self._alone: set[str] = set()  # questions that were asked without their history

    @property
    def kind(self) -> str:
        return self._callee.kind

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all replies together."""
        return (*self._function.remarks, *without_history(len(self._alone)), *self._reader.notes())

    @property
    def places(self) -> tuple[str, ...]:
        return (*self._callee.told(), *self._reader.places())

    def ask(self, question: Question, k: int) -> SystemReply:
        """What it returns for a question; whatever goes wrong is the error of the reply."""
        if question.history and not self._callee.history:
            self._alone.add(question.id)
        shown = Question(question.id, question.text, history=question.history)
        with self._turn:
            return self._function.call(
                (shown, self._k or k), lambda returned: self._read(returned, question, k)
            ).reply()

    def _read(self, returned: Any, question: Question, k: int) -> SystemReply:
        return read_returned(self._picked(returned), question, k, self._reader, answers=self._callee.answers)

    def close(self) -> None:
        """Let go of what was opened for asking."""
        self._function.close()
