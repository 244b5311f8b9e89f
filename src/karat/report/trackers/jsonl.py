"""JSONL: a line a system and question, to a file or standard output."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.io.writing import write_whole
from karat.report._tracker import TrackedRun, Tracker

if TYPE_CHECKING:
    from collections.abc import Iterator


def send(run: TrackedRun, place: str | None) -> str:
    """Write all lines; to a file it is complete or not at all."""
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for row in run.rows():
            count += 1
            yield json.dumps({"run": run.id, **row}, ensure_ascii=False, allow_nan=False) + "\n"

    if place is None:
        sys.stdout.writelines(lines())
        return ""
    write_whole(place, lines())
    return f"wrote {place}: {plural(count, 'line')}"


TRACKER = Tracker("jsonl", "A line a system and question, to `-o FILE` or standard output.", send, is_server=False)
