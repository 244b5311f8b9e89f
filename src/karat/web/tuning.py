"""Tuning: the page of a run on which settings of retrieval are moved, and all figures follow.

A tuner is opened by a thread, and few are held. It answers one request after the other; of those that one page sent,
the newest alone: each says which page it is of and its number.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from karat.core.errors import KaratError, UsageError
from karat.experiment.tuning import (
    entry_settings,
    index_of_run,
    open_tuner,
    own_systems,
    setting_of,
    spec_file_of,
    spec_of_run,
)
from karat.web.filters import refuse_unknown
from karat.web.held import Making
from karat.web.replies import NotYetError, json_reply, said_of
from karat.web.requests import get_route, post_route, run_of, view_of
from karat.web.tuned import curve_of, figures_of, hits_of
from karat.web.tuning_page import curve_page, loading_page, missing_page

if TYPE_CHECKING:
    from starlette.requests import Request

    from karat.core.types import TestSet
    from karat.experiment.store import RunFolder
    from karat.experiment.sweep.grid import Grid
    from karat.experiment.sweep.tuner import Tuner
    from karat.web.runs import View

TUNERS, PAGES = 2, 64  # that are held; pages whose newest request is known
LONGEST_QUERY, MOST_HITS = 2_000, 50
SETTINGS = ("alpha", "k", "fusion", "rrf_k", "depth", "normalise")


class OutdatedError(NotYetError):
    """A request that the same page has followed by another."""


class RunTuner:
    """The tuner of a run while it is opened and after: one request at a time, and of one page the newest."""

    def __init__(self, view: View, run: RunFolder) -> None:
        self.view, self.run = view, run
        self.step: tuple[str, int, int] = ("reading the questions", 0, 1)
        self.tuner: Tuner | None = None
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self._newest: OrderedDict[str, int] = OrderedDict()
        self._page: str | None = None

    def open(self) -> RunTuner:
        """Read, resolve and search: what takes seconds to minutes."""
        study = self.view.study(self.run)
        if study is None:
            raise NotYetError(f"the study of {self.run.id} is not there, or too large to open: use `karat sweep`.")
        testset: TestSet = study.study.evaluation.testset
        self.tuner = open_tuner(self.run, testset, self.view.runs_dir, self._progress)
        return self

    def _progress(self, what: str, done: int, total: int) -> None:
        self.step = what, done, total

    def note(self, page: str, number: int) -> None:
        """Remember the newest request of a page; one that came after a newer one is refused."""
        with self._lock:
            if number < self._newest.get(page, 0):
                raise OutdatedError("a newer request of this page is answered instead.")
            self._newest[page] = number
            self._newest.move_to_end(page)
            while len(self._newest) > PAGES:
                self._newest.popitem(last=False)

    def figures(self, grid: Grid, baseline: str | None, page: str, number: int) -> dict[str, Any]:
        """Means and questions won."""
        with self._turn:
            self.note(page, number)
            return figures_of(self.ready, self.run, self.view, grid, baseline)

    def curve(self, grid: Grid, page: str, number: int) -> dict[str, Any]:
        """Intervals, and the curve over alpha with the choice among it."""
        tuner = self.ready
        with self._turn:
            self.note(page, number)
            one, many = tuner.swept(grid), tuner.swept(tuner.curve(grid))
        return curve_of(tuner, one, many)  # arrays of their own: others may ask meanwhile

    def page(self, make: Callable[[], str]) -> str:
        """The page without script, made once."""
        with self._turn:
            if self._page is None:
                self._page = make()
            return self._page

    def search(self, query: str, k: int, grid: Grid) -> dict[str, Any]:
        """What each engine and the fusion find."""
        with self._turn:
            return hits_of(self.ready, query, k, grid)

    @property
    def ready(self) -> Tuner:
        """The tuner, once it is open."""
        assert self.tuner is not None
        return self.tuner


class Tuners:
    """The tuners of a server."""

    def __init__(self) -> None:
        self._made: Making[RunTuner] = Making(TUNERS)
        self._opening: OrderedDict[tuple[str, str], RunTuner] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, view: View, run: RunFolder) -> tuple[RunTuner, Future[RunTuner]]:
        """The tuner of a run, there or being opened; an index that is not there any more is told at once."""
        key = run.id, index_of_run(run, view.runs_dir).generation
        with self._lock:
            tuner = self._opening.setdefault(key, RunTuner(view, run))
            self._opening.move_to_end(key)
            future = self._made.get(key, tuner.open)
            while len(self._opening) > TUNERS:
                self._opening.popitem(last=False)
        return tuner, future


_tuners_lock = threading.Lock()


def opening(request: Request) -> tuple[RunTuner, Future[RunTuner]]:
    """The tuner of the run that an address names."""
    view, run, state = view_of(request), run_of(request), request.app.state
    with _tuners_lock:
        if not hasattr(state, "tuners"):
            state.tuners = Tuners()
    if not run.is_done:
        raise NotYetError(f"{run.id} is {run.state}: a run is tuned when it is done.")
    tuners: Tuners = state.tuners
    return tuners.of(view, run)


def _ready(request: Request) -> RunTuner:
    tuner, future = opening(request)
    if not future.done():
        raise NotYetError(f"the index is being opened: {tuner.step[0]}.")
    return future.result()


def _asked(request: Request, tuner: RunTuner) -> Grid:
    refuse_unknown(request.query_params, (*SETTINGS, "system", "baseline", "page", "seq"))
    return _grid(tuner, request.query_params)


def _grid(tuner: RunTuner, values: Mapping[str, Any]) -> Grid:
    """The setting that values say; beside them that of a `system`."""
    start: dict[str, str] = {}
    if values.get("system"):
        own = own_systems(spec_of_run(tuner.run))
        if values["system"] not in own:
            raise UsageError(f"{values['system']!r:.100} is no system of this run that can be tuned.")
        start = setting_of(own[values["system"]])
    given = {name: str(values[name]) for name in SETTINGS if values.get(name) not in (None, "")}
    if any(len(value) > 40 for value in given.values()):
        raise UsageError("a setting is a number or a name.")
    return tuner.ready.grid(**{**start, **given})


def _sender(request: Request) -> tuple[str, int]:
    number = request.query_params.get("seq", "0")
    if not (number.isascii() and number.isdigit()) or len(number) > 12:
        raise UsageError(f"seq={number!r:.30}: write a whole number.")
    page = request.query_params.get("page", "")
    return (page[:40], int(number)) if page else (f"{id(request)}", 0)


def api_state(request: Request) -> Response:
    """How far the tuner is; when it is ready, what can be set."""
    tuner, future = opening(request)
    what, done, total = tuner.step
    if not future.done():
        return json_reply({"state": "loading", "what": what, "done": done, "total": total})
    return json_reply({"state": "ready", **about(future.result())})


def about(tuner: RunTuner) -> dict[str, Any]:
    """What a page has to know of a tuner: controls, baselines, where a system would be written."""
    own, run, ready = own_systems(spec_of_run(tuner.run)), tuner.run, tuner.ready
    table = tuner.view.table(run)
    summary = run.manifest.get("summary")
    best = summary.get("best") if isinstance(summary, Mapping) else None
    return {
        "controls": ready.controls,
        "systems": {name: setting_of(settings) for name, settings in own.items()},
        "baselines": list(table.systems),
        "best": best if best in table.systems else (table.systems or [None])[0],
        "questions": len(ready.testset),
        "chunks": len(ready.index.chunks),
    }


def api_tune(request: Request) -> Response:
    """Means of a setting, by kind too, and the questions it wins and loses."""
    tuner = _ready(request)
    return json_reply(tuner.figures(_asked(request, tuner), request.query_params.get("baseline"), *_sender(request)))


def api_curve(request: Request) -> Response:
    """Intervals and the curve."""
    tuner = _ready(request)
    return json_reply(tuner.curve(_asked(request, tuner), *_sender(request)))


def api_search(request: Request, body: Mapping[str, Any]) -> Response:
    """Any query through all engines and their fusion, explained."""
    tuner = _ready(request)
    query, k = body.get("query"), body.get("k", 10)
    if not isinstance(query, str) or not query.strip():
        raise UsageError("the query is empty. Write what to search for.")
    if len(query) > LONGEST_QUERY:
        raise UsageError(f"the query has {len(query):,} characters, and {LONGEST_QUERY:,} is the most.")
    if type(k) is not int or not 1 <= k <= MOST_HITS:
        raise UsageError(f"k={k!r:.30}: write a whole number from 1 to {MOST_HITS}.")
    settings = body.get("settings", {})
    return json_reply(tuner.search(query, k, _grid(tuner, settings if isinstance(settings, Mapping) else {})))


def _entry(tuner: RunTuner, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The usual name of a setting, and what karat.yaml says of it."""
    (point,) = _grid(tuner, values).points(1)[0]
    return point.name, entry_settings(point.system)


