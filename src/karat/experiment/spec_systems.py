"""Every system of a spec over its questions and indexes, and what each returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.models import Models
from karat.core.ranked import Ranked
from karat.experiment.study import Plan, StudySystem
from karat.results.study import Configuration
from karat.systems.engines import Engines
from karat.systems.retrieval import Memory, Retrieval
from karat.systems.settings import DEPTH, SystemSettings

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.run import Run
    from karat.core.types import Question, TestSet
    from karat.experiment.settings import Choices
    from karat.experiment.spec import Listed, Spec
    from karat.experiment.store import Journal
    from karat.match import Resolution
    from karat.results.evaluation import Note
    from karat.systems.index import Index

Say = Callable[[str, int, int], None]
LENGTH = 20  # hits that are kept of every list, or the largest cut-off where that is more; DEPTH where tokens cut


@dataclass(frozen=True)
class BuiltIndex:
    """An index of the run, and what it adds to the names of systems where there are several."""

    index: Index
    mark: str = ""
    chunk: str | None = None
    embedder: str | None = None

    @property
    def generation(self) -> str:
        return str(self.index.about["generation"])


class SpecSystems:
    """The systems of a spec over its questions and indexes."""

    def __init__(self, spec: Spec, testset: TestSet, indexes: Sequence[BuiltIndex]) -> None:
        from karat.core.language import parse_all
        from karat.experiment.inputs import slices_of

        self.spec, self.testset, self.indexes = spec, testset, indexes
        self.choices: Choices = spec.choices()
        judges = tuple(spec.keys.judge or ())
        self.plan = Plan(self.choices, spec.main, spec.cutoffs, spec.keys.answer is not None, judges)
        self.plan.check()
        measures = parse_all(self.plan.measures, k=self.choices.k, load_code=True)
        by_tokens = any(m.tokens is not None for m in measures)
        self.length = max(DEPTH if by_tokens else LENGTH, *spec.cutoffs, *(m.k or 0 for m in measures))
        self.asked_k = self.length if by_tokens else self._asked_k(measures)
        slices_of(testset, self.choices.by)
        self._resolutions: dict[str, Resolution] = {}

    def _asked_k(self, measures: Sequence[Measure]) -> int:
        """How many hits a system that is not karat's is asked for: the largest cut-off, or what an answerer reads.

        A measure without a cut-off takes lists as long as karat's own, where it is named or where there are such lists.
        """
        spec = self.spec
        own = spec.grid is not None or any(one.is_own for one in spec.systems())
        uncut = any(m.spec.stage == "retrieval" and m.k is None for m in measures)
        if uncut and (own or self.choices.measures):
            return self.length
        contexts = spec.answerer.contexts if spec.answerer is not None else 0
        return max(self.plan.k, contexts, *(m.k or 0 for m in measures))

    def retrieve(
        self,
        records: Sequence[Mapping[str, Any]],
        journal: Journal,
        retry_errors: bool,
        say: Say,
        models: Models | None = None,
    ) -> tuple[list[StudySystem], list[Note]]:
        """What every system returned, from the journal where it is there already; `models` rewrite and rerank."""
        models = models or Models()
        listed = self.spec.systems()
        found: list[StudySystem] = []
        notes: list[Note] = []
        for made in self.indexes:
            own, told = self._own(made, listed, _Journaled(records, journal, made.generation), models, say)
            found += own
            notes += told
        for one in listed:
            systems: list[StudySystem] = []
            told = []
            if isinstance(one.source, SystemSettings):
                if one.source.has_store:
                    systems, told = self._stores(one, one.source, models, say)
            else:
                systems, told = self._outside(one, records, journal, retry_errors, say)
            found += systems
            notes += told
        names = [system.name for system in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two systems are called {twice[0]!r}. Give one of them a name of its own.")
        if not found:
            raise UsageError("no system is named. Add `systems` or `sweep` to karat.yaml.")
        return found, notes

    def _own(
        self, made: BuiltIndex, listed: Sequence[Listed], memory: Memory, models: Models, say: Say
    ) -> tuple[list[StudySystem], list[Note]]:
        from karat.results.evaluation import Note
        from karat.systems.defaults import default_notes

        own = [(x.configuration, x.source) for x in listed if isinstance(x.source, SystemSettings)]
        chosen = [(configuration, settings) for configuration, settings in own if not settings.has_store]
        if self.spec.grid is not None:
            listed_already = {settings.essence(self.length) for _, settings in chosen}
            points, _ = self.spec.grid.points(self.length)
            chosen += [
                (p.configuration(), p.system) for p in points if p.system.essence(self.length) not in listed_already
            ]
        retrieval = Retrieval(
            Engines(made.index), [q.text for q in self.testset], models, progress=say, memory=memory, one_by_one=True
        )
        retrieval.plan([settings for _, settings in chosen], self.length)
        resolution = self._resolution(made)
        found, notes = [], [Note("info", note) for note in default_notes(made.index)]
        for configuration, settings in chosen:
            retrieved = retrieval.of(settings, self.length)
            shown = _marked(configuration, made)
            hit_run = retrieved.top(self.length).run(shown.name, self.testset.ids, self.choices.matching.pages)
            found.append(StudySystem(shown, hit_run, retrieved.total_seconds, retrieved, retrieval, resolution))
            notes += [Note("warning", f"{shown.name}: {note}") for note in retrieved.notes]
        return found, notes

    def _stores(
        self, one: Listed, settings: SystemSettings, models: Models, say: Say
    ) -> tuple[list[StudySystem], list[Note]]:
        """A system that searches a store of another tool, whose chunks are its own; the rest comes from the index."""
        from karat.results.evaluation import Note
        from karat.systems.system import System

        found, notes = [], []
        fused = any(":" not in leg for leg in settings.consulted)
        for made in self.indexes if fused or len(self.indexes) == 1 else [None]:
            shown = _marked(one.configuration, made) if made is not None and fused else one.configuration
            say(f"searching by {shown.name}", 0, 1)
            system = System(settings, made.index if made is not None else None, models)
            hits = system.search([q.text for q in self.testset], self.length)
            found.append(
                self._study_system(shown, hits.run(shown.name, self.testset.ids, self.choices.matching.pages), ())
            )
            notes += [Note("warning", f"{shown.name}: {note}") for note in hits.notes]
        return found, notes

    def _outside(
        self, one: Listed, records: Sequence[Mapping[str, Any]], journal: Journal, retry_errors: bool, say: Say
    ) -> tuple[list[StudySystem], list[Note]]:
        """A results file, or a system that is asked question by question."""
        from karat.experiment.inputs import aligned_runs
        from karat.experiment.spec import ResultsFile
        from karat.files import read_results
        from karat.results.evaluation import Note
        from karat.systems.outside import ask_all, opened, run_of_records

        if isinstance(one.source, ResultsFile):
            runs, _ = read_results(one.source.path, columns=self.spec.keys.map)
            shown = [_of_several(one, runs, run) for run in runs]
            runs = [replace(run, name=configuration.name) for configuration, run in zip(shown, runs, strict=True)]
            runs, told = aligned_runs(self.testset, runs, self.choices.dialect)
            timed = [seconds_before_answering(run, self.testset.ids) for run in runs]
            return [self._study_system(c, run, s) for c, run, s in zip(shown, runs, timed, strict=True)], told
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
                ask_all(system, missing, self.asked_k, one.source.jobs, journaled, max_failures=limit)
                notes = [Note("warning", f"{one.name}: {remark}") for remark in system.remarks]
        rows = [kept[qid] for qid in self.testset.ids]
        seconds = [_seconds_to_retrieve(row.get("seconds", {})) for row in rows]
        return [self._study_system(one.configuration, run_of_records(one.name, rows), seconds)], notes

    def _study_system(self, configuration: Configuration, hits: Run, seconds: Sequence[float | None]) -> StudySystem:
        """A system that is not karat's; its hits may be chunks of an index of the run all the same."""
        hits = replace(hits, name=configuration.name)
        known = [sum(i.strip() in made.index.chunks.row_of for i in hits.doc_list) for made in self.indexes]
        if not known:
            return StudySystem(configuration, hits, seconds)
        made = self.indexes[known.index(max(known))]
        return StudySystem(configuration, hits, seconds, resolution=self._resolution(made))

    def _resolution(self, made: BuiltIndex) -> Resolution:
        from karat.experiment.inputs import resolved

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

    def keep(self, leg: str, question: int, ranked: Ranked, seconds: float) -> None:
        hits = {"rows": ranked.rows.tolist(), "scores": ranked.scores.tolist()}
        record = {"index": self._generation, "leg": leg, "question": question, "seconds": seconds, **hits}
        self._journal.add([record])


