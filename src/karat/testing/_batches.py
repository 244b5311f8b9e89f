"""The batch endpoints of the fake chat server: files, batches, and what goes wrong with them on command."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from karat.testing.fake_llm import Request

Ending = Literal["completed", "failed", "expired", "cancelled"]
WAYS: tuple[str, ...] = ("validating", "in_progress", "finalizing")
EXPIRED = "This request could not be executed before the completion window expired."
CANCELLED = "This request was not executed: the batch was cancelled."


@dataclass(frozen=True)
class BatchScript:
    """What becomes of a batch: the states in which it is seen, one a look, and how it ends.

    `answered` is the share of requests that are answered (and billed) before a batch expires or is cancelled. Of a
    batch that `failed` none is, and `message` says why. `seconds` is how long it takes at least. `lost` replies do not
    reach the client though the server did what was asked: of "upload", "create", "look" or "content", the first time
    each. `refuse` is a status that creating it gets. `hidden` is for how many lists a new batch is not among them.
    `output` and `errors` rewrite the files that the batch brings.
    """

    states: tuple[str, ...] = WAYS
    end: Ending = "completed"
    answered: float = 0.5
    message: str = "The file is not valid."
    seconds: float = 0.0
    lost: tuple[str, ...] = ()
    refuse: int | None = None
    hidden: int = 0
    output: Callable[[bytes], bytes] | None = None
    errors: Callable[[bytes], bytes] | None = None


@dataclass
class FakeBatch:
    """A batch that a client created. `requests` are those that were executed, `looks` counts looks at it."""

    id: str
    input_file_id: str
    metadata: Mapping[str, str]
    script: BatchScript
    bodies: list[tuple[str, dict[str, Any]]]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    begun: float = field(default_factory=time.time)
    looks: int = 0
    lists: int = 0
    requests: list[Request] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    ended: bool = False

    @property
    def status(self) -> str:
        """The state that the batch is in."""
        states = self.script.states
        if self.ended:
            return self.script.end
        return states[min(self.looks, len(states) - 1)] if states else WAYS[1]

    def shown(self) -> dict[str, Any]:
        """The batch as OpenAI's servers show one."""
        end, failed = self.script.end, self.ended and self.script.end == "failed"
        problem = {"code": "invalid_file", "message": self.script.message, "param": None, "line": 1}
        answered = sum(request.answered for request in self.requests)
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": [problem]} if failed else None,
            "input_file_id": self.input_file_id,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.files.get("output"),
            "error_file_id": self.files.get("errors"),
            "created_at": int(self.begun),
            f"{end}_at": int(self.begun) if self.ended else None,
            "request_counts": {
                "total": len(self.bodies),
                "completed": answered,
                "failed": len(self.requests) - answered if self.ended else 0,
            },
            "metadata": dict(self.metadata),
        }


class LostReplyError(Exception):
    """What was asked is done, and nothing of it reaches the client."""


