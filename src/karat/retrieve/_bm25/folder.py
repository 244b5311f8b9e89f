"""The index as folders of arrays: written as they are, read by mmap, checked before use.

An index of one piece stands in one folder (version 1). An index of shards stands in a folder of counts for each, which
depend on its own texts alone, and in one folder (version 2) of what follows from all of them together: the terms, and
for each shard, under its number, the weights of its counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError
from karat.core.lazy import LazySequence
from karat.io.arrays import REMEDY, mapped_array
from karat.io.writing import write_whole
from karat.retrieve._bm25.counts import COUNTS, TermCounts
from karat.retrieve._bm25.lexicon import Lexicon
from karat.retrieve._bm25.postings import KTH, LEVELS, Collection, Postings, PostingShard, weigh_all
from karat.retrieve._bm25.variants import Formula
from karat.retrieve._engine import EarlierJoin, order_fault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Numbers = NDArray[np.int32]

_CARD = "bm25.json"
_FORMAT = "karat bm25 index"
_ONE, _JOINED = 1, 2
_Kinds = dict[str, tuple[type[np.generic] | tuple[type[np.generic], ...], int]]
_LEXICON: _Kinds = {"letters": (np.uint8, 1), "ends": (np.int64, 1), "heads": (np.uint64, 1)}
_PLACES: _Kinds = {"rows": (np.int32, 1), "starts": (np.int64, 1)}
_WEIGHTS: _Kinds = {
    "weights": (np.float32, 1),
    "bounds": (np.float32, 2),
    "frequent": (np.int64, 1),
    "columns": (np.float32, 2),
}
_COUNTS: _Kinds = {"counts": (COUNTS, 1), "lengths": (np.int32, 1)}
_COLLECTION: _Kinds = {"holders": (np.int64, 1), "tops": (np.float32, 1)}
_NUMBERS: _Kinds = {"numbers": (np.int32, 1)}


def write(folder: Path, settings: Mapping[str, Any], language: str, lexicon: Lexicon, postings: Postings) -> None:
    """Fill an empty folder with an index of one piece."""
    _save(folder, lexicon, _LEXICON)
    _save(folder, postings, _PLACES | _WEIGHTS)
    _write_card(folder, {"version": _ONE, "settings": dict(settings), "language": language})


def read(folder: Path) -> tuple[dict[str, Any], str, Lexicon, Postings]:
    """Settings, language, terms and postings of a folder that `write` filled."""
    card = _card(folder, _ONE)
    lexicon = Lexicon(**_arrays(folder, _LEXICON))
    postings = Postings(**_arrays(folder, _PLACES | _WEIGHTS))
    _check(folder, _unsound_terms(lexicon) or _unsound(len(lexicon), postings) or _empty(postings.docs))
    return card["settings"], card["language"], lexicon, postings


def write_counts(folder: Path, counted: TermCounts) -> None:
    """Fill an empty folder with what a shard depends on its own texts for."""
    _save(folder, counted.lexicon, _LEXICON)
    _save(folder, counted, _PLACES | _COUNTS)


class _CountFolders(LazySequence[TermCounts]):
    """The counts of shards in their folders, each mapped when it is asked for and let go after."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders

    def __len__(self) -> int:
        return len(self._folders)

    def _at(self, number: int) -> TermCounts:
        folder = self._folders[number]
        lexicon = Lexicon(**_arrays(folder, _LEXICON))
        counted = TermCounts(lexicon=lexicon, **_arrays(folder, _PLACES | _COUNTS))
        _check(folder, _unsound_terms(lexicon) or _unsound_counts(counted))
        return counted


def write_joined(
    folder: Path,
    shards: Sequence[Path],
    card: Mapping[str, Any],
    formula: Formula,
    progress: Callable[[str, int, int], None],
    earlier: EarlierJoin | None = None,
) -> None:
    """Fill an empty folder with what follows from the counts of all shards; `card` has settings and language."""
    written = 0

    def receive(shard: PostingShard) -> None:
        nonlocal written
        place = folder / str(written)
        place.mkdir()
        _save(place, shard.postings, _WEIGHTS)
        if shard.numbers is not None:
            _save(place, shard, _NUMBERS)
        written += 1

    counts = _CountFolders(shards)
    collection = weigh_all(counts, _merged_terms(shards, counts, earlier), formula, receive, progress)
    _save(folder, collection.lexicon, _LEXICON)
    _save(folder, collection, _COLLECTION)
    _write_card(folder, {"version": _JOINED, **card, "shards": len(shards)})


def _merged_terms(
    shards: Sequence[Path], counts: _CountFolders, earlier: EarlierJoin | None
) -> tuple[Lexicon, Sequence[Numbers]]:
    """The terms of all shards, and which of these each of the terms of each shard is.

    Shards that were joined before are not looked at again: their terms are numbers of the terms of then.
    """
    standing = {one.name: number for number, one in enumerate(earlier.shards)} if earlier is not None else {}
    known = [place for place, shard in enumerate(shards) if shard.name in standing]
    if earlier is None or len(standing) < 2 or not known:
        return Lexicon.merged(counted.lexicon for counted in counts)
    before = Lexicon(**_arrays(earlier.folder, _LEXICON))
    numbers = {place: _numbers(earlier.folder / str(standing[shards[place].name])) for place in known}
    for place, mine in numbers.items():
        if len(mine) != len(counts[place].lexicon) or _unsound_numbers(len(before), mine):
            return _merged_terms(shards, counts, None)
    held = np.zeros(len(before), bool)
    for mine in numbers.values():
        held[mine] = True
    fresh = [place for place in range(len(shards)) if place not in numbers]
    lexicon, (of_held, *of_fresh) = Lexicon.merged([before.only(held), *(counts[place].lexicon for place in fresh)])
    place_of = np.zeros(len(before), np.int32)
    place_of[held] = of_held
    numbers = {place: place_of[mine] for place, mine in numbers.items()} | dict(zip(fresh, of_fresh, strict=True))
    return lexicon, [numbers[place] for place in range(len(shards))]


