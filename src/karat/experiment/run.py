"""Run: what karat.yaml says, done; every step is journaled, and a run that was stopped goes on from there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.core.study import Configuration
from karat.experiment.retrieval import Memory, Retrieval
from karat.experiment.study import Contender, Plan, study_of
from karat.experiment.system import DEPTH, Found, SystemSettings

if TYPE_CHECKING:
    from karat.core.evaluation import Note, Taken
    from karat.core.run import Run
    from karat.core.study import Study
    from karat.core.types import Question, TestSet
    from karat.experiment.index import Index
    from karat.experiment.score import Choices
    from karat.experiment.spec import Listed, Spec
    from karat.experiment.store import Journal, RunFolder
    from karat.experiment.sweep.swept import Swept
    from karat.match import Resolution

Say = Callable[[str, int, int], None]
LENGTH = 20  # hits that are kept of every list, or the largest cut-off where that is more; DEPTH where tokens cut
INDEXES = "indexes"


@dataclass(frozen=True)
class Finished:
    """A run that is done: its folder, what it found, and how many rows failed."""

    folder: RunFolder
    study: Study

    @property
    def n_failed(self) -> int:
        """Pairs of system and question of which at least one score failed."""
        return int((self.study.evaluation.scores.status == 2).any(axis=2).sum())


def run(
    spec: str | os.PathLike[str] | Spec = "karat.yaml",
    *,
    runs_dir: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    command: Sequence[str] = (),
    say: Say = lambda what, done, total: None,
) -> Finished:
    """Do what a karat.yaml says. A run of the same work that was stopped is resumed, unless it is to be `fresh`.

    `retry_errors` asks again what failed before. `say` is called with what is being done, how much of it is done, and
    how much there is.
    """
    from karat.experiment._provenance import manifest_of
    from karat.experiment.outputs import write_study
    from karat.experiment.spec import Spec, load_spec
    from karat.experiment.store import DONE, RUNNING, new_run, resumable
    from karat.experiment.stored import save_study

    spec = (spec if isinstance(spec, Spec) else load_spec(spec)).resolved()
    root = Path(runs_dir) if runs_dir is not None else spec.path(spec.keys.runs_dir)
    testset, taken = _questions(spec)
    indexes = _indexes(spec, root / INDEXES, say)
    work = _Work(spec, testset, indexes)
    manifest = manifest_of(spec, testset, [made.index for made in indexes], command)
    folder = None if fresh else resumable(root, manifest["digest"], done=retry_errors)
    folder = folder or new_run(root, spec.keys.name, manifest)
    with folder.held():
        folder.update(status=RUNNING)
        records = folder.journaled()
        with folder.journal() as journal:
            contenders, notes = work.contenders(records, journal, retry_errors, say)
        study = study_of(
            spec.keys.name, testset, contenders, work.plan,
            problems=[problem for index in indexes for problem in index.index.problems],
            taken=(taken, *_taken(indexes)),
            notes=notes,
            manifest=folder.manifest,
            say=lambda step: say(step, 0, 1),
        )  # fmt: skip
        runs = [contender.run for contender in contenders]
        write_study(study, folder.path, spec.keys.outputs, runs, lambda step: say(step, 0, 1))
        save_study(study, folder.path)
        folder.update(status=DONE, finished=_now(), summary=_summary(study))
    return Finished(folder, study)


def sweep_of(
    spec: Spec, *, runs_dir: str | os.PathLike[str] | None = None, say: Say = lambda what, done, total: None
) -> Swept:
    """The sweep of a spec alone, scored in memory; nothing but its index is written."""
    from karat.experiment.sweep import sweep
    from karat.experiment.sweep.grid import Grid

    spec = spec.resolved()
    keys, choices = spec.keys, spec.choices()
    root = Path(runs_dir) if runs_dir is not None else spec.path(keys.runs_dir)
    testset, _ = _questions(spec)
    indexes = _indexes(spec, root / INDEXES, say)
    if len(indexes) != 1:
        raise UsageError(
            f"{spec.written.place} has {len(indexes)} ways of indexing, and one index is swept at a time. Compare them "
            "with `karat run`, or with `karat sweep TESTSET DOCS --chunk ... --embedder ...`."
        )
    return sweep(
        testset, indexes[0].index, spec.grid or Grid.of(k=spec.cutoffs), measures=choices.measures or None,
        main=keys.main, dialect=choices.dialect, match=choices.match, repeats=choices.repeats, rel=choices.rel,
        page_offset=choices.page_offset, pages=choices.pages, allow_zero_overlap=choices.allow_zero_overlap,
        progress=say,
    )  # fmt: skip


@dataclass(frozen=True)
class _Made:
    """An index of the run, and what it adds to the names of systems where there are several."""

    index: Index
    mark: str = ""
    chunk: str | None = None
    embedder: str | None = None

    @property
    def generation(self) -> str:
        return str(self.index.about["generation"])


def _questions(spec: Spec) -> tuple[TestSet, Taken]:
    from karat.experiment.spec import ResultsFile
    from karat.files import read_testset

    testset, taken = read_testset(spec.path(spec.keys.testset))
    taken = replace(taken, place=spec.keys.testset)
    chosen = spec.select(testset)
    if not len(chosen):
        raise UsageError(f"{taken.place} holds no questions.")
    if len(chosen) < len(testset):
        where = chosen.name.removeprefix(testset.name).strip()
        taken = replace(taken, what=f"{taken.what}; {len(chosen):,} of them asked {where}")
    empty = [q.id for q in chosen if not q.text.strip()]
    if empty and (spec.grid is not None or any(not isinstance(x.source, ResultsFile) for x in spec.systems())):
        without = "1 has" if len(empty) == 1 else f"{len(empty):,} have"
        raise UsageError(f"{taken.place}: question {empty[0]!r} has no text to search for ({without} none).")
    return chosen, taken


def _indexes(spec: Spec, work: Path, say: Say) -> list[_Made]:
    """Every index that the spec needs: the one it names, or one for each chunking and embedder."""
    from karat.experiment.index import Index
    from karat.experiment.indexes import index_of

    if spec.keys.index is not None:
        return [_Made(Index.open(spec.path(spec.keys.index), verify=True))]
    if spec.systems() and not any(listed.is_own for listed in spec.systems()) and spec.grid is None:
        return []
    found = []
    sources = [spec.path(text) for text in spec.keys.corpus or ()]
    chunks, embedders = {i.chunk for i in spec.indexings}, list(dict.fromkeys(i.embedder for i in spec.indexings))
    for way in spec.indexings:
        same = [embedder for embedder in embedders if embedder.label == way.embedder.label]
        number = same.index(way.embedder) + 1
        label = way.embedder.label if number == 1 else f"{way.embedder.label} #{number}"
        marks = [way.chunk] * (len(chunks) > 1) + [label] * (len(embedders) > 1)
        made = index_of(
            sources, work, chunk=way.chunk, embedder=way.embedder, engines=way.engines, titles=way.titles,
            settings=way.settings, say=say,
        )  # fmt: skip
        found.append(_Made(made, ", ".join(marks), way.chunk, label))
    return found


def _taken(indexes: Sequence[_Made]) -> list[Taken]:
    from karat.core.evaluation import Taken

    return [
        Taken(
            str(made.index.path),
            "index",
            "{docs:,} documents, {pages:,} pages, {chunks:,} chunks".format(**made.index.about["corpus"]),
        )
        for made in indexes
    ]


class _Work:
    """The systems of a spec over its questions and indexes."""

    def __init__(self, spec: Spec, testset: TestSet, indexes: Sequence[_Made]) -> None:
        from karat.core.language import parse_all
        from karat.experiment.score import slices_of

        self.spec, self.testset, self.indexes = spec, testset, indexes
        self.choices: Choices = spec.choices()
        swept = spec.keys.sweep is not None and spec.keys.sweep.k is not None and "@" not in (spec.keys.main or "")
        main = spec.main.partition("@")[0] if swept else spec.main
        self.plan = Plan(self.choices, main, spec.cutoffs if swept else (), spec.cutoffs)
        self.plan.check()
        measures = parse_all(self.plan.measures, k=self.choices.k)
        by_tokens = any(m.tokens is not None for m in measures)
        self.length = max(DEPTH if by_tokens else LENGTH, *spec.cutoffs, *(m.k or 0 for m in measures))
        slices_of(testset, self.choices.by)
        self._resolutions: dict[str, Resolution] = {}

    def contenders(
        self, records: Sequence[Mapping[str, Any]], journal: Journal, retry_errors: bool, say: Say
    ) -> tuple[list[Contender], list[Note]]:
        """What every system returned, from the journal where it is there already."""
        listed = self.spec.systems()
        found: list[Contender] = []
        notes: list[Note] = []
        for made in self.indexes:
            found += self._own(made, listed, _Journaled(records, journal, made.generation), say)
        for one in listed:
            contenders: list[Contender] = []
            told: list[Note] = []
            if isinstance(one.source, SystemSettings):
                if one.source.has_store:
                    contenders, told = self._stores(one, one.source, say)
            else:
                contenders, told = self._outside(one, records, journal, retry_errors, say)
            found += contenders
            notes += told
        names = [contender.name for contender in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two systems are called {twice[0]!r}. Give one of them a name of its own.")
        if not found:
            raise UsageError("no system is named. Add `systems` or `sweep` to karat.yaml.")
        return found, notes

    def _own(self, made: _Made, listed: Sequence[Listed], memory: Memory, say: Say) -> list[Contender]:
        own = [(x.configuration, x.source) for x in listed if isinstance(x.source, SystemSettings)]
        chosen = [(configuration, settings) for configuration, settings in own if not settings.has_store]
        if self.spec.grid is not None:
            listed_already = {settings.essence(self.length) for _, settings in chosen}
            points, _ = self.spec.grid.points(self.length)
            chosen += [
                (p.configuration(), p.system) for p in points if p.system.essence(self.length) not in listed_already
            ]
        retrieval = Retrieval(made.index, [q.text for q in self.testset], say, memory)
        retrieval.plan([settings for _, settings in chosen], self.length)
        resolution = self._resolution(made)
        found = []
        for configuration, settings in chosen:
            retrieved = retrieval.of(settings, self.length)
            shown = _marked(configuration, made)
            top = retrieved.ranked.top(self.length)
            hits = Found(made.index.chunks, (), retrieved.legs, retrieved.parts, top)
            hit_run = hits.run(shown.name, self.testset.ids, self.choices.pages)
            seconds = retrieved.seconds.tolist()
            found.append(Contender(shown, hit_run, seconds, retrieved, retrieval, resolution))
        return found

    def _stores(self, one: Listed, settings: SystemSettings, say: Say) -> tuple[list[Contender], list[Note]]:
        """A system that searches a store of another tool, whose chunks are its own; the rest comes from the index."""
        from karat.core.evaluation import Note
        from karat.experiment.system import System

        found, notes = [], []
        fused = any(":" not in leg for leg in settings.consulted)
        for made in self.indexes if fused or len(self.indexes) == 1 else [None]:
            shown = _marked(one.configuration, made) if made is not None and fused else one.configuration
            say(f"searching by {shown.name}", 0, 1)
            system = System(settings, made.index if made is not None else None)
            hits = system.search([q.text for q in self.testset], self.length)
            found.append(self._contender(shown, hits.run(shown.name, self.testset.ids, self.choices.pages), ()))
            notes += [Note("warning", f"{shown.name}: {note}") for note in hits.notes]
        return found, notes

    def _outside(
        self, one: Listed, records: Sequence[Mapping[str, Any]], journal: Journal, retry_errors: bool, say: Say
    ) -> tuple[list[Contender], list[Note]]:
        """A results file, or a system that is asked question by question."""
        from karat.core.evaluation import Note
        from karat.experiment.outside import ask_all, opened, run_of_records
        from karat.experiment.spec import ResultsFile
        from karat.files import read_results

        if isinstance(one.source, ResultsFile):
            runs, _ = read_results(one.source.path)
            return [self._contender(_of_several(one, runs, run), run, ()) for run in runs], []
        assert not isinstance(one.source, SystemSettings)
        known = {str(r["row"]["id"]): r["row"] for r in records if r.get("system") == one.name}
        kept = {q: r for q, r in known.items() if not (retry_errors and r.get("status") == "failed")}
        missing = [question for question in self.testset if question.id not in kept]
        done = 0

        def journaled(question: Question, reply: Any) -> None:
            nonlocal done
            kept[question.id] = reply.record(question)
            journal.add([{"system": one.name, "row": kept[question.id]}])
            done += 1
            say(f"asking {one.name}", done, len(missing))

        notes = []
        if missing:
            with opened(one.source, one.name) as system:
                limit = self.spec.keys.budgets.max_failures
                ask_all(system, missing, self.length, one.source.jobs, journaled, max_failures=limit)
                notes = [Note("warning", f"{one.name}: {remark}") for remark in system.remarks]
        rows = [kept[qid] for qid in self.testset.ids]
        seconds = [row.get("seconds", {}).get("total") for row in rows]
        return [self._contender(one.configuration, run_of_records(one.name, rows), seconds)], notes

    def _contender(self, configuration: Configuration, hits: Run, seconds: Sequence[float | None]) -> Contender:
        """A system that is not karat's; its hits may be chunks of the run's index all the same."""
        hits.name = configuration.name
        if len(self.indexes) == 1 and len(hits):
            (made,) = self.indexes
            if all(i.strip() in made.index.chunks.row_of for i in hits.doc_list):
                return Contender(configuration, hits, seconds, resolution=self._resolution(made))
        return Contender(configuration, hits, seconds)

    def _resolution(self, made: _Made) -> Resolution:
        from karat.experiment.score import resolved

        if made.generation not in self._resolutions:
            self._resolutions[made.generation] = resolved(self.testset, made.index, self.choices, lambda step: None)
        return self._resolutions[made.generation]


class _Journaled(Memory):
    """What legs found, kept in the journal."""

    def __init__(self, records: Sequence[Mapping[str, Any]], journal: Journal, generation: str) -> None:
        self._journal, self._generation = journal, generation
        self._known = {(r["leg"], r["question"]): r for r in records if r.get("index") == generation}

    def recall(self, leg: str, question: int) -> tuple[Ranked, float] | None:
        record = self._known.get((leg, question))
        if record is None:
            return None
        rows = np.array(record["rows"], np.int64)
        found = Ranked(np.array([0, len(rows)], np.int64), rows, np.array(record["scores"], np.float64))
        return found, float(record["seconds"])

    def keep(self, leg: str, question: int, found: Ranked, seconds: float) -> None:
        hits = {"rows": found.rows.tolist(), "scores": found.scores.tolist()}
        record = {"index": self._generation, "leg": leg, "question": question, "seconds": seconds, **hits}
        self._journal.add([record])


def _marked(configuration: Configuration, made: _Made) -> Configuration:
    """The configuration with its chunking and embedder, in its name too where several are compared."""
    settings = dict(configuration.settings)
    settings |= {"chunk": made.chunk} if made.chunk is not None else {}
    settings |= {"embedder": made.embedder} if made.embedder is not None else {}
    name = f"{configuration.name} [{made.mark}]" if made.mark else configuration.name
    return replace(configuration, name=name, settings=settings)


def _of_several(one: Listed, runs: Sequence[Run], run: Run) -> Configuration:
    """The name of one system of a results file that may hold several."""
    name = one.name if len(runs) == 1 else f"{one.name} {run.name}"
    return replace(one.configuration, name=name)


def _summary(study: Study) -> dict[str, Any]:
    """What `karat list` shows."""
    best = study.choice.best if study.choice is not None else None
    return {
        "systems": len(study.configurations),
        "questions": len(study.evaluation.testset),
        "main": best.measure if best is not None else study.main,
        **({"best": best.name, "mean": best.mean, "low": best.low, "high": best.high} if best is not None else {}),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