class RefusedError(Exception):
    """A request that is answered with a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Execute = Callable[[dict[str, Any], Mapping[str, str]], tuple["Request", dict[str, Any] | None]]


class BatchDesk:
    """Takes files and batches. `script` says what becomes of the next batch, `execute` answers a request of one."""

    def __init__(self, script: Callable[[int], BatchScript], execute: Execute) -> None:
        self._script, self._execute = script, execute
        self._lock = threading.RLock()
        self.files: dict[str, bytes] = {}
        self.batches: list[FakeBatch] = []
        self._lost: set[tuple[str, str]] = set()

    def handle(
        self, method: str, path: str, query: Mapping[str, str], content: bytes, headers: Mapping[str, str]
    ) -> Any:
        """The reply to a request: values, or bytes of a file."""
        with self._lock:
            match [method, *path.strip("/").split("/")]:
                case ["POST", "files"]:
                    return self._upload(content, headers)
                case ["POST", "batches"]:
                    return self._create(json.loads(content), headers)
                case ["GET", "batches"]:
                    return self._list(query)
                case ["GET", "batches", name]:
                    return self._look(name)
                case ["GET", "files", name, "content"] if name in self.files:
                    for batch in self.batches:
                        if name in batch.files.values():
                            self._lose(batch.script, "content", name)
                    return self.files[name]
        raise RefusedError(404, "There is no such path.")

    def _lose(self, script: BatchScript, step: str, name: str) -> None:
        if step in script.lost and (step, name) not in self._lost:
            self._lost.add((step, name))
            raise LostReplyError

    def _upload(self, content: bytes, headers: Mapping[str, str]) -> Any:
        head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
        form = BytesParser().parsebytes(head + content)
        fields = {part.get_param("name", header="content-disposition"): part for part in form.walk()}
        if "file" not in fields or "purpose" not in fields:
            raise RefusedError(400, "The form has no file or no purpose.")
        name = f"file-{len(self.files) + 1}"
        file = fields["file"].get_payload(decode=True)
        self.files[name] = file if isinstance(file, bytes) else b""
        self._lose(self._script(len(self.batches)), "upload", str(len(self.batches)))
        purpose = str(fields["purpose"].get_payload())
        return {"id": name, "object": "file", "bytes": len(self.files[name]), "purpose": purpose}

    def _create(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        number = len(self.batches)
        script, name = self._script(number), body["input_file_id"]
        if script.refuse is not None:
            raise RefusedError(script.refuse, script.message)
        lines = [json.loads(line) for line in self.files[name].decode().splitlines()]
        bodies = [(line["custom_id"], line["body"]) for line in lines]
        batch = FakeBatch(f"batch_{number + 1}", name, body.get("metadata") or {}, script, bodies, headers)
        self.batches.append(batch)
        self._lose(script, "create", batch.id)
        return batch.shown()

    def _list(self, query: Mapping[str, str]) -> Any:
        for batch in self.batches:
            batch.lists += 1
        listed = [batch for batch in reversed(self.batches) if batch.lists > batch.script.hidden]
        ids = [batch.id for batch in listed]
        start = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
        page = listed[start : start + int(query.get("limit", 20))]
        more = start + len(page) < len(listed)
        return {"object": "list", "data": [batch.shown() for batch in page], "has_more": more}

    def _look(self, name: str) -> Any:
        batch = next((batch for batch in self.batches if batch.id == name), None)
        if batch is None:
            raise RefusedError(404, f"No such batch: {name}")
        self._lose(batch.script, "look", batch.id)
        late = time.time() - batch.begun >= batch.script.seconds
        if not batch.ended and batch.looks >= len(batch.script.states) and late:
            self._end(batch)
        shown = batch.shown()
        batch.looks += 1
        return shown

    def _end(self, batch: FakeBatch) -> None:
        """Execute what the script lets be executed, and write the files."""
        batch.ended, end, number = True, batch.script.end, len(batch.bodies)
        if end == "failed":
            return
        executed = number if end == "completed" else int(number * batch.script.answered)
        output: list[Any] = []
        errors: list[Any] = []
        for custom_id, body in batch.bodies[:executed]:
            request, response = self._execute(body, batch.headers)
            batch.requests.append(request)
            timed_out = {"code": "request_timeout", "message": "The model took too long."}
            line = _line(custom_id, response, None if response else timed_out)
            (output if request.answered or (response and response["status_code"] == 200) else errors).append(line)
        code, message = ("batch_expired", EXPIRED) if end == "expired" else ("batch_cancelled", CANCELLED)
        errors += [_line(name, None, {"code": code, "message": message}) for name, _ in batch.bodies[executed:]]
        for name, lines, rewrite in (
            ("output", output, batch.script.output),
            ("errors", errors, batch.script.errors),
        ):
            written = "".join(json.dumps(line) + "\n" for line in lines).encode()
            if lines or rewrite:
                batch.files[name] = f"{batch.id}-{name}"
                self.files[batch.files[name]] = rewrite(written) if rewrite else written


def _line(custom_id: str, response: Any, error: Any) -> dict[str, Any]:
    return {"id": f"batch_req_{custom_id}", "custom_id": custom_id, "response": response, "error": error}
