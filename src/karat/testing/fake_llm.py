"""FakeLLM: a chat server on this machine that speaks the OpenAI wire format and misbehaves on command."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from karat.testing._batches import BatchDesk, BatchScript, FakeBatch
from karat.testing._faults import PASSING, SPOKEN, Fault, Kind


@dataclass(frozen=True)
class Request:
    """A request that reached the server. `attempt` counts requests with the same body from 1.

    `fault` is how it was answered wrongly, and `reply` what the model said where it was answered at all.
    """

    body: Mapping[str, Any]
    attempt: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    fault: Fault | None = None
    reply: str | None = None

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the request; none if it has none."""
        messages = self.body.get("messages")
        return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []

    @property
    def user(self) -> str:
        """The last message of the user."""
        return next((str(m.get("content", "")) for m in reversed(self.messages) if m.get("role") == "user"), "")

    @property
    def system(self) -> str:
        """The first message of the system."""
        return next((str(m.get("content", "")) for m in self.messages if m.get("role") == "system"), "")

    @property
    def digest(self) -> str:
        """The same for requests with the same body."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def answered(self) -> bool:
        """Whether the whole of a good reply was sent: one that a provider would bill and a client can use."""
        return self.reply is not None


Reply = str | Callable[[Request], "str | Fault"] | Sequence["str | Fault"]
Faults = float | Mapping["Fault | Kind", float] | Callable[[Request], "Fault | None"] | None


class FakeLLM:
    """A chat server for tests: real HTTP on a free port of the loopback, for as long as its `with` block.

    `reply` is what the model says: a text, a function of the request (which may return a `Fault` too), or a sequence
    that is gone through request by request, its last item again and again.

    `faults` is a share of requests (0.2) that get a fault which is gone at the next attempt, or the share of each
    fault (`{Fault("half"): 0.1, "hang": 0.05}`), or a function of the request. Which requests get one depends on their
    bodies and `seed`, not on the order in which they come, so that a test with many at once counts the same each time.

    The server takes batches too. `batches` says what becomes of each, or of the first, the second and so on, the last
    again and again. Requests of a batch are answered, or get their faults, when it ends.
    """

    def __init__(
        self,
        reply: Reply = "ok",
        faults: Faults = None,
        seed: int = 0,
        *,
        batches: BatchScript | Sequence[BatchScript] = BatchScript(),  # noqa: B008 (frozen)
    ) -> None:
        if not isinstance(reply, str) and not callable(reply) and not reply:
            raise ValueError("a sequence of replies needs at least one reply")
        self._reply, self._faults, self._seed = reply, faults, seed
        self._shares = _shares(faults)
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._attempts: dict[str, int] = {}
        scripts = [batches] if isinstance(batches, BatchScript) else list(batches)
        self._desk = BatchDesk(lambda number: scripts[min(number, len(scripts) - 1)], self._execute)
        self._server: Any = None

    @property
    def base_url(self) -> str:
        """Where clients are to look for it."""
        if self._server is None:
            raise RuntimeError("the server runs within its with block: with FakeLLM() as llm: ...")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they came."""
        with self._lock:
            return list(self._requests)

    @property
    def count(self) -> int:
        """How many requests there were."""
        with self._lock:
            return len(self._requests)

    @property
    def batches(self) -> list[FakeBatch]:
        """Every batch so far, in the order in which they were created."""
        return list(self._desk.batches)

    @property
    def paid(self) -> list[Request]:
        """Every request that was answered, by itself or in a batch: what a provider would bill."""
        return [request for request in self.requests if request.answered]

    def __enter__(self) -> FakeLLM:
        from karat.testing._server import Server

        self._server = Server(self._decide, self._desk)
        self._server.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        server, self._server = self._server, None
        server.stop()

    def _decide(self, body: dict[str, Any], headers: Mapping[str, str]) -> Request:
        """How a request is answered. It is on record from here on."""
        with self._lock:
            request = Request(body, 1, headers)
            attempt = self._attempts[request.digest] = self._attempts.get(request.digest, 0) + 1
            place = len(self._requests)
            self._requests.append(request)  # keeps its place while its reply is made
        request = Request(body, attempt, headers)
        fault = self._fault(request)
        reply = self._say(request, place) if fault is None or fault.kind in SPOKEN else None
        if isinstance(reply, Fault):
            if reply.kind in SPOKEN:
                raise ValueError(f"{reply.kind} is about what is said: put it into faults, or return such a text")
            fault, reply = reply, None
        request = Request(body, attempt, headers, fault, reply)
        with self._lock:
            self._requests[place] = request
        return request

    def _execute(self, body: dict[str, Any], headers: Mapping[str, str]) -> tuple[Request, dict[str, Any] | None]:
        """A request of a batch, and what the batch says of it."""
        from karat.testing._server import batch_response

        request = self._decide(body, headers)
        return request, batch_response(request)

    def _say(self, request: Request, place: int) -> str | Fault:
        if isinstance(self._reply, str):
            return self._reply
        if callable(self._reply):
            return self._reply(request)
        return self._reply[min(place, len(self._reply) - 1)]

    def _fault(self, request: Request) -> Fault | None:
        if callable(self._faults):
            fault = self._faults(request)
        else:
            drawn = hashlib.sha256(f"{self._seed} {request.digest}".encode()).digest()
            fault = _drawn(self._shares, int.from_bytes(drawn[:8], "big") / 2**64)
        return fault if fault and (fault.times is None or request.attempt <= fault.times) else None


def _shares(faults: Faults) -> list[tuple[Fault, float]]:
    if faults is None or callable(faults):
        return []
    if isinstance(faults, Mapping):
        shares = [
            (fault if isinstance(fault, Fault) else Fault(fault), float(share)) for fault, share in faults.items()
        ]
    else:
        shares = [(Fault(kind), faults / len(PASSING)) for kind in PASSING]
    if any(share < 0 for _, share in shares) or sum(share for _, share in shares) > 1 + 1e-9:
        raise ValueError("shares of faults must be 0 or more and sum to 1 at most")
    return shares


def _drawn(shares: Sequence[tuple[Fault, float]], point: float) -> Fault | None:
    """The fault at a point between 0 and 1."""
    for fault, share in shares:
        if point < share:
            return fault
        point -= share
    return None
