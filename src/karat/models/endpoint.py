"""JSON over HTTP, for chat models, embedders and systems that are endpoints: retries, waits, and bounded replies.

The key of a model is read from the environment for each request. It stands in the Authorization header and nowhere
else: redirects are not followed, and what a server says is shown with keys blotted out. No exception of httpx leaves
this module: those hold the request with its headers, and so the key.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import threading
import weakref
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from karat.core.errors import KaratError, UsageError
from karat.core.text.words import excerpt
from karat.models import hosts
from karat.models._loop import run_loop
from karat.models.file_transfer import PIECE, BodyUpload, FileDownload, FileUpload

if TYPE_CHECKING:
    import ssl

    import httpx

T = TypeVar("T")
RETRIED = (408, 425, 429, 500, 502, 503, 504)
LONGEST_WAIT = 60.0
FIRST_WAIT = 0.5
_REFUSED_RETRIES = 2
"""How often a server that takes no connection is tried again: it is down, or it is just starting."""
_HOST = re.compile(r"(https?://)(?:[^/?#]*@)?([^/?#@]*)", re.IGNORECASE)
_ZLIB = ("gzip", "x-gzip", "deflate")
_ANY_HEADER = 32 + zlib.MAX_WBITS


@dataclass(frozen=True, kw_only=True)
class RequestFailure:
    """Why a request has no reply that can be used.

    `again`: another attempt may help. `fatal`: no other request would fare better. `reached`: the server saw the
    request. `free`: it cannot have cost anything. `refused`: nobody listens. `wait`: the seconds the server asks for.
    `at_once`: the request was changed and is to be made again without a wait, even where there are no retries.
    """

    reason: str
    remedy: str = "See the server's log, then try again"
    again: bool = True
    fatal: bool = False
    reached: bool = True
    free: bool = True
    refused: bool = False
    at_once: bool = False
    status: int | None = None
    wait: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@cache
def _certificates() -> ssl.SSLContext:
    """Whom a server's certificate must be signed by: read once, which takes longer than many a request."""
    import httpx

    return httpx.create_ssl_context()


