"""MLflow: an experiment on a tracking server, a run for each system under one for all of them.

The server is asked over HTTP as it documents, without MLflow's own client. A run is found by its tag `karat.run`; one
that was sent in part carries `karat.sent: partial`, and is completed when it is sent again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from karat.core.errors import KaratError, UsageError
from karat.core.text.words import plural
from karat.models.endpoint import JsonEndpoint, RequestFailure, after
from karat.models.file_transfer import BodyUpload
from karat.models.hosts import Blot, announce_host, check_url, host_of, key_for
from karat.report._tracker import TrackedRun, TrackedSystem, Tracker

if TYPE_CHECKING:
    from karat.results.evaluation import Mean, Usage

URI, USER, PASSWORD, TOKEN = (
    "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN",
)  # fmt: skip
SECONDS = 60.0
MOST_METRICS, MOST_PARAMS = 500, 50  # in one request, which may hold 1,000 entities and 1 MB
MOST_PAGES = 200  # of runs that a search finds
LONGEST_NAME, LONGEST_PARAM, LONGEST_TAG = 230, 6000, 5000
PARTIAL, COMPLETE = "partial", "complete"
_WORDS = {"@": "_at_", "(": "_with_", "=": "_is_", ",": "_and_", ")": "_end_", "_": "__"}
_PLAIN = re.compile(r"[A-Za-z0-9 -]|(?<=[A-Za-z0-9])\.(?=[A-Za-z0-9])")
_LEGAL = re.compile(r"[A-Za-z0-9_ -][A-Za-z0-9_. -]*")
_T = TypeVar("_T")


def mapped(name: str) -> str:
    """A name as MLflow takes it: no two names become one, with `_low`, `_high`, `_n` ... behind them either.

    What begins with _ is one of the words for a sign, or __ for _ itself; all else stays.

    >>> mapped("Recall@5"), mapped("P(rel=2)@5"), mapped("my_score"), mapped("Größe")
    ('Recall_at_5', 'P_with_rel_is_2_end__at_5', 'my__score', 'Gr_xf6__xdf_e')
    """
    parts = (
        letter if _PLAIN.match(name, place) else _WORDS.get(letter, f"_x{ord(letter):x}_")
        for place, letter in enumerate(name)
    )
    whole = "".join(parts)
    if len(whole) <= LONGEST_NAME:
        return whole
    return f"{whole[: LONGEST_NAME - 80]}_sha_{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()}"


def send(run: TrackedRun, place: str | None) -> str:
    """Send a run, complete one that was sent in part, or replace one that has changed since."""
    server = _TrackingServer(place or os.environ.get(URI, ""))
    try:
        return _sent(run, server)
    finally:
        server.close()


def _sent(run: TrackedRun, server: _TrackingServer) -> str:
    experiment = server.experiment(run.name)
    known = server.runs(experiment, run.id)
    whole = next((one for one in known if "karat.system" not in one.tags), None)
    where = f"{server.host}, experiment {run.name!r}"
    same = whole is not None and whole.tags.get("karat.digest") == run.digest
    if same and whole is not None and whole.tags.get("karat.sent") == COMPLETE:
        return f"{run.id} is at {where} already: nothing was sent."
    replaced = known and not same
    for one in known if replaced else ():
        server.post("runs/delete", {"run_id": one.id})
    known = [] if replaced else known
    by_system = {one.tags["karat.system"]: one for one in known if "karat.system" in one.tags}
    facts = {f"karat.{name}": text for name, text in run.facts.items()} | {"karat.run": run.id}
    marks = {**facts, "karat.digest": run.digest, "karat.sent": PARTIAL}
    if whole is None or replaced:
        whole = server.create(experiment, run.id, marks)
    left_out = 0
    for system in run.systems:
        tags = {**facts, "karat.system": system.name, "karat.verdict": system.verdict}
        if system.name in by_system and by_system[system.name].is_finished:
            continue
        tags["mlflow.parentRunId"] = whole.id
        one = by_system.get(system.name) or server.create(experiment, system.name, tags)
        figures = list(figures_of(system))
        left_out += sum(not isfinite(value) for _, value in figures)
        server.log(one, [(name, value) for name, value in figures if isfinite(value)], params_of(system))
        server.finish(one)
    missing = [name for name, content in run.files.items() if not server.upload(whole, name, content)]
    server.finish(whole)
    server.post("runs/set-tag", {"run_id": whole.id, "key": "karat.sent", "value": COMPLETE})
    lines = [f"sent {run.id} to {where}: {plural(len(run.systems), 'system')}"]
    if replaced:
        lines.append("What was there of it before differed, and is among the deleted runs")
    if missing:
        lines.append(f"Without {', '.join(missing)}: the server takes no files itself, it keeps them elsewhere")
    if left_out:
        lines.append(f"{plural(left_out, 'figure')} left out: MLflow holds finite numbers")
    renamed = [m.measure for system in run.systems for m in system.means if mapped(m.measure) != m.measure]
    if renamed:
        lines.append(f"MLflow allows no such names as {renamed[0]}, which is called {mapped(renamed[0])} there")
    return ". ".join(lines) + "."


def figures_of(system: TrackedSystem) -> Iterator[tuple[str, float]]:
    """The metrics of a system: means with the ends of their intervals and counts, then usage."""
    return chain(
        chain.from_iterable(_of_mean(mean) for mean in system.means),
        chain.from_iterable(_of_usage(usage) for usage in system.usage),
    )


def _of_mean(mean: Mean) -> Iterator[tuple[str, float]]:
    name = mapped(mean.measure)
    known = {name: mean.mean, f"{name}_low": mean.low, f"{name}_high": mean.high, f"{name}_n": mean.n}
    yield from ((key, value) for key, value in known.items() if value is not None)
    for count in ("n_undefined", "n_failed"):
        if getattr(mean, count):
            yield f"{name}_{count}", getattr(mean, count)


def _of_usage(usage: Usage) -> Iterator[tuple[str, float]]:
    for figure in ("mean", "p50", "p95", "total", "n"):
        yield f"usage/{mapped(usage.what)}_{figure}", getattr(usage, figure)


def params_of(system: TrackedSystem) -> dict[str, str]:
    """The settings of a system; what is no text as JSON, and nothing where there is no value."""
    params: dict[str, str] = {}
    for name, value in system.settings.items():
        if value is None:
            continue
        key = name if _LEGAL.fullmatch(name) and len(name) <= LONGEST_NAME else mapped(name)
        if key in params:
            raise KaratError(f"two settings of {system.name} would be {key!r} in MLflow. Rename one of them.")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
        params[key] = _fitting(text, LONGEST_PARAM)
    return params


def _fitting(text: str, most: int) -> str:
    """A text of so many characters at most, which says that it was cut."""
    mark = f" … [cut: {len(text):,} characters]"
    return text if len(text) <= most else text[: most - len(mark)] + mark


class _SentRun:
    """A run as the server knows it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        info, data = values["info"], values.get("data") or {}
        self.id, self.start = str(info["run_id"]), int(info["start_time"])
        self.is_finished = info.get("status") == "FINISHED"
        self.artifacts = str(info.get("artifact_uri", ""))
        self.tags = {str(tag["key"]): str(tag["value"]) for tag in data.get("tags") or ()}


