"""The HTTP side of the fake chat server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from karat.testing._batches import BatchDesk, LostReplyError, RefusedError
from karat.testing._faults import STATUS, Fault, spoken

if TYPE_CHECKING:
    from karat.testing.fake_llm import Request

_HUGE = 10 << 20
_DRIP_SECONDS = 0.02
_BYTES_PER_TOKEN = 4

Decide = Callable[[dict[str, Any], Mapping[str, str]], "Request"]


class Server(ThreadingHTTPServer):
    """A server on a free port of the loopback, in threads of its own."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, decide: Decide, desk: BatchDesk) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.decide, self.desk, self.closing = decide, desk, threading.Event()
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, and drop every connection, those that hang among them."""
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._open_lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the head and the body of a reply are two writes
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        """The list of models, or something about batches."""
        if self.path.rstrip("/").endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})
        else:
            self._of_batches(b"")

    def _of_batches(self, content: bytes) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        headers = {name.title(): value for name, value in self.headers.items()}
        try:
            reply = self.server.desk.handle(self.command, parts.path.removeprefix("/v1"), query, content, headers)
        except RefusedError as refusal:
            self._status(refusal.status, "invalid_request_error", str(refusal))
        except LostReplyError:
            self.close_connection = True
        else:
            self._send(200, reply)

    def do_POST(self) -> None:
        """A chat completion, a file or a batch."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._of_batches(content)
            return
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._status(400, "invalid_request_error", "The body is not a JSON object.")
            return
        try:
            request = self.server.decide(body, {name.title(): value for name, value in self.headers.items()})
        except Exception as error:
            self._status(400, "invalid_request_error", f"The function of the test failed: {error!r}")
            return
        self._answer(request)

    def _answer(self, request: Request) -> None:
        fault = request.fault
        if request.reply is not None:
            self._send(200, completion(request))
        elif fault is not None:
            self._misbehave(request, fault)

    def _misbehave(self, request: Request, fault: Fault) -> None:
        if fault.kind in STATUS:
            status, code, message = STATUS[fault.kind]
            after = {"Retry-After": f"{fault.retry_after}"} if fault.kind == "too_many" else {}
            self._status(status, code, fault.message or message, after)
        elif fault.kind == "hang":
            self.server.closing.wait()
            self.close_connection = True
        elif fault.kind == "drip":
            self._drip()
        elif fault.kind == "half":
            content = json.dumps(made_completion(request, "This reply ends in the middle of")).encode()
            self._head(200, len(content))
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
        elif fault.kind == "huge":
            self._send(200, made_completion(request, "all work and no play " * (_HUGE // 21)))
        elif fault.kind == "empty":
            self._send(200, made_completion(request, ""))
        elif fault.kind == "not_chat":
            self._send(200, {"object": "something", "data": []})
        else:
            self._send(200, b'{"id": "fake", "choices": [{"message": {"content": ')

    def _drip(self) -> None:
        self._head(200, _HUGE)
        while not self.server.closing.wait(_DRIP_SECONDS):
            self.wfile.write(b" ")
            self.wfile.flush()
        self.close_connection = True

    def _status(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, {"error": {"message": message, "type": code, "code": code}}, headers)

    def _send(self, status: int, content: Any, headers: Mapping[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()


def completion(request: Request) -> dict[str, Any]:
    """The chat completion that a request which is answered gets."""
    assert request.reply is not None
    return made_completion(request, spoken(request.fault, request.reply))


def batch_response(request: Request) -> dict[str, Any] | None:
    """What the line of a batch says of a request; None: it timed out."""
    fault = request.fault
    if request.reply is not None:
        return {"status_code": 200, "request_id": request.digest[:12], "body": completion(request)}
    assert fault is not None
    if fault.kind in STATUS:
        status, code, message = STATUS[fault.kind]
        error = {"message": fault.message or message, "type": code, "code": code}
        return {"status_code": status, "request_id": request.digest[:12], "body": {"error": error}}
    bodies = {"empty": made_completion(request, ""), "not_chat": {"object": "something", "data": []}}
    if fault.kind in bodies:
        return {"status_code": 200, "request_id": request.digest[:12], "body": bodies[fault.kind]}
    return None


def made_completion(request: Request, text: str) -> dict[str, Any]:
    """A chat completion as OpenAI sends it. Tokens are counted as 4 bytes each; max_tokens cuts the text."""
    asked = sum(_tokens(str(message.get("content", ""))) for message in request.messages)
    most = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
    finish = "stop"
    if isinstance(most, int) and _tokens(text) > most and len(text) < _HUGE // 2:
        text, finish = _bytes(text)[: most * _BYTES_PER_TOKEN].decode("utf-8", "ignore"), "length"
    message = {"role": "assistant", "content": text}
    return {
        "id": f"fake-{request.digest[:12]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model", "fake"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": _tokens(text),
            "total_tokens": asked + _tokens(text),
        },
    }


def _tokens(text: str) -> int:
    return -(-len(_bytes(text)) // _BYTES_PER_TOKEN)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
