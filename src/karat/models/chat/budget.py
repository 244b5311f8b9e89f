"""What asking will cost, what it did cost, and the budget that it may not pass."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from karat.core.models import Prompt
from karat.core.text.words import money, plural
from karat.models.chat.cache import Call
from karat.models.chat.settings import Budget, ChatSettings, messages
from karat.models.endpoint import RequestFailure
from karat.models.structured import total

_AROUND = 4
"""Tokens that a chat template puts around a message, about."""
_MOST_AROUND = 32
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """What prompts will take, before they are asked. `cost_usd` is the most it can be; None: the price is unknown.

    `prompt_tokens` is about right (4 bytes a token); what models count differs.
    """

    model: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens_most: int
    cost_usd: float | None
    batch: bool = False
    batch_price: float | None = None

    @property
    def sentence(self) -> str:
        """The estimate for a person who is about to pay."""
        times = "once" if self.calls == 1 else f"{self.calls:,} times"
        known = f" ({self.cached:,} known already)" if self.cached else ""
        cost = (
            "cost unknown: give --price-in and --price-out"
            if self.cost_usd is None
            else f"about {money(self.cost_usd)} at most"
        )
        how = " in batches" if self.batch else ""
        if self.batch and self.cost_usd is not None:
            cost += (
                ", counted at the full prices: --price-batch says what share of them a batch costs"
                if self.batch_price is None
                else f", at {self.batch_price:g} of the full prices"
            )
        return (
            f"asking {self.model} {times}{known}{how}: about {self.prompt_tokens:,} tokens to read, "
            f"at most {self.completion_tokens_most:,} to write; {cost}"
        )


@dataclass(frozen=True, kw_only=True)
class ChatSpending:
    """What a client has used up. `calls` reached the server, retries among them; None: unknown, never 0.

    `cached` prompts were answered from what is kept, `failed` ones have no answer after their retries, `not_asked` ones
    came after the budget was spent. `cost_usd` is for the replies; calls that broke off can have cost up to
    `doubtful_usd` more.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    not_asked: int = 0
    doubtful_usd: float | None = 0.0

    @property
    def sentence(self) -> str:
        """What was used up, for a person."""
        tokens = (
            "tokens unknown"
            if self.prompt_tokens is None or self.completion_tokens is None
            else f"{self.prompt_tokens:,} tokens read, {self.completion_tokens:,} written"
        )
        ends = ((self.cached, "known already"), (self.failed, "failed"), (self.not_asked, "not asked"))
        rest = "".join(f", {number:,} {what}" for number, what in ends if number)
        more = f", and up to {money(self.doubtful_usd)} for calls that broke off" if self.doubtful_usd else ""
        return f"{plural(self.calls, 'call')}{rest}; {tokens}; cost {money(self.cost_usd)}{more}"


