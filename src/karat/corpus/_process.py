"""Process: documents read in a process of their own, so that a file that takes too much or crashes it fails alone.

`ReaderProcess` starts it, as a program of its own. It is not forked: this process may have threads, whose locks a fork
would leave taken, and a notebook has no main module that could be imported again. `serve` is what it runs: it bounds
itself by the operating system's means, which hold whatever a library is at. The two talk in lines of JSON, by standard
input and output; standard error is a file, in which libraries say why they end the process.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karat.core.docs import Doc
from karat.core.errors import KaratError
from karat.corpus._file import File, ReadError
from karat.corpus._json_rows import doc_fields, doc_of
from karat.corpus._reader import READERS, Reader, content_of, out_of_memory
from karat.io.decoding import printable
from karat.io.limits import ReadLimits, raise_limit
from karat.pool.process import ChildProcess, in_bytes, message, received

try:
    import resource
except ImportError:  # not a POSIX system: time and memory are not bounded there
    resource = None  # type: ignore[assignment]

_OUT_OF_MEMORY = re.compile(rb"memory allocation|allocate memory|out of memory|bad_alloc|MemoryError", re.IGNORECASE)
_MOST_PENDING = 2 << 10  # bytes of requests: with one more they fit the smallest pipe, of 4 KB, but for odd paths


class ReaderProcess:
    """Reads files one after another; started when it is needed, and anew after a file that ended it.

    Files may be asked for before the first of them is received: then two processors are at work.
    """

    def __init__(self, limits: ReadLimits, columns: Mapping[str, str]) -> None:
        self._settings = {"limits": asdict(limits), "columns": dict(columns)}
        self._pending: deque[tuple[File, bytes]] = deque()  # requests without an answer
        self._process: ChildProcess | None = None
        self._peak_at_start = 0

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def is_busy(self) -> bool:
        """Whether enough requests are on their way: more might fill the pipe while the other side waits to write."""
        return sum(len(line) for _, line in self._pending) > _MOST_PENDING

    def request(self, file: File, reader: Reader) -> None:
        """Ask for a file; `receive` gives the answers in the order of the requests."""
        request = {"path": str(file.path), "id": file.id, "named": file.named, "reader": reader.name}
        line = message(request | {"memory": file.limits.memory(file.size)})
        self._pending.append((file, line))
        if self._process is not None:
            self._process.send(line)

    def receive(self) -> tuple[list[Doc], ReadError | None]:
        """The documents of the first file that was asked for, and why no more of them were read."""
        if self._process is None:
            self._start()
        assert self._process is not None
        file, _ = self._pending.popleft()
        docs: list[Doc] = []
        try:
            while "fault" not in (reply := self._process.receive()):
                if "progress" in reply:
                    file.progress(*reply["progress"])
                else:
                    docs.append(doc_of(reply["doc"]))
        except EOFError:
            return [], self._why_ended(file)
        file.take_notes(reply["notes"])
        if reply["spent"]:
            self._end()
        return docs, reply["fault"] and ReadError(**reply["fault"])

    def _start(self) -> None:
        self._process = ChildProcess(f"{__name__}:serve")
        self._process.send(message(self._settings))
        try:
            self._peak_at_start = self._process.receive()["peak"]
        except EOFError:
            ended, self._process = self._process.ended(), None
            what = ended.last_words or ended.how
            raise KaratError(f"the process that reads documents could not be started: {what}") from None
        self._process.send(b"".join(line for _, line in self._pending))

    def _why_ended(self, file: File) -> ReadError:
        """What is said of a file that ended the process that read it."""
        assert self._process is not None
        ended, self._process = self._process.ended(), None
        if ended.code == -getattr(signal, "SIGALRM", 0):
            reason = f"takes longer than {file.limits.seconds:g} seconds to read."
            return ReadError("limit", reason, raise_limit("max-seconds", "seconds"))
        most = file.limits.memory(file.size)
        if (ended.peak > most // 2 and ended.peak > self._peak_at_start) or _OUT_OF_MEMORY.search(ended.errors):
            return out_of_memory(file)
        remedy = "Make or download it again, or save it in another format."
        more = f"If it needs more memory than {most >> 20:,} MB: `karat index --max-memory`."
        return ReadError("failed", f"ended the process that read it ({ended.how}).", f"{remedy} {more}")

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def serve() -> None:
    """Read what is asked for until there is no more to read: what the process runs."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what readers print is no reply
    sys.stdin = open(os.devnull)  # noqa: SIM115

    def reply(**content: Any) -> None:
        replies.write(message(content))

    def progress(what: str, done: int, total: int) -> None:
        reply(progress=[what, done, total])
        replies.flush()

    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        settings = received(requests)
        limits = ReadLimits(**settings["limits"])
        _bound("RLIMIT_CORE", 0)
        reply(peak=_counted_memory())
        while True:
            replies.flush()
            request = received(requests)
            path, reader, most = request["path"], READERS.get(request["reader"]), request["memory"]
            file = File(
                Path(path), request["id"], printable(path), request["named"], settings["columns"], progress, limits
            )
            _bound("RLIMIT_AS", most)
            _bound_time(limits.seconds)
            docs, fault = content_of(file, reader)
            _bound_time(0)
            spent = _counted_memory() > most // 2 and _peak_memory() > most // 2  # then a new process is due
            if spent and fault is not None and fault.kind in ("broken", "failed", "unreadable"):
                fault = out_of_memory(file)  # which a library calls by another name
            for doc in docs:
                reply(doc=doc_fields(doc))
            reply(
                fault=None if fault is None else vars(fault),
                notes=file.notes(),
                spent=spent,
            )


def _counted_memory() -> int:
    """The most memory that this process, or the one that started it, has held, in bytes; 0 where that is not known."""
    return 0 if resource is None else in_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _peak_memory() -> int:
    """The most memory that this process itself has held, in bytes, where the system tells it apart."""
    try:
        with open("/proc/self/status", "rb") as status:
            peak = next(line for line in status if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        return _counted_memory()
    return int(peak.split()[1]) << 10


def _bound_time(seconds: float) -> None:
    """Let the operating system end this process after so long; 0: not at all."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound(name: str, most: int) -> None:
    """Bound what this process may take of a resource."""
    if resource is not None:
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
