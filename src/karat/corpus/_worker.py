"""Worker: the process that reads documents for another one, within limits, and is ended by those it exceeds.

Started by `ReaderProcess`, it takes requests on standard input and answers on standard output: JSON, each message after
its length in 8 bytes. Answers are held back until they are asked for, so that many files cost few switches between the
two. Standard error is a file: it begins with the number of the request at hand and the peak of memory at the start,
which is all that is known when a library ends the process, and holds what readers print.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from karat.corpus._file import File, ReadError
from karat.corpus._objects import doc_fields
from karat.corpus._reader import READERS, Reader, content_of, out_of_memory
from karat.io.decoding import printable
from karat.io.limits import ReadLimits

NUMBER = 8
_LENGTH = 8
_BATCH = 1 << 20  # characters of text in a message, unless one document has more


def as_message(content: Any) -> bytes:
    """What is sent for some JSON values."""
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(data).to_bytes(_LENGTH, "big") + data


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError where the other side has ended."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        raise EOFError
    data = stream.read(size := int.from_bytes(length, "big"))
    if len(data) < size:
        raise EOFError
    return json.loads(data.decode("utf-8", "surrogatepass"))


def serve() -> None:
    """Read what is asked for until there is no more to read."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    settings = receive(requests)
    limits, columns = ReadLimits(**settings["limits"]), settings["columns"]
    _set_limit("RLIMIT_CORE", 0)
    _note(_counted_memory(), NUMBER)
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            request = receive(requests)
            if "flush" in request:
                replies.flush()
                continue
            _note(request["number"], 0)

            def progress(what: str, done: int, total: int) -> None:
                replies.write(as_message({"progress": [what, done, total]}))
                replies.flush()

            path = request["path"]
            file = File(Path(path), request["id"], printable(path), request["named"], columns, progress, limits)
            if _answer(file, request["reader"], replies):
                break
        replies.flush()


def _answer(file: File, reader: str, replies: IO[bytes]) -> bool:
    """Send the documents of a file and what is to be said of it; whether it took so much that a new process is due."""
    limits = file.limits
    try:
        most = limits.memory(file.size)
    except ReadError as gone:
        last = {"docs": [], "problems": [], "rows": {}, "fields": [], "fault": _fault(gone), "spent": False}
        replies.write(as_message(last))
        return False
    _set_limit("RLIMIT_AS", most)
    _set_time(limits.seconds)
    docs, fault = content_of(file, _reader(reader))
    _set_time(0)
    spent = _counted_memory() > most // 2 and _peak_memory() > most // 2
    if spent and fault is not None and fault.kind in ("broken", "failed", "unreadable"):
        fault = out_of_memory(file)  # which a library calls by another name
    batch, size = [], 0
    for doc in docs:
        batch.append(doc_fields(doc))
        size += len(doc.text)
        if size > _BATCH:
            replies.write(as_message({"docs": batch}))
            batch, size = [], 0
    last = {
        "docs": batch,
        "problems": [asdict(problem) for problem in file.problems],
        "rows": file.rows,
        "fields": sorted(file.fields),
        "fault": None if fault is None else _fault(fault),
        "spent": spent,
    }
    replies.write(as_message(last))
    return spent


def _reader(name: str) -> Reader:
    """A reader by its name; one of karat's own is imported alone, since listing them all takes a while."""
    try:
        reader = import_module(f"karat.corpus.readers.{name}").READER
    except (ImportError, AttributeError):
        return READERS.get(name)
    return reader if isinstance(reader, Reader) else READERS.get(name)


def _fault(fault: ReadError) -> list[Any]:
    return [fault.kind, fault.reason, fault.remedy, fault.fatal]


def _note(value: int, place: int) -> None:
    """Leave a number where the process that waits finds it if this one ends: in the file that stderr is."""
    os.lseek(2, place, os.SEEK_SET)
    os.write(2, value.to_bytes(NUMBER, "big"))
    os.lseek(2, 0, os.SEEK_END)  # what a library says as it ends comes after the numbers


def _counted_memory() -> int:
    """The most memory that this process, or the one that started it, has held, in bytes; 0 where that is not known."""
    try:
        import resource
    except ImportError:
        return 0
    return resident(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _peak_memory() -> int:
    """The most memory that this process itself has held, in bytes, where the system tells it apart."""
    try:
        with open("/proc/self/status", "rb") as status:
            peak = next(line for line in status if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        return _counted_memory()
    return int(peak.split()[1]) << 10


def resident(maxrss: int) -> int:
    """A peak as the operating system counts it, in bytes."""
    return maxrss if sys.platform == "darwin" else maxrss << 10


def _set_time(seconds: float) -> None:
    """Let the operating system end this process after so long, whatever a library is at; 0: not at all."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _set_limit(name: str, most: int) -> None:
    """Bound what this process may take, where the platform can."""
    try:
        import resource
    except ImportError:
        return
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
