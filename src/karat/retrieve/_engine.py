"""What an engine is: it ranks the rows of a table of chunks for a query. A higher score is better, always."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from karat.core.docs import Chunks
from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.core.registry import Registry

if TYPE_CHECKING:
    from karat.models import Embedder

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@runtime_checkable
class Engine(Protocol):
    """An engine over texts that karat indexed.

    `settings` are plain values (JSON): what was asked for, completed with the defaults. `save` writes into an empty
    folder that exists; `load` reads it by mmap, without touching more than a query needs, and raises InputError where
    the folder does not hold what `save` wrote. An engine may also have `explain(query, row)`, which names what the
    score of a row is made of, as a list of (what, weight) that sums to it.
    """

    name: ClassVar[str]
    settings: Mapping[str, Any]

    @classmethod
    def build(cls, texts: Sequence[str], settings: Mapping[str, Any], progress: Progress) -> Self:
        """An engine over these texts; row i is `texts[i]`. An unknown setting is a UsageError with did-you-mean."""
        ...

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The best rows of each query, fewer where fewer have a score at all. A depth below 1 is a UsageError."""
        ...

    def save(self, folder: Path) -> None: ...

    @classmethod
    def load(cls, folder: Path) -> Self: ...


@runtime_checkable
class Store(Protocol):
    """A store that something else made, searched as it is. Its chunks are known once it returned them.

    `Store.open(target, embedder)`: `target` is what follows the colon of `--engine faiss:PATH`. `notes` are what a user
    should know of the store: what its scores are where they are no cosines, how its pages were read.
    """

    name: ClassVar[str]
    notes: tuple[str, ...]

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self: ...

    @property
    def chunks(self) -> Chunks:
        """The rows that the results of the last `search` refer to."""
        ...

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked: ...


def check_depth(depth: int) -> None:
    """Refuse a search for nothing."""
    if depth < 1:
        raise UsageError(f"the depth of a search must be 1 or more, found {depth}.")


def _find(attribute: str, wanted: str) -> Callable[[Any], type[Any] | None]:
    def find(source: Any) -> type[Any] | None:
        found = getattr(source, attribute, source)
        return found if isinstance(found, type) and hasattr(found, wanted) and hasattr(found, "search") else None

    return find


ENGINES: Registry[type[Engine]] = Registry(
    "engine", ("karat.retrieve.engines",), "karat.engines", _find("Engine", "build")
)
STORES: Registry[type[Store]] = Registry("store", ("karat.retrieve.stores",), "karat.stores", _find("Store", "open"))
