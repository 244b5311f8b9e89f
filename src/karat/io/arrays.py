"""Arrays that karat wrote to disk, mapped into memory when they come back."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

REMEDY = "Index the documents again."


def mapped_array(path: Path, dtype: type[np.generic] | tuple[type[np.generic], ...], dimensions: int) -> NDArray[Any]:
    """The array of a .npy file, read as it is used. One of another kind than karat wrote there is damaged.

    `dtype` is what its numbers are, or each of what they may be.
    """
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise InputError("is missing", place=str(path), remedy=REMEDY) from None
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror or problem}", place=str(path)) from None
    except (ValueError, EOFError, SyntaxError, TypeError, OverflowError, TokenError):
        raise InputError("is damaged: it is cut off or no array", place=str(path), remedy=REMEDY) from None
    if (
        not isinstance(array, np.ndarray)
        or array.dtype not in (dtype if isinstance(dtype, tuple) else (dtype,))
        or array.ndim != dimensions
    ):
        raise InputError("is damaged: an array of another kind", place=str(path), remedy=REMEDY)
    if not array.flags.c_contiguous:
        raise InputError("is damaged: its values stand in another order", place=str(path), remedy=REMEDY)
    return array.view(np.ndarray)


def damaged(file: Path, problem: str) -> InputError:
    """What to say of a file of an index that karat did not write so."""
    return InputError(problem, place=str(file), remedy=REMEDY)
