"""API: what the pages' scripts ask for, as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from karat.core.errors import UsageError
from karat.experiment.progress_file import RunProgress
from karat.experiment.store import RUNNING
from karat.io.formulas import guarded_cell
from karat.web.details import detail_of
from karat.web.facts import facts_of, trends
from karat.web.filters import Filters, refuse_unknown, whole_number
from karat.web.replies import json_reply
from karat.web.requests import exact_filters, get_route, question_of, run_of, view_of
from karat.web.rows import MOST_PAGE, PAGE, ROWS, QuestionTable

if TYPE_CHECKING:
    from starlette.requests import Request

_FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def _table(request: Request) -> QuestionTable:
    return view_of(request).table(run_of(request))


def api_runs(request: Request) -> Response:
    """Every run, the latest first."""
    view = view_of(request)
    every = [view.about(run) for run in view.runs()]
    return json_reply({"runs": every[::-1], "trends": trends(every)})


def api_run(request: Request) -> Response:
    """What a run holds."""
    view, run = view_of(request), run_of(request)
    is_begun = run.state == RUNNING and view.file(run, ROWS) is None
    return json_reply(facts_of(view, run, None if is_begun else view.table(run)))


def api_rows(request: Request) -> Response:
    """A page of filtered rows."""
    view, run = view_of(request), run_of(request)
    filters = exact_filters(request, "offset", "limit")
    offset = whole_number("offset", request.query_params.get("offset"), 0, 2**31)
    limit = whole_number("limit", request.query_params.get("limit"), PAGE, MOST_PAGE)
    if run.state == RUNNING and view.file(run, ROWS) is None:
        return json_reply(view.tail(run).page(offset, limit))
    return json_reply(view.table(run).page(filters, offset, limit))


def api_facets(request: Request) -> Response:
    """What each filter would show, and means."""
    return json_reply(_table(request).facets(exact_filters(request)))


def api_question(request: Request) -> Response:
    """All that is known of a question."""
    question, systems = question_of(request)
    refuse_unknown(request.query_params, ("id", "system"))
    return json_reply(detail_of(view_of(request), run_of(request), question, systems))


def api_progress(request: Request) -> Response:
    """How far a run is."""
    view, run = view_of(request), run_of(request)
    progress = view.progress(run)
    steps = dict.fromkeys(field.name for field in fields(RunProgress)) if progress is None else asdict(progress)
    rows = len(view.tail(run).rows) if run.state == RUNNING else None
    return json_reply({"state": run.state, **steps, "rows": rows})


def api_export(request: Request) -> Response:
    """The filtered rows as a file."""
    filters, run = exact_filters(request, "format"), run_of(request)
    form = request.query_params.get("format", "csv")
    if form not in _FORMATS:
        raise UsageError(f"format={form!r:.30}: write {' or '.join(_FORMATS)}.")
    table = view_of(request).table(run)
    table.rows(table.numbers(filters)[:1], *table.shown(filters))  # what cannot be is refused before anything is sent
    lines = _csv(table, filters) if form == "csv" else _jsonl(table, filters)
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in run.id)[:80]
    headers = {"content-disposition": f'attachment; filename="{name}.{form}"'}
    encoded = (line.encode("utf-8", "replace") for line in lines)
    return StreamingResponse(encoded, media_type=_FORMATS[form], headers=headers)


def _jsonl(table: QuestionTable, filters: Filters) -> Iterator[str]:
    measures = filters.measures or table.measures
    for rows in table.pieces(filters):
        named = (
            {**row, "scores": {s: dict(zip(measures, own, strict=True)) for s, own in row["scores"].items()}}
            for row in rows
        )
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in named)


def _csv(table: QuestionTable, filters: Filters) -> Iterator[str]:
    systems, _ = table.shown(filters)
    measures = filters.measures or table.measures
    head = ["id", "text", "kind", *(f"tag.{tag}" for tag in table.tags)]
    for system in systems:
        head += [f"{system} {name}" for name in (*measures, "status", "failure")]
    yield _written([head])
    for rows in table.pieces(filters):
        yield _written([_flat(row, table.tags, systems) for row in rows])


def _flat(row: dict[str, Any], tags: Sequence[str], systems: Sequence[str]) -> list[Any]:
    cells = [row["id"], row["text"], row["kind"], *(row["tags"].get(tag) for tag in tags)]
    for system in systems:
        cells += [*row["scores"][system], row["status"][system], row["failure"].get(system)]
    return cells


def _written(rows: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    cells = ([guarded_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    csv.writer(out, lineterminator="\n").writerows(cells)
    return out.getvalue()


ROUTES = [
    get_route("/api/runs", api_runs),
    get_route("/api/run/{id}", api_run),
    get_route("/api/run/{id}/rows", api_rows),
    get_route("/api/run/{id}/facets", api_facets),
    get_route("/api/run/{id}/question", api_question),
    get_route("/api/run/{id}/export", api_export),
    get_route("/api/run/{id}/progress", api_progress),
]
