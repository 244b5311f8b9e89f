"""Baselines: runs that later ones are held against, a small file each, which stands by itself once the run is gone."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.experiment._subjects import check_system, saved_subjects
from karat.experiment.settings import scored_by
from karat.experiment.store import MANIFEST, RunFolder, find_run, open_run
from karat.io.checksum import DamagedError, sealed, unsealed
from karat.io.opening import read_whole
from karat.io.writing import write_whole
from karat.results.decisions import best_system
from karat.results.gating import Baseline
from karat.results.serial import load_study

BASELINES, FORMER = "baselines", "baselines.json"
"""The folder in that of the runs that holds a file for each baseline, and the one file of earlier versions."""
ENDING = ".json"
_HIGHEST = 1e12  # score that is believed
_NAME = re.compile(r"[\w][\w.-]{0,59}")


def baselines_in(runs_dir: str | os.PathLike[str]) -> dict[str, Baseline]:
    """Every baseline of a folder of runs, by name."""
    root = Path(runs_dir)
    former = _read(root / FORMER).get("baselines") if (root / FORMER).is_file() else {}
    if not isinstance(former, dict):
        raise _unreadable(root / FORMER, "it names no baselines")
    baselines = {name: _baseline(root / FORMER, name, about) for name, about in former.items()}
    for path in (root / BASELINES).glob(f"*{ENDING}"):
        baselines[path.stem] = _baseline(path, path.stem, _read(path))
    return dict(sorted(baselines.items()))


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError) as problem:
        raise _unreadable(path, str(problem)) from None
    if not isinstance(data, dict):
        raise _unreadable(path, "it holds no object")
    return data


def _baseline(path: Path, name: str, about: Any) -> Baseline:
    """A baseline of a file, whose values nobody has checked yet."""
    known: dict[str, Any] = about if isinstance(about, dict) else {}
    values: dict[str, Any] = {key: known.get(key) for key in ("run", "testset", "system", "set_at")}
    if not all(isinstance(value, str) for key, value in values.items() if key != "system" or value is not None):
        raise _unreadable(path, f"{name!r} lacks its run or test set")
    if not values["run"] or Path(values["run"]).name != values["run"]:
        raise _unreadable(path, f"{values['run']!r} is no run's id")
    if "scores" not in known:
        return Baseline(name=name, **values)
    return Baseline(name=name, **values, **_saved_scores(path, known))


def _saved_scores(path: Path, known: dict[str, Any]) -> dict[str, Any]:
    """The scores that a baseline's file holds."""
    try:
        known = unsealed(known, strict=True)
    except DamagedError:
        raise _unreadable(path, "it was changed since karat wrote it") from None
    scores, questions = known["scores"], known.get("questions")
    failed, how = known.get("failed", {}), known.get("scored_by")
    if not (
        isinstance(questions, list)
        and all(isinstance(qid, str) for qid in questions)
        and len(set(questions)) == len(questions)
        and isinstance(known.get("scores_of"), str)
        and isinstance(how, dict)
        and isinstance(scores, dict)
        and all(isinstance(values, list) and len(values) == len(questions) for values in scores.values())
        and all(value is None or _is_score(value) for values in scores.values() for value in values)
        and isinstance(failed, dict)
        and all(isinstance(one, dict) and all(isinstance(w, str) for w in one.values()) for one in failed.values())
    ):
        raise _unreadable(path, "its scores are not what karat wrote")
    values = {name: tuple(values) for name, values in scores.items()}
    return {
        "scored_by": how, "scores_of": known["scores_of"], "questions": tuple(questions), "scores": values,
        "failed": failed,
    }  # fmt: skip


