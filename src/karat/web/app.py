"""App: every address of `karat view` behind one guard, and errors in the words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response

from karat.core.errors import KaratError, UsageError
from karat.web import api, labels, pages, site, tuning
from karat.web.guard import Guard, GuardSettings
from karat.web.replies import NotHereError, error_reply, said_of, status_of
from karat.web.runs import View

if TYPE_CHECKING:
    from starlette.requests import Request

    from karat.experiment.store import RunFolder

ROUTES = [*labels.ROUTES, *site.ROUTES, *api.ROUTES, *tuning.ROUTES]


@dataclass(frozen=True, kw_only=True)
class ViewSettings:
    """Which runs are shown, and to whom."""

    runs_dir: Path
    guard: GuardSettings
    named: Sequence[RunFolder] = ()


def create_app(settings: ViewSettings) -> Starlette:
    """The application behind its guard."""
    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Guard, settings=settings.guard)],
        exception_handlers={KaratError: _error, HTTPException: _error},
    )
    app.router.redirect_slashes = False
    app.state.view = View(settings.runs_dir, settings.named, settings.guard)
    return app


async def _error(request: Request, error: Exception) -> Response:
    """An error as JSON of the API, else as a page."""
    if isinstance(error, HTTPException):
        error = (
            NotHereError("there is nothing at this address") if error.status_code == 404 else UsageError(error.detail)
        )
    assert isinstance(error, KaratError)
    if request.url.path.startswith("/api/"):
        return await error_reply(request, error)
    problem, remedy = said_of(error)
    text = problem[:1].upper() + problem[1:]
    title = "Not found" if isinstance(error, NotHereError) else "This cannot be shown"
    return HTMLResponse(pages.message(title, text, remedy), status_of(error))
