"""References as whole texts beside the answers they belong to, for measures that read sentences or ask a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.core.text import Norm, tokenise
from karat.core.text.citations import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from karat.core.answered import Answered


class Referred(NamedTuple):
    """Usable references, the pair that each belongs to, and why some pairs have none."""

    texts: list[str]
    owners: NDArray[np.int64]
    undefined: dict[int, str]

    def only(self, usable: Iterable[object], reason: str) -> Referred:
        """Without the references that are not usable; a pair left with none is undefined for this reason."""
        kept = np.flatnonzero(np.fromiter(map(bool, usable), bool, len(self.texts)))
        lost = np.setdiff1d(self.owners, self.owners[kept])
        undefined = {**self.undefined, **dict.fromkeys(lost.tolist(), reason)}
        return Referred([self.texts[i] for i in kept.tolist()], self.owners[kept], undefined)


def referred(answered: Answered, norm: Norm) -> Referred:
    """Every reference that is not empty after normalisation."""

    def find() -> Referred:
        counts = np.fromiter(map(len, answered.references), np.int64, len(answered))
        whole = Referred(
            [text for several in answered.references for text in several],
            np.repeat(np.arange(len(answered)), counts),
            dict.fromkeys(np.flatnonzero(counts == 0).tolist(), "no reference answer"),
        )
        usable = (bool(tokenise(text, norm)) for text in comparable(whole.texts, norm))
        return whole.only(usable, f"the reference answer is empty after normalisation ({norm})")

    return answered.once(("referred", norm), find)
