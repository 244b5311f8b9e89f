"""Replies: JSON and errors as the API gives them, in the words of the command line."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from karat.core.errors import InputError, KaratError, UsageError
from karat.core.text.wellformed import well_formed

JSON = "application/json"


class NotHereError(UsageError):
    """Something is asked for that this server does not have."""


class NotYetError(KaratError):
    """Something is asked of a run that it cannot say yet, or no longer."""


def json_reply(value: Any, status: int = 200) -> Response:
    """A value as JSON; halves of characters, which hostile texts may hold, are replaced as in rows.parquet."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(well_formed(text).encode(), status, media_type=JSON)


def status_of(error: KaratError) -> int:
    """The status by which the API says an error."""
    if isinstance(error, NotHereError):
        return 404
    return 400 if isinstance(error, UsageError) else 409


def said_of(error: KaratError) -> tuple[str, str]:
    """An error as what is wrong, and what to do."""
    if isinstance(error, InputError):
        where = " ".join(filter(None, (error.place, f"{error.unit} {error.row}" if error.row is not None else None)))
        return f"{where}: {error.problem}" if where else error.problem, error.remedy or ""
    return str(error), ""


async def error_reply(request: Request, error: Exception) -> Response:
    """An error of karat's in JSON."""
    assert isinstance(error, KaratError)
    problem, remedy = said_of(error)
    return json_reply({"error": problem, "remedy": remedy}, status_of(error))
