"""Pace: how long to wait before the next request, for a limit a minute and between attempts."""

from __future__ import annotations

import hashlib
from collections import deque

_MINUTE = 60.0


class Pace:
    """At most so many requests in any 60 seconds; None: no limit."""

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self._starts: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Seconds to wait from `now` until the next request may start. It is booked: each call is one request.

        >>> pace = Pace(2)
        >>> [pace.wait(0), pace.wait(1), pace.wait(2), pace.wait(70)]
        [0.0, 0.0, 58.0, 0.0]
        """
        if self.per_minute is None:
            return 0.0
        start = now
        if len(self._starts) == self.per_minute:
            start = max(now, self._starts.popleft() + _MINUTE)
        self._starts.append(start)
        return start - now


def backoff(first: float, attempt: int, most: float, key: str) -> float:
    """Seconds to wait after failed attempt 1, 2, 3 ...: doubled each time, then cut by up to a half.

    The cut depends on the key alone, so that many prompts that fail at once do not come back at once, and a rerun waits
    as long.
    """
    drawn = int.from_bytes(hashlib.sha256(f"{key} {attempt}".encode()).digest()[:4], "big") / 2**32
    return min(first * 2.0 ** (attempt - 1), most) * (1 - drawn / 2)
