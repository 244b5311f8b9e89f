"""Requests: the run, the filters and the question that an address names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from karat.core.errors import UsageError
from karat.web.filters import Filters, filters_of, refuse_unknown

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from karat.experiment.store import RunFolder
    from karat.web.runs import View


def view_of(request: Request) -> View:
    """What this server shows."""
    view: View = request.app.state.view
    return view


def run_of(request: Request) -> RunFolder:
    """The run that an address names."""
    return view_of(request).run(request.path_params["id"])


def asked_filters(request: Request, beside: Sequence[str] = ()) -> tuple[Filters, list[str], list[tuple[str, str]]]:
    """The filters of an address, the parameters that say nothing, and all of them as they stand."""
    pairs = request.query_params.multi_items()
    filters, unknown = filters_of(pairs, beside)
    return filters, unknown, pairs


def exact_filters(request: Request, *beside: str) -> Filters:
    """The filters of a call of the API, of which every parameter says something."""
    filters, unknown, _ = asked_filters(request, beside)
    refuse_unknown(unknown)
    return filters


def question_of(request: Request) -> tuple[str, list[str]]:
    """The question that an address names, and the systems."""
    question = request.query_params.get("id")
    if not question:
        raise UsageError("no question is named: add id=QUESTION.")
    return question, list(dict.fromkeys(request.query_params.getlist("system")))


def get_route(path: str, endpoint: Callable[..., Response]) -> Route:
    """What answers GET and HEAD of an address."""
    return Route(path, endpoint, methods=["GET"])


def post_route(path: str, endpoint: Callable[[Request, Mapping[str, Any]], Response]) -> Route:
    """What answers POST of an address with an object of JSON; it runs in a thread, as it may wait for a disk."""

    async def posted(request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            raise UsageError("the body of a request must be an object of JSON.")
        return await run_in_threadpool(endpoint, request, given)

    return Route(path, posted, methods=["POST"])