class JsonEndpoint:
    """A server that is asked in JSON, by an event loop in a thread of its own: for scripts and notebooks alike.

    `place` is what messages call it. `timeout_seconds` is for one request from its first byte to its last, `retries`
    come on top of the first attempt, `first_wait` is the seconds before the first of them; a reply of more than
    `largest` bytes is given up. `retry_late` and `retry_large`: whether a reply that came too late or was too large is
    asked for again.
    """

    def __init__(
        self,
        place: str,
        *,
        timeout_seconds: float = 60.0,
        retries: int = 5,
        first_wait: float = FIRST_WAIT,
        largest: int = 1 << 28,
        retry_late: bool = True,
        retry_large: bool = False,
    ) -> None:
        self.place, self.timeout_seconds, self.largest = place, timeout_seconds, largest
        self.retries, self.first_wait = retries, first_wait
        self._retry_late, self._retry_large = retry_late, retry_large
        try:
            import httpx
        except ImportError:
            raise UsageError(
                f"asking {place} needs httpx, which is not installed. Run: pip install 'karat[llm]'"
            ) from None
        self._client = httpx.AsyncClient(
            timeout=None,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None),
            headers={"Accept-Encoding": "identity"},
            verify=_certificates(),
        )
        self._loop, stop = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(
            target=run_loop, args=(self._loop, self._client, stop), name="karat endpoint", daemon=True
        )
        self._end = weakref.finalize(self, self._loop.call_soon_threadsafe, stop.set)
        self._end.atexit = False
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Have the loop do something."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Give up what is under way; close connections, loop and thread."""
        self._end()
        self._thread.join()

    async def with_retries(
        self, attempt: Callable[[], Awaitable[T | RequestFailure]], seed: str = ""
    ) -> tuple[T | RequestFailure, int]:
        """What attempts come to in the end, and how many there were. Waits depend on the seed and on nothing else."""
        for number in count(1):
            outcome = await attempt()
            wait = self.wait_after(number, outcome, seed) if isinstance(outcome, RequestFailure) else None
            if wait is None:
                break
            await asyncio.sleep(wait)
        return outcome, number

    def wait_after(self, attempt: int, failure: RequestFailure, seed: str) -> float | None:
        """Seconds until the next attempt; None: there is none."""
        if failure.at_once:
            return 0.0
        most = min(_REFUSED_RETRIES, self.retries) if failure.refused else self.retries
        if failure.fatal or not failure.again or attempt > most or (failure.wait or 0.0) > LONGEST_WAIT:
            return None
        own = backoff(self.first_wait, attempt, seed)
        return own if failure.wait is None else failure.wait + min(own, self.first_wait)

    async def fetch(
        self,
        method: str,
        url: str,
        payload: Any,
        headers: Mapping[str, str],
        *,
        upload: FileUpload | BodyUpload | None = None,
        download: FileDownload | None = None,
    ) -> bytes | RequestFailure:
        """The body of the reply to one request; a payload of None is not sent.

        With `upload` a file or bytes are sent in place of a payload. With `download` the body goes there, and none is
        returned. Both have more time, as far as bytes are moving.
        """
        import httpx

        form = {} if upload is None else upload.form()
        try:
            async with (
                asyncio.timeout(self.timeout_seconds + (0.0 if upload is None else upload.seconds)) as deadline,
                self._client.stream(method, url, json=payload, headers=headers, **form) as response,
            ):
                into = download if response.is_success else None
                content = await self._body(response, into, deadline)
        except (TimeoutError, zlib.error, httpx.HTTPError, httpx.InvalidURL) as error:
            return self._broken(error)
        if isinstance(content, RequestFailure) or response.is_success:
            return content
        return self._refusal(response, content)

    async def _body(
        self, response: httpx.Response, download: FileDownload | None, deadline: asyncio.Timeout
    ) -> bytes | RequestFailure:
        """The body of a response, unpacked no further than to `largest` bytes, or to those of a download."""
        packing = response.headers.get("content-encoding", "").strip().lower()
        unpacker = zlib.decompressobj(_ANY_HEADER) if packing in _ZLIB else None
        if unpacker is None and packing not in ("", "identity"):
            reason = f"the reply is packed ({self.shown(packing)}), though karat asks for it as it is"
            remedy = "Have the server send it unpacked, or by gzip"
            return RequestFailure(reason=reason, remedy=remedy, again=False, free=False)
        content = BytesIO()
        stream, largest = (content, self.largest) if download is None else (download.stream, download.largest)
        size, in_time = 0, PIECE
        async for piece in response.aiter_raw():
            if unpacker is None:
                size += stream.write(piece)
            elif not unpacker.eof:  # what follows the end would be kept in memory
                size += stream.write(unpacker.decompress(piece, largest + 1 - size))
            if size > largest:
                reason = f"the reply is larger than {largest >> 20} MB"
                return RequestFailure(
                    reason=reason, remedy="Ask for less at a time", again=self._retry_large, free=False
                )
            if download is not None and size >= in_time:
                in_time = size + PIECE
                deadline.reschedule(self._loop.time() + self.timeout_seconds)
        return content.getvalue()

    def _broken(self, error: Exception) -> RequestFailure:
        """What an exception in place of a response means."""
        import httpx

        words = self.shown(_root(error))
        if isinstance(error, TimeoutError):
            return RequestFailure(
                reason=f"no reply within {self.timeout_seconds:g} seconds",
                remedy="Try again later, or allow more time",
                again=self._retry_late,
                free=False,
            )
        if isinstance(error, (httpx.ConnectError, httpx.ProxyError)):
            return RequestFailure(
                reason=f"{self.place} cannot be reached ({words})",
                remedy="Start the server or correct its url",
                reached=False,
                refused=True,
            )
        if isinstance(error, zlib.error):
            return RequestFailure(reason=f"the reply cannot be unpacked ({words})", free=False)
        if isinstance(error, httpx.TransportError):
            return RequestFailure(reason=f"the connection broke off ({words})", free=False)
        return RequestFailure(reason=f"the reply cannot be taken ({words})", again=False, free=False)

    def _refusal(self, response: httpx.Response, content: bytes) -> RequestFailure:
        """What a status other than success means."""
        status, words = response.status_code, self.words_of(content)
        reason = f"HTTP {status}{f': {words}' if words else ''}"
        stops = self._stops(status, reason, content)
        if response.is_redirect:
            target = _HOST.match(self.blotted(response.headers.get("location", "")))
            stops = (
                f"redirects to {self.shown(''.join(target.groups())) if target else 'elsewhere'}. "
                "karat does not follow, so that no key goes astray: give the right url."
            )
        if stops:
            return RequestFailure(reason=f"{self.place} {stops}", fatal=True, status=status)
        if status not in RETRIED:
            return RequestFailure(
                reason=reason, remedy="Correct what it says, then try again", again=False, status=status
            )
        return RequestFailure(reason=reason, status=status, wait=wait_of(response))

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        """What to say of a status that every request would get, and what to do about it; nothing of any other."""
        return ""

    def words_of(self, content: bytes) -> str:
        """What a server says is wrong, in a line."""
        try:
            values = json.loads(content)
        except (ValueError, RecursionError):
            return self.shown(content.decode("utf-8", "replace"))
        for name in ("error", "message", "detail"):
            if isinstance(values, dict) and values.get(name):
                values = values[name]
        return self.shown(values if isinstance(values, str) else json.dumps(values))

    def shown(self, text: str) -> str:
        """Text of a stranger, safe to print: one line, no control characters, no key."""
        return excerpt(self.blotted(text)[:2000], 200).rstrip(".")

    def blotted(self, text: str) -> str:
        """Text without what must not be shown."""
        raise NotImplementedError


