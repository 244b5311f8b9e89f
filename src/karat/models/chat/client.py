"""The chat client: prompts in, replies out, each paid for once.

A prompt that fails after its retries is a reply with an error, and the rest go on. What no prompt would survive (a
wrong key, an unknown model, nobody there) stops everything with one sentence.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from karat.core.errors import UsageError
from karat.core.lazy import Lazy
from karat.core.models import ChatReply, Prompt
from karat.core.text.words import plural
from karat.models import hosts
from karat.models.chat._asking import BatchNews, ChatDispatcher, Done
from karat.models.chat._batch_asking import BatchDispatcher
from karat.models.chat.batches import Batches
from karat.models.chat.budget import ChatSpending, CostEstimate, SpendingLedger, estimate
from karat.models.chat.cache import Calls, reply_of
from karat.models.chat.settings import Budget, ChatSettings

_END_SECONDS = 5.0
"""How long an interruption waits for requests to be given up."""


class Chat:
    """A chat model that is ready to be asked, a `core.models.ChatModel`. Nothing is sent before the first prompt.

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
        first_wait_seconds: float = 0.5,
    ) -> None:
        self.settings, self.calls, self.budget = settings, calls, budget or Budget()
        if self.budget.max_cost_usd is not None and not settings.priced:
            raise UsageError(
                f"a budget in USD needs the prices of {settings.model}: give --price-in and --price-out (USD for a "
                "million tokens), or limit the calls instead with --max-calls."
            )
        self.progress, self.announce, self.first_wait_seconds = progress, announce, first_wait_seconds
        self._ledger = SpendingLedger(settings, self.budget)
        self._start = threading.Lock()
        self._dispatcher: ChatDispatcher | BatchDispatcher | None = None
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
    def spent(self) -> ChatSpending:
        """What this client has used up so far."""
        return self._ledger.spent

    @property
    def charged_usd(self) -> float:
        """What counts in the budget so far: calls whose cost is not known at the most they can have cost."""
        return self._ledger.charged_usd

    def estimate(self, prompts: Sequence[Prompt]) -> CostEstimate:
        """What asking these would take, at most. Nothing is asked."""
        wanted = {self.settings.key_of(prompt): prompt for prompt in prompts}
        missing = [prompt for key, prompt in wanted.items() if self.calls.get(key) is None]
        return estimate(self.settings, missing, len(wanted) - len(missing))

    def ask(self, prompts: Sequence[Prompt], said: Callable[[int, ChatReply], None] | None = None) -> list[ChatReply]:
        """What the model says to each prompt, in order. `said` is called with the number of each as it is done."""
        places: dict[str, list[int]] = {}
        for place, prompt in enumerate(prompts):
            places.setdefault(self.settings.key_of(prompt), []).append(place)
        replies: dict[int, ChatReply] = {}
        with closing(self._replies(_PromptsByKey({key: some[0] for key, some in places.items()}, prompts))) as arriving:
            for key, reply in arriving:
                for nth, place in enumerate(places[key]):
                    replies[place] = replace(reply, cached=True) if nth and reply.error is None else reply
                    if said:
                        said(place, replies[place])
                    if self.progress:
                        self.progress(prompts[place].purpose or "asking", len(replies), len(prompts))
        return [replies[place] for place in range(len(prompts))]

    def _replies(self, prompts: _PromptsByKey) -> Generator[tuple[str, ChatReply]]:
        """The reply to each distinct prompt: first those that are known, then the others as they come in."""
        unknown = []
        for key in prompts:
            if call := self.calls.get(key):
                self._ledger.count(cached=1)
                yield key, reply_of(call)
            else:
                unknown.append(key)
        if not unknown:
            return
        missing = prompts.only(unknown)
        dispatcher = self._begin(missing, len(prompts) - len(missing))
        done: Done = queue.SimpleQueue()
        future = dispatcher.submit(missing, done)
        try:
            while (item := _next(done)) is not None:
                if isinstance(item, BatchNews):
                    self._tell(item)
                else:
                    yield item
        except BaseException as stop:
            if isinstance(stop, KeyboardInterrupt) and self.settings.batch:
                self._tell(BatchNews("a batch that was submitted goes on at the server; the same command reads it"))
            future.cancel()
            with suppress(queue.Empty):
                while done.get(timeout=_END_SECONDS) is not None:
                    pass
            raise
        if future.cancelled():
            raise UsageError("the chat client was closed while it was being asked. What was answered is kept.")
        if error := future.result():
            raise error

    def _tell(self, news: BatchNews) -> None:
        if news.total and self.progress:
            self.progress(news.what, news.done, news.total)
        elif not news.total and self.announce:
            self.announce(news.what)

    def _begin(self, missing: Mapping[str, Prompt], cached: int) -> ChatDispatcher | BatchDispatcher:
        """Refuse what cannot be, say what it will take, and get ready."""
        address, key_env = self.settings.server, self.settings.key_env
        if not hosts.key_for(address, key_env) and address == hosts.OPENAI:
            raise UsageError(
                f"{address} needs a key: set the environment variable {key_env}, or give the base url of a server "
                "that needs none."
            )
        sent = Batches(self.calls).sent(missing)
        if sent and self.settings.batch is None:
            raise UsageError(
                f"{plural(len(sent), 'prompt')} of {len(missing):,} went into a batch whose replies were not read yet. "
                "Add --batch to read them, or --no-batch to ask one by one and pay for them a second time."
            )
        hosts.announce_host(address, key_env)
        with self._start:
            keys = [key for key in missing if not self.settings.batch or key not in sent]
            new = Lazy(len(keys), lambda number: missing[keys[number]])
            purpose = next(iter(missing.values())).purpose
            if new and self.announce and purpose not in self._announced:
                sentence = estimate(self.settings, new, cached).sentence
                self.announce(f"{purpose}: {sentence}" if purpose else sentence)
            self._announced.add(purpose)
            if self._dispatcher is None:
                kind = BatchDispatcher if self.settings.batch else ChatDispatcher
                self._dispatcher = kind(self.settings, self.calls, self._ledger, self.first_wait_seconds)
            return self._dispatcher

    def close(self) -> None:
        """Close the connections. The file of calls stays open: whoever made it closes it."""
        with self._start:
            dispatcher, self._dispatcher = self._dispatcher, None
        if dispatcher:
            dispatcher.endpoint.close()

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _PromptsByKey(Mapping[str, Prompt]):
    """Prompts by their keys, each taken from a sequence when it is asked for: that may make it then."""

    def __init__(self, places: Mapping[str, int], prompts: Sequence[Prompt]) -> None:
        self._places, self._prompts = places, prompts

    def __getitem__(self, key: str) -> Prompt:
        return self._prompts[self._places[key]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def only(self, keys: Sequence[str]) -> _PromptsByKey:
        """Those of these keys."""
        return _PromptsByKey({key: self._places[key] for key in keys}, self._prompts)


def _next(done: Done) -> tuple[str, ChatReply] | BatchNews | None:
    """The next that is done. It wakes now and then, for systems where waiting cannot be interrupted."""
    while True:
        try:
            return done.get(timeout=0.5)
        except queue.Empty:
            continue
