"""Which chat model is asked and how, and what it may cost, in plain values."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from karat.core.errors import UsageError, did_you_mean
from karat.core.means import Prompt
from karat.core.text.wellformed import well_formed
from karat.models.hosts import KEY_ENV, OPENAI, check_url

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEY = re.compile(r"(?=.*[a-z])(?=.*\d)\w{20,}\Z")
"""What is rather a key (hf_..., gsk_...) than the name of a variable."""
_TAKEN = ("model", "messages", "stream", "n", "temperature", "seed", "max_tokens")
_SECRET = re.compile(r"(?i)api.?key|authorization|(access|auth).?token|secret|password")
_WRITES = "max_completion_tokens"


@dataclass(frozen=True)
class ChatSettings:
    """Which chat model, in plain values (JSON).

    A key never stands here: `key_env` names the environment variable that holds it. `base_url` None is OpenAI. A
    `temperature` or `seed` of None is not sent; sample n of a prompt is asked with `seed` + n. `timeout_seconds` is for
    one request from its first byte to its last, `retries` come on top of the first attempt, `jobs` is how many requests
    are under way at once. Prices are in USD for a million tokens; None: unknown. `extra` goes into the request as it
    is; `max_completion_tokens` there is sent in place of `max_tokens`.
    """

    model: str
    base_url: str | None = None
    key_env: str = KEY_ENV
    temperature: float | None = 0.0
    max_tokens: int = 1024
    seed: int | None = 0
    timeout_seconds: float = 120.0
    retries: int = 5
    jobs: int = 8
    per_minute: int | None = None
    price_in_usd: float | None = None
    price_out_usd: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model.strip():
            raise UsageError("a chat model needs a name, such as gpt-4o-mini or qwen2.5:7b.")
        if self.base_url is not None:
            if not isinstance(self.base_url, str):
                raise _wrong("base_url", self.base_url, "an address")
            check_url(self.base_url)
        if not isinstance(self.key_env, str) or not _NAME.match(self.key_env) or _KEY.match(self.key_env):
            raise UsageError(
                "key_env must be the name of an environment variable, such as OPENAI_API_KEY. The key itself belongs "
                "into that variable."
            )
        self._check_numbers()
        object.__setattr__(self, "extra", _checked(self.extra))

    def _check_numbers(self) -> None:
        for name, least, optional in (
            ("temperature", 0, True),
            ("timeout_seconds", None, False),
            ("price_in_usd", 0, True),
            ("price_out_usd", 0, True),
        ):
            value = getattr(self, name)
            if value is None and optional:
                continue
            if not _is_number(value) or (value < least if least is not None else value <= 0):
                raise _wrong(name, value, "a number, 0 or more" if least is not None else "a number above 0")
        if self.temperature is not None:  # 0 and 0.0 are one setting, and have to be one key
            object.__setattr__(self, "temperature", float(self.temperature))
        given: Any = self.per_minute
        if isinstance(given, float) and given.is_integer():  # as a command line has it
            object.__setattr__(self, "per_minute", int(given))
        for name, least in (("max_tokens", 1), ("retries", 0), ("jobs", 1), ("per_minute", 1), ("seed", None)):
            value = getattr(self, name)
            if value is None and name in ("per_minute", "seed"):
                continue
            if type(value) is not int or (least is not None and value < least):
                raise _wrong(name, value, "a whole number" + ("" if least is None else f", {least} or more"))
        if (self.price_in_usd is None) != (self.price_out_usd is None):
            raise UsageError(
                "give both prices, for tokens in and for tokens out (USD for a million), or none: a cost that is "
                "known by half is not known."
            )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ChatSettings:
        """From JSON values, as `plain` makes them."""
        known = {entry.name for entry in fields(cls)}
        for name in values:
            if name not in known:
                raise UsageError(f"unknown chat setting {name!r}.{did_you_mean(name, known)}")
        if "model" not in values:
            raise UsageError("a chat model needs a name, such as gpt-4o-mini or qwen2.5:7b.")
        return cls(**values)

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)

    @property
    def label(self) -> str:
        """The model, as reports name it."""
        return self.model

    @property
    def address(self) -> str:
        """Where requests go, without a slash at the end."""
        return (self.base_url or OPENAI).rstrip("/")

    @property
    def folder(self) -> None:
        """A chat model is asked at an address, never loaded from a folder."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever replies may change: model, address and parameters, not prices, limits or retries."""
        return digest(
            {
                "base_url": self.address,
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
        return (prompt_tokens * self.price_in_usd + completion_tokens * self.price_out_usd) / 1e6

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
        return digest({"base_url": self.address, "request": self.request(prompt), "sample": prompt.sample})


@dataclass(frozen=True)
class Budget:
    """What a client may spend: USD, and requests that reach the server, retries among them. None: no limit."""

    max_cost_usd: float | None = None
    max_calls: int | None = None

    def __post_init__(self) -> None:
        if self.max_cost_usd is not None and (not _is_number(self.max_cost_usd) or self.max_cost_usd < 0):
            raise _wrong("max_cost_usd", self.max_cost_usd, "a number, 0 or more")
        if self.max_calls is not None and (type(self.max_calls) is not int or self.max_calls < 0):
            raise _wrong("max_calls", self.max_calls, "a whole number, 0 or more")


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """The messages of a prompt, as they are sent."""
    said = [("system", prompt.system)] if prompt.system else []
    said.append(("user", prompt.user))
    said += [("user" if n % 2 else "assistant", turn) for n, turn in enumerate(prompt.turns)]
    return [{"role": role, "content": well_formed(text)} for role, text in said]


def digest(values: Any) -> str:
    """The sha256 of JSON values, the same for the same values."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _checked(extra: Any) -> dict[str, Any]:
    if not isinstance(extra, Mapping) or not all(isinstance(name, str) for name in extra):
        raise _wrong("extra", extra, "names with JSON values")
    for name in extra:
        if name in _TAKEN:
            hint = f"; send {_WRITES} there if the server wants that name" if name == "max_tokens" else ""
            raise UsageError(f'"{name}" cannot stand in extra: karat sets it itself{hint}.')
    if _WRITES in extra and (type(extra[_WRITES]) is not int or extra[_WRITES] < 1):
        raise _wrong(_WRITES, extra[_WRITES], "a whole number, 1 or more")
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            "extra must hold JSON values alone: text, numbers, true, false, null, lists, objects."
        ) from None
    for name in _names(copied):
        if _SECRET.search(name):
            raise UsageError(f'"{name}" cannot stand in extra: a key belongs into an environment variable (key_env).')
    return copied


def _names(values: Any) -> Iterator[str]:
    """Every name in JSON values, however deep."""
    if isinstance(values, dict):
        yield from values
    for inner in values.values() if isinstance(values, dict) else values if isinstance(values, list) else ():
        yield from _names(inner)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _wrong(name: str, value: Any, wanted: str) -> UsageError:
    return UsageError(f"{name} must be {wanted}, found {value!r}.")
