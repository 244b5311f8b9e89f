"""Connection: one that does not say in time what it asks for is closed, since only so many are open at once."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 20.0  # seconds for a whole request, from its first byte or the beginning of the connection


class Connection(H11Protocol):
    """A connection whose requests must arrive in time; how long an answer takes is another matter."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()
        else:
            self._rest()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(PATIENCE, self.transport.close)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
