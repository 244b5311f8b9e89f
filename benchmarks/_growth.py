"""Growth: processor seconds and peak memory of a command, and the exponent by which they grow with the work.

Processor time of the command and of every process it started, so that other work on the machine disturbs little. Peak
memory is the highest sum of what all of these held at one moment, looked at fifty times a second; pages of mapped
files count as long as they are resident, and what two processes share counts twice. The peak that the system keeps of
a child would not do: it is no less than what the process that started it held.
"""

from __future__ import annotations

import math
import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOKS = 0.02  # seconds between two looks at the memory


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:10.2f} s  {self.megabytes:8,.0f} MB"


def cost_of(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,)) -> Cost:
    """Run a command in a folder; what it says is shown where it ends with another code than these."""
    with (folder / "output.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        peak, ended = [0.0], threading.Event()
        watch = threading.Thread(target=_watch, args=(process.pid, peak, ended), daemon=True)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watch.join()
    if process.returncode not in codes:
        said = (folder / "output.log").read_text("utf-8", "replace")[-2000:]
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    return Cost(usage.ru_utime + usage.ru_stime, peak[0])


def exponent(sizes: Sequence[int], costs: Sequence[Cost], nothing: Cost) -> float:
    """Of seconds = c * size ** exponent over the two largest sizes, what no work costs subtracted."""
    small, large = (max(cost.seconds - nothing.seconds, 1e-3) for cost in costs[-2:])
    return math.log(large / small) / math.log(sizes[-1] / sizes[-2])


def _watch(process: int, peak: list[float], ended: threading.Event) -> None:
    while not ended.wait(_LOOKS):
        peak[0] = max(peak[0], sum(map(resident, family(process))) / 2**20)


def family(process: int) -> list[int]:
    """A process and all that it started, as far as they live."""
    members = [process]
    for member in members:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += map(int, children.read_text().split())
            except OSError:  # it has just ended
                continue
    return members


def processor_seconds(process: int) -> dict[int, float]:
    """What each process of a family has taken itself, by its number."""
    taken = {}
    for member in family(process):
        try:
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        taken[member] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return taken


def resident(process: int) -> int:
    """The bytes that a process holds in memory."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