def _numbers(folder: Path) -> Numbers:
    return _arrays(folder, _NUMBERS)["numbers"]


def read_joined(
    folder: Path, shards: Sequence[Path], orders: Sequence[Ints], only: Sequence[int] | None
) -> tuple[dict[str, Any], str, Collection, list[PostingShard]]:
    """Settings, language and terms of a folder that `write_joined` filled for these shards, and postings of some."""
    card = _card(folder, _JOINED)
    if not card.get("shards") == len(shards) == len(orders):
        _check(folder, f"it was joined of {card.get('shards')!r} shards, not {len(shards)}")
    lexicon = Lexicon(**_arrays(folder, _LEXICON))
    _check(folder, _unsound_terms(lexicon))
    parts = []
    for number in range(len(shards)) if only is None else only:
        place, order = folder / str(number), orders[number]
        numbers = _numbers(place) if len(shards) > 1 else None
        postings = Postings(**_arrays(shards[number], _PLACES), **_arrays(place, _WEIGHTS))
        terms = len(lexicon) if numbers is None else len(numbers)
        _check(
            place,
            _unsound(terms, postings) or order_fault(order, postings.docs) or _unsound_numbers(len(lexicon), numbers),
        )
        parts.append(PostingShard(postings=postings, numbers=numbers, order=order if len(shards) > 1 else None))
    docs = sum(map(len, orders))
    _check(folder, _empty(docs))
    collection = Collection(lexicon=lexicon, docs=docs, **_arrays(folder, _COLLECTION))
    if not len(collection.holders) == len(collection.tops) == len(lexicon):
        _check(folder, "its arrays are of different numbers of terms")
    return card["settings"], card["language"], collection, parts


def _save(folder: Path, source: object, kinds: _Kinds) -> None:
    for name in kinds:
        np.save(folder / f"{name}.npy", getattr(source, name))


def _arrays(folder: Path, kinds: _Kinds) -> dict[str, NDArray[Any]]:
    return {name: mapped_array(folder / f"{name}.npy", *kind) for name, kind in kinds.items()}


def _check(folder: Path, problem: str | None) -> None:
    if problem:
        raise InputError(f"is damaged: {problem}", place=str(folder), remedy=REMEDY)


def _write_card(folder: Path, card: dict[str, Any]) -> None:
    text = json.dumps({"format": _FORMAT, **card}, ensure_ascii=False, indent=1, sort_keys=True)
    write_whole(folder / _CARD, text + "\n")


def _card(folder: Path, wanted: int) -> dict[str, Any]:
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
    if card.get("version") != wanted:
        version = card.get("version")
        raise InputError(
            f"is of version {version!r} of karat's BM25 index; this karat reads version {wanted} there",
            place=place,
            remedy=REMEDY,
        )
    if not isinstance(card.get("settings"), dict) or not isinstance(card.get("language"), str):
        raise InputError("is damaged: no settings", place=place, remedy=REMEDY)
    return card


def _empty(docs: int) -> str | None:
    return None if docs else "an array has an impossible shape"


def _unsound_terms(lexicon: Lexicon) -> str | None:
    if len(lexicon.heads) != len(lexicon):
        return "its arrays are of different numbers of terms"
    if not _ascends(lexicon.ends, len(lexicon.letters)):
        return "the ends of its terms do not ascend to the end of its letters"
    return None


def _unsound_counts(counted: TermCounts) -> str | None:
    if len(counted.starts) != len(counted.lexicon) + 1:
        return "its arrays are of different numbers of terms"
    if counted.starts[0] != 0 or not _ascends(counted.starts[1:], len(counted.rows)):
        return "the starts of its counts do not ascend to their end"
    if len(counted.counts) != len(counted.rows):
        return "it has more rows than counts, or the other way round"
    rows = counted.rows
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(counted.lengths):
        return "it names rows that do not exist"
    return None


def _unsound_numbers(terms: int, numbers: Numbers | None) -> str | None:
    if numbers is None or not len(numbers):
        return None
    if numbers[0] < 0 or numbers[-1] >= terms or not bool((numbers[1:] > numbers[:-1]).all()):
        return "its terms are not those of the index"
    return None


def _unsound(terms: int, postings: Postings) -> str | None:
    """What cannot be, as far as it shows without reading the postings."""
    if len(postings.starts) != terms + 1 or len(postings.bounds) != terms:
        return "its arrays are of different numbers of terms"
    if postings.starts[0] != 0 or not _ascends(postings.starts[1:], len(postings.rows)):
        return "the starts of its postings do not ascend to their end"
    if len(postings.weights) != len(postings.rows):
        return "it has more rows than weights, or the other way round"
    if postings.bounds.shape[1] != KTH + len(LEVELS):
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
