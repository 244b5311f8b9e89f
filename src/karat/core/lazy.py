"""Lazy: sequences whose items are made or read when they are asked for, so that many of them take no memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """What says its length and each item by its number; a slice is a list of them."""

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self._at(one) for one in range(*number.indices(len(self)))]
        return self._at(range(len(self))[number])

    def __iter__(self) -> Iterator[T]:
        return map(self._at, range(len(self)))

    @abstractmethod
    def _at(self, number: int) -> T:
        """The item of a number from 0 up to the length."""


class Lazy(LazySequence[T], Generic[T]):
    """So many items, each made anew by its number whenever it is asked for; a slice is a list of them.

    >>> squares = Lazy(5, lambda number: number * number)
    >>> squares[3], squares[1:3], list(squares)
    (9, [1, 4], [0, 1, 4, 9, 16])
    """

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def _at(self, number: int) -> T:
        return self._make(number)
