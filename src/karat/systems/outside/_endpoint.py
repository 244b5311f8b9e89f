"""An endpoint that is asked in JSON: a template of what to send, secrets, retries, and a limit of time.

Placeholders are put into parsed values, never into JSON text. Variables of the environment are read when the endpoint
is opened; they stand in requests and nowhere else: redirects are not followed, and whatever a server says is taken
with their values blotted out.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from karat.core.errors import UsageError
from karat.core.text.wellformed import well_formed_values
from karat.systems.environment import Blot, Environment, lookup, placed, substituted, variables
from karat.systems.outside._call import MOST_HANGING, Got
from karat.systems.outside._json_path import NothingThere
from karat.systems.outside._reply import BadReply, one_line
from karat.systems.outside._wait import Threads, TimeIsOver

if TYPE_CHECKING:
    import httpx

_PASSING = (408, 425, 429, 500, 502, 503, 504)
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_LARGEST = 1 << 26


@dataclass(frozen=True)
class HttpSettings:
    """How to ask an endpoint; texts are templates, and stay so. `paths` are JSON paths by name: ids, texts, answer."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    paths: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 60.0
    jobs: int = 4
    retries: int = 3


@dataclass(frozen=True)
class Filling:
    """What takes the place of placeholders: `texts` within texts, and `values` where one stands alone."""

    texts: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)


class _AgainError(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, told: str, wait: float | None = None, most: int | None = None) -> None:
        self.told, self.wait, self.most = told, wait, most


