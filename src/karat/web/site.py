"""Site: the pages, each made by a thread while others answer."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from karat.core.errors import UsageError
from karat.experiment.store import DAMAGED, DONE, RUNNING, RunFolder
from karat.report.render.html.served import asset
from karat.web import pages
from karat.web.details import detail_of, id_in_study
from karat.web.filters import whole_number
from karat.web.replies import NotHereError, NotYetError
from karat.web.requests import asked_filters, get_route, question_of, run_of, view_of
from karat.web.rows import ROWS

if TYPE_CHECKING:
    from starlette.requests import Request

WAIT = 1.0  # seconds for a study, before a page says that it is being opened
MOST_COMPARED = 6


def runs_page(request: Request) -> Response:
    """Every run."""
    return HTMLResponse(pages.runs_page(view_of(request), request.query_params.get("text", "")[:200]))


def run_page(request: Request) -> Response:
    """One run; while its study is read, a page that comes back."""
    view, run = view_of(request), run_of(request)
    stamp = view.study_stamp(run) if run.state not in (RUNNING, DAMAGED) else None
    if stamp is None:
        try:
            return HTMLResponse(pages.large_page(view, run, view.table(run)))
        except NotYetError:
            return HTMLResponse(pages.unfinished_page(view, run))
    return _made(view.rendered(("run", run.id, stamp, view.labelled(run)), partial(pages.run_page, view, run)), run)


def _made(page: Future[str], run: RunFolder) -> Response:
    """A page that is being made; where it takes longer, one that comes back."""
    try:
        return HTMLResponse(page.result(WAIT))
    except TimeoutError:
        if page.done():
            raise
        return _loading(run)


def _loading(run: RunFolder) -> Response:
    text = "It is being read. This page comes back by itself."
    return HTMLResponse(pages.message("Opening the run", text, page="loading", run=run.id, again=1), 202)


def questions_page(request: Request) -> Response:
    """The questions of a run."""
    view, run = view_of(request), run_of(request)
    if run.state != DONE and view.file(run, ROWS) is None:
        return HTMLResponse(pages.unfinished_page(view, run))
    filters, unknown, pairs = asked_filters(request, ("offset",))
    notes = [f"{name} is no filter of this page and was ignored." for name in unknown]
    pairs = [pair for pair in pairs if pair[0] not in unknown]
    if filters.is_half_a_pair:
        filters = filters.without_pair()
        notes.append("A difference is between two systems: choose both a and b. It was ignored.")
    offset = whole_number("offset", request.query_params.get("offset"), 0, 2**31)
    return HTMLResponse(pages.questions_page(view, run, view.table(run), filters, offset, notes, pairs))


def question_page(request: Request) -> Response:
    """One question."""
    from karat.report.build.question import viewed_question

    view, run = view_of(request), run_of(request)
    question, systems = question_of(request)
    study = view.study_future(run)
    if study is None:
        return HTMLResponse(pages.question_page(run, detail_of(view, run, question, systems), None))
    try:
        opened = study.result(WAIT)
    except TimeoutError:
        if study.done():
            raise
        return _loading(run)
    detail = detail_of(view, run, question, systems)
    known = opened.question(id_in_study(view, run, opened, question))
    return HTMLResponse(pages.question_page(run, detail, viewed_question(known, systems)))


def compare_page(request: Request) -> Response:
    """Runs against each other."""
    view = view_of(request)
    ids = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(ids) <= MOST_COMPARED:
        raise UsageError(f"{len(ids)} runs are named. Choose 2 to {MOST_COMPARED} on the page of runs.")
    runs = [view.run(id_) for id_ in ids]
    stamps = [view.study_stamp(run) for run in runs]
    for run, stamp in zip(runs, stamps, strict=True):
        if stamp is None:
            raise NotYetError(f"{run.id} cannot be compared here: its study is not there, or too large to open.")
    systems = request.query_params.getlist("system")
    make = partial(pages.compare_page, view, runs, systems)
    return _made(view.rendered(("compare", *ids, *stamps, *systems), make), runs[0])


def asset_file(request: Request) -> Response:
    """A script or a style of the pages."""
    file = asset(request.path_params["name"])
    if file is None:
        raise NotHereError(f"there is no file {request.path_params['name']!r:.60} here.")
    content, kind = file
    tag = f'"{view_of(request).digest(request.path_params["name"], content)}"'
    headers = {"cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


ROUTES = [
    get_route("/", runs_page),
    get_route("/run/{id}", run_page),
    get_route("/run/{id}/questions", questions_page),
    get_route("/run/{id}/question", question_page),
    get_route("/compare", compare_page),
    get_route("/assets/{name}", asset_file),
]
