"""Shares of the passages by the lengths of their sentences, as TRACe takes them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.core.claims import ClaimTable
from karat.core.measure import AnswerTable, Bools, Floats
from karat.core.text.normalise import tokenise
from karat.measures.claims._table import ratio

Length = Literal["tokens", "sentences"]
"""How long a sentence is: its words, or 1."""
RAGBENCH = "RAGBench (Friel et al., 2024)"


def length_share(answered: AnswerTable, table: ClaimTable, marked: Bools, among: Bools, length: Length) -> Floats:
    """Of the length of the sentences `among` those of each pair, the share of the marked; NaN where there is none."""
    sizes = answered.once(("lengths", length), lambda: _lengths(table, length))
    held, total = (
        np.bincount(table.pair[some], sizes[some], minlength=table.pairs).astype(np.float64)
        for some in (marked & among, among)
    )
    return ratio(held, total)


def _lengths(table: ClaimTable, length: Length) -> Floats:
    """The length of each sentence of the passages, 0 for any other claim."""
    sizes: Floats = table.of_side("context").astype(np.float64)
    if length == "tokens":
        words: dict[str, int] = {}  # systems often share passages
        for claim in np.flatnonzero(sizes).tolist():
            text = table.texts[claim]
            if text not in words:
                words[text] = len(tokenise(text, "words"))
            sizes[claim] = words[text]
    return sizes
