"""What is read and embedded once and kept for later questions. What is kept changes no answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.answer._extract.evidence import searched
from karat.answer._extract.reading import MOST_CHARACTERS, Unit, read

if TYPE_CHECKING:
    from karat.answer._extract.evidence import Floats
    from karat.core.asked import Context
    from karat.core.means import Embeds

_MOST_KEPT = 20_000_000  # characters of contexts that are kept
_MOST_VECTORS = 60_000


class Memory:
    """Contexts as units and texts as vectors, each worked out once; all is forgotten when it becomes too much."""

    def __init__(self, embedder: Embeds | None) -> None:
        self._embedder = embedder
        self._units: dict[tuple[str, str], list[Unit]] = {}
        self._kept = 0
        self._passages: dict[str, Floats] = {}
        self._questions: dict[str, Floats] = {}

    def units(self, context: Context) -> list[Unit]:
        """The units of a context."""
        text = context.text[:MOST_CHARACTERS]
        key = (context.title, text)
        if key not in self._units:
            if self._kept > _MOST_KEPT:
                self._units.clear()
                self._kept = 0
            self._units[key] = read(text, context.title)
            self._kept += len(text)
        return self._units[key]

    def prepare(self, questions: Sequence[str], contexts: Sequence[Sequence[Unit]]) -> None:
        """Embed what these questions and their units need, all at once."""
        if self._embedder is None:
            return
        if len(self._passages) > _MOST_VECTORS:
            self._passages.clear()
        passages = dict.fromkeys(searched(unit) for units in contexts for unit in units)
        new = [text for text in passages if text not in self._passages]
        if new:
            vectors = self._embedder.embed(new, "passage").astype(np.float64)
            self._passages.update(zip(new, vectors, strict=True))
        asked = list(dict.fromkeys(questions))
        self._questions = dict(zip(asked, self._embedder.embed(asked, "query").astype(np.float64), strict=True))

    def similar(self, question: str, texts: Sequence[str]) -> Floats:
        """The cosine of a question with each text, all of them prepared."""
        rows = np.stack([self._passages[text] for text in texts])
        return np.asarray(np.round(np.einsum("ij,j->i", rows, self._questions[question]), 5))
