"""Store: the folders of runs. A run writes a journal as it goes, resumes from it, and is found by name or LAST."""

from __future__ import annotations

import io
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.text.wellformed import well_formed_values
from karat.io.checksum import DamagedError, file_sha256, sealed, sealed_line, unsealed, unsealed_line
from karat.io.lock import is_locked, locked
from karat.io.opening import read_whole
from karat.io.writing import private, private_folder, unwritable, write_whole

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
RUNNING, STOPPED, DONE, DAMAGED, LAST = "running", "stopped", "done", "damaged", "LAST"
_NAME = re.compile(r"[^\w.-]+")
_ID = re.compile(r"\d{8}T\d{6}Z-.+-[0-9a-f]{6}")


@dataclass(repr=False)
class RunFolder(NotebookView):
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
        whole = sealed(well_formed_values(self.manifest))
        write_whole(self.path / MANIFEST, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")

    def seal(self, *names: str) -> dict[str, str]:
        """Checksums of those of its files that are there, for the manifest: what `check` compares."""
        return {name: file_sha256(self.path / name) for name in names if (self.path / name).is_file()}

    def check(self, name: str) -> None:
        """Refuse a file of this run that is not what was written; of earlier versions no checksum is known."""
        files = self.manifest.get("files")
        expected = files.get(name) if isinstance(files, dict) else None
        if expected is not None and file_sha256(self.path / name) != expected:
            raise InputError(
                "it is not what karat wrote: its checksum differs",
                place=str(self.path / name),
                remedy="Put it back from a copy, or run again with --fresh.",
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process out of this run."""
        with locked(self.path, "another process is at this run. Wait for it, or start a new one with --fresh."):
            yield

    def journaled(self) -> tuple[list[dict[str, Any]], list[int]]:
        """What was done so far, one record each, and which lines are damaged: they go, and what they held is redone.

        The rest of a line that a kill tore off goes too.
        """
        path = self.path / JOURNAL
        *lines, rest = self._journal_lines()
        records, damaged = _unsealed(lines)
        if damaged or rest:
            sound = (line for row, line in enumerate(lines, 1) if row not in damaged)
            write_whole(path, b"".join(line + b"\n" for line in sound), private=True)
        return records, damaged

    def _journal_lines(self) -> list[bytes]:
        path = self.path / JOURNAL
        return read_whole(path).split(b"\n") if path.exists() else [b""]

    def journal_records(self) -> list[dict[str, Any]]:
        """What the journal holds, for another run to read: it stays as it is."""
        return _unsealed(self._journal_lines()[:-1])[0]

    @contextmanager
    def journal(self, *, retry_errors: bool = False) -> Iterator[Journal]:
        """The journal with what it holds, open for more; with `retry_errors` what failed is not taken as known."""
        path = self.path / JOURNAL
        records, damaged = self.journaled()
        try:
            file = open(path, "ab", buffering=0, opener=private)  # noqa: SIM115
        except OSError as problem:
            raise unwritable(path, problem) from None
        with file:
            yield Journal(file, records, damaged, retry_errors)


def _unsealed(lines: Sequence[bytes]) -> tuple[list[dict[str, Any]], list[int]]:
    """The records of lines, and the numbers of those that are damaged."""
    records: list[dict[str, Any]] = []
    damaged: list[int] = []
    for row, line in enumerate(lines, 1):
        try:
            records.append(unsealed_line(line))
        except DamagedError:
            damaged.append(row)
    return records, damaged


@dataclass(frozen=True)
class Journal:
    """Appends records; each is in the hands of the operating system before the next begins.

    `records` are those that stood in it when it was opened, `damaged` the lines whose work is done again.
    """

    _file: io.FileIO
    records: Sequence[dict[str, Any]] = ()
    damaged: Sequence[int] = ()
    retry_errors: bool = False

    def add(self, records: list[Mapping[str, Any]]) -> None:
        """Append records, each on a line of its own."""
        left = memoryview(b"".join(map(sealed_line, records)))
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as problem:
            raise unwritable(self._file.name, problem) from None


def new_run(runs_dir: str | os.PathLike[str], name: str, manifest: Mapping[str, Any]) -> RunFolder:
    """A fresh folder, `<utc time>-<name>-<6 hex>`; its number says when it was started, whatever the clock says."""
    now = datetime.now(UTC)
    number = 1 + max((_number(run) for run in runs_in(runs_dir)), default=0)
    safe = _NAME.sub("-", name).strip("-.")[:60] or "run"
    path = Path(runs_dir) / f"{now:%Y%m%dT%H%M%SZ}-{safe}-{secrets.token_hex(3)}"
    make_runs_dir(path.parent)
    make_runs_dir(path)
    folder = RunFolder(path, dict(manifest))
    folder.update(name=name, status=RUNNING, number=number, started=now.isoformat(timespec="microseconds"))
    return folder


def make_runs_dir(path: Path) -> None:
    """Make the folder of a run, or of all runs, for its user alone: it holds what models were asked and said."""
    try:
        private_folder(path)
    except OSError as problem:
        raise unwritable(path, problem, "a run cannot be written here") from None


def open_run(path: Path) -> RunFolder:
    """A run that stands on disk."""
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        if _ID.fullmatch(path.name) and (path / MANIFEST).is_file():
            raise _damaged(path, f"it cannot be read: {problem}") from None
        raise InputError(f"this is no run of karat: {problem}", place=str(path)) from None
    if not isinstance(manifest, dict) or "karat" not in manifest:
        raise InputError("this is no run of karat: its manifest says something else", place=str(path))
    try:
        return RunFolder(path, unsealed(manifest))
    except DamagedError as problem:
        raise _damaged(path, str(problem)) from None


class _DamagedRunError(InputError):
    """A run whose manifest is not what was written."""


def _damaged(path: Path, why: str) -> _DamagedRunError:
    return _DamagedRunError(
        f"the manifest is damaged: {why}",
        place=str(path / MANIFEST),
        remedy="Put it back from a copy, or run again with --fresh. The rows and reports beside it stand as they are.",
    )


def runs_in(runs_dir: str | os.PathLike[str]) -> list[RunFolder]:
    """Every run of a folder in the order they were started; what is no run is passed over.

    One whose manifest is damaged is among them, first and without anything but that.
    """
    runs = []
    root = Path(runs_dir)
    for path in root.iterdir() if root.is_dir() else ():
        with suppress(InputError, OSError):
            if (path / MANIFEST).is_file():
                try:
                    runs.append(open_run(path))
                except _DamagedRunError:
                    runs.append(RunFolder(path, {"status": DAMAGED}))
    return sorted(runs, key=_order)


def _order(run: RunFolder) -> tuple[bool, int, str, str, str]:
    """By number; runs of earlier versions have none, and stand before the others by the clock."""
    started = str(run.manifest.get("started"))
    return run.manifest.get("status") != DAMAGED, _number(run), run.id.partition("-")[0], started, run.id


def _number(run: RunFolder) -> int:
    number = run.manifest.get("number")
    return number if type(number) is int else 0


def find_run(runs_dir: str | os.PathLike[str], reference: str) -> RunFolder:
    """The run that LAST, a path, a name or a unique beginning of one means; of several with one name the latest."""
    direct = Path(reference)
    if (direct / MANIFEST).is_file():
        return open_run(direct)
    runs = runs_in(runs_dir)
    if not runs:
        raise UsageError(f"there are no runs in {runs_dir}. Make one with `karat run` or `karat demo`.")
    if reference == LAST:
        return open_run(runs[-1].path)
    for matches in (
        [run for run in runs if run.id == reference],
        [run for run in runs if run.manifest.get("name") == reference],
        [run for run in runs if run.id.startswith(reference) or run.id.endswith(reference)],
    ):
        if len(matches) == 1 or (matches and matches[0].manifest.get("name") == reference):
            return open_run(matches[-1].path)
        if matches:
            shown = ", ".join(run.id for run in matches[:4])
            raise UsageError(f"{reference!r} is the beginning of {len(matches)} runs ({shown}, ...). Write more of it.")
    names = [*(run.id for run in runs), *(str(run.manifest.get("name")) for run in runs)]
    raise UsageError(f"there is no run {reference!r} in {runs_dir}.{did_you_mean(reference, names)} See `karat show`.")


def resumable(runs_dir: str | os.PathLike[str], digest: str, *, done: bool = False) -> RunFolder | None:
    """The latest run of the same work that was stopped before it was done, or is `done` too, and that nobody is at."""
    for run in reversed(runs_in(runs_dir)):
        if run.manifest.get("digest") == digest and (done or not run.is_done) and not is_locked(run.path):
            return run
    return None


def earlier_journal(
    runs_dir: str | os.PathLike[str], run: RunFolder, generations: Sequence[str]
) -> list[dict[str, Any]]:
    """The journal of the latest other run that was done, by the same version of karat, over one of these indexes."""
    for other in reversed(runs_in(runs_dir)):
        inputs = other.manifest.get("inputs", {}).get("indexes", [])
        same = other.manifest.get("karat") == run.manifest["karat"] and other.is_done and other.id != run.id
        if same and any(one.get("generation") in generations for one in inputs):
            return other.journal_records()
    return []
