"""The vectors behind a dense engine: searched exactly, written to a folder and mapped from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, UsageError
from karat.core.ranked import Ranked
from karat.io.arrays import REMEDY, mapped_array
from karat.io.threads import one_thread, threads_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]
    Scores = NDArray[np.float32]

EXTRA = 8
"""How many more than asked for are fetched, to see whether the last one is tied with what comes after."""
_NEAR = 4e-6
"""Scores of FAISS closer than this may be equal: it adds up in another order for other batches."""
_SURE = 1e-4
"""A product of vectors further than this from a cosine is on its side of it, however it was added up."""
_MOST = 1.001
"""No cosine is further from 0, rounding included."""
_FORMAT = 1


@dataclass(frozen=True)
class EmbeddedRows:
    """The vector and the digest of each distinct text, and which one each row has (-1: none)."""

    fingerprint: str
    vectors: Vectors
    digests: NDArray[np.uint8]
    rows: Ints

    @cached_property
    def _groups(self) -> tuple[Ints, Ints]:
        """The rows of vector i are `rows[starts[i]:starts[i + 1]]`, the highest first."""
        rows = np.argsort(self.rows[::-1], kind="stable")
        starts = np.searchsorted(self.rows[::-1][rows], np.arange(len(self.vectors) + 1))
        return starts.astype(np.int64), (len(self.rows) - 1 - rows).astype(np.int64)

    def ranked(self, places: Ints, scores: Scores, depth: int) -> Ranked:
        """The rows behind the vectors that were found, a line of `places` for each query; -1 is no vector."""
        starts, rows = self._groups
        places = np.where(np.isfinite(scores), places, -1)
        if starts[-1] - starts[0] == len(self.vectors):
            rows = rows[starts[:-1]][places]
            order = np.lexsort((-rows, -scores), axis=-1)[:, :depth]
            real = np.take_along_axis(places, order, axis=1) >= 0
            offsets = np.concatenate(([0], np.cumsum(real.sum(axis=1))))
            rows = np.take_along_axis(rows, order, axis=1)[real]
            return Ranked(offsets, rows, np.take_along_axis(scores, order, axis=1)[real].astype(np.float64))
        queries, (query, column) = len(places), np.nonzero(places >= 0)
        places, scores = places[query, column], scores[query, column]
        sizes = np.minimum(starts[places + 1] - starts[places], depth)
        hit = np.repeat(np.arange(len(places)), sizes)
        step = np.arange(len(hit)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = rows[starts[places][hit] + step]
        return Ranked.ordered(queries, query[hit], rows, scores[hit].astype(np.float64), depth)

    def ranks_of(self, queries: Vectors, rows: Sequence[Ints]) -> Ints:
        """For each query the rank of the best of some rows that have vectors, by counting the rows that stand above."""
        starts, grouped = self._groups
        sizes = np.diff(starts)
        alone = bool((sizes == 1).all())
        ranks = np.zeros(len(rows), np.int64)
        with threads_for(queries.size * len(self.vectors)):
            products = queries @ self.vectors.T
        with one_thread():  # a few cosines at a time
            for number, (query, line, some) in enumerate(zip(queries, products, rows, strict=True)):
                scores = cosines(self.vectors, query[None], self.rows[some][None])[0]
                best = scores.max()
                row = some[scores == best].max()
                unsure = np.flatnonzero(np.abs(line - best) <= _SURE)
                exact = cosines(self.vectors, query[None], unsure[None])[0]
                surely = line > best + _SURE
                above = np.count_nonzero(surely) if alone else sizes[surely].sum()
                tied = [grouped[starts[place] : starts[place + 1]] for place in unsure[exact == best].tolist()]
                above += sizes[unsure[exact > best]].sum() + np.count_nonzero(np.concatenate(tied) > row)
                ranks[number] = above + 1
        return ranks


def exact_candidates(vectors: Vectors, queries: Vectors, depth: int) -> Iterator[tuple[Ints, Ints]]:
    """The `depth` nearest vectors of each query, and all that may be tied with the last: queries, lines of vectors."""
    import faiss

    todo, k = np.arange(len(queries)), depth + EXTRA
    while len(todo):
        k = min(k, len(vectors))
        scores, near = faiss.knn(queries[todo], vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
        tied = scores[:, -1] >= scores[:, min(depth, k) - 1] - _NEAR if k < len(vectors) else np.zeros(len(todo), bool)
        yield todo[~tied], near[~tied].astype(np.int64)
        todo, k = todo[tied], k * 4


def cosines(vectors: Vectors, queries: Vectors, places: Ints) -> Scores:
    """The cosine of each query and the vectors in its line, -inf where there is none.

    Every pair is added up by itself, in one order, so that equal vectors have equal scores in any batch. Both are of
    length 1: what is no cosine shows that the vectors were damaged.
    """
    import faiss

    queries, places = np.ascontiguousarray(queries), np.ascontiguousarray(places)
    scores = np.empty(places.shape, np.float32)
    pointers = (faiss.swig_ptr(array) for array in (scores, queries, vectors, places))
    faiss.fvec_inner_products_by_idx(*pointers, vectors.shape[1], *places.shape)
    if not (np.abs(scores[places >= 0]) <= _MOST).all():
        raise InputError("a vector is not of length 1", place="the vectors of the index", remedy=REMEDY)
    return np.where(places >= 0, np.clip(scores, -1, 1), np.float32(-np.inf))


def write(folder: Path, settings: Mapping[str, Any], content: EmbeddedRows) -> None:
    """The files of an engine, into a folder."""
    card = {"format": _FORMAT, "settings": settings, "fingerprint": content.fingerprint}
    (folder / "dense.json").write_text(json.dumps(card, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    np.save(folder / "vectors.npy", np.ascontiguousarray(content.vectors, np.float32))
    np.save(folder / "digests.npy", np.ascontiguousarray(content.digests, np.uint8))
    np.save(folder / "rows.npy", np.ascontiguousarray(content.rows, np.int64))


def read(folder: Path, completed: Callable[[Mapping[str, Any]], dict[str, Any]]) -> tuple[dict[str, Any], EmbeddedRows]:
    """The settings and the content that `write` wrote, the vectors by mmap."""
    try:
        card = json.loads((folder / "dense.json").read_text("utf-8"))
        if card["format"] != _FORMAT:
            raise damaged(folder / "dense.json", f"is of format {card['format']}, karat reads {_FORMAT}")
        settings, fingerprint = completed(card["settings"]), str(card["fingerprint"])
    except OSError as problem:
        raise damaged(folder / "dense.json", f"cannot be read ({problem.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as problem:
        raise damaged(folder / "dense.json", f"is not what karat wrote ({problem})") from None
    vectors = mapped_array(folder / "vectors.npy", np.float32, 2)
    digests = mapped_array(folder / "digests.npy", np.uint8, 2)
    rows = mapped_array(folder / "rows.npy", np.int64, 1)
    if digests.shape != (len(vectors), 16):
        raise damaged(folder / "digests.npy", f"has the shape {digests.shape} beside {len(vectors)} vectors")
    if len(rows) and not (rows.min() >= -1 and rows.max() < len(vectors)):
        raise damaged(folder / "rows.npy", f"points outside the {len(vectors)} vectors")
    return settings, EmbeddedRows(fingerprint, vectors, digests, rows)


def damaged(file: Path, problem: str) -> InputError:
    """What to say of a file that `write` did not write so."""
    return InputError(problem, place=str(file), remedy=REMEDY)
