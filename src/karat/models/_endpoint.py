"""Endpoint: JSON in, JSON out, over HTTP, with retries and errors a person can act on.

The key is read from the environment when a request is made. It stands in the Authorization header and nowhere else:
redirects are not followed, and what a server says is shown with the key blotted out.
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from karat.core.errors import KaratError, UsageError
from karat.models import hosts

if TYPE_CHECKING:
    import httpx

PASSING = (408, 425, 429, 500, 502, 503, 504)
LONGEST_WAIT = 60.0
_FIRST_WAIT = 0.5
REFUSED = 2
"""How often a server that takes no connection is tried again: it is down, or it is just starting."""
_LARGEST = 1 << 28
"""How many bytes an answer may have."""


class _PassingError(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, told: str, remedy: str, *, wait: float | None = None, refused: bool = False) -> None:
        self.told, self.remedy, self.wait, self.refused = told, remedy, wait, refused


class Endpoint:
    """A place that takes POST requests. `timeout_seconds` is for one request; `retries` come on top of the first."""

    def __init__(self, base_url: str, key_env: str, timeout_seconds: float = 60.0, retries: int = 5) -> None:
        self.base_url = base_url.rstrip("/")
        self.key_env, self.timeout_seconds, self.retries = key_env, timeout_seconds, retries
        hosts.check_url(base_url)
        hosts.key_for(base_url, key_env)
        if not timeout_seconds > 0:
            raise UsageError(f"the timeout must be more than 0 seconds, found {timeout_seconds}.")
        try:
            import httpx
        except ImportError:
            raise UsageError(
                "asking an endpoint needs httpx, which is not installed. Run: pip install 'karat[llm]'"
            ) from None
        self._client = httpx.Client(timeout=timeout_seconds, follow_redirects=False)

    def post(self, path: str, payload: Any) -> Any:
        """The answer to a request, as JSON values."""
        attempt = 0
        while True:
            try:
                return self._ask(path, payload)
            except _PassingError as failure:
                if attempt >= (min(REFUSED, self.retries) if failure.refused else self.retries):
                    raise self._error(path, _after(failure.told, attempt), failure.remedy) from None
                wait = failure.wait or min(_FIRST_WAIT * 2**attempt, LONGEST_WAIT)
                if wait > LONGEST_WAIT:
                    told = f"{failure.told} It asks to wait {wait:,.0f} seconds."
                    raise self._error(path, told, "Try again after that time.") from None
                time.sleep(wait)
                attempt += 1

    def _ask(self, path: str, payload: Any) -> Any:
        import httpx

        headers, end = self._headers(), time.monotonic() + self.timeout_seconds
        try:
            with self._client.stream("POST", self.base_url + path, json=payload, headers=headers) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > _LARGEST:
                        raise self._error(path, f"sent more than {_LARGEST:,} bytes.", "Ask for fewer texts at a time.")
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout("the answer does not end")
        except httpx.TimeoutException:
            raise _PassingError(
                f"did not answer within {self.timeout_seconds:g} seconds.", "Try again later, or allow more time."
            ) from None
        except httpx.ConnectError as error:
            raise _PassingError(
                f"cannot be reached ({shown(str(error), self._key())}).",
                "Start the server or correct the base url.",
                refused=True,
            ) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _PassingError(
                f"broke off the answer ({shown(str(error), self._key())}).", "See the server's log, then try again."
            ) from None
        if not response.is_success:
            raise self._refusal(path, response, bytes(body))
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._error(
                path,
                f"answered with something that is not JSON: {shown(body.decode('utf-8', 'replace'), self._key())!r}.",
                "Check the base url: it usually ends with /v1.",
            ) from None

    def _headers(self) -> dict[str, str]:
        key = hosts.key_for(self.base_url, self.key_env)
        hosts.tell(self.base_url, self.key_env)
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _key(self) -> str:
        return os.environ.get(self.key_env, "").strip()

    def _refusal(self, path: str, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        if status in (401, 403):
            told = "is set, but the server does not take it" if self._key() else "is not set"
            return self._error(
                path,
                f"refused access (HTTP {status}).",
                f"The environment variable {self.key_env} {told}: set it to a valid key.",
            )
        if response.is_redirect:
            return self._error(path, *redirected(response.headers.get("location", ""), self._key()))
        said = words_of(body, self._key())
        told = f"answered HTTP {status}{f': {said}' if said else ''}."
        if status in PASSING:
            remedy = "Wait and try again, or ask for less at a time." if status == 429 else "See the server's log."
            return _PassingError(told, remedy, wait=wait_of(response))
        if status == 404:
            return self._error(path, told, "Check the base url and the name of the model.")
        return self._error(path, told, "Correct what it says and try again.")

    def _error(self, path: str, told: str, remedy: str) -> KaratError:
        return KaratError(f"{self.base_url}{path} {told} {remedy}")


def words_of(body: bytes, key: str) -> str:
    """What a server says is wrong, in a line."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return shown(body.decode("utf-8", "replace"), key)
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return shown(found if isinstance(found, str) else json.dumps(found), key)


def shown(text: str, key: str) -> str:
    """Text of a stranger, safe to print: one line, no control characters, no key."""
    text = text.replace(key, "***") if key else text
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
    return (line if len(line) <= 200 else line[:197] + "...").rstrip(".")


def redirected(location: str, key: str) -> tuple[str, str]:
    """What to say of a server that points elsewhere, and what to do."""
    try:
        place = urlsplit(location)
        where = shown(f"{place.scheme}://{place.hostname}", key) if place.hostname else "elsewhere"
    except ValueError:
        where = "elsewhere"
    return (
        f"redirects to {where}.",
        "karat does not follow, so that no key goes astray: give the right base url.",
    )


def _after(told: str, attempt: int) -> str:
    return told if not attempt else f"{told} That was attempt {attempt + 1}."


def wait_of(response: httpx.Response) -> float | None:
    """The seconds a Retry-After header asks for: a number or a date."""
    asked = response.headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        try:
            when = parsedate_to_datetime(asked)
        except (ValueError, TypeError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        seconds = (when - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.01) if seconds == seconds else None
