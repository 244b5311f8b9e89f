"""Which chat model is asked and how, and what it may cost, in plain values."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from karat.core.errors import UsageError
from karat.core.models import Prompt
from karat.core.text.wellformed import well_formed
from karat.models.hosts import ServerSettings, check_fields, check_key_env, check_url, number, wrong_setting

_TAKEN = ("model", "messages", "stream", "n", "temperature", "seed", "max_tokens")
_SECRET = re.compile(r"(?i)api.?key|authorization|(access|auth).?token|secret|password")
_WRITES = "max_completion_tokens"
_NO_MODEL = "a chat model needs a name, such as gpt-4o-mini or qwen2.5:7b."


@dataclass(frozen=True)
class ChatSettings(ServerSettings):
    """Which chat model, in plain values (JSON).

    A `temperature` or `seed` of None is not sent; sample n of a prompt is asked with `seed` + n. `jobs` is how many
    requests are under way at once. Prices are in USD for a million tokens; None: unknown. With `batch` prompts go to
    the server's batch endpoints, and `price_batch` is the share of the prices that they cost there; without it they are
    asked one by one, which is refused for those in a batch that is under way, unless `batch` is False. `extra` goes
    into the request as it is; `max_completion_tokens` there is sent in place of `max_tokens`.
    """

    kind: ClassVar[str] = "chat"
    model: str = ""
    _: KW_ONLY
    temperature: float | None = number(0.0)
    max_tokens: int = number(1024, 1)
    seed: int | None = number(0, -math.inf)
    timeout_seconds: float = number(120.0, 0.001)
    jobs: int = number(8, 1)
    per_minute: int | None = number(None, 1)
    price_in_usd: float | None = number(None)
    price_out_usd: float | None = number(None)
    batch: bool | None = None
    price_batch: float | None = number(None)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model.strip():
            raise UsageError(_NO_MODEL)
        if self.base_url is not None:
            if not isinstance(self.base_url, str):
                raise wrong_setting("base_url", self.base_url, "an address")
            check_url(self.base_url)
        check_key_env(self.key_env)
        super().__post_init__()
        if self.temperature is not None:  # 0 and 0.0 are one setting, and have to be one key
            object.__setattr__(self, "temperature", float(self.temperature))
        if (self.price_in_usd is None) != (self.price_out_usd is None):
            raise UsageError(
                "give both prices, for tokens in and for tokens out (USD for a million), or none: a cost that is "
                "known by half is not known."
            )
        if type(self.batch) not in (bool, type(None)):
            raise wrong_setting("batch", self.batch, "true or false")
        if self.price_batch is not None and not self.priced:
            raise UsageError(
                "the price of a batch is a share of the prices for tokens in and out: give these too (--price-in, "
                "--price-out)."
            )
        if self.price_batch is not None and self.price_batch > 1:
            raise UsageError(
                f"price_batch {self.price_batch:g} is above 1: it is a share of the prices, such as 0.5 for half."
            )
        object.__setattr__(self, "extra", _checked(self.extra))

    @property
    def label(self) -> str:
        """The model, as reports name it."""
        return self.model

    @property
    def fingerprint(self) -> str:
        """Changes whenever replies may change: model, address and parameters, not prices, limits or retries."""
        return digest(
            {
                "base_url": self.server,
                "extra": dict(self.extra),
                "max_tokens": self.max_tokens,
                "model": self.model,
                "seed": self.seed,
                "temperature": self.temperature,
            }
        )

    @property
    def priced(self) -> bool:
        """Whether the cost of a reply can be known."""
        return self.price_in_usd is not None

    def cost_of(self, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        """What tokens cost in USD, or None where price or tokens are unknown."""
        if self.price_in_usd is None or self.price_out_usd is None:
            return None
        if prompt_tokens is None or completion_tokens is None:
            return None
        share = self.price_batch if self.batch and self.price_batch is not None else 1.0
        return share * (prompt_tokens * self.price_in_usd + completion_tokens * self.price_out_usd) / 1e6

    def most_written(self, prompt: Prompt) -> int:
        """How many tokens the reply may have."""
        if prompt.max_tokens is not None:
            return prompt.max_tokens
        limit = self.extra.get(_WRITES)
        return limit if type(limit) is int else self.max_tokens

    def request(self, prompt: Prompt) -> dict[str, Any]:
        """The body of the request for a prompt."""
        body: dict[str, Any] = {"model": self.model, "messages": messages(prompt)}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.seed is not None:
            body["seed"] = self.seed + prompt.sample
        if prompt.json:
            body["response_format"] = {"type": "json_object"}
        body |= self.extra
        body[_WRITES if _WRITES in self.extra else "max_tokens"] = self.most_written(prompt)
        return body

    def key_of(self, prompt: Prompt) -> str:
        """What the call of a prompt is known by: a digest of all that its reply depends on."""
        return digest({"base_url": self.server, "request": self.request(prompt), "sample": prompt.sample})


@dataclass(frozen=True)
class Budget:
    """What a client may spend: USD, and requests that reach the server, retries among them. None: no limit."""

    max_cost_usd: float | None = number(None)
    max_calls: int | None = number(None)

    def __post_init__(self) -> None:
        check_fields(self)


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """The messages of a prompt, as they are sent."""
    turns = [("system", prompt.system)] if prompt.system else []
    turns.append(("user", prompt.user))
    turns += [("user" if n % 2 else "assistant", text) for n, text in enumerate(prompt.turns)]
    return [{"role": role, "content": well_formed(text)} for role, text in turns]


def digest(values: Any) -> str:
    """The sha256 of JSON values, the same for the same values."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _checked(extra: Any) -> dict[str, Any]:
    if not isinstance(extra, Mapping) or not all(isinstance(name, str) for name in extra):
        raise wrong_setting("extra", extra, "names with JSON values")
    for name in extra:
        if name in _TAKEN:
            hint = f"; send {_WRITES} there if the server wants that name" if name == "max_tokens" else ""
            raise UsageError(f'"{name}" cannot stand in extra: karat sets it itself{hint}.')
    if _WRITES in extra and (type(extra[_WRITES]) is not int or extra[_WRITES] < 1):
        raise wrong_setting(_WRITES, extra[_WRITES], "a whole number, 1 or more")
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False), object_pairs_hook=_without_keys)
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            "extra must hold JSON values alone: text, numbers, true, false, null, lists, objects."
        ) from None
    return copied


def _without_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of `extra`, unless a name in it says that it holds a key."""
    for name, _ in pairs:
        if _SECRET.search(name):
            raise UsageError(f'"{name}" cannot stand in extra: a key belongs into an environment variable (key_env).')
    return dict(pairs)
