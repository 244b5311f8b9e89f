"""Lazy: a sequence whose items are made when they are asked for, so that many of them take no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Lazy(Sequence[T], Generic[T]):
    """So many items, each made anew by its number whenever it is asked for; a slice is a list of them.

    >>> squares = Lazy(5, lambda number: number * number)
    >>> squares[3], squares[1:3], list(squares)
    (9, [1, 4], [0, 1, 4, 9, 16])
    """

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size, self._make = size, make

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self._make(one) for one in range(*number.indices(self._size))]
        return self._make(range(self._size)[number])

    def __len__(self) -> int:
        return self._size
