"""One request to a chat endpoint through the openai package, and what came of it, as values.

Nothing is raised from here: exceptions of the package hold the request with its headers, and so the key.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

import httpx
import openai

from karat.core.errors import UsageError
from karat.core.text.wellformed import well_formed
from karat.models._chat_settings import ChatSettings
from karat.models._endpoint import PASSING, redirected, shown, wait_of, words_of
from karat.models.hosts import OPENAI, key_for, key_in

LARGEST = 4 << 20
"""How many bytes a reply may have."""
_SECRET_LENGTH = 12
"""A shorter key (`none`, `ollama`) is no secret, and a word that replies may hold."""
_MOST_TOKENS = 1 << 40
_LOGGERS = ("openai", "httpx", "httpcore", "httpx2", "httpcore2")


@dataclass(frozen=True)
class Reply:
    """What the model said. `body` is the reply as it came, without the key should the server repeat it."""

    text: str
    body: str
    finish: str | None
    reads: int | None
    writes: int | None
    seconds: float


@dataclass(frozen=True)
class Failure:
    """Why there is no reply. `passing`: worth another attempt; `stops`: no other prompt would fare better.

    `reached`: whether the server saw the request; `free`: it cannot have cost anything; `refused`: nobody listens.
    """

    told: str
    passing: bool = True
    stops: bool = False
    reached: bool = True
    free: bool = True
    refused: bool = False
    status: int | None = None
    wait: float | None = None
    reads: int | None = None
    writes: int | None = None


class _TooLargeError(Exception):
    """The body of a reply is larger than allowed, or packed."""


class _Capped(httpx.AsyncByteStream):
    """A body that ends with an error where it grows too large."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > LARGEST:
                raise _TooLargeError
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _cap(response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise _TooLargeError
    response.stream = _Capped(cast(httpx.AsyncByteStream, response.stream))


class Wire:
    """A way to an endpoint. It is made and used within one event loop; the key is read anew for each request."""

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self._http = httpx.AsyncClient(
            timeout=None,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=settings.jobs),
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_cap]},
        )

        async def key() -> str:
            return key_for(settings.address, settings.key_env) or "none"

        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=settings.address, max_retries=0, http_client=cast(Any, self._http)
        )
        if settings.address != OPENAI:  # these are for OpenAI alone, and come from the environment
            self._client.organization = self._client.project = None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, request: dict[str, Any]) -> Reply | Failure:
        """Make one request."""
        begun = time.monotonic()
        more = {name: value for name, value in request.items() if name not in ("model", "messages")}
        limit = self.settings.timeout_seconds
        told: Failure | None = None
        body = b""
        try:
            async with asyncio.timeout(limit):
                raw = await self._client.chat.completions.with_raw_response.create(
                    model=request["model"], messages=request["messages"], extra_body=more
                )
                body = raw.content
        except TimeoutError:
            told = Failure(f"no reply within {limit:g} seconds", free=False)
        except openai.APIStatusError as error:
            told = self._refusal(cast(httpx.Response, error.response))
        except UsageError as error:
            told = Failure(str(error), stops=True, reached=False)
        except _TooLargeError:
            told = Failure(f"the reply is packed, or larger than {LARGEST >> 20} MB", free=False)
        except (openai.APIConnectionError, httpx.TransportError) as error:
            told = self._broken(error)
        except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL) as error:
            told = Failure(f"cannot be asked: {self._shown(str(error))}", passing=False, reached=False)
        return told or self._read(body, time.monotonic() - begun)

    def _read(self, content: bytes, seconds: float) -> Reply | Failure:
        """The reply that a body holds, if it is one."""
        key = self._key()
        body = content.decode("utf-8", "replace")
        try:
            found = json.loads(body)
            if len(key) >= _SECRET_LENGTH and (key in body or key in json.dumps(found, ensure_ascii=False)):
                body = json.dumps(found, ensure_ascii=False).replace(key, "***")
                found = json.loads(body)
        except (ValueError, RecursionError):
            return Failure(f"the reply is not JSON: {self._shown(body)!r}", free=False)
        choice = _first(found.get("choices") if isinstance(found, dict) else None)
        message = choice.get("message") if choice else None
        if not choice or not isinstance(message, dict):
            told = words_of(body.encode("utf-8", "replace"), key)
            return Failure(f'the reply holds no "choices" with a message: {told}', free=False)
        usage = found.get("usage")
        reads, writes = (_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        finish = choice.get("finish_reason")
        finish = well_formed(finish)[:40] if isinstance(finish, str) else None
        text = well_formed(_text(message.get("content")) or _text(message.get("refusal")))
        if text.strip():
            return Reply(text, well_formed(body), finish, reads, writes, seconds)
        told, passing = "the reply is empty", True
        if finish == "length":
            told, passing = "the reply is empty: its tokens were used up before it said anything (max_tokens)", False
        elif finish == "content_filter":
            told, passing = "the server withheld the reply (content_filter)", False
        return Failure(told, passing, free=False, reads=reads, writes=writes)

    def _refusal(self, response: httpx.Response) -> Failure:
        """What an error status means."""
        status, key = response.status_code, self._key()
        place, variable = f"{self.settings.address}/chat/completions", self.settings.key_env
        if status in (401, 403):
            told = f"{variable} is set, but the server does not take it" if key else f"{variable} is not set"
            return Failure(
                f"{place} refused access (HTTP {status}). The environment variable {told}: set it to a valid key.",
                stops=True,
                status=status,
            )
        if response.is_redirect:
            return Failure(" ".join((place, *redirected(response.headers.get("location", ""), key))), stops=True)
        said = words_of(response.content, key)
        told = f"HTTP {status}{f': {said}' if said else ''}"
        if status == 402 or (status == 429 and b"insufficient_quota" in response.content):
            return Failure(
                f"{place} answered {told}. The account behind {variable} has no credit left: add some, then run again.",
                stops=True,
                status=status,
            )
        if status == 404:
            return Failure(
                f"{place} answered {told}. Check the base url and the name of the model, {self.settings.model}.",
                stops=True,
                status=status,
            )
        return Failure(told, status in PASSING, status=status, wait=wait_of(response) if status in PASSING else None)

    def _broken(self, error: Exception) -> Failure:
        """What a connection that could not be made, or that broke, means."""
        cause = error if isinstance(error, httpx.TransportError) else error.__cause__
        if isinstance(cause, _TooLargeError):
            return Failure(f"the reply is packed, or larger than {LARGEST >> 20} MB", free=False)
        words = self._shown(str(cause or error))
        if isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)):
            place = self.settings.address
            return Failure(f"{place} cannot be reached ({words})", reached=False, refused=True)
        return Failure(f"the connection broke off ({words})", free=False)

    def _key(self) -> str:
        try:
            return key_in(self.settings.key_env)
        except UsageError:
            return ""

    def _shown(self, text: str) -> str:
        return shown(text, self._key())


def _first(choices: Any) -> dict[str, Any] | None:
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None


def _text(content: Any) -> str:
    """The text of a message: a string, or parts of which some hold text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tokens(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < _MOST_TOKENS else None


class Hush(logging.Filter):
    """Keeps what the packages log while karat asks (addresses, headers, whole requests) out of the user's logs.

    Only what is logged from the thread that `begin` is called in is kept out.
    """

    def __init__(self) -> None:
        super().__init__()
        self._thread: int | None = None
        self._loggers: list[logging.Logger] = []

    def begin(self) -> None:
        """Start, in the thread that is to be silent."""
        self._thread = threading.get_ident()
        names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
        self._loggers = [logging.getLogger(name) for name in names]
        for logger in self._loggers:
            logger.addFilter(self)

    def end(self) -> None:
        """Stop."""
        for logger in self._loggers:
            logger.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is not karat's."""
        return record.thread != self._thread
