"""What an engine is: it ranks the rows of a table of chunks for a query. A higher score is better, always."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from karat.core.docs import Chunks
from karat.core.errors import UsageError, did_you_mean
from karat.core.progress import Progress
from karat.core.ranked import Ranked
from karat.core.registry import Registry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.ranked import Ints
    from karat.models import Embedder


@dataclass(frozen=True)
class EarlierJoin:
    """What was joined of shards before, in a folder, and these shards. One of the same name is the same."""

    folder: Path
    shards: Sequence[Path]


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
class ShardedEngine(Engine, Protocol):
    """An engine that is built shard by shard, and joined of its shards without their texts.

    `completed` fills in every default, and what all texts decide together by the number of them in each language; a
    UsageError before anything is built. The others take its settings. `build_shard` and `join` write into an empty
    folder; the same shards in the same order make the same bytes. `build_shard` may also take `known`, what an earlier
    engine's property of that name hands on, `journal`, a file that saves doing work again after a failure, and
    `fingerprint`, of the model that is to be used, which `fingerprint_now(settings)` says. `join`
    may also take `earlier`, what it wrote before for shards most of which are the same. It
    returns `settings`, as they are to be shown and kept, and what else should be known: `without_vector`, how many rows
    are never found, and `problems`. What concerns one shard alone it writes into a folder that is called by the number
    of the shard. `orders` are the rows that those of each shard are among all, ascending.

    `load_shards` of some shards `only`, by their numbers, reads nothing of the others. Such an engine gives its rows
    the scores that all shards together give them, to the last bit, and finds no others: what several find, `merged`,
    is what the whole engine finds.

    An engine may also have `are_current(shards, settings)`: whether each shard, built of the same texts, would be the
    same now. One that searches by vectors has `embed_queries(queries)` and `search_vectors(vectors, depth)`, which
    together are `search`, and says by what: `embedder_settings` and `fingerprint`. `best_of(asked, rows)` is the best
    of some rows of each query, a ranking of one hit at most, and `above(asked, best)` how many rows stand above it: the
    sum over engines of some shards each tells its rank. They take queries, or their vectors where the engine searches
    by these.
    """

    @classmethod
    def completed(cls, settings: Mapping[str, Any], languages: Mapping[Any, int]) -> dict[str, Any]: ...

    @classmethod
    def build_shard(
        cls, texts: Sequence[str], settings: Mapping[str, Any], folder: Path, progress: Progress
    ) -> None: ...

    @classmethod
    def join(
        cls, shards: Sequence[Path], settings: Mapping[str, Any], folder: Path, progress: Progress
    ) -> dict[str, Any]: ...

    @classmethod
    def load_shards(
        cls, folder: Path, shards: Sequence[Path], orders: Sequence[Ints], only: Sequence[int] | None = None
    ) -> Self: ...


@runtime_checkable
class Store(Protocol):
    """A store that something else made, searched as it is. Its chunks are known once it returned them.

    `Store.open(target, embedder)`: `target` is what follows the colon of `--engine faiss:PATH`. `notes` are what a user
    should know of the store: what its scores are where they are no cosines, how its pages were read. A store may also
    have `failed`, the numbers of queries of the last search on which it failed, with the reason; `asks(target)`, the
    host that opening a target asks, None where that is a file; and `embeds`, False where it searches words and takes no
    embedder.
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


def check_settings(engine: str, settings: Iterable[str], known: Collection[str]) -> None:
    """Refuse a setting that an engine does not have."""
    for name in settings:
        if name not in known:
            raise UsageError(
                f"unknown setting {name!r} of the engine {engine}.{did_you_mean(name, known)} "
                f"There are {', '.join(known)}."
            )


def concatenated(parts: Sequence[tuple[Ints, Ranked]], queries: int) -> Ranked:
    """The rankings of all queries, from rankings of some and the numbers of these."""
    if not parts:
        return Ranked.empty(queries)
    query = np.concatenate([numbers[part.query] for numbers, part in parts])
    order = np.argsort(query, kind="stable")
    offsets = np.searchsorted(query[order], np.arange(queries + 1)).astype(np.int64)
    rows, scores = (np.concatenate([getattr(part, name) for _, part in parts])[order] for name in ("rows", "scores"))
    return Ranked(offsets, rows, scores)


def merged(parts: Sequence[Ranked], depth: int) -> Ranked:
    """The best of several rankings of the same queries over different rows."""
    if len(parts) == 1:
        return parts[0].top(depth)
    columns = ((ranked.query, ranked.rows, ranked.scores) for ranked in parts)
    query, rows, scores = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Ranked.ordered(len(parts[0]), query, rows, scores, depth)


def places_in(ascending: NDArray[np.integer[Any]], wanted: Ints) -> Ints:
    """Where some numbers stand among ascending ones, -1 where they do not."""
    if not len(ascending):
        return np.full(len(wanted), -1)
    places = np.searchsorted(ascending, wanted)
    return np.where(ascending.take(places, mode="clip") == wanted, places, -1)


def order_fault(order: Ints, rows: int) -> str | None:
    """What is wrong with the order of the rows of a shard among all, if anything is."""
    if len(order) != rows or not bool((order[1:] > order[:-1]).all()):
        return "its rows do not ascend, or are more or fewer than those of the index"
    return None


def _find(attribute: str, wanted: str) -> Callable[[Any], type[Any] | None]:
    """Finds the class that a module names `engine` (or defines as `Engine`), or the class itself; and so for stores."""

    def find(source: Any) -> type[Any] | None:
        entry = getattr(source, attribute, getattr(source, attribute.capitalize(), source))
        return entry if isinstance(entry, type) and hasattr(entry, wanted) and hasattr(entry, "search") else None

    return find


ENGINES: Registry[type[Engine]] = Registry(
    "engine", ("karat.retrieve.engines",), "karat.engines", _find("engine", "build")
)
STORES: Registry[type[Store]] = Registry("store", ("karat.retrieve.stores",), "karat.stores", _find("store", "open"))


def host_asked(name: str) -> str | None:
    """The host that a store such as `qdrant:http://localhost:6333#handbook` asks; None where it reads files."""
    kind, _, target = name.partition(":")
    asks: Callable[[str], str | None] = getattr(STORES.get(kind), "asks", lambda target: None)
    return asks(target)


def check_store(name: str) -> None:
    """Refuse a store that cannot be, or whose address holds a password; an engine's name may be any."""
    kind, colon, target = name.partition(":")
    if colon:
        STORES.get(kind)
        if not target:
            raise UsageError(f"{kind}: needs a path, for example {kind}:PATH.")
        host_asked(name)


def is_embedded(name: str) -> bool:
    """Whether a store is named that is searched by vectors, which an embedder makes of queries."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and (kind not in STORES or bool(getattr(STORES.get(kind), "embeds", True)))
