"""`karat view` over a large run: seconds until a reader sees rows, of filters, sorting, scrolling, and memory.

A run of synthetic systems is scored and written as `karat run` writes it, then `karat view` is started as a process and
asked over HTTP as a browser asks it. Wall time as a reader waits, and processor time of the server beside it, since
other work on the machine disturbs the first. `--quick` takes a small run; `--keep FOLDER` keeps the run for the next
time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from benchmarks._growth import resident
from benchmarks._tuning import CHUNKS, made_tunable, measured_tuning
from benchmarks._tuning import QUESTIONS as TUNED
from benchmarks._tuning import QUICK as QUICK_TUNING
from benchmarks.writing import study, systems_of
from karat.experiment.outputs import write_study
from karat.experiment.store import DONE, RunFolder, new_run
from karat.results.serial import save_study

QUESTIONS, SYSTEMS = 100_000, 12
QUICK = 300
PAGE = 100
GOALS = {
    "first rows": 1.5, "filter": 0.3, "memory, rows": 1.5, "tuning: means": 0.15, "tuning: intervals and curve": 1.0,
}  # fmt: skip
_TICKS = os.sysconf("SC_CLK_TCK")


def made_run(folder: Path, questions: int, systems: int = SYSTEMS) -> RunFolder:
    """A run of synthetic systems in a folder of runs, written by karat's own writers."""
    testset, made = systems_of(questions, systems, answered=False)
    found = study(testset, made)
    inputs = {"testset": {"path": "synthetic", "digest": testset.digest, "questions": len(testset)}, "indexes": []}
    run = new_run(folder, "view", {"karat": "0", "inputs": inputs, "spec": {}, "command": []})
    found = replace(found, manifest=run.manifest)
    write_study(found, run.path, outputs=())
    save_study(found, run.path)
    best = found.choice.best if found.choice is not None else None
    summary: dict[str, Any] = {"systems": systems, "questions": len(testset), "main": found.main}
    if best is not None:
        summary |= {"best": best.system, "mean": best.mean, "low": best.low, "high": best.high, "main": best.measure}
    run.update(status=DONE, summary=summary)
    return run