def _file(request: Request, run: RunFolder) -> Path:
    return spec_file_of(run, view_of(request).folder)


def api_yaml(request: Request) -> Response:
    """What would be written to which file, and the mark of that file as it stands."""
    from karat.experiment.spec.added import SpecFile, entry_of, lines_of

    tuner = _ready(request)
    usual, settings = _entry(tuner, request.query_params)
    name = request.query_params.get("name") or usual
    path = _file(request, tuner.run)
    reply: dict[str, Any] = {"file": str(path), "name": name, "mark": None, "error": None, "remedy": None}
    reply["lines"] = lines_of(entry_of(name, settings))
    try:
        file = SpecFile.read(path)
        reply["mark"] = file.mark
        file.with_system(name, settings)
    except KaratError as problem:
        reply["error"], reply["remedy"] = said_of(problem)
    return json_reply(reply)


def api_add(request: Request, body: Mapping[str, Any]) -> Response:
    """Write a setting to karat.yaml as a system."""
    from karat.experiment.spec.added import SpecFile

    tuner = _ready(request)
    name, mark, settings = body.get("name"), body.get("mark"), body.get("settings")
    if not isinstance(name, str) or not isinstance(mark, str) or not isinstance(settings, Mapping):
        raise UsageError("write name, mark and settings.")
    _, values = _entry(tuner, settings)
    path = _file(request, tuner.run)
    SpecFile.read(path).add(name, values, mark)
    return json_reply({"file": str(path), "name": name})


def tune_page(request: Request) -> Response:
    """The page of tuning: while the index is opened, how far that is; without script the curve over alpha."""
    run = run_of(request)
    try:
        tuner, future = opening(request)
    except KaratError as problem:
        return HTMLResponse(missing_page(run, *said_of(problem)))
    if not future.done():
        return HTMLResponse(loading_page(run, *tuner.step))
    try:
        ready = future.result()
    except KaratError as problem:
        return HTMLResponse(missing_page(run, *said_of(problem)))
    return HTMLResponse(ready.page(lambda: curve_page(ready.ready, run, about(ready))))


ROUTES = [
    get_route("/run/{id}/tune", tune_page),
    get_route("/api/run/{id}/tune/state", api_state),
    get_route("/api/run/{id}/tune/curve", api_curve),
    get_route("/api/run/{id}/tune", api_tune),
    get_route("/api/run/{id}/yaml", api_yaml),
    post_route("/api/run/{id}/yaml", api_add),
    post_route("/api/run/{id}/search", api_search),
]
