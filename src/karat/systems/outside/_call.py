"""A function of the user's as a system: `module:function`.

It is called with the question's text and, where it takes that, with `k`. A first parameter annotated `Question` gets
`karat.core.types.Question` with id and text alone: gold and answers are never shown to a system.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.core.errors import UsageError
from karat.core.loading import file_of, load_named
from karat.core.text.words import excerpt
from karat.core.types import Question
from karat.files import ReplyReader
from karat.systems.outside._asked import AskedSettings
from karat.systems.outside._reply import LONGEST, BadReply, SystemReply, read_returned

MOST_HANGING = 32  # calls left behind after which no more are made


@dataclass(frozen=True)
class CallSettings(AskedSettings):
    """Which function, where its file may stand, and how long it may take for a question."""

    target: str
    folder: Path | None = None
    timeout_seconds: float = 60.0
    jobs: int = 1

    def open(self, name: str | None = None) -> CallSystem:
        return CallSystem(self, name)

    def reads(self) -> Iterator[Path]:
        file = file_of(self.target, self.folder)
        return iter(() if file is None else (file,))


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
    """A function of the user's, loaded, and called within a limit of time. Loading it runs its module."""

    def __init__(self, settings: CallSettings) -> None:
        self.settings = settings
        self.function = load_named(settings.target, "function", settings.folder)
        if inspect.isclass(self.function):
            raise UsageError(f"{settings.target!r} is a class. Name a function, or an object that can be called.")
        self._threads = Threads()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all calls together."""
        hanging = self._threads.hanging
        return (f"{hanging} calls did not end and hang until karat ends.",) if hanging else ()

    def call(self, positional: Sequence[Any], keywords: Mapping[str, Any], read: Callable[[Any], Any]) -> CallOutcome:
        """What `read` makes of what the function returns; whatever goes wrong is an error."""
        if self._threads.hanging >= MOST_HANGING:
            return CallOutcome(error=f"not asked: {MOST_HANGING} earlier calls still hang.", asked=False)
        limit = self.settings.timeout_seconds
        begun = time.perf_counter()

        def called() -> Any:
            returned = self.function(*positional, **keywords)
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


def _failed(error: BaseException, begun: float) -> CallOutcome:
    words = excerpt(str(error), LONGEST)
    return CallOutcome(
        seconds=time.perf_counter() - begun, error=f"{type(error).__name__}: {words}" if words else type(error).__name__
    )


class CallSystem:
    """A function that retrieves."""

    def __init__(self, settings: CallSettings, name: str | None = None) -> None:
        self.settings, self.name = settings, name or settings.target
        self._function = Function(settings)
        self._arguments = _arguments(self._function.function, settings.target)
        self._reader = ReplyReader()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all replies together."""
        return (*self._function.remarks, *self._reader.notes())

    def ask(self, question: Question, k: int) -> SystemReply:
        """What the function returns for a question; whatever goes wrong is the error of the reply."""
        positional, keywords = self._arguments(Question(question.id, question.text), k)
        return self._function.call(
            positional, keywords, lambda returned: read_returned(returned, question, k, self._reader)
        ).reply()

    def close(self) -> None:
        """Let go of what was opened for asking."""
        self._function.close()


Arguments = Callable[[Question, int], tuple[tuple[Any, ...], dict[str, Any]]]


def _arguments(function: Any, target: str) -> Arguments:
    """How to call a function: by what it takes."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return lambda question, k: ((question.text, k), {})
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    named = any(p.name == "k" and p.kind is not p.POSITIONAL_ONLY for p in parameters)
    if (not by_place and not rest) or (by_place and by_place[0].name == "k"):
        raise UsageError(f"{target!r} takes no question. Its first parameter is the question's text, then k.")
    second = not named and (by_place[1].default is inspect.Parameter.empty if len(by_place) > 1 else rest)
    given = {p.name for p in by_place[: 1 + second]} | ({"k"} if named else set())
    more = [
        p.name
        for p in parameters
        if p.default is p.empty and p.name not in given and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if more:
        raise UsageError(f"{target!r} needs more than a question and k: {', '.join(more)}. Give them defaults.")
    whole = bool(by_place) and by_place[0].annotation in (Question, "Question", "karat.core.types.Question")

    def arguments(question: Question, k: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        first = question if whole else question.text
        return ((first, k) if second else (first,)), ({"k": k} if named else {})

    return arguments