def _marked(configuration: Configuration, made: BuiltIndex) -> Configuration:
    """The configuration with its chunking and embedder, in its name too where several are compared."""
    settings = dict(configuration.settings)
    settings |= {"chunk": made.chunk} if made.chunk is not None else {}
    settings |= {"embedder": made.embedder} if made.embedder is not None else {}
    name = f"{configuration.name} [{made.mark}]" if made.mark else configuration.name
    return replace(configuration, name=name, settings=settings)


def seconds_before_answering(run: Run, questions: Sequence[str]) -> list[float | None]:
    """Seconds of retrieval that results give for each question."""
    found = [_seconds_to_retrieve(run.answers[qid].seconds) if qid in run.answers else None for qid in questions]
    return found if any(seconds is not None for seconds in found) else []


def _seconds_to_retrieve(parts: Mapping[str, float]) -> float | None:
    """Seconds of retrieval: as such, or in all less those of answering."""
    if "retrieve" in parts or "total" not in parts:
        return parts.get("retrieve")
    return max(parts["total"] - parts.get("answer", 0.0), 0.0)


def _of_several(one: Listed, runs: Sequence[Run], run: Run) -> Configuration:
    """The name of one system of a results file that may hold several."""
    name = one.name if len(runs) == 1 else f"{one.name} {run.name}"
    return replace(one.configuration, name=name, settings={**one.configuration.settings, **run.settings})
