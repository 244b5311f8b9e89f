"""Store: the folders of runs. A run writes a journal as it goes, resumes from it, and is found by name or LAST."""

from __future__ import annotations

import io
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.core.glance import Glance, Table
from karat.core.writing import write_whole
from karat.experiment._lock import is_locked, locked
from karat.io.opening import read_whole

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
RUNNING, STOPPED, DONE, LAST = "running", "stopped", "done", "LAST"
_NAME = re.compile(r"[^\w.-]+")


@dataclass(repr=False)
class RunFolder(Glance):
    """One run's folder; its manifest says what it is, its journal what is done."""

    path: Path
    manifest: dict[str, Any]

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def is_done(self) -> bool:
        return self.manifest.get("status") == DONE

    @property
    def state(self) -> str:
        """Its status, or `stopped` where it is not done and no process is at it."""
        status = str(self.manifest.get("status", "?"))
        return STOPPED if status == RUNNING and not is_locked(self.path) else status

    def _line(self) -> str:
        return f"{str(self.path)!r}, {self.state}"

    def _table(self) -> Table:
        facts = ("name", "status", "started", "finished", "karat", "digest")
        return ("", ""), ((name, self.manifest[name]) for name in facts if name in self.manifest)

    def update(self, **facts: Any) -> None:
        """Add to the manifest and write it."""
        self.manifest.update(facts)
        write_whole(self.path / MANIFEST, json.dumps(self.manifest, ensure_ascii=False, indent=1) + "\n")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process out of this run."""
        with locked(self.path, "another process is at this run. Wait for it, or start a new one with --fresh."):
            yield

    def journaled(self) -> list[dict[str, Any]]:
        """What was done so far, one record each. A line that a kill tore off is cut away."""
        path = self.path / JOURNAL
        if not path.exists():
            return []
        data = read_whole(path)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with open(path, "r+b") as file:
                file.truncate(whole)
        records = []
        for row, line in enumerate(data[:whole].splitlines(), 1):
            try:
                records.append(json.loads(line))
            except ValueError as problem:
                raise InputError(
                    f"the journal is damaged: {problem}", place=str(path), row=row, remedy="Start again with --fresh."
                ) from None
        return records

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """The journal, open for more records."""
        path = self.path / JOURNAL
        try:
            file = open(path, "ab", buffering=0)  # noqa: SIM115
        except OSError as problem:
            raise _unwritten(path, problem) from None
        with file:
            yield Journal(file)


class Journal:
    """Appends records; each is in the hands of the operating system before the next begins."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def add(self, records: list[Mapping[str, Any]]) -> None:
        """Append records, each on a line of its own."""
        text = "".join(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n" for record in records)
        left = memoryview(text.encode())
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as problem:
            raise _unwritten(Path(self._file.name), problem) from None


def _unwritten(path: Path, problem: OSError) -> InputError:
    return InputError(
        f"cannot be written: {problem.strerror or problem}",
        place=str(path),
        remedy="Make room, then resume with the same command.",
    )


def new_run(runs_dir: str | os.PathLike[str], name: str, manifest: Mapping[str, Any]) -> RunFolder:
    """A fresh folder, `<utc time>-<name>-<6 hex>`."""
    now = datetime.now(UTC)
    safe = _NAME.sub("-", name).strip("-.")[:60] or "run"
    path = Path(runs_dir) / f"{now:%Y%m%dT%H%M%SZ}-{safe}-{secrets.token_hex(3)}"
    try:
        path.mkdir(parents=True)
    except OSError as problem:
        raise InputError(
            f"a run cannot be written here: {problem.strerror or problem}",
            place=str(runs_dir),
            remedy="Choose another place with --runs-dir.",
        ) from None
    folder = RunFolder(path, dict(manifest))
    folder.update(name=name, status=RUNNING, started=now.isoformat(timespec="microseconds"))
    return folder


def open_run(path: Path) -> RunFolder:
    """A run that stands on disk."""
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"this is no run of karat: {problem}", place=str(path)) from None
    if not isinstance(manifest, dict) or "karat" not in manifest:
        raise InputError("this is no run of karat: its manifest says something else", place=str(path))
    return RunFolder(path, manifest)


def runs_in(runs_dir: str | os.PathLike[str]) -> list[RunFolder]:
    """Every run of a folder in the order they were started; what is no run is passed over."""
    found = []
    root = Path(runs_dir)
    for path in root.iterdir() if root.is_dir() else ():
        if (path / MANIFEST).is_file():
            try:
                found.append(open_run(path))
            except InputError:
                continue
    return sorted(found, key=lambda run: (run.id.partition("-")[0], str(run.manifest.get("started")), run.id))


def find_run(runs_dir: str | os.PathLike[str], reference: str) -> RunFolder:
    """The run that LAST, a path, a name or a unique beginning of one means; of several with one name the latest."""
    direct = Path(reference)
    if (direct / MANIFEST).is_file():
        return open_run(direct)
    runs = runs_in(runs_dir)
    if not runs:
        raise UsageError(f"there are no runs in {runs_dir}. Make one with `karat run` or `karat demo`.")
    if reference == LAST:
        return runs[-1]
    for matches in (
        [run for run in runs if run.id == reference],
        [run for run in runs if run.manifest.get("name") == reference],
        [run for run in runs if run.id.startswith(reference) or run.id.endswith(reference)],
    ):
        if len(matches) == 1 or (matches and matches[0].manifest.get("name") == reference):
            return matches[-1]
        if matches:
            shown = ", ".join(run.id for run in matches[:4])
            raise UsageError(f"{reference!r} is the beginning of {len(matches)} runs ({shown}, ...). Write more of it.")
    names = [*(run.id for run in runs), *(str(run.manifest.get("name")) for run in runs)]
    raise UsageError(f"there is no run {reference!r} in {runs_dir}.{did_you_mean(reference, names)} See `karat list`.")


def resumable(runs_dir: str | os.PathLike[str], digest: str, *, done: bool = False) -> RunFolder | None:
    """The latest run of the same work that was stopped before it was done, or is `done` too, and that nobody is at."""
    for run in reversed(runs_in(runs_dir)):
        if run.manifest.get("digest") == digest and (done or not run.is_done) and not is_locked(run.path):
            return run
    return None
