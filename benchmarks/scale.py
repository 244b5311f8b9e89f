"""How cost grows with the work: processor seconds, peak memory, and the exponent of the largest decade.

    python -m benchmarks scale [PART ...] [--most N] [--against PYTHON] [--folder FOLDER]
    python -m benchmarks scale --pool ray [PART ...]    see _scale_ray.py

Parts: index, change, run, settings, questions, rows, jsonl, parquet, check, and only when named: millions (1M and 10M
passages with vectors in half precision; 30 GB of disk). Every command runs as a user would run it, in a process of its
own. What the command takes for next to nothing is subtracted before the exponent is worked out.
`--most` leaves out sizes above it; `--against` is the Python of another karat, which runs one size of `run` and `jsonl`
on copies of the same files, in turn with this one. Made files (Zipf's law, seeded) and indexes stay in `--folder`.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import _made_files as made
from benchmarks._growth import Cost, cost_of, exponent

STEEPEST = 1.05
CHUNKS = 100_000
RUN_FASTER, JSONL_FASTER = 9, 5  # times less processor time than 0.3.0
FOUND_FAULTS = 4  # how `testset check` ends where it finds some, as among made questions it does
CHANGED_SHARE, CHANGED_COST = 0.01, 0.05
COMPILE = (
    "import compileall, karat; compileall.compile_path(quiet=2); compileall.compile_dir(karat.__path__[0], quiet=2)"
)
MOST_GROWTH = 1.5  # of memory, from one million passages to ten
SPEC = """name: scale
corpus: passages.jsonl
testset: qa.jsonl
systems: [pure_dense, dense_heavy, balanced, sparse_heavy, pure_sparse, rrf]
sweep: {alpha: [0.1, 0.2, 0.4, 0.6, 0.8, 0.9]}
"""


class Scale:
    """The parts, over one folder of made files."""

    def __init__(self, folder: Path, most: int | None, against: str | None) -> None:
        self.folder, self.most, self.against = folder, most, against

    def sizes(self, *sizes: int) -> tuple[int, ...]:
        """Those that are not above the most; where all are, the most itself."""
        return sizes if self.most is None else tuple(s for s in sizes if s <= self.most) or (self.most,)

    def passages(self, count: int) -> Path:
        """A folder with so many passages, made once."""
        folder = self.folder / f"passages-{count}"
        if not (folder / "passages.jsonl").exists():
            folder.mkdir(parents=True, exist_ok=True)
            made.write_passages(folder / "part", count)
            (folder / "part").rename(folder / "passages.jsonl")
        return folder

    def index(self) -> None:
        """karat index, BM25 and dense, of 10k, 100k and 1M passages."""
        indexing = ("index", "passages.jsonl", "-o", "passages.index")

        def once(size: int) -> Cost:
            folder = self.passages(size)
            shutil.rmtree(folder / "passages.index", ignore_errors=True)
            return cost_of(karat(*indexing), folder)

        self._grows("index: passages", once, 1, self.sizes(10_000, CHUNKS, 1_000_000), most_mb=1500)

    def millions(self) -> None:
        """karat index, BM25 and dense in half precision, of 1M and 10M passages: memory that hardly grows."""
        indexing = ("index", "passages.jsonl", "-o", "half.index", "--set", "dense.precision=float16")
        costs = []
        for size in self.sizes(1_000_000, 10_000_000):
            folder = self.passages(size)
            shutil.rmtree(folder / "half.index", ignore_errors=True)
            costs.append(cost_of(karat(*indexing), folder))
            print(f"     index in half precision: passages {size:>12,} {costs[-1]}", flush=True)
        growth = costs[-1].megabytes / costs[0].megabytes
        print(f"{mark(growth <= MOST_GROWTH)} index in half precision: {growth:.2f}x the memory (goal {MOST_GROWTH}x)")

    def change(self) -> None:
        """The same index again when one passage in a hundred changed, all in one place."""
        size = self.sizes(CHUNKS, 1_000_000)[-1]
        folder = self.folder / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.passages(size), folder, ignore=shutil.ignore_patterns("*.index"))
        indexing = karat("index", "passages.jsonl", "-o", "passages.index")
        full = cost_of(indexing, folder)
        made.change_passages(folder / "passages.jsonl", CHANGED_SHARE)
        again = cost_of(indexing, folder)
        share = again.seconds / full.seconds
        print(f"     change: {size:>12,} passages, full build         {full}")
        print(f"{mark(share <= CHANGED_COST)} change: 1% of them in one place, built again {again}   {share:.1%} of it")

    def run(self) -> None:
        """karat run, 12 systems over 100,000 chunks; the index stands."""
        sizes = self.sizes(100, 1_000, 10_000)

        def once(size: int, python: str = sys.executable) -> Cost:
            folder = self.folder / ("run" if python == sys.executable else "run-other")
            if not folder.exists():
                shutil.copytree(self.passages(CHUNKS), folder, ignore=shutil.ignore_patterns("*.index"))
                (folder / "karat.yaml").write_text(SPEC, "utf-8")
                made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", 1, CHUNKS)
                cost_of(karat("run", python=python), folder)
            made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", size, CHUNKS)
            return cost_of(karat("run", "--fresh", python=python), folder)

        self._grows("run: questions x 12 systems x 100,000 chunks", once, 1, sizes, most_mb=2000)
        if self.against is not None:
            self._beside("run: 1,000 questions", lambda python: once(min(1000, sizes[-1]), python), RUN_FASTER)

    def settings(self) -> None:
        """karat sweep of 1k, 10k and 100k settings x 133 questions."""

        def once(size: int) -> Cost:
            folder = self._swept(133)
            alphas = f"0:{(size - 1) / size:.6f}:{1 / size:.6f}" if size > 1 else "0.5"
            return cost_of(karat("sweep", "qa.jsonl", "passages.index", "--alpha", alphas, "-k", "5"), folder)

        self._grows("sweep: settings x 133 questions", once, 1, self.sizes(1_000, 10_000, 100_000), most_mb=1000)

    def questions(self) -> None:
        """karat sweep of the usual 55 settings over 133, 1,000 and 10,000 questions."""

        def once(size: int) -> Cost:
            return cost_of(karat("sweep", "qa.jsonl", "passages.index"), self._swept(size))

        self._grows("sweep: questions x 55 settings", once, 1, self.sizes(133, 1_000, 10_000))

    def rows(self) -> None:
        """karat score of TREC runs of 1M, 7M and 35M rows."""

        def once(size: int) -> Cost:
            return cost_of(karat("score", "qrels", "run.trec", "-m", "nDCG@10", "-m", "Recall@100"), self._trec(size))

        self._grows("score: rows of a TREC run", once, 10_000, self.sizes(1_000_000, 7_000_000, 35_000_000))

    def parquet(self) -> None:
        """The same run of 7M rows as Parquet and as text."""
        import polars as pl

        size = self.sizes(1_000_000, 7_000_000)[-1]
        folder = self._trec(size)
        names = ["question_id", "q0", "doc_id", "rank", "score", "tag"]
        if not (folder / "run.parquet").exists():
            table = pl.read_csv(folder / "run.trec", separator=" ", has_header=False, schema=dict(
                zip(names, [pl.String, pl.String, pl.String, pl.Int64, pl.Float64, pl.String], strict=True)
            ))  # fmt: skip
            table.select("question_id", "doc_id", "rank", "score").write_parquet(folder / "run.parquet")
        text, packed = (cost_of(karat("score", "qrels", name), folder) for name in ("run.trec", "run.parquet"))
        print(f"     score: {size:,} rows as text      {text}")
        fine = packed.seconds <= text.seconds and packed.megabytes <= text.megabytes
        print(f"{mark(fine)} score: {size:,} rows as Parquet   {packed}   (goal: no more of either)")

    def jsonl(self) -> None:
        """karat score of JSONL, 100,000 questions with 10 hits each."""
        folder = self.folder / "jsonl"
        if not folder.exists():
            folder.mkdir()
            made.write_results(folder, 100_000)

        def once(python: str) -> Cost:
            return cost_of(karat("score", "qa.jsonl", "rag.jsonl", python=python), folder)

        if self.against is None:
            print(f"     score: JSONL 100,000 x 10            {once(sys.executable)}")
        else:
            self._beside("score: JSONL 100,000 x 10", once, JSONL_FASTER)

    def check(self) -> None:
        """karat testset check of 20k and 100k questions."""

        def once(size: int) -> Cost:
            folder = self.folder / f"testset-{size}"
            if not folder.exists():
                folder.mkdir()
                made.write_testset(folder / "qa.jsonl", size)
            return cost_of(karat("testset", "check", "qa.jsonl"), folder, codes=(0, FOUND_FAULTS))

        self._grows("testset check: questions", once, 10, self.sizes(20_000, 100_000))

    def _swept(self, questions: int) -> Path:
        """A folder with an index of 5,000 passages and so many questions."""
        folder = self.passages(5_000)
        if not (folder / "passages.index").exists():
            cost_of(karat("index", "passages.jsonl", "-o", "passages.index"), folder)
        made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", questions, 5_000)
        return folder

    def _trec(self, rows: int) -> Path:
        folder = self.folder / f"trec-{rows}"
        if not folder.exists():
            folder.mkdir()
            made.write_trec(folder, rows)
        return folder

    def _grows(
        self, label: str, once: Callable[[int], Cost], least: int, sizes: Sequence[int], most_mb: float | None = None
    ) -> None:
        """Print the cost of each size and the exponent between the two largest."""
        nothing = once(least)
        print(f"     {label:<48} {least:>10,} {nothing}")
        costs = []
        for size in sizes:
            costs.append(once(size))
            print(f"     {label:<48} {size:>10,} {costs[-1]}", flush=True)
        if len(costs) > 1:
            steep = exponent(sizes, costs, nothing)
            print(f"{mark(steep <= STEEPEST)} {label:<48} exponent {steep:.3f} (goal at most {STEEPEST})")
        if most_mb is not None and costs:
            print(
                f"{mark(costs[-1].megabytes <= most_mb)} {label:<48} memory, goal at most {most_mb:,.0f} MB", flush=True
            )

    def _beside(self, label: str, once: Callable[[str], Cost], goal: float) -> None:
        """Print this karat beside the other one, in turn."""
        assert self.against is not None
        pythons = sys.executable, self.against
        for python in pythons:  # neither side compiles what it imports while it is measured
            subprocess.run([python, "-c", COMPILE], check=True)
        ours, theirs = map(once, pythons)
        ratio = theirs.seconds / ours.seconds
        print(f"     {label:<48} {ours}   the other {theirs}")
        print(f"{mark(ratio >= goal)} {label:<48} {ratio:.1f}x less processor time (goal {goal}x)", flush=True)


def karat(*arguments: str, python: str = sys.executable) -> list[str]:
    return [python, "-m", "karat", *arguments]


def mark(fine: bool) -> str:
    return "ok  " if fine else "MISS"


PARTS = ("index", "change", "run", "settings", "questions", "rows", "parquet", "jsonl", "check")
PARTS_BY_RAY = ("overhead", "index", "embed", "run")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; {', '.join(PARTS_BY_RAY)}")
    parser.add_argument("--pool", choices=("local", "ray"), default="local", help="ray: beside the local pool")
    parser.add_argument("--most", type=int, help="the largest size to run")
    parser.add_argument("--against", help="the Python of another karat")
    parser.add_argument("--folder", type=Path, help="where made files stay; without it a temporary folder")
    asked = parser.parse_args(sys.argv[2:])
    parts = PARTS_BY_RAY if asked.pool == "ray" else PARTS
    if unknown := set(asked.parts) - {*parts, *(() if asked.pool == "ray" else ("millions",))}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}. There are {', '.join(parts)}.")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"     {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = (asked.folder or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        scale: Any = Scale(folder, asked.most, asked.against)
        if asked.pool == "ray":
            from benchmarks._scale_ray import ScaleByRay

            scale = ScaleByRay(folder, asked.most)
        for part in asked.parts or parts:
            getattr(scale, part)()