@dataclass
class Server:
    """`karat view` as a process, and a connection to it."""

    process: subprocess.Popen[str]
    begun: float
    connection: http.client.HTTPConnection
    token: str

    @classmethod
    def started(cls, runs_dir: Path) -> Server:
        begun = time.perf_counter()
        code = "import sys; from karat.cli.main import main; sys.argv[0] = 'karat'; main()"
        command = [sys.executable, "-c", code, "view", "--no-open", "--runs-dir", str(runs_dir)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().split()[-1])
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=600)
        return cls(process, begun, connection, parse_qs(address.query)["token"][0])

    def ask(self, path: str, **query: Any) -> bytes:
        """The content at an address."""
        target = f"{path}?{urlencode(query, doseq=True)}" if query else path
        self.connection.request("GET", target, headers={"X-Karat-Token": self.token})
        reply = self.connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise SystemExit(f"{target} answered {reply.status}: {content[:300]!r}")
        return content

    def json(self, path: str, **query: Any) -> Any:
        return json.loads(self.ask(path, **query))

    @property
    def megabytes(self) -> float:
        return resident(self.process.pid) / 2**20

    @property
    def seconds(self) -> float:
        """Processor seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def end(self) -> int:
        """Ctrl-C."""
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def measured(runs_dir: Path) -> dict[str, tuple[float, float | None]]:
    """What each step took: seconds and processor seconds, or megabytes alone."""
    figures: dict[str, tuple[float, float | None]] = {}
    server = Server.started(runs_dir)
    run = server.json("/api/runs")["runs"][0]["id"]
    rows, begun = f"/api/run/{run}/rows", server.begun
    page = server.json(rows)
    figures["first rows"] = time.perf_counter() - begun, server.seconds
    first, second = page["systems"][:2]
    measure = page["measures"][0]
    total = page["total"]

    def timed(name: str, path: str = rows, **query: Any) -> bytes:
        at, spent = time.perf_counter(), server.seconds
        content = server.ask(path, **query)
        figures[name] = time.perf_counter() - at, server.seconds - spent
        return content

    timed("filter by kind", kind="factual")
    timed("filter by two words", text="answer 77")
    timed("filter by score", max=0.5)
    timed("A and B differ", a=first, b=second, differ=0.2)
    timed("A and B differ, later ones", a=page["systems"][2], b=page["systems"][3], differ=0.2)
    timed("sort by score", sort=f"{first}:{measure}", order="down")
    timed("sort by text", sort="text")
    timed("facets", f"/api/run/{run}/facets", kind="factual")
    at, spent = time.perf_counter(), server.seconds
    for offset in range(0, total, PAGE):
        held = json.loads(server.ask(rows, offset=offset, limit=PAGE, sort="text"))["rows"]
        if len(held) != min(PAGE, total - offset):
            raise SystemExit(f"{len(held)} rows at {offset}")
    figures["scroll to the end"] = time.perf_counter() - at, server.seconds - spent
    exported = timed("export as CSV", f"/api/run/{run}/export", format="csv", system=[first, second])
    if exported.count(b"\n") != total + 1:
        raise SystemExit("the export is not whole")
    timed("every system by every measure", rows, system=server.json(f"/api/run/{run}")["systems"])
    figures["memory, rows"] = server.megabytes, None
    question = page["rows"][0]["id"]
    timed("a question, cold", f"/api/run/{run}/question", id=question)
    timed("a question, warm", f"/api/run/{run}/question", id=question)
    figures["memory, with details"] = server.megabytes, None
    code = server.end()
    if code:
        raise SystemExit(f"Ctrl-C ended the server with {code}")
    return figures


def shown(figures: Mapping[str, tuple[float, float | None]]) -> None:
    """The figures as a table."""
    for name, (value, spent) in figures.items():
        goal = GOALS.get("filter" if name.startswith(("filter", "A and B", "sort")) else name)
        if spent is None:
            value, unit = value / 1024, "GB"
            beside = ""
        else:
            unit, beside = "s", f"{spent:8.2f} s of a processor"
        mark = "" if goal is None else "ok" if value <= goal else "MISS"
        aim = f"  (aim {goal:g} {unit})" if goal is not None else ""
        print(f"{mark:4} {name:<32} {value:8.3f} {unit:<2} {beside}{aim}")


def tuned(size: tuple[int, int]) -> None:
    """What a moved slider waits for."""
    with tempfile.TemporaryDirectory() as temporary:
        runs = made_tunable(Path(temporary), *size)
        print(f"     tuning {size[0]:,} questions x {size[1]:,} chunks")
        server = Server.started(runs)
        shown(measured_tuning(server))
        server.end()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks view")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} questions")
    parser.add_argument("--tuning", action="store_true", help="tuning alone")
    parser.add_argument("--keep", type=Path, help="a folder for the run; one that stands there is used")
    options = parser.parse_args(sys.argv[2:])
    questions = QUICK if options.quick else QUESTIONS
    if options.tuning:
        tuned(QUICK_TUNING if options.quick else (TUNED, CHUNKS))
        print(f"     {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "runs"
        if not any(folder.glob("*/manifest.json")):
            at = time.perf_counter()
            run = made_run(folder, questions)
            sizes = ", ".join(f"{f.name} {f.stat().st_size >> 20:,} MB" for f in sorted(run.path.glob("*.*z*")))
            rows = (run.path / "rows.parquet").stat().st_size >> 20
            print(f"     made in {time.perf_counter() - at:,.0f} s: rows.parquet {rows:,} MB, {sizes}")
        print(f"     {questions:,} questions x {SYSTEMS} systems")
        shown(measured(folder))
    tuned(QUICK_TUNING if options.quick else (TUNED, CHUNKS))
    print(f"     {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
