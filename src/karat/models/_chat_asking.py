"""Asking: prompts in, what was said out, many at once, within one event loop that has a thread of its own.

With a thread of its own it works the same in a script and in a notebook, where a loop is running already.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, TypeVar

from karat.core.errors import KaratError
from karat.core.means import Prompt, Said
from karat.core.text.wellformed import well_formed
from karat.models._calls import Call, Calls, FailedCall, now, said_in
from karat.models._chat_bill import Ledger
from karat.models._chat_pace import Pace, backoff
from karat.models._chat_settings import ChatSettings
from karat.models._chat_wire import Failure, Hush, Reply, Wire
from karat.models._endpoint import LONGEST_WAIT, REFUSED

_REFUSES_JSON = (400, 422)
T = TypeVar("T")


Done = queue.SimpleQueue[tuple[str, Said] | None]


class Asking:
    """The loop, its thread, and all that lives in it. `first_wait` is the seconds before the first retry."""

    def __init__(self, settings: ChatSettings, calls: Calls, ledger: Ledger, first_wait: float) -> None:
        self.settings, self.calls, self.ledger, self.first_wait = settings, calls, ledger, first_wait
        self._pace = Pace(settings.per_minute)
        self._flying: dict[str, asyncio.Future[Said | None]] = {}
        self._reached = self._plain_json = False
        self._hush = Hush()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name="karat chat", daemon=True)
        self._wire, self._slots, self._settled = Wire(settings), asyncio.Semaphore(settings.jobs), asyncio.Event()
        self._thread.start()

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._hush.begin()
        try:
            self._loop.run_forever()
        finally:
            self._hush.end()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have the loop do something."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Close connections, loop and thread."""
        self.submit(self._end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _end(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._wire.close()

    async def all(self, pending: deque[tuple[str, Prompt]], done: Done) -> KaratError | None:
        """Ask all of them, some at once, and put each into `done`. Returns what stopped it, if something did."""

        async def worker() -> None:
            while pending:
                key, prompt = pending.popleft()
                async with self._slots:
                    what = await self._one(key, prompt)
                done.put((key, what))

        workers = [asyncio.create_task(worker()) for _ in range(min(self.settings.jobs, len(pending)))]
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in workers:
                task.cancel()
            ends = await asyncio.gather(*workers, return_exceptions=True)
        errors = [end for end in ends if isinstance(end, Exception)]
        for error in errors:
            if not isinstance(error, KaratError):
                raise error
        return next((error for error in errors if isinstance(error, KaratError)), None)

    async def _one(self, key: str, prompt: Prompt) -> Said:
        """Ask one, unless it is known by now or under way for another."""
        while flying := self._flying.get(key):
            if what := await asyncio.shield(flying):
                return self._again(what)
        if call := self.calls.get(key):
            return self._again(said_in(call))
        flying = self._flying[key] = asyncio.get_running_loop().create_future()
        what = None
        try:
            what = await self._insist(key, prompt)
        finally:
            del self._flying[key]
            flying.set_result(what)
        return what

    def _again(self, what: Said) -> Said:
        """What was said to another who asked the same."""
        if what.error is not None:
            return what
        self.ledger.count(cached=1)
        return replace(what, cached=True)

    async def _insist(self, key: str, prompt: Prompt) -> Said:
        """Ask one, again where that may help."""
        request = self.settings.request(prompt)
        bare = prompt.json and "response_format" not in self.settings.extra  # may be asked without
        if bare and self._plain_json:
            del request["response_format"]
        attempt, last = 0, ""
        while True:
            most = self.ledger.most(request, self.settings.most_written(prompt))
            if not await self._room(most):
                self.ledger.count(not_asked=1)
                refusal = self.ledger.refusal
                return Said(error=f"{last}; not asked again: {refusal}" if last else f"not asked: {refusal}")
            outcome, cost = await self._attempt(request, most)
            if isinstance(outcome, Reply):
                self._plain_json |= bare and "response_format" not in request
                return self._keep(key, prompt, request, outcome, cost)
            attempt, last = attempt + 1, outcome.told
            if outcome.stops:
                raise KaratError(outcome.told)
            if outcome.status in _REFUSES_JSON and bare and "response_format" in request:
                del request["response_format"]
                continue
            wait = self._wait(key, attempt, outcome)
            if wait is None:
                return self._give_up(key, prompt, request, outcome, attempt)
            await asyncio.sleep(wait)

    async def _room(self, most: float) -> bool:
        """Whether the budget allows one more call, once those under way that decide it are over."""
        while (room := self.ledger.take(most)) is None:
            self._settled.clear()
            await self._settled.wait()
        return room

    async def _attempt(self, request: dict[str, Any], most: float) -> tuple[Reply | Failure, float | None]:
        """One request at its time, and its cost in the books."""
        stopped = Failure("stopped", reached=False)
        outcome: Reply | Failure = stopped
        try:
            await asyncio.sleep(self._pace.wait(time.monotonic()))
            outcome = replace(stopped, reached=True, free=False)
            outcome = await self._wire.ask(request)
        finally:
            cost = self._book(outcome, most)
            self._settled.set()
        return outcome, cost

    def _book(self, outcome: Reply | Failure, most: float) -> float | None:
        """Put what a call cost into the ledger."""
        if isinstance(outcome, Failure):
            self._reached |= outcome.reached
            if outcome.free:
                self.ledger.free(most, reached=outcome.reached)
                return None
            if outcome.reads is None and outcome.writes is None:
                self.ledger.lose(most)
                return None
        self._reached = True
        return self.ledger.pay(most, outcome.reads, outcome.writes)

    def _wait(self, key: str, attempt: int, failure: Failure) -> float | None:
        """Seconds until the next attempt; None: there is none."""
        most = min(REFUSED, self.settings.retries) if failure.refused else self.settings.retries
        if not failure.passing or attempt > most or (failure.wait or 0.0) > LONGEST_WAIT:
            return None
        own = backoff(self.first_wait, attempt, LONGEST_WAIT, key)
        return own if failure.wait is None else failure.wait + min(own, self.first_wait)

    def _keep(self, key: str, prompt: Prompt, request: dict[str, Any], reply: Reply, cost: float | None) -> Said:
        """Store a reply; it is in the file before anyone sees it."""
        call = Call(
            key,
            self.settings.model,
            well_formed(prompt.purpose),
            json.dumps(request, ensure_ascii=False),
            reply.body,
            reply.text,
            reply.reads,
            reply.writes,
            cost,
            reply.seconds,
            reply.finish,
            now(),
        )
        self.calls.add(call)
        return replace(said_in(call), cached=False)

    def _give_up(self, key: str, prompt: Prompt, request: dict[str, Any], failure: Failure, attempts: int) -> Said:
        """Put a failure on record. Where nobody ever listened, that is all there is to say of every prompt."""
        if failure.refused and not self._reached:
            raise KaratError(f"{failure.told}. Start the server or correct the base url.")
        told = failure.told
        if failure.wait is not None and failure.wait > LONGEST_WAIT:
            told += f"; it asks to wait {failure.wait:,.0f} seconds, which is too long: try again after that time"
        if attempts > 1:
            told += f" (attempt {attempts})"
        body = json.dumps(request, ensure_ascii=False)
        purpose = well_formed(prompt.purpose)
        self.calls.add_failure(FailedCall(key, self.settings.model, purpose, body, well_formed(told), attempts, now()))
        self.ledger.count(failed=1)
        return Said(error=told, model=self.settings.model)
