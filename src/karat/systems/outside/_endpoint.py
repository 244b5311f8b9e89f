"""An endpoint that is asked in JSON: a template of what to send, secrets, retries, and a limit of time.

Placeholders are put into parsed values, never into JSON text. Variables of the environment are read when the endpoint
is opened; they stand in requests and nowhere else: redirects are not followed, and whatever a server says is taken
with their values blotted out.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from karat.core.errors import UsageError
from karat.core.text.wellformed import well_formed_values
from karat.core.text.words import excerpt
from karat.models.endpoint import JsonEndpoint, RequestFailure, after
from karat.models.hosts import Blot, check_way
from karat.systems.environment import Environment, lookup, placed, substituted, texts_of, variables
from karat.systems.outside._asked import AskedSettings, Outside
from karat.systems.outside._call import CallOutcome, without_history
from karat.systems.outside._json_path import NothingThere
from karat.systems.outside._reply import LONGEST, BadReply

_LARGEST = 1 << 26  # bytes of a reply


@dataclass(frozen=True)
class HttpSettings(AskedSettings):
    """How to ask an endpoint; texts are templates, and stay so. `paths` are JSON paths by name: ids, texts, answer."""

    url: str
    _: KW_ONLY
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    paths: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 60.0
    jobs: int = 4
    retries: int = 3
    columns: Mapping[str, str] | None = None  # of hits that are told by their shape
    k: int | None = None  # how many hits are asked for, where more are kept

    def open(self, name: str | None = None) -> Outside:
        from karat.systems.outside._http import HttpSystem

        return HttpSystem(self, name)


@dataclass(frozen=True)
class Filling:
    """What takes the place of placeholders: `texts` within texts, and `values` where one stands alone."""

    texts: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)


class Endpoint(JsonEndpoint):
    """An endpoint, ready to be asked by several threads at once."""

    def __init__(self, settings: HttpSettings, name: str | None = None, environment: Environment | None = None) -> None:
        self.settings, self.name = settings, name or urlsplit(settings.url).hostname or "http"
        self._environment = environment
        names = list(variables([settings.url, settings.headers, settings.body]))
        for variable in names:
            lookup(variable, environment)
        self._blot = Blot(names, environment)
        self._headers = {key: substituted(text, {}, environment) for key, text in settings.headers.items()}
        for key, text in self._headers.items():
            if not (text.isascii() and text.isprintable()):
                raise UsageError(f"the header {key} of {self.name} would hold characters that no header can have.")
        address = urlsplit(self._address(Filling(dict.fromkeys(("question", "id", "k", "contexts", "history"), "1"))))
        if address.scheme not in ("http", "https") or not address.hostname or address.username is not None:
            raise UsageError(f"the url of {self.name} is no address like http://localhost:8000/search.")
        for variable in variables(settings.headers):
            check_way(f"{address.scheme}://{address.netloc}", variable)
        self._lock = threading.Lock()
        self._takes_history = any("{history}" in text for text in texts_of([settings.url, settings.body]))
        self._alone: set[str] = set()  # questions that were asked without their history
        self.replies, self._misfits = 0, list[str]()
        super().__init__(
            self.name,
            timeout_seconds=settings.timeout_seconds,
            retries=settings.retries,
            largest=_LARGEST,
            retry_late=False,
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all replies together."""
        alone = without_history(len(self._alone))
        if self.replies and len(self._misfits) == self.replies:
            return (f"no reply fits the paths, so none could be read ({self._misfits[0]})", *alone)
        return alone

    def ask(self, filling: Filling, read: Callable[[Any], Any]) -> CallOutcome:
        """What `read` makes of the JSON that is replied; whatever goes wrong is an error."""
        first = begun = time.perf_counter()
        if filling.values.get("history") and not self._takes_history:
            self._alone.add(filling.texts["id"])

        async def attempt() -> bytes | RequestFailure:
            nonlocal begun
            begun = time.perf_counter()
            return await self.fetch(self.settings.method, self._address(filling), self._body_of(filling), self._headers)

        try:
            content, attempts = self.submit(self.with_retries(attempt, filling.texts["id"])).result()
            if isinstance(content, RequestFailure):
                error = after(content, attempts).rstrip(".") + "."
                return CallOutcome(seconds=time.perf_counter() - first, error=error)
            return CallOutcome(self._read(content, read), time.perf_counter() - begun)
        except (BadReply, NothingThere) as bad:
            error = excerpt(self.blotted(str(bad)), LONGEST)
        except MemoryError:
            raise
        except Exception as problem:
            error = excerpt(self.blotted(f"{type(problem).__name__}: {problem}"), LONGEST)
        return CallOutcome(seconds=time.perf_counter() - begun, error=error)

    def blotted(self, text: str) -> str:
        """Text with the names of variables in place of their values."""
        return self._blot(text)

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        return f"answered {reason}. Check the headers and the variables they name." if status in (401, 403) else ""

    def _address(self, filling: Filling) -> str:
        quoted = {name: quote(text, safe="") for name, text in filling.texts.items()}
        return substituted(self.settings.url, quoted, self._environment)

    def _body_of(self, filling: Filling) -> Any:
        alone = {f"{{{name}}}": value for name, value in filling.values.items()}
        return placed(
            self.settings.body,
            lambda text: alone[text] if text in alone else substituted(text, filling.texts, self._environment),
        )

    def _read(self, body: bytes, read: Callable[[Any], Any]) -> Any:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            words = self.shown(body.decode("utf-8", "replace"))
            raise BadReply(f"replied with something that is not JSON: {words!r}.") from None
        value = placed(well_formed_values(value), self.blotted)
        with self._lock:
            self.replies += 1
        try:
            return read(value)
        except (NothingThere, BadReply) as bad:
            with self._lock:
                self._misfits.append(excerpt(self.blotted(str(bad)), LONGEST))
            raise
