"""The order of hits as trec_eval 9 has it: score descending compared as float32, ties by id descending in byte order.

Code points order text as UTF-8 bytes do, so Python's comparison of strings is the byte order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints
    from karat.core.run import Run

Ties = Literal["float32", "double"]


def comparable(scores: NDArray[np.float64], ties: Ties) -> NDArray[np.floating[Any]]:
    """Scores at the precision at which they are compared; beyond float32's range they tie at infinity, as in C."""
    if ties == "double":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)


def trec_key(hit: tuple[str, float]) -> tuple[float, str]:
    """Sort key of an (id, score) pair; reversed, it gives the order of trec_eval."""
    with np.errstate(over="ignore"):
        return float(np.float32(hit[1])), hit[0]


def ranking(run: Run, ties: Ties = "float32") -> Ints:
    """Positions of all hits of a run, list by list, best first."""
    if run.order == "given" or run.scores is None:
        return np.arange(len(run))
    scores = comparable(run.scores, ties)
    listed = np.repeat(np.arange(len(run.question_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, listed))
    ordered, lists = scores[order], listed[order]
    tied = (ordered[1:] == ordered[:-1]) & (lists[1:] == lists[:-1])
    if tied.any():
        docs = run.doc_list
        edges = np.flatnonzero(np.diff(np.concatenate(([False], tied, [False])).astype(np.int8)))
        for begin, last in edges.reshape(-1, 2).tolist():
            group = order[begin : last + 1].tolist()
            order[begin : last + 1] = sorted(group, key=docs.__getitem__, reverse=True)
    return order