class Endpoint:
    """An endpoint, ready to be asked by several threads at once."""

    def __init__(self, settings: HttpSettings, name: str | None = None, environment: Environment | None = None) -> None:
        try:
            import httpx
        except ImportError:
            raise UsageError(
                "asking an endpoint needs httpx, which is not installed. Run: pip install 'karat[llm]'"
            ) from None
        self.settings, self.name = settings, name or urlsplit(settings.url).hostname or "http"
        self._environment = environment
        names = list(variables([settings.url, settings.headers, settings.body]))
        for variable in names:
            lookup(variable, environment)
        self._blot = Blot(iter(names), environment)
        self._headers = {key: substituted(text, {}, environment) for key, text in settings.headers.items()}
        for key, text in self._headers.items():
            if not (text.isascii() and text.isprintable()):
                raise UsageError(f"the header {key} of {self.name} would hold characters that no header can have.")
        address = urlsplit(self._address(Filling(dict.fromkeys(("question", "id", "k", "contexts"), "1"))))
        if address.scheme not in ("http", "https") or not address.hostname or address.username is not None:
            raise UsageError(f"the url of {self.name} is no address like http://localhost:8000/search.")
        from karat.models.hosts import check_way

        for variable in variables(settings.headers):
            check_way(f"{address.scheme}://{address.netloc}", variable)
        self._client = httpx.Client(timeout=settings.timeout_seconds, follow_redirects=False)
        self._threads, self._lock = Threads(), threading.Lock()
        self.replies, self._misfits = 0, list[str]()
        self._quiet = _Quiet(self._blot)
        logging.getLogger("httpx").addFilter(self._quiet)

    def close(self) -> None:
        """Let go of connections."""
        logging.getLogger("httpx").removeFilter(self._quiet)
        self._client.close()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all replies together."""
        if self.replies and len(self._misfits) == self.replies:
            return (f"no reply fits the paths, so none could be read ({self._misfits[0]})",)
        return ()

    def ask(self, filling: Filling, read: Callable[[Any], Any]) -> Got:
        """What `read` makes of the JSON that is replied; whatever goes wrong is an error."""
        if self._threads.hanging >= MOST_HANGING:
            return Got(error=f"not asked: {MOST_HANGING} earlier requests still hang.", asked=False)
        begun, attempt = time.perf_counter(), 0
        while True:
            try:
                return self._once(filling, read)
            except _AgainError as failure:
                wait = failure.wait or min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT)
                most = self.settings.retries if failure.most is None else min(failure.most, self.settings.retries)
                if attempt >= most or wait > _LONGEST_WAIT:
                    after = f" That was attempt {attempt + 1}." if attempt else ""
                    asks = f" It asks to wait {wait:,.0f} seconds." if wait > _LONGEST_WAIT else ""
                    return Got(seconds=time.perf_counter() - begun, error=f"{failure.told}{asks}{after}")
                time.sleep(wait)
                attempt += 1

    def _once(self, filling: Filling, read: Callable[[Any], Any]) -> Got:
        limit = self.settings.timeout_seconds
        begun = time.perf_counter()
        try:
            value = self._threads.within(limit, lambda: self._asked(filling, read))
        except TimeIsOver:
            error = f"did not reply within {limit:g} seconds."
        except (BadReply, NothingThere) as bad:
            error = self._safe(str(bad))
        except (_AgainError, MemoryError):
            raise
        except Exception as problem:
            error = self._safe(f"{type(problem).__name__}: {problem}")
        else:
            return Got(value, time.perf_counter() - begun)
        return Got(seconds=time.perf_counter() - begun, error=error)

    def _asked(self, filling: Filling, read: Callable[[Any], Any]) -> Any:
        import httpx

        settings = self.settings
        more: dict[str, Any] = {} if settings.body is None else {"json": self._body(filling)}
        end = time.monotonic() + settings.timeout_seconds
        body = bytearray()
        try:
            with self._client.stream(
                settings.method, self._address(filling), headers=self._headers, **more
            ) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > _LARGEST:
                        raise BadReply(f"replied with more than {_LARGEST >> 20} MB.")
                    if time.monotonic() > end:
                        raise TimeIsOver
        except httpx.TimeoutException:
            raise TimeIsOver from None
        except httpx.ConnectError as error:
            raise _AgainError(f"cannot be reached ({self._safe(str(error))}).", most=1) from None
        except httpx.TransportError as error:
            raise _AgainError(f"broke off ({self._safe(str(error))}).") from None
        self._refuse(response, bytes(body))
        return self._read(bytes(body), read)

    def _address(self, filling: Filling) -> str:
        given = {name: quote(text, safe="") for name, text in filling.texts.items()}
        return substituted(self.settings.url, given, self._environment)

    def _body(self, filling: Filling) -> Any:
        alone = {f"{{{name}}}": value for name, value in filling.values.items()}
        return placed(
            self.settings.body,
            lambda text: alone[text] if text in alone else substituted(text, filling.texts, self._environment),
        )

    def _refuse(self, response: httpx.Response, body: bytes) -> None:
        """Raise what a status other than success means."""
        from karat.models.endpoint import wait_of

        status = response.status_code
        if response.is_success:
            return
        said = self._safe(body.decode("utf-8", "replace"), 200)
        told = f"HTTP {status}{f': {said}' if said else ''}."
        if status in _PASSING:
            raise _AgainError(told, wait_of(response))
        if status in (401, 403):
            raise BadReply(f"{told} Check the headers and the variables they name.")
        if response.is_redirect:
            raise BadReply(f"HTTP {status}: it redirects, and karat does not follow. Give the right url.")
        raise BadReply(told)

    def _read(self, body: bytes, read: Callable[[Any], Any]) -> Any:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            said = self._safe(body.decode("utf-8", "replace"), 100)
            raise BadReply(f"replied with something that is not JSON: {said!r}.") from None
        value = placed(well_formed_values(value), self._blot)
        with self._lock:
            self.replies += 1
        try:
            return read(value)
        except (NothingThere, BadReply) as bad:
            with self._lock:
                self._misfits.append(self._safe(str(bad)))
            raise

    def _safe(self, text: str, longest: int = 500) -> str:
        return one_line(self._blot(text), longest).rstrip(".") if longest < 500 else one_line(self._blot(text), longest)


class _Quiet(logging.Filter):
    """Keeps addresses with secrets in them out of logs."""

    def __init__(self, blot: Blot) -> None:
        super().__init__()
        self._blot = blot

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record holds nothing that must be blotted out."""
        said = record.getMessage()
        return self._blot(said) == said