def _is_score(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= _HIGHEST


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(
        f"the baseline cannot be read: {why}",
        place=str(path),
        remedy="Remove the file and save it again: `karat gate RUN --save NAME`.",
    )


def save_baseline(
    runs_dir: str | os.PathLike[str], name: str, run: str, system: str | None = None
) -> tuple[Baseline, Path, Baseline | None]:
    """Save a finished run as a baseline: under a name beside the runs, or in a file whose name ends in .json.

    What was written, where, and what stood there before.
    """
    path = Path(name) if name.endswith(ENDING) else Path(runs_dir) / BASELINES / f"{name}{ENDING}"
    if not _NAME.fullmatch(path.stem if name.endswith(ENDING) else name):
        raise UsageError(
            f"{name!r} cannot name a baseline. Use up to 60 letters, digits, - and _, such as main or release-2, or a "
            "file whose name ends in .json."
        )
    folder = find_run(runs_dir, run)
    if not folder.is_done:
        raise UsageError(
            f"run {folder.id} is {folder.state}, and only a finished run can be a baseline. Resume it with `karat run`."
        )
    if folder.path.parent.resolve() != Path(runs_dir).resolve():
        raise UsageError(
            f"{folder.path} is not in {runs_dir}, where a baseline's run is looked for. Give its folder as --runs-dir, "
            "or name the path itself: `karat gate --baseline PATH`."
        )
    study = load_study(folder.path)
    systems = study.evaluation.scores.systems
    if system is not None:
        check_system(folder.id, system, systems)
    of = system or best_system(study) or systems[0]
    subjects = list(saved_subjects(study, of))
    questions = study.evaluation.scores.questions
    saved = Baseline(
        name=path.stem,
        run=folder.id,
        testset=testset_of(folder),
        system=system,
        set_at=datetime.now(UTC).isoformat(timespec="seconds"),
        scored_by=scored_by(folder.manifest, study.evaluation.matching),
        scores_of=of,
        questions=questions,
        scores={one.name: tuple(v if isfinite(v) else None for v in one.values.tolist()) for one in subjects},
        failed={one.name: {questions[q]: why for q, why in one.why.items()} for one in subjects if one.failed.any()},
    )
    before = _baseline(path, path.stem, _read(path)) if path.is_file() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {key: value for key, value in asdict(saved).items() if key != "name"}
    lines = (f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in sealed(about).items())
    write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")
    return saved, path, before


def find_baseline(runs_dir: str | os.PathLike[str], name: str) -> Baseline:
    """The baseline of a name or a file, or a refusal that says what there is."""
    own = Path(runs_dir) / BASELINES / f"{name}{ENDING}"
    path = Path(name) if name.endswith(ENDING) else own if _NAME.fullmatch(name) else None
    if path is not None and path.is_file():
        return _baseline(path, path.stem, _read(path))
    baselines = baselines_in(runs_dir)
    if name not in baselines:
        offered = f"There are {', '.join(baselines)}." if baselines else "None is saved yet."
        raise UsageError(
            f"there is no baseline {name!r} in {runs_dir}.{did_you_mean(name, baselines)} {offered} Save it: `karat "
            f"gate RUN --save {name}`."
        )
    return baselines[name]


def open_baseline(runs_dir: str | os.PathLike[str], name: str) -> tuple[RunFolder | None, Baseline]:
    """The run that a baseline means, or that stands at a path; None where it is gone and the file has its scores."""
    if (Path(name) / MANIFEST).is_file():
        folder = open_run(Path(name))
        return folder, Baseline(name=folder.id, run=folder.id, testset=testset_of(folder))
    baseline = find_baseline(runs_dir, name)
    path = Path(runs_dir) / baseline.run
    if not (path / MANIFEST).is_file():
        if baseline.scores:
            return None, baseline
        raise UsageError(
            f"baseline {name!r} is run {baseline.run}, which is not in {runs_dir} any more: it was deleted or moved. "
            f"Save another run as it: `karat gate RUN --save {name}`."
        )
    folder = open_run(path)
    if testset_of(folder) != baseline.testset:
        raise UsageError(
            f"baseline {name!r}: run {baseline.run} is not what it was when the baseline was saved: its test set is "
            f"another one. Save it again: `karat gate RUN --save {name}`."
        )
    return folder, baseline


def testset_of(folder: RunFolder) -> str:
    """The digest of the test set that a run is of."""
    inputs = folder.manifest.get("inputs")
    testset = inputs.get("testset") if isinstance(inputs, dict) else None
    digest = testset.get("digest") if isinstance(testset, dict) else None
    if not isinstance(digest, str):
        raise UsageError(f"run {folder.id} does not say which test set it is of, so it cannot be a baseline.")
    return digest
