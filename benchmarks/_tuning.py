"""Tuning for `benchmarks view`: a run over made passages; how long a moved slider waits for means, then the curve."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import _made_files as made

if TYPE_CHECKING:
    from benchmarks.view import Server

QUESTIONS, CHUNKS = 1_000, 100_000
QUICK = 40, 500
MOVES = 9
SPEC = "name: tune\ncorpus: passages.jsonl\ntestset: qa.jsonl\nsystems: [balanced]\nk: [1, 3, 5, 10]\n"


def made_tunable(folder: Path, questions: int, chunks: int) -> Path:
    """A folder of runs with one over so many chunks."""
    folder.mkdir(parents=True, exist_ok=True)
    made.write_passages(folder / "passages.jsonl", chunks)
    made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", questions, chunks)
    (folder / "karat.yaml").write_text(SPEC, "utf-8")
    subprocess.run([sys.executable, "-m", "karat", "run", "-q"], cwd=folder, check=True, capture_output=True)
    return folder / "runs"


def measured_tuning(server: Server) -> dict[str, tuple[float, float | None]]:
    """Seconds and processor seconds until the tuner is open, and of the median of some moves."""
    run = server.json("/api/runs")["runs"][0]["id"]
    path, at, spent = f"/api/run/{run}/tune", time.perf_counter(), server.seconds
    while server.json(f"{path}/state")["state"] != "ready":
        time.sleep(0.1)
    figures: dict[str, tuple[float, float | None]] = {
        "tuning: opened": (time.perf_counter() - at, server.seconds - spent)
    }
    server.ask(path, alpha=0.5, baseline="balanced")
    for name, part in (("tuning: means", ""), ("tuning: intervals and curve", "/curve")):
        waited, used = [], []
        for move in range(MOVES):
            query = {"alpha": 0.1 + 0.05 * move, **({} if part else {"baseline": "balanced"})}
            at, spent = time.perf_counter(), server.seconds
            server.ask(path + part, **query)
            waited.append(time.perf_counter() - at)
            used.append(server.seconds - spent)
        figures[name] = median(waited), median(used)
    figures["memory, tuning"] = server.megabytes, None
    return figures
