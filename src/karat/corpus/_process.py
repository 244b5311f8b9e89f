"""Process: documents read in a process of their own, so that a file that takes too much or crashes it fails alone.

It is started as a program of its own, not forked: this process may have threads, whose locks a fork would leave taken,
and a notebook has no main module that could be imported again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from karat.core.docs import Doc, Problem
from karat.core.errors import KaratError
from karat.corpus._file import File, ReadError
from karat.corpus._objects import doc_of
from karat.corpus._reader import Reader, out_of_memory
from karat.corpus._worker import receive, resident, send
from karat.io.limits import ReadLimits, raise_limit

AHEAD = 8 << 10
"""Bytes of requests that may be on their way: less than any pipe holds, so that writing never waits."""

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from karat.corpus._worker import serve
serve()
"""
_FEW_THREADS = {"POLARS_MAX_THREADS": "2", "MALLOC_ARENA_MAX": "2"}  # each thread reserves memory that it never uses
_OUT_OF_TIME = b"Timeout ("  # as faulthandler writes
_OUT_OF_MEMORY = re.compile(rb"memory allocation|allocate memory|out of memory|bad_alloc|MemoryError", re.IGNORECASE)
_ERRORS = 64 << 10
_ENDED = "Make or download it again, or save it in another format."


class ReaderProcess:
    """Reads files one after another. Requests go ahead of the answers; a file that ends it is answered for here."""

    def __init__(self, limits: ReadLimits, columns: Mapping[str, str]) -> None:
        self._settings = {"limits": asdict(limits), "columns": dict(columns)}
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()  # requests without an answer, and their sizes
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._is_ready = False

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def is_busy(self) -> bool:
        """Whether enough requests are on their way."""
        return sum(size for _, size in self._waiting) > AHEAD

    def request(self, file: File, reader: Reader) -> None:
        """Ask for a file; `receive` gives the answers in the order of the requests."""
        if self._process is None:
            self._start()
        message = {
            "path": str(file.path), "id": file.id, "place": file.place, "named": file.named, "reader": reader.name,
        }  # fmt: skip
        self._waiting.append((message, self._write(message)))

    def receive(self, file: File) -> tuple[list[Doc], ReadError | None]:
        """The documents of the first file that was asked for, and why no more of them were read."""
        if self._process is None:
            self._start()
        docs: list[Doc] = []
        try:
            while "fault" not in (reply := self._reply(file)):
                docs += map(doc_of, reply["docs"])
        except EOFError:
            self._waiting.popleft()
            return [], self._why_it_ended(file)
        self._waiting.popleft()
        docs += map(doc_of, reply["docs"])
        file.problems += [Problem(**problem) for problem in reply["problems"]]
        file.rows.update(reply["rows"])
        file.fields.update(reply["fields"])
        if reply["spent"]:
            self._end()
        return docs, reply["fault"] and ReadError(*reply["fault"][:3], fatal=reply["fault"][3])

    def _start(self) -> None:
        if not sys.executable:
            raise KaratError("documents are read in a process of their own, and there is no Python to start it with.")
        path = [os.path.abspath(entry) for entry in sys.path if entry]
        home = str(Path(__file__).resolve().parents[2])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*path, home])], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, env=os.environ | _FEW_THREADS,
        )  # fmt: skip
        self._is_ready = False
        for message in (self._settings, *(message for message, _ in self._waiting)):
            self._write(message)

    def _write(self, message: Mapping[str, Any]) -> int:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # that it ended is seen where its answer is missing
            size = send(self._process.stdin, message)
            self._process.stdin.flush()
            return size
        return 0

    def _reply(self, file: File) -> dict[str, Any]:
        """The next part of an answer; news of progress is passed on."""
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            reply: dict[str, Any] = receive(self._process.stdout)
            if "ready" in reply:
                self._is_ready = True
            elif "progress" in reply:
                file.progress(*reply["progress"])
            else:
                return reply

    def _why_it_ended(self, file: File) -> ReadError:
        """What the process ended of, which read this file."""
        assert self._process is not None
        assert self._errors is not None
        code, peak = _ended(self._process)
        self._errors.seek(0)
        errors = self._errors.read(_ERRORS)
        is_ready = self._is_ready
        self._end()
        if not is_ready:
            what = (errors.decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"])[-1]
            raise KaratError(f"the process that reads documents could not be started: {what}")
        if _OUT_OF_TIME in errors:
            reason = f"takes longer than {file.limits.seconds:g} seconds to read."
            return ReadError("limit", reason, raise_limit("max-seconds", "seconds"))
        if peak > file.limits.memory(file.size) // 2 or _OUT_OF_MEMORY.search(errors):
            return out_of_memory(file)
        try:
            how = signal.Signals(-code).name
        except ValueError:
            how = f"exit code {code}"
        return ReadError("failed", f"ended the process that read it ({how}).", _ENDED)

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The exit code of a process that has ended, and the most memory it held, in bytes (0: not known)."""
    if not hasattr(os, "wait4"):
        return process.wait(), 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, resident(usage.ru_maxrss)
