"""Run: what karat.yaml says, done; every step is journaled, and a run that was stopped goes on from there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.docs import Problem, unread_line
from karat.core.errors import UsageError
from karat.core.progress import Progress, shown_in_notebook
from karat.core.text.words import plural
from karat.core.versions import versions
from karat.experiment.finished import FinishedRun
from karat.experiment.frozen import refuse_changed
from karat.experiment.progress_file import progress_written
from karat.experiment.run_models import RunModels, run_models
from karat.experiment.spec_systems import BuiltIndex, SpecSystems
from karat.experiment.store import (
    DONE,
    JOURNAL,
    RUNNING,
    Journal,
    RunFolder,
    earlier_journal,
    make_runs_dir,
    new_run,
    resumable,
)
from karat.experiment.study import study_of
from karat.pool import Pool, PoolChoice, open_pool
from karat.results.evaluation import InputInfo, Note
from karat.systems.index import Index
from karat.systems.indexes import digest_of, index_of

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.experiment.spec import Spec
    from karat.experiment.sweep.swept import Swept
    from karat.results.study import Study

Announce = Callable[[str], None]
INDEXES, LOGS = "indexes", "logs"


@shown_in_notebook("say")
def run(
    spec: str | os.PathLike[str] | Spec = "karat.yaml",
    testset: str | os.PathLike[str] | None = None,
    *,
    runs_dir: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    changed_testset: bool = False,
    command: Sequence[str] = (),
    notes: Sequence[Note] = (),
    say: Progress = lambda what, done, total: None,
    announce: Callable[[str], None] | None = None,
) -> FinishedRun:
    """Do what a karat.yaml says, or compare the usual systems on documents (a folder or file) and a `testset` file.

    A run of the same spec that was stopped is resumed, unless it is to be `fresh`.

    `retry_errors` asks again what failed before. A frozen test set that was changed since is refused, unless
    `changed_testset` says to go on. `notes` are shown beside the run's own. `say` is called with what is being done,
    how much of it is done, and how much there is; `announce` with a sentence on what a chat model is about to be asked,
    before it is.
    """
    from karat.experiment.answering import answers_for
    from karat.experiment.spec.draft import spec_for
    from karat.systems.search_stage import SEARCHES, SearchPool

    spec = spec_for(spec, testset).resolved()
    root = Path(runs_dir) if runs_dir is not None else spec.path(spec.keys.runs_dir)
    questions, read_as = questions_of(spec)
    if not changed_testset:
        refuse_changed(questions, read_as.place)
    make_runs_dir(root)
    opened = spec.pool.open(root / LOGS)
    built = indexes_of(spec, root / INDEXES, say, opened)
    indexes = [one.index for one in built]
    spec_systems = SpecSystems(spec, questions, built)
    folder = _folder(root, spec.keys.name, manifest_of(spec, questions, indexes, command), fresh, retry_errors)
    with folder.held():
        with progress_written(folder.path, say) as say:
            problems = list(dict.fromkeys(problem for index in indexes for problem in index.problems))
            folder.update(status=RUNNING, files={}, unread=[asdict(problem) for problem in problems if problem.fatal])
            with (
                folder.journal(retry_errors=retry_errors) as journal,
                _models(spec, folder, root, indexes, say, announce, opened) as models,
            ):
                say.spent = models.spent
                pool = SearchPool(folder.path / SEARCHES, opened)
                earlier = [] if fresh else earlier_journal(root, folder, [one.generation for one in built])
                systems, retrieval_notes = spec_systems.retrieve(journal, models.answering, say, pool, earlier)
                systems, answer_notes = answers_for(
                    spec, systems, questions, models.answering, records=journal.records, journal=journal,
                    retry_errors=retry_errors, say=say,
                )  # fmt: skip
                study = study_of(
                    spec.keys.name, questions, systems, spec_systems.plan,
                    problems=problems,
                    taken=(read_as, *map(_read_as, indexes)),
                    notes=(*notes, *_redone(journal), *retrieval_notes, *answer_notes, *_unread(problems)),
                    manifest=folder.manifest,
                    models=models.judging,
                    say=say,
                )  # fmt: skip
            study = _without_judgements(study, folder)
            runs = [system.run for system in systems]
            _write(study, folder, spec.keys.outputs, runs, say)
        _finish(study, folder)
    return FinishedRun(folder, study, runs, spec_systems.choices)


def _folder(root: Path, name: str, manifest: dict[str, Any], fresh: bool, done: bool) -> RunFolder:
    """The folder of a run of the same work that was stopped, or is `done` too; a new one else, or for a `fresh` run."""
    stopped = None if fresh else resumable(root, manifest["digest"], done=done)
    return stopped or new_run(root, name, manifest)


def _write(study: Study, folder: RunFolder, outputs: Sequence[str], runs: Sequence[Run], say: Progress) -> None:
    """Write what a run computed."""
    from karat.experiment.outputs import write_study
    from karat.results.serial import save_study

    write_study(study, folder.path, outputs, runs, say)
    save_study(study, folder.path)


def _finish(study: Study, folder: RunFolder) -> None:
    """Say in the manifest that a run is done: the last of its steps, after which no command goes on with it."""
    from karat.experiment.claims import CLAIMS
    from karat.experiment.outputs import ANSWERS

    finished = datetime.now(UTC).isoformat(timespec="seconds")
    folder.update(
        status=DONE, finished=finished, summary=_summary(study), judged=[], files=folder.seal(ANSWERS, CLAIMS)
    )


def manifest_of(spec: Spec, testset: TestSet, indexes: Sequence[Index], command: Sequence[str]) -> dict[str, Any]:
    """What a run's manifest begins with; `digest` stands for the whole work."""
    from importlib.metadata import version

    read = {one.name: list(one.source.reads()) for one in spec.systems()}
    inputs: dict[str, Any] = {
        "testset": {"path": spec.keys.testset, "digest": testset.digest, "questions": len(testset)},
        "indexes": [{"path": str(index.path), "generation": str(index.about["generation"])} for index in indexes],
        "systems": {name: digest_of(paths) for name, paths in read.items() if paths},
        **({"answer": digest_of(answering)} if (answering := list(_read_by_answerer(spec))) else {}),
    }
    whole = {"karat": version("karat"), "spec": spec.digest, "inputs": inputs}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True)
    inputs["testset"]["file"] = str(spec.path(spec.keys.testset))  # no part of the digest, as where the run was started
    if spec.written.path is not None:
        inputs["spec_file"] = str(spec.written.path.resolve())  # nor is this: the file that a tuned system is added to
    if testset.version is not None:  # no part of the digest: a run that was stopped before the freeze goes on
        inputs["testset"]["version"] = testset.version
    return {
        "karat": version("karat"),
        "command": list(command),
        "spec": spec.plain(),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "inputs": inputs,
        "seed": spec.keys.seed,
        "machine": {
            "python": sys.version.split()[0],
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "packages": versions(),
        },
    }


