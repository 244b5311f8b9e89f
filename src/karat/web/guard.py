"""Guard: which requests reach the pages, and under which policy a browser shows what they answer.

A page elsewhere must not reach this server by a name that it points here (Host), nor by the reader's browser (Origin,
Sec-Fetch-Site), and another user of the machine not at all: whoever asks must know the token of the address that
`karat view` prints. The token comes once by that address and stands in a cookie from then on.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 1 << 20
"""Bytes of what is written to the server at once: labels and settings take some hundred."""
MOST_QUERY = 128 << 10
"""Bytes of the part of an address behind the question mark, where an id of a question may stand, however long."""
MOST_PARAMETERS = 400
MOST_COOKIES = 8 << 10
METHODS = ("GET", "HEAD", "POST")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_UNCACHED = "no-store"
_PACKED = ("%2f", "%5c", "%00")  # what hides a separator or an end in a part of a path
_UNKNOWN_READER = (
    "this page needs the token of `karat view`",
    "Open the address that `karat view` printed; it holds the token.",
)


@dataclass(frozen=True)
class GuardSettings:
    """The port, the token, and the names by which the server may be asked for."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    names: Sequence[str] = ("127.0.0.1", "localhost")
    once: set[str] = field(default_factory=set, repr=False)

    def for_once(self) -> str:
        """What stands for the token once, where others may see an address: in the arguments of a browser."""
        self.once.add(code := secrets.token_urlsafe(32))
        return code

    def takes_once(self, given: str) -> bool:
        """Whether this is such a code that was not used yet; it is from now on."""
        known = [code for code in self.once if secrets.compare_digest(code.encode(), _bytes(given))]
        self.once.difference_update(known)
        return bool(known)

    @property
    def hosts(self) -> frozenset[str]:
        """What the header Host may be; browsers leave out the port that http has anyway."""
        named = [f"[{name}]" if ":" in name else name for name in self.names]
        hosts = {f"{name}:{self.port}".lower() for name in named}
        return frozenset(hosts | ({name.lower() for name in named} if self.port == 80 else set()))

    @property
    def cookie(self) -> str:
        return f"karat_{self.port}"

    def is_token(self, given: str) -> bool:
        """Whether this is the token, in a time that says nothing of how much of it is right."""
        return secrets.compare_digest(_bytes(given), self.token.encode())


class RefusedRequest(Exception):  # noqa: N818
    """A request that goes no further."""

    def __init__(self, status: int, error: str, remedy: str = "") -> None:
        super().__init__(error)
        self.status, self.error, self.remedy = status, error, remedy


