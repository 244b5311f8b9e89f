"""Files of a batch: the requests that are sent, and the replies that come back, in JSON lines.

A file of replies is a stranger's: its lines are bounded in number and size, one that cannot be read is counted, and a
request with several different replies has none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from karat.core.text.words import plural
from karat.models.chat._replies import LARGEST, read_reply
from karat.models.chat.batches import BatchRequest
from karat.models.chat.cache import Call
from karat.models.endpoint import RETRIED, ModelEndpoint, RequestFailure

ENDPOINT = "/v1/chat/completions"
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
"""What servers take in one batch."""
_AROUND = 160
"""Bytes of a line around the body of its request, at most."""
_LONGEST_LINE = LARGEST + (64 << 10)
_MORE_LINES = 1_000
_SMALLEST_BOUND, _BYTES_A_REPLY = 64 << 20, 256 << 10
_NOT_ASKED = ("batch_expired", "batch_cancelled")
_PASSING = ("batch_expired", "request_timeout")


def parts(requests: Iterable[tuple[str, str, str]]) -> Iterator[list[tuple[str, str, str]]]:
    """Requests (key, purpose, body) in as many lists as there have to be batches."""
    part: list[tuple[str, str, str]] = []
    size = 0
    for request in requests:
        more = len(_ascii(request[2])) + _AROUND
        if part and (len(part) == MOST_REQUESTS or size + more > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += more
    if part:
        yield part


def write_requests(stream: BinaryIO, requests: Iterable[BatchRequest]) -> None:
    """Write the file of a batch. It is ASCII: what else ends a line for some servers would tear requests apart."""
    for one in requests:
        head = json.dumps({"custom_id": one.custom_id, "method": "POST", "url": ENDPOINT})
        stream.write(f'{head[:-1]}, "body": {_ascii(one.request)}}}\n'.encode())


def _ascii(request: str) -> str:
    return json.dumps(json.loads(request))


def most_bytes(requests: int) -> int:
    """How many bytes the replies to so many requests may have."""
    return _SMALLEST_BOUND + requests * _BYTES_A_REPLY


class ReplyFile:
    """A file of replies: where the line of each request is."""

    def __init__(self, stream: BinaryIO, custom_ids: Collection[str]) -> None:
        self._stream, self._places = stream, dict[str, dict[bytes, tuple[int, int]]]()
        self.unusable = self.foreign = 0
        stream.seek(0)
        for number, (place, line) in enumerate(self._lines()):
            if number > 2 * len(custom_ids) + _MORE_LINES:
                self.unusable += 1
                break
            values = _values(line) if line is not None else None
            custom_id = values.get("custom_id") if values is not None else None
            if line is None or not isinstance(custom_id, str):
                self.unusable += 1
            elif custom_id not in custom_ids:
                self.foreign += 1
            else:
                digest = hashlib.sha256(line.strip()).digest()
                self._places.setdefault(custom_id, {}).setdefault(digest, (place, len(line)))

    def _lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Lines that are not blank, with their places; None for one that is too long."""
        while line := self._stream.readline(_LONGEST_LINE):
            place, whole = self._stream.tell() - len(line), line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._stream.readline(_LONGEST_LINE)
                whole = b""
            if whole.strip() or not whole:
                end = self._stream.tell()
                yield place, whole or None
                self._stream.seek(end)

    def line(self, custom_id: str) -> Mapping[str, Any] | RequestFailure | None:
        """What the file says of a request; None: nothing."""
        places = list(self._places.get(custom_id, {}).values())
        if len(places) > 1:
            reason = f"the batch holds {len(places)} different replies to it"
            return RequestFailure(reason=reason, again=False, free=False)
        if not places:
            return None
        place, length = places[0]
        self._stream.seek(place)
        return _values(self._stream.read(length))

    @property
    def note(self) -> str:
        """What else the file holds, as a reason why a line may be missing."""
        counts = ((self.unusable, "cannot be read"), (self.foreign, "bear ids of no request"))
        counted = [f"{plural(number, 'line')} of its files {what}" for number, what in counts if number]
        return f" ({', '.join(counted)})" if counted else ""


def _values(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def outcome_of(endpoint: ModelEndpoint, line: Mapping[str, Any], about: Mapping[str, str]) -> Call | RequestFailure:
    """The reply in a line, or why there is none."""
    error, response = line.get("error"), line.get("response")
    if isinstance(response, dict) and not error:
        status, content = response.get("status_code"), json.dumps(response.get("body")).encode()
        if type(status) is not int or 200 <= status < 300:
            if len(content) > LARGEST:
                reason = f"the reply is larger than {LARGEST >> 20} MB"
                return RequestFailure(reason=reason, again=False, free=False)
            return read_reply(endpoint, content, None, about)
        reason = f"HTTP {status}: {endpoint.words_of(content)}"
        return RequestFailure(reason=reason, again=status in RETRIED, status=status)
    code = error.get("code") if isinstance(error, dict) else None
    words = endpoint.words_of(json.dumps({"error": error}).encode())
    asked = code not in _NOT_ASKED
    return RequestFailure(
        reason=f"the batch has no reply to it: {words}", again=code in _PASSING, reached=asked, free=not asked
    )
