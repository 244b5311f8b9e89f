"""The index as a folder of arrays: written as they are, read by mmap, checked before use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError
from karat.io.arrays import REMEDY, mapped_array
from karat.io.writing import write_whole
from karat.retrieve._bm25.lexicon import Lexicon
from karat.retrieve._bm25.postings import KTH, LEVELS, Postings

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CARD = "bm25.json"
_FORMAT = "karat bm25 index"
_VERSION = 1
_ARRAYS: dict[str, tuple[type[np.generic], int]] = {
    "letters": (np.uint8, 1),
    "ends": (np.int64, 1),
    "heads": (np.uint64, 1),
    "rows": (np.int32, 1),
    "weights": (np.float32, 1),
    "starts": (np.int64, 1),
    "bounds": (np.float32, 2),
    "frequent": (np.int64, 1),
    "columns": (np.float32, 2),
}


def write(folder: Path, settings: Mapping[str, Any], language: str, lexicon: Lexicon, postings: Postings) -> None:
    """Fill an empty folder."""
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(lexicon if hasattr(lexicon, name) else postings, name))
    card = {"format": _FORMAT, "version": _VERSION, "settings": dict(settings), "language": language}
    write_whole(folder / _CARD, json.dumps(card, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def read(folder: Path) -> tuple[dict[str, Any], str, Lexicon, Postings]:
    """Settings, language, terms and postings of a folder that `write` filled."""
    settings, language = _card(folder)
    part = {name: mapped_array(folder / f"{name}.npy", *kind) for name, kind in _ARRAYS.items()}
    lexicon = Lexicon(part.pop("letters"), part.pop("ends"), part.pop("heads"))
    postings = Postings(**part)
    problem = _unsound(lexicon, postings)
    if problem:
        raise InputError(f"is damaged: {problem}", place=str(folder), remedy=REMEDY)
    return settings, language, lexicon, postings


def _card(folder: Path) -> tuple[dict[str, Any], str]:
    place = str(folder / _CARD)
    try:
        card = json.loads((folder / _CARD).read_bytes())
    except FileNotFoundError:
        raise InputError(f"is no BM25 index: it has no {_CARD}", place=str(folder), remedy=REMEDY) from None
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror or problem}", place=place) from None
    except (ValueError, RecursionError):
        raise InputError("is damaged: no JSON", place=place, remedy=REMEDY) from None
    if not isinstance(card, dict) or card.get("format") != _FORMAT:
        raise InputError("does not belong to a BM25 index of karat", place=place, remedy=REMEDY)
    if card.get("version") != _VERSION:
        found = card.get("version")
        raise InputError(
            f"is of version {found!r} of karat's BM25 index; this karat reads version {_VERSION}",
            place=place,
            remedy=REMEDY,
        )
    if not isinstance(card.get("settings"), dict) or not isinstance(card.get("language"), str):
        raise InputError("is damaged: no settings", place=place, remedy=REMEDY)
    return card["settings"], card["language"]


def _unsound(lexicon: Lexicon, postings: Postings) -> str | None:
    """What cannot be, as far as it shows without reading the postings."""
    terms = len(lexicon)
    if len(lexicon.heads) != terms or len(postings.starts) != terms + 1 or len(postings.bounds) != terms:
        return "its arrays are of different numbers of terms"
    if not _ascends(lexicon.ends, len(lexicon.letters)):
        return "the ends of its terms do not ascend to the end of its letters"
    if postings.starts[0] != 0 or not _ascends(postings.starts[1:], len(postings.rows)):
        return "the starts of its postings do not ascend to their end"
    if len(postings.weights) != len(postings.rows):
        return "it has more rows than weights, or the other way round"
    if postings.bounds.shape[1] != KTH + len(LEVELS) or postings.docs < 1:
        return "an array has an impossible shape"
    frequent = postings.frequent
    if len(frequent) != len(postings.columns) or (len(frequent) and not 0 <= frequent.min() <= frequent.max() < terms):
        return "its columns do not belong to its terms"
    return None


def _ascends(ends: NDArray[np.int64], last: int) -> bool:
    """Whether the ends rise, none twice, from above 0 up to `last`."""
    if not len(ends):
        return last == 0
    return bool(ends[0] > 0 and ends[-1] == last and (ends[1:] > ends[:-1]).all())
