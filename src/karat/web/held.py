"""Held: what was read or made before, as long as there is room, and what is being made by a thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Held:
    """Values by key up to a size together, the longest unused first to go."""

    def __init__(self, room: int) -> None:
        self.room, self.size = room, 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], tuple[Any, int]]) -> Any:
        """The value of a key; where it is not held, what is made with its size."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key][0]
        value, size = make()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = value, size
                self.size += size
            while self.size > self.room and len(self._entries) > 1:
                self.size -= self._entries.popitem(last=False)[1][1]
        return value


class Making(Generic[T]):
    """The latest few values by key, each made by a thread of its own; only one is made at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._futures: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> Future[T]:
        """The value of a key, there or on its way; one that could not be made is tried again."""
        with self._lock:
            future = self._futures.get(key)
            if future is not None and not (future.done() and future.exception() is not None):
                self._futures.move_to_end(key)
                return future
            future = self._futures[key] = Future()
            while len(self._futures) > self.most:
                self._futures.popitem(last=False)
        threading.Thread(target=self._make, args=(make, future), daemon=True).start()
        return future

    def _make(self, make: Callable[[], T], future: Future[T]) -> None:
        with self._turn:
            try:
                value = make()
            except BaseException as problem:
                future.set_exception(problem)
            else:
                future.set_result(value)
