"""A chat model behind an OpenAI-compatible endpoint: limits, retries, a hard budget, and every reply kept.

A prompt that fails after its retries is a `Said` with an error, and the rest go on. What no prompt would survive (a
wrong key, an unknown model, nobody there) stops everything with one sentence.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, UsageError
from karat.core.means import Prompt, Said
from karat.models import hosts
from karat.models._calls import Call, Calls, FailedCall, said_in
from karat.models._chat_bill import Estimate, Ledger, Spent, estimate, money
from karat.models._chat_settings import Budget, ChatSettings
from karat.models.hosts import OPENAI

if TYPE_CHECKING:
    from karat.models._chat_asking import Asking, Done

__all__ = ["Budget", "Call", "Calls", "Chat", "ChatSettings", "Estimate", "FailedCall", "Spent", "estimate", "money"]

_FIRST_WAIT = 0.5
_END_SECONDS = 5.0
"""How long an interruption waits for requests to be given up."""


class Chat:
    """A chat model that is ready to be asked, as `karat.core.means.Chats`. Nothing is sent before the first prompt.

    `progress` gets what is being done, how much of it, of how much; `announce` gets a sentence with the estimate before
    the first call of each purpose that may cost something. Both, and `said`, are called from the thread that asks.
    Several threads may.
    """

    def __init__(
        self,
        settings: ChatSettings,
        calls: Calls,
        budget: Budget | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        *,
        announce: Callable[[str], None] | None = None,
        first_wait_seconds: float = _FIRST_WAIT,
    ) -> None:
        self.settings, self.calls, self.budget = settings, calls, budget or Budget()
        if self.budget.max_cost_usd is not None and not settings.priced:
            raise UsageError(
                f"a budget in USD needs the prices of {settings.model}: give --price-in and --price-out (USD for a "
                "million tokens), or limit the calls instead with --max-calls."
            )
        self.progress, self.announce, self.first_wait_seconds = progress, announce, first_wait_seconds
        self._ledger = Ledger(settings, self.budget)
        self._start = threading.Lock()
        self._asking: Asking | None = None
        self._announced: set[str] = set()

    @property
    def label(self) -> str:
        """The model, as reports name it."""
        return self.settings.label

    @property
    def fingerprint(self) -> str:
        """Changes whenever replies may change."""
        return self.settings.fingerprint

    @property
    def spent(self) -> Spent:
        """What this client has used up so far."""
        return self._ledger.spent

    @property
    def charged_usd(self) -> float:
        """What counts in the budget so far: calls whose cost is not known at the most they can have cost."""
        return self._ledger.charged_usd

    def estimate(self, prompts: Sequence[Prompt]) -> Estimate:
        """What asking these would take, at most. Nothing is asked."""
        wanted = {self.settings.key_of(prompt): prompt for prompt in prompts}
        missing = [prompt for key, prompt in wanted.items() if self.calls.get(key) is None]
        return estimate(self.settings, missing, len(wanted) - len(missing))

    def ask(self, prompts: Sequence[Prompt], said: Callable[[int, Said], None] | None = None) -> list[Said]:
        """What the model says to each prompt, in order. `said` is called with the number of each as it is done."""
        results: list[Said | None] = [None] * len(prompts)
        places: dict[str, list[int]] = {}
        for place, prompt in enumerate(prompts):
            places.setdefault(self.settings.key_of(prompt), []).append(place)
        done = 0

        def tell(key: str, what: Said) -> None:
            nonlocal done
            for nth, place in enumerate(places[key]):
                results[place] = answer = replace(what, cached=True) if nth and what.error is None else what
                done += 1
                if said:
                    said(place, answer)
                if self.progress:
                    self.progress(prompts[place].purpose or "asking", done, len(prompts))

        missing: list[str] = []
        for key in places:
            if call := self.calls.get(key):
                self._ledger.count(cached=1)
                tell(key, said_in(call))
            else:
                missing.append(key)
        if missing:
            self._run({key: prompts[places[key][0]] for key in missing}, len(places) - len(missing), tell)
        return [result for result in results if result is not None]

    def close(self) -> None:
        """Close the connections. The file of calls stays open: whoever made it closes it."""
        with self._start:
            asking, self._asking = self._asking, None
        if asking:
            asking.close()

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _begin(self, missing: Sequence[Prompt], cached: int) -> Asking:
        """Refuse what cannot be, say what it will take, and get ready."""
        address, key_env = self.settings.address, self.settings.key_env
        if not hosts.key_for(address, key_env) and address == OPENAI:
            raise UsageError(
                f"{OPENAI} needs a key: set the environment variable {key_env}, or give the base url of "
                "a server that needs none."
            )
        try:
            from karat.models._chat_asking import Asking
        except ImportError:
            raise UsageError(
                "asking a chat model needs the openai package, which is not installed. Run: pip install 'karat[llm]'"
            ) from None
        hosts.tell(address, key_env)
        with self._start:
            purpose = missing[0].purpose
            if self.announce and purpose not in self._announced:
                told = estimate(self.settings, missing, cached).sentence
                self.announce(f"{purpose}: {told}" if purpose else told)
            self._announced.add(purpose)
            if self._asking is None:
                self._asking = Asking(self.settings, self.calls, self._ledger, self.first_wait_seconds)
            return self._asking

    def _run(self, missing: dict[str, Prompt], cached: int, tell: Callable[[str, Said], None]) -> None:
        """Ask what is missing and tell each as it is done, here in the calling thread."""
        asking = self._begin(list(missing.values()), cached)
        done: Done = queue.SimpleQueue()
        wanted = deque((key, prompt) for key, prompt in missing.items())
        ended = threading.Event()

        async def work() -> KaratError | None:
            try:
                return await asking.all(wanted, done)
            finally:
                ended.set()
                done.put(None)

        future = asking.submit(work())
        try:
            while (item := _next(done)) is not None:
                tell(*item)
        except BaseException:
            future.cancel()
            ended.wait(_END_SECONDS)
            raise
        if future.cancelled():
            raise UsageError("the chat client was closed while it was being asked. What was answered is kept.")
        if error := future.result():
            raise error


def _next(done: Done) -> tuple[str, Said] | None:
    """The next that is done. It wakes now and then, for systems where waiting cannot be interrupted."""
    while True:
        try:
            return done.get(timeout=0.5)
        except queue.Empty:
            continue