class ModelEndpoint(JsonEndpoint):
    """One path of a server that speaks the OpenAI wire format, and the key for it."""

    def __init__(self, settings: hosts.ServerSettings, model: str, path: str, **limits: Any) -> None:
        self.address, self.key_env, self.model = settings.server, settings.key_env, model
        hosts.check_url(self.address)
        hosts.key_for(self.address, self.key_env)
        super().__init__(
            self.address + path, timeout_seconds=settings.timeout_seconds, retries=settings.retries, **limits
        )

    def post(self, payload: Any) -> Any:
        """The reply to a request as JSON values, after retries where they may help."""
        hosts.announce_host(self.address, self.key_env)
        content, attempts = self.submit(self.with_retries(lambda: self.send(payload))).result()
        if isinstance(content, RequestFailure):
            failed = "" if content.refused else f"{self.place} failed: "
            sentence = f"{failed}{after(content, attempts)}. {content.remedy}."
            raise KaratError(content.reason if content.fatal else sentence)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise KaratError(
                f"{self.place} answered with something that is not JSON: "
                f"{self.shown(content.decode('utf-8', 'replace'))!r}. Check the base url: it usually ends with /v1."
            ) from None

    async def send(self, payload: Any) -> bytes | RequestFailure:
        """The body of the reply to one request."""
        return await self.request("POST", self.place, payload)

    async def request(self, method: str, url: str, payload: Any = None, **files: Any) -> bytes | RequestFailure:
        """The same for any address of the server; `files` as `fetch` takes them."""
        try:
            key = hosts.key_for(self.address, self.key_env)
        except UsageError as error:
            return RequestFailure(reason=str(error), fatal=True, reached=False)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if self.address == hosts.OPENAI:
            names = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
            headers |= {name: os.environ[variable] for name, variable in names.items() if variable in os.environ}
        return await self.fetch(method, url, payload, headers, **files)

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        if status in (401, 403):
            is_set = "is set, but the server does not take it" if os.environ.get(self.key_env) else "is not set"
            return (
                f"refused access (HTTP {status}). The environment variable {self.key_env} {is_set}: "
                "set it to a valid key."
            )
        if status == 402 or (status == 429 and b"insufficient_quota" in content):
            return f"answered {reason}. The account behind {self.key_env} has no credit left: add some, then run again."
        if status == 404:
            return f"answered {reason}. Check the base url and the name of the model, {self.model}."
        return ""

    def blotted(self, text: str, shortest: int = hosts.SHORTEST) -> str:
        """Text without the key, unless that has fewer characters than `shortest`."""
        return hosts.Blot((self.key_env,), shortest=shortest)(text)


def _root(error: BaseException) -> str:
    """What the system said is wrong, which the exceptions around it leave out; else what the exception says."""
    words, inner = str(error), error.__cause__ or error.__context__
    while inner is not None:
        if isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        if isinstance(inner, OSError) and inner.errno is not None:
            words = str(inner)
        inner = inner.__cause__ or inner.__context__
    return words


def after(failure: RequestFailure, attempts: int) -> str:
    """A failure after so many attempts, in words."""
    wait = failure.wait or 0.0
    asks = f"; it asks to wait {wait:,.0f} seconds, which is too long: try again after that time"
    attempt = f" (attempt {attempts})" if attempts > 1 else ""
    return f"{failure.reason}{asks if wait > LONGEST_WAIT else ''}{attempt}"


def backoff(first: float, attempt: int, seed: str) -> float:
    """Seconds to wait after failed attempt 1, 2, 3 ...: doubled each time, then cut by up to a half.

    The cut depends on the seed alone, so that many prompts that fail at once do not come back at once, and a rerun
    waits as long.
    """
    drawn = int.from_bytes(hashlib.sha256(f"{seed} {attempt}".encode()).digest()[:4], "big") / 2**32
    return min(first * 2.0 ** (attempt - 1), LONGEST_WAIT) * (1 - drawn / 2)


def wait_of(response: httpx.Response) -> float | None:
    """The seconds a Retry-After header asks for: a number or a date."""
    header = response.headers.get("retry-after", "").strip()
    try:
        seconds = float(header)
    except ValueError:
        try:
            when = parsedate_to_datetime(header)
        except (ValueError, TypeError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.01) if seconds == seconds else None
