"""Server: a port of this machine, the address with its token, and a browser that opens it."""

from __future__ import annotations

import errno
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from karat.core.errors import UsageError
from karat.web.guard import MOST_QUERY, GuardSettings

if TYPE_CHECKING:
    from karat.experiment.store import RunFolder

FIRST_PORT, TRIED = 8600, 50
LOOPBACK = ("127.0.0.1", "localhost")


def serve(
    runs_dir: Path,
    runs: Sequence[RunFolder] = (),
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = True,
    notify: Callable[[str], None] = print,
) -> None:
    """Serve runs until Ctrl-C; `notify` gets the sentences that its user must know, the address first."""
    listening, names = listen(host, port)
    guard = GuardSettings(port=listening.getsockname()[1], names=names)
    try:
        address = address_of(guard, runs, host)
        notify(f"karat view: {address}")
        notify("The address holds a token: who has it sees all of these runs. Ctrl-C ends the server.")
        if not is_loopback(host):
            notify(
                f"warning: --host {host} lets other machines ask this server. What is sent is not encrypted: whoever "
                "can listen on this network reads the token and the runs."
            )
        if open_browser and has_display():
            once = address_of(guard, runs, host, guard.for_once())
            threading.Thread(target=_open, args=(once,), daemon=True).start()
        _run(runs_dir, runs, guard, listening)
    finally:
        listening.close()


def _run(runs_dir: Path, runs: Sequence[RunFolder], guard: GuardSettings, listening: socket.socket) -> None:
    """Answer requests at a socket until Ctrl-C, or a signal to end."""
    import uvicorn

    from karat.web.app import ViewSettings, create_app
    from karat.web.connection import Connection

    app = create_app(ViewSettings(runs_dir=runs_dir, guard=guard, named=runs))
    threading.Thread(target=_warm, daemon=True).start()
    config = uvicorn.Config(
        app, http=Connection, ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False,
        proxy_headers=False, server_header=False, timeout_graceful_shutdown=1, limit_concurrency=200,
        h11_max_incomplete_event_size=2 * MOST_QUERY,
    )  # fmt: skip
    with suppress(KeyboardInterrupt):  # uvicorn has ended by then, and passes on what ended it
        uvicorn.Server(config).run(sockets=[listening])


def _warm() -> None:
    """Load what the first page needs, while its reader opens it."""
    import polars as pl

    pl.LazyFrame({"a": [""]}).select(pl.col("a").rle()).collect()


def listen(host: str, port: int | None) -> tuple[socket.socket, tuple[str, ...]]:
    """A socket that listens, and the names it may be asked by; without a port the first free one from 8600 on."""
    if port is not None and not 0 <= port < 65536:
        raise UsageError(f"--port {port}: write a number from 1 to 65535.")
    tries = [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + TRIED), 0]
    for number in tries:
        try:
            return _bound(host, number), names_of(host)
        except OSError as problem:
            if problem.errno in (errno.EADDRINUSE, errno.EACCES) and port is None:
                continue
            raise _unusable(host, number, problem) from None
    raise UsageError(f"no port of {host} is free. Name one with --port.")


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers have one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _unusable(host: str, port: int, problem: OSError) -> UsageError:
    if problem.errno == errno.EADDRINUSE:
        return UsageError(
            f"--port {port} is taken by another program. Name another, or none: the first free one is used."
        )
    if problem.errno == errno.EACCES:
        return UsageError(f"--port {port} is not given to this user. Name one from 1024 on.")
    if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
        return UsageError(
            f"--host {host} is no address of this machine. Leave it out: the pages are for you alone then."
        )
    return UsageError(f"--host {host} --port {port}: the system says {problem.strerror!r}.")


def names_of(host: str) -> tuple[str, ...]:
    """By which names a server at this host may be asked: no other name ever leads here."""
    names = [*LOOPBACK] if is_loopback(host) and ":" not in host else [host]
    if host in ("0.0.0.0", "::"):
        own = socket.gethostname()
        names = [*LOOPBACK, own]
        with suppress(OSError):
            names += [str(place[0]).partition("%")[0] for *_, place in socket.getaddrinfo(own, None)]
    return tuple(dict.fromkeys([*names, host]))


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(guard: GuardSettings, runs: Sequence[RunFolder], host: str, token: str | None = None) -> str:
    """The address to open: the page of runs, of the one run that is named, or of several compared."""
    name = guard.names[0] if is_loopback(host) or host in ("0.0.0.0", "::") else host
    place = "/"
    asked = f"token={token or guard.token}"
    if len(runs) == 1:
        place = f"/run/{quote(runs[0].id, safe='')}"
    elif runs:
        place = "/compare"
        asked = "&".join([*(f"run={quote(run.id, safe='')}" for run in runs), asked])
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{guard.port}{place}?{asked}"


def has_display() -> bool:
    """Whether there is a screen on which a browser could open."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(address: str) -> None:
    import webbrowser

    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