def _read_by_answerer(spec: Spec) -> Iterator[Path]:
    """The files that an answerer reads: its prompt, the file of a function."""
    from karat.core.loading import file_of

    answer = spec.keys.answer
    if answer is None:
        return
    if answer.prompt is not None:
        yield spec.path(answer.prompt)
    kind, _, target = answer.by.partition(":")
    file = file_of(target, spec.folder) if kind == "call" else None
    if file is not None:
        yield file


def _redone(journal: Journal) -> Iterator[Note]:
    """Notes on lines of the journal that could not be used."""
    for row in journal.damaged:
        yield Note("warning", f"{JOURNAL} line {row} was damaged: what it held was done again.")


def _unread(problems: Sequence[Problem]) -> Iterator[Note]:
    """A note on documents that could not be read."""
    if line := unread_line(problems):
        yield Note("warning", line)


@contextmanager
def _models(
    spec: Spec,
    folder: RunFolder,
    root: Path,
    indexes: Sequence[Index],
    say: Progress,
    announce: Announce | None,
    pool: Pool,
) -> Iterator[RunModels]:
    """The models of a spec. What they are asked joins what the run has spent before, however it ends."""
    with run_models(spec, folder.path, root, indexes, say, announce, pool) as models:
        try:
            yield models
        finally:
            if spent := models.spent():
                folder.update(models=[*folder.manifest.get("models", []), *spent])


def _without_judgements(study: Study, folder: RunFolder) -> Study:
    """The study with a note on measures that `karat judge` added to the run, which are of the answers before."""
    evaluation = study.evaluation
    known = {measure.name for measure in evaluation.scores.measures}
    lost = [name for name in folder.manifest.get("judged", []) if name not in known]
    if not lost:
        return study
    text = f"{', '.join(lost)} was judged later, by karat judge, and is not in here: run that again."
    text += " What is known already costs nothing."
    return replace(study, evaluation=replace(evaluation, notes=(*evaluation.notes, Note("warning", text))))


