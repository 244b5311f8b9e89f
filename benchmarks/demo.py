"""karat demo as a user starts it: index, search in twelve ways, compare, draw, report; seconds of the whole process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
GOAL_SECONDS = 20.0
CODE = "import sys; sys.argv = ['karat', *sys.argv[1:]]; from karat.cli.main import main; main()"


def once() -> tuple[float, int]:
    """Seconds of a demo in an empty folder, and the bytes of its report."""
    with tempfile.TemporaryDirectory() as place:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", CODE, "demo", "-q"], cwd=place, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        (report,) = Path(place).glob("runs/*/report.html")
        return seconds, report.stat().st_size


def main() -> None:
    found = [once() for _ in range(ROUNDS)]
    seconds = statistics.median(spent for spent, _ in found)
    mark = "ok" if seconds <= GOAL_SECONDS else "MISS"
    each = ", ".join(f"{spent:.1f}" for spent, _ in found)
    print(
        f"{mark:4} karat demo: {seconds:.1f} s (goal {GOAL_SECONDS:.0f} s; {each}), report {found[0][1] / 1e6:.2f} MB"
    )
