"""Reading single records by the tables of `fields`: in which of its names, and in its metadata, a field stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from karat.io.cells import is_missing
from karat.io.fields import NESTED, field_name

MOST_SHAPES = 512  # sets of names that are remembered
_NOTHING: Mapping[str, Any] = {}


def metadata_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a record, by names as aliases are spelled; empty where it has none."""
    return {field_name(str(key)): value for key, value in _raw_metadata(record).items()}


def _raw_metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in _nests(tuple(record)):
        inner = record[name]
        if isinstance(inner, Mapping):
            return inner
    return _NOTHING


@lru_cache(maxsize=MOST_SHAPES)
def _nests(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those names under which records keep their metadata."""
    return tuple(name for name in names if field_name(str(name)) in NESTED)


class FieldReader:
    """Reads single records by one of the tables above, in which no name may stand for two fields.

    Of several names of a field the first that is filled counts: the user's own `columns` (column -> field), then the
    names of the record itself, then those in its metadata, each in the order of the table.
    """

    def __init__(self, table: Mapping[str, tuple[str, ...]], columns: Mapping[str, str] | None = None) -> None:
        names = {name: (field, place) for field, aliases in table.items() for place, name in enumerate(aliases)}
        mapped = {field_name(column): (names[field][0], -1) for column, field in (columns or {}).items()}
        self.names: Mapping[str, tuple[str, int]] = names | mapped
        """Each name with its field and its place among the names of that; -1 for the user's own."""
        self._plan = lru_cache(maxsize=MOST_SHAPES)(self._places)
        self._unknown = lru_cache(maxsize=MOST_SHAPES)(
            lambda names: tuple(name for name in map(field_name, map(str, names)) if name not in self.names)
        )

    def read(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each field that a record names; one that it names and does not fill is None, blank or NaN."""
        metadata = _raw_metadata(record)
        values: dict[str, Any] = {}
        for field, places in self._plan(tuple(record), tuple(metadata)):
            for inside, name in places:
                value = (metadata if inside else record)[name]
                if not is_missing(value):
                    break
            else:
                inside, name = places[0]
                value = (metadata if inside else record)[name]
            values[field] = value
        return values

    def sources(self, record: Mapping[str, Any]) -> dict[str, list[str]]:
        """Where each field of a record was read, and after it other places that say something else, which were not.

        >>> from karat.io.fields import HIT
        >>> FieldReader(HIT).sources({"id": "7", "metadata": {"doc_id": "d1", "source": "a.pdf"}})
        {'id': ['id'], 'doc': ['metadata.doc_id', 'metadata.source']}
        """
        metadata = _raw_metadata(record)
        nest = next((f"{name}." for name in _nests(tuple(record)) if record[name] is metadata), "")
        sources: dict[str, list[str]] = {}
        for field, places in self._plan(tuple(record), tuple(metadata)):
            values = [
                (f"{nest if inside else ''}{name}", (metadata if inside else record)[name]) for inside, name in places
            ]
            filled = [(place, value) for place, value in values if not is_missing(value)]
            sources[field] = [place for n, (place, value) in enumerate(filled) if not n or value != filled[0][1]]
        return {field: places for field, places in sources.items() if places}

    def unknown(self, record: Iterable[Any]) -> tuple[str, ...]:
        """The names of a record itself that stand for no field, as aliases are spelled."""
        return self._unknown(tuple(record))

    def single(self, names: tuple[Any, ...]) -> Mapping[str, Any] | None:
        """The name of each field that a record of these names has; None where one has several, or there is metadata."""
        places = self._places(names, ())
        if _nests(names) or any(len(matches) > 1 for _, matches in places):
            return None
        return {field: matches[0][1] for field, matches in places}

    def _places(
        self, names: tuple[Any, ...], inner: tuple[Any, ...]
    ) -> tuple[tuple[str, tuple[tuple[bool, Any], ...]], ...]:
        """For each field where to look for it, in the order that counts: in the metadata or not, and under which name.

        Found once for all records of the same names.
        """
        ranked: dict[str, list[tuple[bool, bool, int, Any]]] = {}
        for inside, part in ((False, names), (True, inner)):
            for name in part:
                if (known := self.names.get(field_name(str(name)))) is not None:
                    field, place = known
                    ranked.setdefault(field, []).append((place >= 0, inside, place, name))
        return tuple(
            (field, tuple((inside, name) for _, inside, _, name in sorted(places, key=lambda place: place[:3])))
            for field, places in ranked.items()
        )
