"""A Python process of its own, to which one talks in lines of JSON by its standard input and output.

It is not forked: this process may have threads, whose locks a fork would leave taken, and a notebook or a script
without a guard has no main module that could be imported again. Standard error is a file, in which libraries say why
they end a process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from karat.core.errors import KaratError

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from importlib import import_module
module, _, function = sys.argv[2].partition(":")
getattr(import_module(module), function)()
"""
FEW_THREADS = {"POLARS_MAX_THREADS": "2", "MALLOC_ARENA_MAX": "2"}
"""Each thread reserves memory that it never uses."""
_ERRORS_READ = 64 << 10  # bytes of standard error that are looked through
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, the most memory it held (0: not known), and what it said of errors."""

    code: int
    peak: int
    errors: bytes

    @property
    def how(self) -> str:
        """The signal that ended it, or its exit code."""
        try:
            return signal.Signals(-self.code).name
        except ValueError:
            return f"exit code {self.code}"

    @property
    def last_words(self) -> str:
        """The last line that it said."""
        return (self.errors.decode("utf-8", "replace").strip().splitlines() or [""])[-1]


class ChildProcess:
    """Runs a function of karat's (`karat.room.module:function`), which answers on standard output."""

    def __init__(self, function: str, environment: Mapping[str, str] | None = None) -> None:
        if not sys.executable:
            raise KaratError("this needs a process of its own, and there is no Python to start it with.")
        path = [os.path.abspath(entry) for entry in sys.path if entry]
        home = str(Path(__file__).resolve().parents[2])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*path, home]), function], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, env={**os.environ, **FEW_THREADS, **(environment or {})},
        )  # fmt: skip

    def send(self, messages: bytes) -> None:
        """Write messages; that the process has ended is seen where an answer is missing."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(messages)
            self._process.stdin.flush()

    def receive(self) -> Any:
        """The next answer; EOFError where the process has ended."""
        assert self._process.stdout is not None
        return received(self._process.stdout)

    def ended(self) -> Ended:
        """How a process ended that gives no more answers."""
        peak = 0
        if hasattr(os, "wait4"):
            _, status, usage = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            peak = in_bytes(usage.ru_maxrss)
        code = self._process.wait()
        self._errors.seek(0)
        errors = self._errors.read(_ERRORS_READ)
        self.end()
        return Ended(code, peak, errors)

    def end(self) -> None:
        """End it, whatever it is at."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


class Requests:
    """What a child process is asked for: opened by the function that it runs.

    What else is printed there goes to standard error. When the process that started this one is gone, whatever is under
    way ends with it.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both: the other one ends this one
        self._requests, self._replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        sys.stdin = open(os.devnull)  # noqa: SIM115
        self._waiting: list[Any] = []
        self._arrived = threading.Semaphore(0)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._waiting.append(received(self._requests))
                self._arrived.release()
        os._exit(0)

    def next(self) -> Any:
        """The next request, when it comes."""
        self._arrived.acquire()
        return self._waiting.pop(0)

    def reply(self, **content: Any) -> None:
        """Answer."""
        self._replies.write(message(content))
        self._replies.flush()


def in_bytes(maxrss: int) -> int:
    """A peak of memory as the operating system counts it, in bytes."""
    return maxrss if sys.platform == "darwin" else maxrss << 10


def message(content: Mapping[str, Any]) -> bytes:
    """A message as a line."""
    return _JSON.encode(content).encode("utf-8", "surrogatepass") + b"\n"


def received(stream: IO[bytes]) -> Any:
    """The next message; EOFError where the other side has ended."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return json.loads(line.decode("utf-8", "surrogatepass"))
