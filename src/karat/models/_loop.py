"""The event loop of an endpoint, in a thread of its own, and what httpx logs from there."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

_LOGGERS = ("httpx", "httpcore")


def run_loop(loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient, stop: asyncio.Event) -> None:
    """The life of a loop: it ends when `stop` is set."""

    async def serve() -> None:
        await stop.wait()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.aclose()

    with _silence_httpx(), asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serve())


@contextmanager
def _silence_httpx() -> Iterator[None]:
    """Keep what httpx logs from this thread (addresses, headers) out of the user's logs."""
    here = threading.get_ident()

    def foreign(record: logging.LogRecord) -> bool:
        return record.thread != here

    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
    for name in names:
        logging.getLogger(name).addFilter(foreign)
    try:
        yield
    finally:
        for name in names:
            logging.getLogger(name).removeFilter(foreign)
