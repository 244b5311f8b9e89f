"""Division where nothing out of nothing is 0: an empty list scores 0 and raises nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def share(part: NDArray[np.float64], whole: NDArray[np.float64] | NDArray[np.int64] | int) -> NDArray[np.float64]:
    """part / whole, 0 where whole is 0."""
    whole = np.broadcast_to(np.asarray(whole, np.float64), part.shape)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
