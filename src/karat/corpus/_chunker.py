"""What a way of cutting is, and the setting that names one: `tokens:200:40`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.core.docs import Doc
from karat.core.errors import UsageError
from karat.core.registry import Registry


class Piece(NamedTuple):
    """Characters `start` to `end` of a document, under a title of their own or the document's."""

    start: int
    end: int
    title: str | None = None


@dataclass(frozen=True)
class Way:
    """A way of cutting: `pieces(doc, size, overlap)` says where the pieces of a document stand.

    Pieces come in the order of the text, and every character that is no white space is in one of them. `unit` is
    what `size` and `overlap` count and `size` the default; a way that takes no size has neither. A way of which
    `keeps_id` holds makes one piece of a document, and its chunk keeps the document's id. `instead_of(doc)` says why
    a document had to be cut otherwise than asked for, or None.
    """

    name: str
    summary: str
    pieces: Callable[[Doc, int, int], Iterable[Piece]]
    unit: str | None = None
    size: int | None = None
    keeps_id: bool = False
    instead_of: Callable[[Doc], str | None] = lambda doc: None


def find_way(source: Any) -> Way | None:
    """The way a module defines as `way`, or the object itself."""
    found = getattr(source, "way", source)
    return found if isinstance(found, Way) else None


CUTTINGS: Registry[Way] = Registry("cutting", ("karat.corpus.chunkers",), "karat.cuttings", find_way)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut: the way, how much a chunk holds, and how much of it the next one repeats.

    Without a size the way's default is taken, without an overlap a fifth of the size; both stay None for a way that
    takes none.
    """

    by: str = "tokens"
    size: int | None = None
    overlap: int | None = None

    def __post_init__(self) -> None:
        way = CUTTINGS.get(self.by)
        object.__setattr__(self, "by", way.name)
        if way.size is None:
            if self.size is not None or self.overlap is not None:
                raise UsageError(f"cutting by {way.name} takes no size. Write {way.name!r} alone.")
            return
        size = way.size if self.size is None else self.size
        if not _is_count(size) or size < 1:
            raise UsageError(
                f"the size of cutting by {way.name} is {size!r}. Give a whole number of {way.unit} from 1."
            )
        overlap = size // 5 if self.overlap is None else self.overlap
        if not _is_count(overlap) or not 0 <= overlap < size:
            raise UsageError(
                f"the overlap of cutting by {way.name} is {overlap!r}. "
                f"Give a whole number of {way.unit} from 0, less than the size ({size})."
            )
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "overlap", overlap)

    @classmethod
    def parse(cls, text: str) -> Cutting:
        """From `tokens:200:40`, `sentences:5:1`, `section:400`, `page` or `whole`.

        >>> Cutting.parse("sentences:5").text, Cutting.parse("tokens").text
        ('sentences:5:1', 'tokens:200:40')
        """
        by, *numbers = (part.strip() for part in text.split(":"))
        if len(numbers) > 2:
            raise UsageError(f"{text!r} is no way of cutting: after the name stand a size and an overlap, no more.")
        for number in numbers:
            if not (number.isascii() and number.isdigit()) or len(number) > 12:
                raise UsageError(f"{number!r} in {text!r} is no whole number. Write it like 'tokens:200:40'.")
        return cls(by, *map(int, numbers))

    @property
    def text(self) -> str:
        """The setting in full, as `parse` takes it."""
        return ":".join(str(part) for part in (self.by, self.size, self.overlap) if part is not None)

    def plain(self) -> dict[str, Any]:
        """The setting in plain values (JSON); `Cutting(**plain)` is the same again."""
        values = {"by": self.by, "size": self.size, "overlap": self.overlap}
        return {name: value for name, value in values.items() if value is not None}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