def tokens_about(prompt: Prompt) -> int:
    """How many tokens a prompt has, about."""
    sizes = [len(message["content"].encode()) for message in messages(prompt)]
    return sum(-(-size // _BYTES_PER_TOKEN) + _AROUND for size in sizes)


def tokens_most(request: dict[str, Any]) -> int:
    """More tokens than a request can have: a token is a byte at least."""
    return sum(len(message["content"].encode()) + _MOST_AROUND for message in request["messages"])


def estimate(settings: ChatSettings, prompts: Sequence[Prompt], cached: int) -> CostEstimate:
    """What prompts that have no reply yet will take, `cached` others having one."""
    reads, writes = sum(map(tokens_about, prompts)), sum(map(settings.most_written, prompts))
    return CostEstimate(
        model=settings.model,
        calls=len(prompts),
        cached=cached,
        prompt_tokens=reads,
        completion_tokens_most=writes,
        cost_usd=settings.cost_of(reads, writes),
        batch=bool(settings.batch),
        batch_price=settings.price_batch,
    )


class SpendingLedger:
    """Keeps account of calls, and of what those under way may still cost. Safe to use from several threads.

    A call whose cost nobody will tell (it broke off, or the reply has no numbers) counts in the budget as the most it
    can have cost. Each call that `take` allows ends with one of `free`, `lose` and `pay`.
    """

    def __init__(self, settings: ChatSettings, budget: Budget) -> None:
        self.settings, self.budget = settings, budget
        self.spent = ChatSpending(doubtful_usd=0.0 if settings.priced else None)
        self.charged_usd = 0.0
        """What counts in the budget."""
        self._reserved, self._under_way, self._closed = 0.0, 0, False
        self._lock = threading.Lock()

    def most(self, request: dict[str, Any], writes: int) -> float:
        """The most that a request can cost, as far as that is known."""
        return self.settings.cost_of(tokens_most(request), writes) or 0.0

    def take(self, most: float) -> bool | None:
        """Whether a call that costs so much at most may be made. None: ask again when one under way is done."""
        with self._lock:
            full = self._is_full(most)
            if full and self._under_way and not self._closed:
                return None
            self._closed |= full
            if not self._closed:
                self._under_way += 1
                self._reserved += most
            return not self._closed

    def reserve(self, most: float, *, committed: bool = False) -> bool:
        """Whether a request may go into a batch that is about to be sent; `committed`: it is in one already."""
        with self._lock:
            allowed = committed or not self._is_full(most)
            if allowed:
                self._under_way += 1
                self._reserved += most
            return allowed

    def _is_full(self, most: float) -> bool:
        calls, cost = self.budget.max_calls, self.budget.max_cost_usd
        full = calls is not None and self.spent.calls + self._under_way >= calls
        return full or (cost is not None and self.charged_usd + self._reserved + most > cost * (1 + 1e-9))

    def settle(self, outcome: Call | RequestFailure, most: float) -> float | None:
        """A call that was taken or reserved ended so. Returns what it cost, where that is known."""
        reads, writes = outcome.prompt_tokens, outcome.completion_tokens
        if isinstance(outcome, RequestFailure) and outcome.free:
            self.free(most, reached=outcome.reached)
            return None
        if isinstance(outcome, RequestFailure) and reads is None and writes is None:
            self.lose(most)
            return None
        return self.pay(most, reads, writes)

    def free(self, most: float, *, reached: bool) -> None:
        """A call that was taken is over and cost nothing, whether or not it reached the server."""
        self._end(most, 0.0, calls=int(reached))

    def lose(self, most: float) -> None:
        """A call that was taken broke off: what it cost nobody will tell."""
        self._end(most, most, calls=1, doubtful_usd=most, cost_usd=0.0 if self.settings.priced else None)

    def pay(self, most: float, reads: int | None, writes: int | None) -> float | None:
        """A call that was taken is over: these tokens are billed. Returns what they cost."""
        cost = self.settings.cost_of(reads, writes)
        charged = most if cost is None else cost
        self._end(most, charged, calls=1, prompt_tokens=reads, completion_tokens=writes, cost_usd=cost)
        return cost

    def _end(self, most: float, charged: float, **spent: float | None) -> None:
        with self._lock:
            self._under_way -= 1
            self._reserved = self._reserved - most if self._under_way else 0.0
            self.charged_usd += charged
            self._add(spent)

    def count(self, **prompts: int) -> None:
        """Prompts that were `cached`, that `failed`, or that were `not_asked`."""
        with self._lock:
            self._add(prompts)

    def _add(self, numbers: Mapping[str, float | None]) -> None:
        """Add to what is spent; a number that is not known makes its sum unknown."""
        sums: dict[str, Any] = {name: total((getattr(self.spent, name), number)) for name, number in numbers.items()}
        self.spent = replace(self.spent, **sums)

    @property
    def batch_refusal(self) -> str:
        """Why nothing more goes into a batch."""
        calls = self.budget.max_calls
        if calls is not None and self.spent.calls + self._under_way >= calls:
            return f"the budget of {plural(calls, 'call')} is spent"
        return (
            f"the budget of {money(self.budget.max_cost_usd)} allows no more in this batch ({money(self.charged_usd)} "
            f"spent, {money(self._reserved)} at most for the other requests)"
        )

    @property
    def refusal(self) -> str:
        """Why nothing more is asked."""
        calls, doubtful = self.budget.max_calls, self.spent.doubtful_usd or 0.0
        if calls is not None and self.spent.calls >= calls:
            return f"the budget of {plural(calls, 'call')} is spent"
        doubt = f", up to {money(doubtful)} for calls that broke off" if doubtful else ""
        return (
            f"the budget of {money(self.budget.max_cost_usd)} is spent "
            f"({money(max(self.charged_usd - doubtful, 0.0))} paid{doubt}; the next call could pass it)"
        )
