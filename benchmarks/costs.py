"""What work on a cluster costs by its size: seconds, memory, disk and bytes moved, from a model fitted to runs.

    python -m benchmarks costs [--most N] [--folder FOLDER] [--chunks N] [--questions N] [--rows N] [--workers N]

Indexes (BM25, dense) of made passages of 40 words are built, and questions asked of them by three systems, answered by
`extractive` and measured, each at several sizes; every label of progress is a line fitted to what it took: seconds =
a + b x. Coefficients are not below 0, and small runs count as much as large ones. Then what the model says of the size
that is asked for: by default 100 million chunks, a million questions and a billion rows of results, on 64 workers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _made_files as made
from benchmarks._growth import cost_of
from benchmarks.scale import Scale, karat

SYSTEMS = ("pure_dense", "pure_sparse", "balanced")
OWNERS = 2
SIZES, QUESTIONS, ROWS = (30_000, 100_000, 300_000), (1_500, 3_000, 6_000), (300_000, 1_000_000, 3_000_000)
MOST_PIECES, LEAST_OF_A_PIECE = 256, 25_000
"""Into how many pieces a corpus is cut at most, and how many of these passages one holds at least."""
MB = 10**6
_OF_PIECES = "memory of a worker by its piece, MB"


@dataclass(frozen=True)
class Size:
    """How large a piece of work is; `rows` are those of results that are scored."""

    chunks: int = 0
    questions: int = 0
    rows: int = 0

    @property
    def answers(self) -> int:
        return self.questions * len(SYSTEMS)


Terms = dict[str, Callable[[Size], float]]
PER_CHUNK: Terms = {"1": lambda at: 1, "chunk": lambda at: at.chunks}
PER_PIECE: Terms = {"1": lambda at: 1, "chunk of a piece": lambda at: at.chunks}
PER_QUESTION: Terms = {"1": lambda at: 1, "question": lambda at: at.questions}
PER_ANSWER: Terms = {"1": lambda at: 1, "answer": lambda at: at.answers}
PER_PAIR: Terms = {**PER_QUESTION, "question x chunk": lambda at: at.questions * at.chunks}
PER_BOTH: Terms = {**PER_ANSWER, "chunk": lambda at: at.chunks}
PER_ROW: Terms = {"1": lambda at: 1, "row": lambda at: at.rows}
OF_RUNS = {
    "embedding questions, s": PER_QUESTION,
    **dict.fromkeys(
        [
            f"{doing} by {leg}, s"
            for doing in ("searching", "finding gold", "ranking gold")
            for leg in ("dense", "bm25")
        ],
        PER_PAIR,
    ),
    **dict.fromkeys(["leading, s", "memory of leading, MB"], PER_BOTH),
    "memory of a worker, MB": PER_CHUNK,
}
"""What the costs of a run grow with; the others with the answers."""


@dataclass(frozen=True)
class Fit:
    """A sum of terms, each with a coefficient, and by how much it is off at worst of what was measured."""

    terms: Terms
    coefficients: Sequence[float]
    worst: float

    @classmethod
    def of(cls, terms: Terms, sizes: Sequence[Size], measured: Sequence[float]) -> Fit:
        """The sum that is off by the least relative squares, of those without coefficients below 0."""
        weights = 1 / np.maximum(np.array(measured, float), 1e-9)
        columns = np.array([[term(at) for term in terms.values()] for at in sizes], float) * weights[:, None]
        best: tuple[float, Any] = (np.inf, None)
        for count in range(1, len(terms) + 1):
            for chosen in map(list, combinations(range(len(terms)), count)):
                solved = np.linalg.lstsq(columns[:, chosen], np.ones(len(sizes)), rcond=None)[0]
                found = np.zeros(len(terms))
                found[chosen] = solved
                off = float(((columns @ found - 1) ** 2).sum())
                if (solved >= 0).all() and off < best[0]:
                    best = off, found
        return cls(terms, best[1].tolist(), float(np.abs(columns @ best[1] - 1).max()))

    def at(self, size: Size) -> float:
        return sum(number * term(size) for number, term in zip(self.coefficients, self.terms.values(), strict=True))

    def __str__(self) -> str:
        shown = [f"{number:.3g} a {name}" for number, name in zip(self.coefficients, self.terms, strict=True) if number]
        return f"{' + '.join(shown).replace(' a 1', '')}   (off by {self.worst:.0%} at worst)"


class Costs:
    """What was measured, and the lines fitted to it, by name."""

    def __init__(self, folder: Path, most: int | None) -> None:
        self._folder, self._files, self._most = folder, Scale(folder, most, None), most
        self.fits: dict[str, Fit] = {}

    def measure(self) -> None:
        """Measure all sizes and print the coefficients."""
        sizes = self._files.sizes(*SIZES)
        pieces = {Size(chunks=n): self._in_one_piece(n) for n in sizes}
        self._fit("index", pieces, {}, PER_PIECE)
        built = {Size(chunks=n): self._indexed(n) for n in sizes}
        for one in built.values():
            one.pop("memory of a worker, MB")  # that of pieces
        self._fit("index", built, {}, PER_CHUNK)
        grid = dict.fromkeys([*((n, QUESTIONS[1]) for n in sizes), *((sizes[-1], q) for q in QUESTIONS)])
        self._fit("run", {Size(n, q): self._ran(n, q) for n, q in grid}, OF_RUNS, PER_ANSWER)
        rows = [n for n in ROWS if self._most is None or n <= 10 * self._most]
        self._fit("score", {Size(rows=n): self._scored(n) for n in rows}, {}, PER_ROW)

    def say(self, size: Size, workers: int) -> None:
        """What the model says of a size."""
        print(f"\n     {size.chunks:,} chunks, {size.questions:,} questions, {size.rows:,} rows, {workers} workers")
        for part in ("index", "run", "score"):
            pieces = replace(size, chunks=max(LEAST_OF_A_PIECE, -(-size.chunks // MOST_PIECES)))
            said = {
                name: fit.at(pieces if fit.terms is PER_PIECE else size)
                for name, fit in self.fits.items()
                if name.startswith(f"{part}, ")
            }
            seconds = {name: value for name, value in said.items() if name.endswith(", s")}
            leading = sum(value for name, value in seconds.items() if "leading" in name)
            shared = sum(seconds.values()) - leading
            for name, value in said.items():
                print(f"     {name:<42} {value:16,.0f}")
            print(
                f"     {part}: workers {shared / 3600:,.1f} h, each of {workers} {shared / 3600 / workers:,.1f} h; "
                f"the process that leads {leading / 3600:,.1f} h"
            )

    def _fit(self, part: str, measured: dict[Size, dict[str, float]], of: dict[str, Terms], others: Terms) -> None:
        """Fit a line to each cost of a part of the work, and print it."""
        for name in next(iter(measured.values())):
            fit = Fit.of(of.get(name, others), list(measured), [held[name] for held in measured.values()])
            self.fits[f"{part}, {name}"] = fit
            print(f"     {part}, {name:<42} = {fit}", flush=True)

    def _indexed(self, passages: int, **more: int) -> dict[str, float]:
        folder = self._files.passages(passages)
        shutil.rmtree(folder / "counted.index", ignore_errors=True)
        docs, index = str(folder / "passages.jsonl"), str(folder / "counted.index")
        return _counted("index", {"docs": docs, "index": index, **more})

    def _in_one_piece(self, passages: int) -> dict[str, float]:
        found = self._indexed(passages, piece_bytes=1 << 40)
        return {_OF_PIECES: found["memory of a worker, MB"]}

    def _ran(self, passages: int, questions: int) -> dict[str, float]:
        folder = self._files.passages(passages)
        made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", questions, passages)
        keys = {
            "index": str(folder / "counted.index"), "testset": str(folder / "qa.jsonl"), "systems": list(SYSTEMS),
            "answer": "extractive", "outputs": ["csv"], "runs_dir": str(self._folder / "runs"),
        }  # fmt: skip
        (folder / "costs.yaml").write_text(json.dumps(keys), "utf-8")
        return _counted("run", {"spec": str(folder / "costs.yaml")})

    def _scored(self, rows: int) -> dict[str, float]:
        folder = self._folder / f"trec-{rows}"
        if not folder.exists():
            folder.mkdir()
            made.write_trec(folder, rows)
        cost = cost_of(karat("score", "qrels", "run.trec", "-m", "nDCG@10", "-m", "Recall@100"), folder)
        disk = sum((folder / name).stat().st_size for name in ("qrels", "run.trec")) / MB
        return {"leading, s": cost.seconds, "memory of leading, MB": cost.megabytes, "moved, MB": disk}


def _counted(asked: str, settings: dict[str, Any]) -> dict[str, float]:
    """What one size took, by label and unit."""
    command = [sys.executable, "-m", "benchmarks._counted_pool", asked, str(OWNERS)]
    done = subprocess.run(command, input=json.dumps(settings), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"     measured: {asked} {found['rows']:,}: {found}", flush=True)
    return {
        **{f"{label}, s": seconds for label, seconds in found["seconds"].items()},
        "memory of leading, MB": found["memory"]["leader"] / MB,
        "memory of a worker, MB": found["memory"]["worker"] / MB,
        "moved, MB": sum(found["moved"].values()) / MB,
        "disk, MB": found["disk"] / MB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks costs")
    parser.add_argument("--most", type=int, help="the largest corpus to measure")
    parser.add_argument("--folder", type=Path, help="where made files stay; without it a temporary folder")
    parser.add_argument("--chunks", type=int, default=100_000_000, help="that the model is asked for")
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--workers", type=int, default=64)
    asked = parser.parse_args(sys.argv[2:])
    print(f"     {platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (asked.folder or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        costs = Costs(folder, asked.most)
        costs.measure()
        costs.say(Size(asked.chunks, asked.questions, asked.rows), asked.workers)
