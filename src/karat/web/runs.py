"""Runs: the folders that are shown, what their manifests say of them, and what was opened of them.

A run is named by its id alone: no part of an address ever becomes part of a path. A study is read by a thread while
pages answer, and few are held at a time.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import InputError, KaratError, did_you_mean
from karat.core.text.wellformed import well_formed
from karat.experiment.progress_file import RunProgress
from karat.experiment.store import MANIFEST, RUNNING, RunFolder, open_run, runs_in
from karat.files import read_marks
from karat.io.cells import known_number
from karat.report.build.question import QuestionView
from karat.report.lookups import StudyView
from karat.results.marks import LABELS_FILE, Marks
from karat.results.serial import STUDY, load_study
from karat.web.held import Held, Making
from karat.web.live import JournalTail
from karat.web.replies import NotHereError, NotYetError
from karat.web.rows import ROWS, QuestionTable, RunFacts

if TYPE_CHECKING:
    from karat.results.study import Study
    from karat.web.guard import GuardSettings

TIMES, JUDGEMENTS = "times.parquet", "judgements.jsonl"
AGE = 0.5  # seconds for which a list of runs is taken as it was read
TABLES, STUDIES, COSTS = 8, 2, 10_000  # that are held
LARGEST_STUDY = 192 << 20
"""Bytes of a packed study that is opened: beyond it details come from rows.parquet, so that memory stays bounded."""


@dataclass(frozen=True)
class OpenedStudy:
    """A study with its lookups."""

    study: Study

    @cached_property
    def view(self) -> StudyView:
        return StudyView(self.study)

    def question(self, id_: str) -> QuestionView:
        """Lookups over one question."""
        return QuestionView(self.study, id_, self.view)

    @cached_property
    def failures(self) -> dict[str, dict[str, str]]:
        """The label of each question that a system fails."""
        labels: dict[str, dict[str, str]] = {}
        for failure in self.study.failures:
            labels.setdefault(failure.system, {})[failure.question] = failure.label
        return labels


class View:
    """What the server shows: the runs of a folder, and `named` ones from elsewhere."""

    def __init__(self, runs_dir: Path, named: Sequence[RunFolder] = (), guard: GuardSettings | None = None) -> None:
        self.runs_dir, self.named, self.guard = runs_dir, tuple(named), guard
        self.folder = Path.cwd()  # where the server was started
        self.left_out: list[str] = []  # folders that are links, or whose names no address can hold
        self._lock = threading.Lock()
        self._listed: tuple[float, list[RunFolder]] = (-AGE, [])
        self._tables, self._marks, self._costs = Held(TABLES), Held(TABLES), Held(COSTS)
        self._studies: Making[OpenedStudy] = Making(STUDIES)
        self._tails: dict[str, JournalTail] = {}
        self._pages: Making[str] = Making(TABLES)
        self._queues: Making[list[dict[str, Any]]] = Making(STUDIES)
        self._digests: dict[str, str] = {}

    def runs(self) -> list[RunFolder]:
        """Every run, the first one first. What is a link to somewhere else is left out."""
        read, runs = self._listed
        if time.monotonic() - read >= AGE:
            there = runs_in(self.runs_dir)
            inside = [run for run in there if is_addressable(run.id) and not _leads_elsewhere(run.path)]
            ids = {run.id for run in inside}
            self.left_out = [run.id for run in there if run.id not in ids]
            named = [run for run in self.named if run.id not in ids]
            runs = [*self._again(named), *inside]
            self._listed = time.monotonic(), runs
        return runs

    def _again(self, named: Sequence[RunFolder]) -> Iterator[RunFolder]:
        for run in named:
            with suppress(InputError):
                yield open_run(run.path)

    def run(self, id_: str) -> RunFolder:
        """The run of an id."""
        runs = self.runs()
        for run in runs:
            if run.id == id_:
                return run
        raise NotHereError(f"there is no run {id_!r:.120}.{did_you_mean(id_, [run.id for run in runs])}")

    def file(self, run: RunFolder, name: str) -> Path | None:
        """A file of a run, where it is there and no link to somewhere else."""
        path = run.path / name
        return path if path.is_file() and not path.is_symlink() else None

    def table(self, run: RunFolder) -> QuestionTable:
        """The questions of a run, opened once as long as the file stays as it is."""
        path = self.file(run, ROWS)
        if path is None:
            if run.state == RUNNING:
                raise NotYetError(f"{run.id} is running: its rows are written when it is done.")
            raise NotYetError(f"{run.id} has no {ROWS}: it was not finished. Resume it: `karat run`.")
        table: QuestionTable = self._tables.get(
            (run.id, _stamp(path)), lambda: (QuestionTable(path, self._facts(run)), 1)
        )
        return table

    def _facts(self, run: RunFolder) -> RunFacts:
        summary = summary_of(run)
        best, main = summary.get("best"), summary.get("main")
        return RunFacts(
            best=best if isinstance(best, str) else None,
            main=main if isinstance(main, str) else None,
            failures=lambda: self.failures(run),
            labels=lambda: self.label_counts(run),
            disputed=_once(lambda: disputed(self.file(run, JUDGEMENTS))),
        )

    def marks(self, run: RunFolder) -> Marks:
        """What people marked in a run by now."""
        path = self.file(run, LABELS_FILE)
        if path is None:
            return Marks(place=str(run.path / LABELS_FILE))
        marks: Marks = self._marks.get((run.id, _stamp(path)), lambda: (read_marks(path), 1))
        return marks

    def label_counts(self, run: RunFolder) -> Mapping[str, int]:
        """Labels by question; none where the file cannot be read, which the page of labels says."""
        with suppress(InputError):
            return self.marks(run).counts
        return {}

    def labelled(self, run: RunFolder) -> str:
        """How many labels a run has, of how many people; nothing where there are none."""
        return self.marks(run).counted if self.label_counts(run) else ""

    def queued(self, key: tuple[Any, ...], make: Callable[[], list[dict[str, Any]]]) -> Future[list[dict[str, Any]]]:
        """What is worth labelling in a run, made by a thread."""
        return self._queues.get(key, make)

    def failures(self, run: RunFolder) -> Mapping[str, Mapping[str, str]] | None:
        """Labels of failures of a run whose rows were written without them: from its study, once that is read."""
        future = self.study_future(run)
        return future.result().failures if future is not None and future.exception() is None else None

    def study_stamp(self, run: RunFolder) -> tuple[int, int, int] | None:
        """What tells the study of a run from a later one; None where there is none, or one too large to hold."""
        path = self.file(run, STUDY)
        return None if path is None or path.stat().st_size > LARGEST_STUDY else _stamp(path)

    def study_future(self, run: RunFolder) -> Future[OpenedStudy] | None:
        """The study of a run, being read by a thread; None as for `study_stamp`."""
        stamp = self.study_stamp(run)
        return None if stamp is None else self._studies.get((run.id, stamp), lambda: _opened(run.path))

    def study(self, run: RunFolder) -> OpenedStudy | None:
        """The study of a run, waited for; None as for `study_stamp`."""
        future = self.study_future(run)
        return None if future is None else future.result()

    def progress(self, run: RunFolder) -> RunProgress | None:
        """How far a run is that is running."""
        return RunProgress.of(run.path) if run.state == RUNNING else None

    def tail(self, run: RunFolder) -> JournalTail:
        """The rows that the journal of a running run holds by now."""
        with self._lock:
            tail = self._tails.setdefault(run.id, JournalTail(run.path))
            while len(self._tails) > TABLES:
                self._tails.pop(next(iter(self._tails)))
            tail.read_on()
        return tail

    def rendered(self, key: tuple[Any, ...], render: Callable[[], str]) -> Future[str]:
        """A page that takes long to make, made once as long as what it shows stays as it is."""
        return self._pages.get(key, render)

    def digest(self, name: str, content: bytes) -> str:
        """What tells this content of a file from others."""
        if name not in self._digests:
            self._digests[name] = hashlib.sha256(content).hexdigest()[:32]
        return self._digests[name]

    def cost(self, run: RunFolder) -> float | None:
        """What its answers cost in USD; None where a cost is not known."""
        path = self.file(run, TIMES)
        if path is None:
            return None
        cost: float | None = self._costs.get((run.id, _stamp(path)), lambda: (_cost(path), 1))
        return cost

    def about(self, run: RunFolder) -> dict[str, Any]:
        """A run as the list shows it: what its manifest says, checked, and how far it is."""
        summary, manifest = summary_of(run), run.manifest
        progress = self.progress(run)
        testset = _mapping(_mapping(manifest.get("inputs")).get("testset"))
        questions = summary.get("questions", testset.get("questions"))
        return {
            "id": run.id,
            "name": _text(manifest.get("name")) or run.id,
            "started": _text(manifest.get("started")),
            "finished": _text(manifest.get("finished")),
            "state": run.state,
            "systems": _count(summary.get("systems")),
            "questions": _count(questions),
            "main": _text(summary.get("main")),
            "best": _text(summary.get("best")),
            **{name: known_number(summary.get(name)) for name in ("mean", "low", "high")},
            "cost_usd": self.cost(run),
            "testset": _text(testset.get("digest")),
            "progress": asdict(progress) if progress is not None else None,
        }


def is_addressable(id_: str) -> bool:
    """Whether an address can name a run; the guard refuses paths with these signs, and others are not Unicode."""
    return id_ == well_formed(id_) and not any(sign in id_ for sign in "\\\ufffd")


def _leads_elsewhere(folder: Path) -> bool:
    """Whether the folder of a run, or what it says of itself, is a link."""
    return folder.is_symlink() or (folder / MANIFEST).is_symlink()


def _opened(folder: Path) -> OpenedStudy:
    opened = OpenedStudy(load_study(folder))
    opened.failures  # noqa: B018  (made here, where nobody waits)
    return opened


def summary_of(run: RunFolder) -> Mapping[str, Any]:
    """What a manifest says its run found; it may be damaged."""
    return _mapping(run.manifest.get("summary"))


def disputed(path: Path | None) -> frozenset[str]:
    """The questions of which a judge that was asked again gave another value."""
    from karat.io.opening import pieces

    ids: set[str] = set()
    rest = b""
    for piece in pieces(path) if path is not None else ():
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            raise InputError("a line is too long", place=str(path), remedy="Run it again.")
        for line in lines:
            if b'"repeats"' not in line:
                continue
            with suppress(ValueError, TypeError, AttributeError, RecursionError):
                row = json.loads(line)
                repeats = [v for v in row.get("repeats") or () if isinstance(v, int | float)]
                if repeats and max(repeats) > min(repeats) and isinstance(row.get("id"), str):
                    ids.add(row["id"])
    return frozenset(ids)


_LONGEST_LINE = 16 << 20


def _cost(path: Path) -> float | None:
    from karat.io.parquet import check_parquet, parquet_columns

    try:
        if "cost_usd" not in check_parquet(path, str(path)):
            return None
        costs = parquet_columns(path, str(path), ["cost_usd"], 0, None)["cost_usd"].drop_nulls()
        total = costs.sum() if len(costs) and costs.dtype.is_numeric() else None
    except KaratError:
        return None
    return known_number(total)


def _once(make: Callable[[], frozenset[str]]) -> Callable[[], frozenset[str]]:
    held: list[frozenset[str]] = []

    def made() -> frozenset[str]:
        if not held:
            held.append(make())
        return held[0]

    return made


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
