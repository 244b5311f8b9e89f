"""Documents: the rows of single questions that a nested object holds beside its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from karat.diagnose.verify.names import CONTAINERS, is_name, spelled
from karat.diagnose.verify.rows import IDS, QuestionRows
from karat.files import RawTable

GROUPS = frozenset({"metrics", "scores", "measures", "retrieval", "generation", "evaluation", "results"})
"""Keys of a row under which its figures stand."""
LISTS = frozenset({
    "details", "rows", "per_query", "per_question", "questions", "queries", "records", "samples", "items", "data",
    "per_query_results", "detailed_results", "results",
})  # fmt: skip


def parted(table: RawTable) -> tuple[RawTable | None, RawTable | None]:
    """The rows of a table and what else its document holds, each where there is any."""
    if table.document is None:
        return flattened(table), None
    records: list[dict[str, Any]] = []
    rest = _without_rows(table.document, (), records)
    if not records and QuestionRows(_plain(table.name, [_flat(table.document)])).is_trace:
        return _plain(table.name, [_flat(table.document)]), None
    return _plain(table.name, records) if records else None, RawTable(table.name, (), (), (), "record", rest)


def flattened(table: RawTable) -> RawTable:
    """The same with the figures that stand in groups, as `metrics`, under names of their own."""
    if not any(spelled(column) in GROUPS for column in table.columns):
        return table
    return _plain(table.name, [_flat(record) for record in table.rows])


def _plain(name: str, records: Sequence[dict[str, Any]]) -> RawTable:
    columns = tuple(dict.fromkeys(column for record in records for column in record))
    return RawTable(name, columns, tuple(records), tuple(range(1, len(records) + 1)), "record")


def _without_rows(value: Mapping[str, Any], path: tuple[str, ...], records: list[dict[str, Any]]) -> dict[str, Any]:
    """A copy without its lists of rows, which are added to `records` under the system they stand beneath."""
    rest: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, Mapping):
            inner = path if spelled(str(key)) in CONTAINERS | LISTS else (*path, str(key))
            rest[str(key)] = _without_rows(item, inner, records)
        elif isinstance(item, list) and _are_rows(item):
            system = {"system": ", ".join(path)} if path and not any(is_name(str(c)) for c in item[0]) else {}
            records.extend({**system, **_flat(one)} for one in item)
        elif isinstance(item, list) and item and all(isinstance(one, Mapping) for one in item):
            rest[str(key)] = [_without_rows(one, (*path, *_names(one)), records) for one in item]
        else:
            rest[str(key)] = item
    return rest


def _names(record: Mapping[str, Any]) -> Iterator[str]:
    yield from (value for key, value in record.items() if is_name(str(key)) and isinstance(value, str))


def _are_rows(items: list[Any]) -> bool:
    """Whether a list holds a record for each of several questions, and none of them summarises."""
    if len(items) < 2 or not all(isinstance(one, Mapping) for one in items):
        return False
    names = [{spelled(str(key)) for key in one} for one in items]
    return all(own & set(IDS) and not own & {"measure", "metric", "guard"} for own in names)


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the figures of its groups; of a score with its status, the value."""
    flat = {str(key): value for key, value in record.items() if not _is_group(key, value)}
    for name, value in _grouped(record):
        if flat.get(name) is None:
            flat[name] = value
    return flat


def _is_group(key: Any, value: Any) -> bool:
    return isinstance(value, Mapping) and spelled(str(key)) in GROUPS


def _grouped(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, group in record.items():
        if _is_group(key, group):
            for name, value in group.items():
                yield str(name), value.get("value") if isinstance(value, Mapping) else value