class _TrackingServer(JsonEndpoint):
    """A tracking server. Whose it is the user alone says; credentials stand in the environment."""

    def __init__(self, address: str) -> None:
        if not address:
            raise UsageError(f"say where to: --tracking-uri http://HOST:5000, or set {URI}.")
        if not address.lower().startswith(("http://", "https://")):
            raise UsageError(
                "the tracking URI must be the address of a server, like http://127.0.0.1:5000. For a folder or a "
                "database start one: mlflow server --backend-store-uri sqlite:///mlflow.db"
            )
        if "@" in urlsplit(address).netloc:
            raise UsageError(
                f"the tracking URI holds a user name or a password: leave them out, and set {USER} and {PASSWORD}."
            )
        check_url(address)
        self._base, self.host = address.rstrip("/"), host_of(address)
        user, password, token = os.environ.get(USER, ""), key_for(address, PASSWORD), key_for(address, TOKEN)
        secrets = {name: os.environ.get(name, "") for name in (PASSWORD, TOKEN)}
        self._headers = {"Accept": "application/json"}
        if user and password:
            secrets["AUTHORIZATION"] = b64encode(f"{user}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {secrets['AUTHORIZATION']}"
        elif token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._blot = Blot(secrets, secrets)
        announce_host(address, PASSWORD if user and password else TOKEN)
        super().__init__(self.host, timeout_seconds=SECONDS, retries=2, retry_late=False)

    def blotted(self, text: str) -> str:
        return self._blot(text)

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        if status in (401, 403):
            return f"refuses access (HTTP {status}). Set {USER} and {PASSWORD}, or {TOKEN}, to what it takes."
        if status in (404, 405) and b"error_code" not in content:
            return f"answered HTTP {status}: no tracking server of MLflow is at this address. Check it."
        return ""

    def words_of(self, content: bytes) -> str:
        """With MLflow's own name of the error."""
        match = re.search(rb'"error_code": *"([A-Z_]+)"', content)
        return f"{match[1].decode()}: {super().words_of(content)}" if match else super().words_of(content)

    def experiment(self, name: str) -> str:
        """The id of the experiment of this name, made where there is none."""
        by_name = "experiments/get-by-name?" + urlencode({"experiment_name": name})
        reply = self._asked("GET", by_name, absent="RESOURCE_DOES_NOT_EXIST")
        if reply is None:
            created = self._asked(
                "POST", "experiments/create", {"name": name}, absent="RESOURCE_ALREADY_EXISTS", once=True
            )
            if created is not None:
                return self._read(lambda created: str(created["experiment_id"]), created)
            reply = self._asked("GET", by_name) or {}  # another process was quicker
        about = self._read(lambda reply: dict(reply["experiment"]), reply)
        if about.get("lifecycle_stage") == "deleted":
            raise UsageError(f"the experiment {name!r} was deleted at {self.host}. Restore it there, or purge it.")
        return self._read(lambda about: str(about["experiment_id"]), about)

    def runs(self, experiment: str, run: str) -> list[_SentRun]:
        """All that was sent of a run and is not deleted."""
        mark = '"' if "'" in run else "'"
        wanted = f"tags.`karat.run` = {mark}{run}{mark}"
        payload = {"experiment_ids": [experiment], "filter": wanted, "max_results": 500}
        sent: list[_SentRun] = []
        for _ in range(MOST_PAGES):
            reply = self.post("runs/search", payload)
            sent += self._read(lambda reply: [_SentRun(one) for one in reply.get("runs") or ()], reply)
            if not reply.get("next_page_token"):
                break
            payload = {**payload, "page_token": reply["next_page_token"]}
        return [one for one in sent if one.tags.get("karat.run") == run]

    def create(self, experiment: str, name: str, tags: Mapping[str, str]) -> _SentRun:
        """A new run. It is asked for once: asked for twice, there might be two."""
        written = [{"key": key, "value": _fitting(text, LONGEST_TAG)} for key, text in tags.items() if text]
        payload = {"experiment_id": experiment, "run_name": name, "start_time": int(time.time() * 1000)}
        reply = self._asked("POST", "runs/create", {**payload, "tags": written}, once=True) or {}
        return self._read(lambda reply: _SentRun(reply["run"]), reply)

    def log(self, run: _SentRun, figures: Sequence[tuple[str, float]], params: Mapping[str, str]) -> None:
        """Metrics and parameters; those that are there already stay as they are."""
        metrics = [{"key": name, "value": value, "timestamp": run.start, "step": 0} for name, value in figures]
        for begin in range(0, len(metrics), MOST_METRICS):
            self.post("runs/log-batch", {"run_id": run.id, "metrics": metrics[begin : begin + MOST_METRICS]})
        written = [{"key": name, "value": text} for name, text in params.items()]
        for begin in range(0, len(written), MOST_PARAMS):
            self.post("runs/log-batch", {"run_id": run.id, "params": written[begin : begin + MOST_PARAMS]})

    def finish(self, run: _SentRun) -> None:
        self.post("runs/update", {"run_id": run.id, "status": "FINISHED", "end_time": int(time.time() * 1000)})

    def upload(self, run: _SentRun, name: str, content: bytes) -> bool:
        """A file of a run; False where the server does not take files itself."""
        place = urlsplit(run.artifacts)
        if place.scheme != "mlflow-artifacts":
            return False
        path = quote(f"{place.path.strip('/')}/{name}")
        self._asked("PUT", f"../mlflow-artifacts/artifacts/{path}", upload=BodyUpload(content))
        return True

    def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """A request that may be repeated without harm."""
        return self._asked("POST", path, payload) or {}

    def _asked(
        self, method: str, path: str, payload: Any = None, *, absent: str = "", once: bool = False, **files: Any
    ) -> dict[str, Any] | None:
        """The reply, None where it is the error `absent`; `once`: a request that is not to be repeated."""
        area, path = ("", path[3:]) if path.startswith("../") else ("mlflow/", path)
        url = f"{self._base}/api/2.0/{area}{path}"

        async def attempt() -> bytes | RequestFailure:
            return await self.fetch(method, url, payload, self._headers, **files)

        async def repeated() -> bytes | RequestFailure:
            return (await self.with_retries(attempt))[0]

        content = self.submit(attempt() if once else repeated()).result()
        if not isinstance(content, RequestFailure):
            return self._read(lambda content: dict(json.loads(content or b"{}")), content)
        if absent and absent in content.reason:
            return None
        if content.fatal:
            raise KaratError(content.reason)
        failed = "" if content.refused else f"{self.host} failed: "
        raise KaratError(
            f"{failed}{after(content, 1)}. {content.remedy}. Sent again, what is there is completed, not doubled."
        )

    def _read(self, read: Callable[[Any], _T], reply: Any) -> _T:
        """What is read of a reply that must be as MLflow documents it."""
        try:
            return read(reply)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise KaratError(
                f"{self.host} replied with what no tracking server of MLflow does. Check the address."
            ) from None


TRACKER = Tracker("mlflow", "A tracking server of MLflow: `--tracking-uri URL`, or MLFLOW_TRACKING_URI.", send)
