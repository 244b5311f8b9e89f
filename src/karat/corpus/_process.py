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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from karat.core.docs import Doc, Problem
from karat.core.errors import KaratError
from karat.corpus._file import File, ReadError
from karat.corpus._objects import doc_of
from karat.corpus._reader import Reader, out_of_memory
from karat.corpus._worker import NUMBER, as_message, receive, resident
from karat.io.limits import ReadLimits, raise_limit

AHEAD = 12 << 10
"""Bytes of requests that may be on their way: less than any pipe holds, so that writing never waits."""

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from karat.corpus._worker import serve
serve()
"""
_FEW_THREADS = {"POLARS_MAX_THREADS": "2", "MALLOC_ARENA_MAX": "2"}  # each thread reserves memory that it never uses
_OUT_OF_MEMORY = re.compile(rb"memory allocation|allocate memory|out of memory|bad_alloc|MemoryError", re.IGNORECASE)
_ERRORS = 64 << 10
_ENDED = "Make or download it again, or save it in another format."


@dataclass(frozen=True, eq=False)
class _Request:
    number: int
    file: File
    message: bytes


class ReaderProcess:
    """Reads files one after another, started when it is needed. Requests go ahead of the answers, many at once."""

    def __init__(self, limits: ReadLimits, columns: Mapping[str, str]) -> None:
        self._settings = {"limits": asdict(limits), "columns": dict(columns)}
        self._waiting: deque[_Request] = deque()  # those without an answer
        self._unsent: list[_Request] = []  # the last of these
        self._ahead = self._number = 0
        self._faults: dict[int, ReadError] = {}  # of files that ended the process, by the numbers of their requests
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def is_busy(self) -> bool:
        """Whether enough requests are on their way."""
        return self._ahead > AHEAD

    def request(self, file: File, reader: Reader) -> None:
        """Ask for a file; `receive` gives the answers in the order of the requests."""
        self._number += 1
        message = {
            "number": self._number, "path": str(file.path), "id": file.id, "named": file.named, "reader": reader.name
        }  # fmt: skip
        request = _Request(self._number, file, as_message(message))
        self._waiting.append(request)
        self._unsent.append(request)
        self._ahead += len(request.message)
        if sum(len(one.message) for one in self._unsent) > AHEAD // 2:
            self._send()

    def receive(self, file: File) -> tuple[list[Doc], ReadError | None]:
        """The documents of the first file that was asked for, and why no more of them were read."""
        request = self._waiting[0]
        answer = None
        while answer is None and request.number not in self._faults:
            if request in self._unsent:
                self._send()
            answer = self._answer(file)
        self._waiting.popleft()
        self._ahead -= len(request.message)
        if answer is None:
            return [], self._faults.pop(request.number)
        docs, last = answer
        file.problems += [Problem(**problem) for problem in last["problems"]]
        file.rows.update(last["rows"])
        file.fields.update(last["fields"])
        if last["spent"]:
            self._end()
        return docs, last["fault"] and ReadError(*last["fault"][:3], fatal=last["fault"][3])

    def _answer(self, file: File) -> tuple[list[Doc], dict[str, Any]] | None:
        """Documents, and the last part of an answer; None where the process ended, and its fault is noted."""
        assert self._process is not None
        assert self._process.stdout is not None
        docs: list[Doc] = []
        while True:
            try:
                reply = receive(self._process.stdout)
            except EOFError:
                self._note_end()
                return None
            if "progress" in reply:
                file.progress(*reply["progress"])
                continue
            docs += map(doc_of, reply["docs"])
            if "fault" in reply:
                return docs, reply

    def _send(self) -> None:
        """Send what was not sent yet; the last of it asks for all answers so far."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        messages = b"".join(request.message for request in self._unsent)
        self._unsent.clear()
        with suppress(BrokenPipeError):  # that it ended is seen where its answer is missing
            self._process.stdin.write(messages + as_message({"flush": True}))
            self._process.stdin.flush()

    def _start(self) -> None:
        if not sys.executable:
            raise KaratError("documents are read in a process of their own, and there is no Python to start it with.")
        path = [os.path.abspath(entry) for entry in sys.path if entry]
        home = str(Path(__file__).resolve().parents[2])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._errors.write(bytes(2 * NUMBER))
        self._errors.flush()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*path, home])], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, env=os.environ | _FEW_THREADS,
        )  # fmt: skip
        assert self._process.stdin is not None
        self._process.stdin.write(as_message(self._settings))

    def _note_end(self) -> None:
        """Note why the process ended, with the file that it was at; the others are asked for again."""
        assert self._process is not None
        assert self._errors is not None
        code, peak = _ended(self._process)
        self._errors.seek(0)
        at, first_peak = (int.from_bytes(self._errors.read(NUMBER), "big") for _ in range(2))
        errors = self._errors.read(_ERRORS)
        self._end()
        guilty = next((request for request in self._waiting if request.number == at), None)
        if guilty is None:
            what = (errors.decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"])[-1]
            raise KaratError(f"the process that reads documents could not be started: {what}")
        self._faults[at] = _why(guilty.file, code, peak if peak > first_peak else 0, errors)

    def _end(self) -> None:
        """End the process; what it has not answered is to be sent again."""
        self._unsent = [request for request in self._waiting if request.number not in self._faults]
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


def _why(file: File, code: int, peak: int, errors: bytes) -> ReadError:
    """What is said of a file that ended the process that read it."""
    if code == -getattr(signal, "SIGALRM", 0):
        reason = f"takes longer than {file.limits.seconds:g} seconds to read."
        return ReadError("limit", reason, raise_limit("max-seconds", "seconds"))
    if peak > file.limits.memory(file.size) // 2 or _OUT_OF_MEMORY.search(errors):
        return out_of_memory(file)
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit code {code}"
    more = f"If it needs more memory than {file.limits.memory(file.size) >> 20:,} MB: `karat index --max-memory`."
    return ReadError("failed", f"ended the process that read it ({how}).", f"{_ENDED} {more}")


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The exit code of a process that has ended, and the most memory it held, in bytes (0: not known)."""
    if not hasattr(os, "wait4"):
        return process.wait(), 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, resident(usage.ru_maxrss)
