"""Asking, within the loop of an endpoint: each prompt once, at its time, within the budget, and every reply stored."""

from __future__ import annotations

import asyncio
import json
import queue
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from karat.core.errors import KaratError
from karat.core.models import ChatReply, Prompt
from karat.core.text.wellformed import well_formed
from karat.models.chat._replies import LARGEST, REFUSES_JSON, read_reply
from karat.models.chat.budget import SpendingLedger
from karat.models.chat.cache import Call, Calls, FailedCall, now, reply_of
from karat.models.chat.settings import ChatSettings
from karat.models.endpoint import ModelEndpoint, RequestFailure, after

_MINUTE = 60.0


@dataclass(frozen=True)
class BatchNews:
    """What a batch is at while it is waited for, and how much of it is done; without a total, something to be told."""

    what: str
    done: int = 0
    total: int = 0


Done = queue.SimpleQueue[tuple[str, ChatReply] | BatchNews | None]


class _PendingPrompt:
    """A prompt that is being asked: who asks the same meanwhile waits, and shares a failure."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.failure: ChatReply | None = None


class RateLimit:
    """At most so many requests in any 60 seconds; None: no limit."""

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self._starts: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Seconds to wait from `now` until the next request may start. It is booked: each call is one request.

        >>> pace = RateLimit(2)
        >>> [pace.wait(0), pace.wait(1), pace.wait(2), pace.wait(70)]
        [0, 0, 58.0, 0]
        """
        if self.per_minute is None:
            return 0.0
        start = now
        if len(self._starts) == self.per_minute:
            start = max(now, self._starts.popleft() + _MINUTE)
        self._starts.append(start)
        return start - now


class ChatDispatcher:
    """An endpoint that is being asked, and what is known of it: whether it was ever reached, and takes JSON mode."""

    def __init__(self, settings: ChatSettings, calls: Calls, ledger: SpendingLedger, first_wait: float) -> None:
        self.settings, self.calls, self.ledger = settings, calls, ledger
        self.endpoint = ModelEndpoint(
            settings,
            settings.model,
            "/chat/completions",
            first_wait=first_wait,
            largest=LARGEST,
            retry_large=True,
        )
        self._rate_limit = RateLimit(settings.per_minute)
        self._slots, self._settled = asyncio.Semaphore(settings.jobs), asyncio.Event()
        self._pending: WeakValueDictionary[str, _PendingPrompt] = WeakValueDictionary()
        self._reached = self._plain_json = False

    def submit(self, prompts: Mapping[str, Prompt], done: Done) -> Future[KaratError | None]:
        """Begin to ask all prompts. Each goes into `done` with its reply, None at the end; an error stops them."""
        return self.endpoint.submit(self._all(prompts, done))

    async def _all(self, prompts: Mapping[str, Prompt], done: Done) -> KaratError | None:
        pending = iter(prompts.items())

        async def work() -> None:
            for key, prompt in pending:
                async with self._slots:
                    reply = await self._one(key, prompt)
                done.put((key, reply))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.settings.jobs, len(prompts))):
                    group.create_task(work())
        except ExceptionGroup as errors:
            stopped, faults = errors.split(KaratError)
            if faults or not stopped:
                raise
            error = stopped.exceptions[0]
            return error if isinstance(error, KaratError) else None
        finally:
            done.put(None)
        return None

    async def _one(self, key: str, prompt: Prompt) -> ChatReply:
        """Ask one, unless it is known by now; another thread may be asking the same."""
        pending = self._pending.setdefault(key, _PendingPrompt())
        async with pending.lock:
            if pending.failure is not None:
                return pending.failure
            if call := self.calls.get(key):
                self.ledger.count(cached=1)
                return reply_of(call)
            reply = await self._ask(key, prompt)
            pending.failure = reply if reply.error is not None else None
            return reply

    async def _ask(self, key: str, prompt: Prompt) -> ChatReply:
        request = self.settings.request(prompt)
        may_drop_json = prompt.json and "response_format" not in self.settings.extra
        if may_drop_json and self._plain_json:
            del request["response_format"]
        last = ""

        async def attempt() -> ChatReply | RequestFailure:
            nonlocal last
            most = self.ledger.most(request, self.settings.most_written(prompt))
            if not await self._room(most):
                self.ledger.count(not_asked=1)
                before = f"{last}; not asked again" if last else "not asked"
                return ChatReply(error=f"{before}: {self.ledger.refusal}")
            outcome = await self._send(request, most, self._about(key, prompt, request))
            if isinstance(outcome, Call):
                self._plain_json |= may_drop_json and "response_format" not in request
                self.calls.add(outcome)  # before anyone sees it
                return replace(reply_of(outcome), cached=False)
            last = outcome.reason
            if outcome.status in REFUSES_JSON and may_drop_json and request.pop("response_format", None):
                return replace(outcome, at_once=True)
            return outcome

        outcome, attempts = await self.endpoint.with_retries(attempt, key)
        if isinstance(outcome, RequestFailure):
            return self._give_up(self._about(key, prompt, request), outcome, attempts)
        return outcome

    def _about(self, key: str, prompt: Prompt, request: dict[str, Any]) -> dict[str, str]:
        """What calls and failures are put on record with."""
        sent = json.dumps(request, ensure_ascii=False)
        return {"key": key, "model": self.settings.model, "purpose": well_formed(prompt.purpose), "request": sent}

    async def _room(self, most: float) -> bool:
        """Whether the budget allows one more call, once those under way that decide it are over."""
        while (room := self.ledger.take(most)) is None:
            self._settled.clear()
            await self._settled.wait()
        return room

    async def _send(self, request: dict[str, Any], most: float, about: dict[str, str]) -> Call | RequestFailure:
        """One request at its time, and its cost in the books."""
        outcome: Call | RequestFailure = RequestFailure(reason="stopped", reached=False)
        try:
            await asyncio.sleep(self._rate_limit.wait(time.monotonic()))
            outcome = RequestFailure(reason="stopped", free=False)
            begun = time.monotonic()
            content = await self.endpoint.send(request)
            seconds = time.monotonic() - begun
            outcome = (
                content if isinstance(content, RequestFailure) else read_reply(self.endpoint, content, seconds, about)
            )
        finally:
            self._reached |= not isinstance(outcome, RequestFailure) or outcome.reached
            cost = self.ledger.settle(outcome, most)
            self._settled.set()
        return replace(outcome, cost_usd=cost) if isinstance(outcome, Call) else outcome

    def _give_up(self, about: dict[str, str], failure: RequestFailure, attempts: int) -> ChatReply:
        """Put a failure on record, unless it is all there is to say of every prompt."""
        if failure.fatal:
            raise KaratError(failure.reason)
        if failure.refused and not self._reached:
            raise KaratError(f"{failure.reason}. {failure.remedy}.")
        reason = well_formed(after(failure, attempts))
        self.calls.add_failure(FailedCall(**about, reason=reason, attempts=attempts, created=now()))
        self.ledger.count(failed=1)
        return ChatReply(error=reason, model=self.settings.model)