class Guard:
    """The only way to the pages: refuses what is not from their reader, and adds the policy to every answer."""

    def __init__(self, app: ASGIApp, settings: GuardSettings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": list(_with_policy(message.get("headers", ())))}
            await send(message)

        try:
            target = self.refuse(scope)
            if target is not None:
                await self._welcome(target, guarded)
                return
            await self.app(scope, await _whole_body(scope, receive) if scope["method"] == "POST" else receive, guarded)
        except RefusedRequest as refused:
            await _say(scope, guarded, refused.status, refused.error, refused.remedy)
        except Exception as problem:
            print(f"karat: internal error, which is a bug: {type(problem).__name__}: {problem!r:.300}", file=sys.stderr)
            if begun:
                raise
            await _say(
                scope, guarded, 500, "an internal error of karat, which is a bug", "See where `karat view` runs."
            )

    def refuse(self, scope: Scope) -> str | None:
        """Raise for a request that goes no further; for one that brings the token, where it goes on without it."""
        if scope["method"] not in METHODS:
            raise RefusedRequest(405, "only GET, HEAD and POST are answered here")
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        self._refuse_others(scope["method"], headers)
        _refuse_path(scope)
        target = self._refuse_strangers(scope, headers)
        if scope["method"] == "POST":
            _refuse_body(headers)
        return target

    def _refuse_others(self, method: str, headers: dict[str, list[str]]) -> None:
        """Refuse what asks for another server, or comes from another page."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0] not in self.settings.hosts:
            raise RefusedRequest(
                421, "this server is not asked by that name", "Open the address that `karat view` printed."
            )
        if (origins and origins != [f"http://{hosts[0]}"]) or (method == "POST" and not origins):
            raise RefusedRequest(403, "this comes from another page", "Open the address that `karat view` printed.")
        sites, modes = headers.get("sec-fetch-site", []), headers.get("sec-fetch-mode", [])
        whole = headers.get("sec-fetch-dest", []) in ([], ["document"])  # not a frame of another page
        followed = sites == ["same-site"] and modes == ["navigate"] and method == "GET" and whole
        if sites and not followed and (len(sites) > 1 or sites[0] not in ("same-origin", "none")):
            raise RefusedRequest(403, "this comes from another page", "Type the address, or paste it.")

    def _refuse_strangers(self, scope: Scope, headers: dict[str, list[str]]) -> str | None:
        """Refuse who does not know the token; where it stands in the address, the address without it."""
        query = scope["query_string"].decode("latin-1")
        pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
        given = [value for name, value in pairs if name == "token"]
        if given and scope["method"] == "GET":
            if len(given) == 1 and (self.settings.is_token(given[0]) or self.settings.takes_once(given[0])):
                rest = urlencode([pair for pair in pairs if pair[0] != "token"])
                return quote(scope["path"]) + (f"?{rest}" if rest else "")
            raise RefusedRequest(401, *_UNKNOWN_READER)
        shown = headers.get("x-karat-token", [])
        if not any(map(self.settings.is_token, [*shown[:1], *_cookies(headers, self.settings.cookie)])):
            raise RefusedRequest(401, *_UNKNOWN_READER)
        return None

    async def _welcome(self, target: str, send: Send) -> None:
        """Keep the token in a cookie, and go on to the address without it."""
        cookie = f"{self.settings.cookie}={self.settings.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", target.encode("latin-1")), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _refuse_path(scope: Scope) -> None:
    """Refuse paths that mean another place than they show."""
    raw = (scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")).decode("latin-1")
    parts = scope["path"].split("/")
    hidden = any(code in raw.lower() for code in _PACKED) or any(sign in scope["path"] for sign in "\\\0\ufffd")
    if parts[0] or hidden or ".." in parts or "." in parts or "" in parts[1:-1]:
        raise RefusedRequest(400, "that is no path of this server")
    query = scope["query_string"]
    if len(query) > MOST_QUERY or query.count(b"&") >= MOST_PARAMETERS:
        raise RefusedRequest(400, "the address is too long", "Leave some of its filters out.")


def _refuse_body(headers: dict[str, list[str]]) -> None:
    """Refuse what is no JSON of a known and small size."""
    kind, *more = [part.strip().lower() for part in ",".join(headers.get("content-type", [])).split(";")]
    if kind != "application/json" or more not in ([], ["charset=utf-8"]):
        raise RefusedRequest(415, "only JSON is taken here (content type application/json)")
    lengths = headers.get("content-length", [])
    if len(lengths) > 1 or (lengths and "transfer-encoding" in headers):
        raise RefusedRequest(400, "the request says twice how long it is")
    if lengths and (not (lengths[0].isascii() and lengths[0].isdigit()) or len(lengths[0]) > 12):
        raise RefusedRequest(400, "the request does not say how long it is")
    if lengths and int(lengths[0]) > MOST_BODY:
        raise _too_long()


def _too_long() -> RefusedRequest:
    return RefusedRequest(413, f"more than {MOST_BODY >> 20} MB at once is not taken", "Send less at once.")


async def _whole_body(scope: Scope, receive: Receive) -> Receive:
    """The body read within its bound, for the pages to read."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedRequest(400, "the request ended early")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY:
            raise _too_long()
        if not message.get("more_body"):
            break
    whole: list[Message] = [{"type": "http.request", "body": b"".join(parts), "more_body": False}]

    async def replayed() -> Message:
        return whole.pop() if whole else await receive()

    return replayed


def _cookies(headers: dict[str, list[str]], name: str) -> Iterator[str]:
    """The values of a cookie; another program of this machine may have set one of the same name."""
    for line in headers.get("cookie", []):
        for part in line[:MOST_COOKIES].split(";"):
            key, equals, value = part.strip().partition("=")
            if equals and key == name:
                yield value


def _with_policy(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    own = {name.encode(): value.encode() for name, value in HEADERS.items()}
    given = [(name.lower(), value) for name, value in headers]
    yield from ((name, value) for name, value in given if name not in own)
    yield from own.items()
    if all(name != b"cache-control" for name, _ in given):
        yield b"cache-control", _UNCACHED.encode()


async def _say(scope: Scope, send: Send, status: int, error: str, remedy: str) -> None:
    """An error in the form of what was asked for: JSON of the API, else a page."""
    if scope["path"].startswith("/api/"):
        body, kind = json.dumps({"error": error, "remedy": remedy}), "application/json"
    else:
        words = f"<h1>{status}</h1><p>{escape(error[:1].upper() + error[1:])}.</p><p>{escape(remedy)}</p>"
        title = "<title>karat</title><meta name='viewport' content='width=device-width'>"
        body = f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>{title}</head><body>{words}</body></html>"
        kind = "text/html; charset=utf-8"
    content = body.encode("utf-8")
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(content)).encode()), (b"vary", b"cookie")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})
