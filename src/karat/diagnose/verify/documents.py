"""Documents: the rows of single questions that a nested object holds beside its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from karat.diagnose.verify.names import CONTAINERS, IDS, is_name, spelled
from karat.diagnose.verify.rows import QuestionRows
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
        has_groups = any(spelled(column) in GROUPS for column in table.columns)
        return _table(table.name, table.rows) if has_groups else table, None
    records: list[dict[str, Any]] = []
    rest = RawTable(table.name, (), (), (), "record", _without_rows(table.document, (), records))
    if records:
        return _table(table.name, records), rest
    alone = _table(table.name, [table.document])
    return (alone, None) if QuestionRows(alone).is_trace else (None, rest)


def _table(name: str, records: Iterable[Mapping[str, Any]]) -> RawTable:
    """Records as rows, with the figures that stand in groups, as `metrics`, under names of their own."""
    rows = tuple(_flat(record) for record in records)
    columns = tuple(dict.fromkeys(column for row in rows for column in row))
    return RawTable(name, columns, rows, tuple(range(1, len(rows) + 1)), "record")


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the figures of its groups; of a score with its status, the value."""
    row: dict[str, Any] = {}
    grouped: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping) and spelled(str(key)) in GROUPS:
            for name, score in value.items():
                grouped.setdefault(str(name), score.get("value") if isinstance(score, Mapping) else score)
        else:
            row[str(key)] = value
    return row | {name: value for name, value in grouped.items() if row.get(name) is None}


def _without_rows(value: Mapping[str, Any], path: tuple[str, ...], records: list[dict[str, Any]]) -> dict[str, Any]:
    """A copy without its lists of rows, which are added to `records` under the system they stand beneath."""
    rest: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(item, Mapping):
            inner = path if spelled(str(key)) in CONTAINERS | LISTS else (*path, str(key))
            rest[str(key)] = _without_rows(item, inner, records)
        elif not isinstance(item, list) or not item or not all(isinstance(one, Mapping) for one in item):
            rest[str(key)] = item
        elif _are_rows(item):
            system = {"system": ", ".join(path)} if path and not any(is_name(str(c)) for c in item[0]) else {}
            records.extend({**system, **one} for one in item)
        else:
            named = [[v for k, v in one.items() if is_name(str(k)) and isinstance(v, str)] for one in item]
            rest[str(key)] = [_without_rows(one, (*path, *own), records) for one, own in zip(item, named, strict=True)]
    return rest


def _are_rows(items: list[Mapping[str, Any]]) -> bool:
    """Whether a list holds a record for each of several questions, and none of them summarises."""
    names = [{spelled(str(key)) for key in one} for one in items]
    return len(items) > 1 and all(own & set(IDS) and not own & {"measure", "metric", "guard"} for own in names)