def sweep_of(
    spec: Spec,
    *,
    runs_dir: str | os.PathLike[str] | None = None,
    pool: PoolChoice = None,
    say: Progress = lambda what, done, total: None,
) -> Swept:
    """The sweep of a spec alone, scored in memory; nothing but its index is written."""
    from karat.experiment.sweep import sweep
    from karat.experiment.sweep.grid import Grid

    spec = spec.resolved()
    keys, choices = spec.keys, spec.choices()
    root = Path(runs_dir) if runs_dir is not None else spec.path(keys.runs_dir)
    testset, _ = questions_of(spec)
    workers = pool or (spec.pool if keys.pool is not None else None)
    opened = None if workers is None else open_pool(workers, logs=root / LOGS)
    indexes = indexes_of(spec, root / INDEXES, say, opened)
    if len(indexes) != 1:
        raise UsageError(
            f"{spec.written.place} has {len(indexes)} ways of indexing, and one index is swept at a time. Compare them "
            "with `karat run`, or with `karat sweep TESTSET DOCS --chunk ... --embedder ...`."
        )
    return sweep(
        testset, indexes[0].index, spec.grid or Grid.of(k=spec.cutoffs), measures=choices.measures or None,
        main=keys.main, dialect=choices.dialect, matching=choices.matching, work=root, pool=opened, progress=say,
    )  # fmt: skip


def questions_of(spec: Spec) -> tuple[TestSet, InputInfo]:
    """The questions that a spec selects from its test set, and what that was read as."""
    from karat.experiment.inputs import mapped, refuse_textless
    from karat.files import read_testset
    from karat.systems.source import ResultsFile

    testset, taken = read_testset(spec.path(spec.keys.testset), columns=spec.keys.map)
    taken = replace(taken, place=spec.keys.testset)
    if not any(isinstance(one.source, ResultsFile) for one in spec.systems()):
        (taken,) = mapped([taken], spec.keys.map or {})
    chosen = spec.select(testset)
    if not len(chosen):
        raise UsageError(f"{taken.place} holds no questions.")
    if len(chosen) < len(testset):
        where = chosen.name.removeprefix(testset.name).strip()
        taken = replace(taken, what=f"{taken.what}; {len(chosen):,} selected {where}")
    if spec.grid is not None or any(not isinstance(x.source, ResultsFile) for x in spec.systems()):
        refuse_textless(chosen, taken.place)
    _refuse_without_gold(spec, chosen, taken)
    return chosen, taken


def _refuse_without_gold(spec: Spec, questions: TestSet, read_as: InputInfo) -> None:
    """Refuse questions of which nothing could be measured: they have no gold, and nobody answers them."""
    answers = spec.keys.answer is not None or not all(one.is_own for one in spec.systems())
    if answers or any(question.gold for question in questions):
        return
    unused = [note for note in read_as.notes if "ignored" in note]
    columns = f" ({unused[0]})" if unused else ""
    raise UsageError(
        f"{read_as.place}: no question names a document that answers it, so retrieval cannot be measured{columns}. "
        "Add a column gold_doc, say which one it is with --map COLUMN=gold_doc, or have the questions answered: "
        "--answer extractive."
    )


def indexes_of(spec: Spec, folder: Path, say: Progress, pool: PoolChoice = None) -> list[BuiltIndex]:
    """Every index that the spec needs: the one it names, or one for each chunking and embedder.

    The pool builds them, that of the spec unless given.
    """
    if spec.keys.index is not None:
        return [BuiltIndex(Index.open(spec.path(spec.keys.index), verify=True))]
    if spec.systems() and not any(listed.is_own for listed in spec.systems()) and spec.grid is None:
        return []
    indexes = []
    sources = [spec.path(text) for text in spec.keys.corpus or ()]
    keys = spec.keys.reading
    reading: dict[str, Any] = {} if keys is None else {"limits": keys.limits, "follow_links": keys.follow_links}
    chunks, embedders = {i.chunk for i in spec.indexings}, list(dict.fromkeys(i.embedder for i in spec.indexings))
    for way in spec.indexings:
        index = index_of(
            sources, folder, chunk=way.chunk, embedder=way.embedder, engines=spec.keys.engines, titles=spec.keys.titles,
            settings=spec.keys.settings, say=say, pool=pool or spec.pool, **reading,
        )  # fmt: skip
        embedder = way.embedder or index.embedder
        label = embedder.label if embedder is not None else None
        if way.embedder is not None:
            same = [one for one in embedders if one is not None and one.label == label]
            number = same.index(way.embedder) + 1
            label = label if number == 1 else f"{label} #{number}"
        marks = [way.chunk] * (len(chunks) > 1) + [str(label)] * (len(embedders) > 1)
        indexes.append(BuiltIndex(index, ", ".join(marks), way.chunk, label))
    return indexes


def _read_as(index: Index) -> InputInfo:
    nouns = {"docs": "document", "pages": "page", "chunks": "chunk"}
    size = ", ".join(plural(index.about["corpus"][key], noun) for key, noun in nouns.items())
    return InputInfo(str(index.path), "index", size)


def _summary(study: Study) -> dict[str, Any]:
    """What `karat show` shows."""
    best = study.choice.best if study.choice is not None else None
    return {
        "systems": len(study.configurations),
        "questions": len(study.evaluation.testset),
        "main": best.measure if best is not None else study.main,
        **({"best": best.system, "mean": best.mean, "low": best.low, "high": best.high} if best is not None else {}),
    }
