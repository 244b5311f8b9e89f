"""Faults: the ways in which a fake chat server misbehaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "too_many",
    "server_error",
    "hang",
    "drip",
    "half",
    "invalid_json",
    "not_chat",
    "empty",
    "huge",
    "prose",
    "broken_json",
    "wrong_schema",
    "other_language",
    "bad_request",
    "unauthorized",
    "not_found",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
PASSING: tuple[Kind, ...] = ("too_many", "server_error", "half", "invalid_json", "empty")
"""What a bare share of faults is made of: short, and gone at the next attempt."""
SPOKEN: tuple[Kind, ...] = ("prose", "broken_json", "wrong_schema", "other_language")
"""Sound replies to the client; it is what the model says that is wrong."""
STATUS: dict[Kind, tuple[int, str, str]] = {
    "too_many": (429, "rate_limit_exceeded", "Too many requests, slow down."),
    "server_error": (500, "server_error", "The server had an error."),
    "bad_request": (400, "invalid_request_error", "This request cannot be served."),
    "unauthorized": (401, "invalid_api_key", "Incorrect API key provided."),
    "not_found": (404, "model_not_found", "The model does not exist."),
}


@dataclass(frozen=True)
class Fault:
    """One way to misbehave, for the first `times` attempts of the same request; None: for all of them.

    The connection or the server: `too_many` (429, with `retry_after` as its Retry-After: seconds or a date),
    `server_error` (500), `hang` (nothing comes, until the server is closed), `drip` (a byte now and then, without end),
    `half` (the connection is closed in the middle), `invalid_json` (a body that is not JSON), `not_chat` (JSON that is
    no chat reply), `empty` (a reply without text), `huge` (a reply of 10 MB), `bad_request` (400), `unauthorized`
    (401), `not_found` (404). `message` is what the server says where it answers with a status.

    The model: `prose` (the reply with words around it), `broken_json` (the reply, cut in the middle), `wrong_schema`
    (JSON with other fields), `other_language`.
    """

    kind: Kind
    times: int | None = 1
    retry_after: float | str = 0.01
    message: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; there are {', '.join(KINDS)}")
        if self.times is not None and self.times < 1:
            raise ValueError(f"a fault comes at least once, found times={self.times}")


def spoken(fault: Fault | None, text: str) -> str:
    """What the model says in place of `text`."""
    kind = fault.kind if fault else None
    if kind == "prose":
        return f"Sure, here is what you asked for:\n```json\n{text}\n```\nLet me know if I can help with anything else!"
    if kind == "broken_json":
        return text[: max(1, len(text) // 2)]
    if kind == "wrong_schema":
        return '{"unexpected": [1, 2, 3], "note": "another shape"}'
    if kind == "other_language":
        return "Valitettavasti vastaan nyt suomeksi, vaikka sitä ei pyydetty."
    return text
