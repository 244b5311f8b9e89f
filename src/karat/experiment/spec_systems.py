"""Every system of a spec over its questions and indexes, and what each returned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.models import Models
from karat.core.progress import Progress
from karat.core.ranked import Ranked
from karat.experiment.inputs import Resolutions, aligned_runs, slices_of, without_excluded
from karat.experiment.study import Plan, StudySystem
from karat.io.packed import packed, unpacked
from karat.match import Exclusions
from karat.results.evaluation import Note
from karat.results.study import Configuration
from karat.stats.arrays import Floats
from karat.systems.engines import Engines
from karat.systems.retrieval import Memory, Retrieval
from karat.systems.settings import DEPTH, LENGTH, SystemSettings
from karat.systems.source import RunRequest, RunSource
from karat.systems.system import IndexSystem, System

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.types import TestSet
    from karat.experiment.settings import Choices
    from karat.experiment.spec import Spec
    from karat.experiment.store import Journal
    from karat.systems.index import Index
    from karat.systems.search_stage import SearchPool

_NOTES_OF = "notes_of"  # of the journal's record with what should be known of a system
TEXTS = "texts"  # of the journal's record that says which questions its numbers mean


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
        self._resolutions = Resolutions(testset, [built.index for built in indexes], self.choices)

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

    def over_index(self) -> list[tuple[Configuration, SystemSettings]]:
        """The systems that search an index alone: those listed, and those of the grid that are none of them."""
        listed = [(x.configuration, x.source) for x in self.spec.systems() if isinstance(x.source, SystemSettings)]
        systems = [(configuration, settings) for configuration, settings in listed if not settings.has_store]
        if self.spec.grid is not None:
            known = {settings.essence(self.length) for _, settings in systems}
            points, _ = self.spec.grid.points(self.length)
            systems += [(p.configuration(), p.system) for p in points if p.system.essence(self.length) not in known]
        return systems

    def retrieve(
        self,
        journal: Journal,
        models: Models,
        say: Progress,
        pool: SearchPool,
        earlier: Sequence[Mapping[str, Any]] = (),
    ) -> tuple[list[StudySystem], list[Note]]:
        """What every system returned, from the journal where it is there already; `models` rewrite and rerank.

        `earlier` is the journal of another run: what its legs found for the same questions is not searched again.
        """
        from karat.systems.defaults import default_notes

        request = RunRequest(
            testset=self.testset,
            length=self.length,
            asked_k=self.asked_k,
            pages=self.choices.matching.pages,
            columns=self.spec.keys.map,
            align=lambda runs: aligned_runs(self.testset, runs, self.choices.dialect),
            rows=_JournaledRows(journal),
            max_failures=self.spec.keys.budgets.max_failures,
            progress=say,
        )
        systems: list[StudySystem] = []
        notes = [Note("info", note) for built in self.indexes for note in default_notes(built.index)]
        exclusions = Exclusions(self.testset)
        if exclusions:
            notes += [Note("info", exclusions.note(built.index.chunks)) for built in self.indexes]
        for configuration, source, built in self._sources(journal, models, say, pool, earlier, exclusions):
            for returned in source.runs(configuration, request):
                run, left_out = without_excluded(exclusions, returned.run)
                resolution = self._resolutions.of(run, None if built is None else built.index)
                systems.append(StudySystem(**{**vars(returned), "run": run}, resolution=resolution))
                notes += [*returned.notes, *left_out]
        pool.clear()
        names = [system.name for system in systems]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two systems are called {twice[0]!r}. Give one of them a name of its own.")
        if not systems:
            raise UsageError("no system is named. Add `systems` or `sweep` to karat.yaml.")
        return systems, notes

    def _sources(
        self,
        journal: Journal,
        models: Models,
        say: Progress,
        pool: SearchPool,
        earlier: Sequence[Mapping[str, Any]],
        excluded: Exclusions,
    ) -> Iterator[tuple[Configuration, RunSource, BuiltIndex | None]]:
        """Every system with what answers for it, and the index whose chunks it ranks, where it is one of the run."""
        systems, questions = self.over_index(), [q.text for q in self.testset]
        for built in self.indexes:
            memory = _JournaledLegs(journal, built, questions, earlier)
            retrieval = Retrieval(
                Engines(built.index), questions, models, progress=say, memory=memory, timed=True, pool=pool,
                excluded=excluded,
            )  # fmt: skip
            retrieval.plan([settings for _, settings in systems], self.length)
            for configuration, settings in systems:
                yield _marked(configuration, built), IndexSystem(settings, retrieval), built
        for one in self.spec.systems():
            if not isinstance(one.source, SystemSettings):
                yield one.configuration, one.source, None
            elif one.source.has_store:
                fused = any(":" not in leg for leg in one.source.consulted)
                for beside in self.indexes if fused or len(self.indexes) == 1 else (None,):
                    shown = _marked(one.configuration, beside) if beside is not None and fused else one.configuration
                    yield shown, System(one.source, beside.index if beside is not None else None, models), None


class _JournaledRows:
    """What systems that are asked replied, kept in the journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def known(self, system: str) -> dict[str, Mapping[str, Any]]:
        rows = {str(r["row"]["id"]): r["row"] for r in self._journal.records if r.get("system") == system}
        again = self._journal.retry_errors
        return {qid: row for qid, row in rows.items() if not (again and row.get("status") == "failed")}

    def keep(self, system: str, row: Mapping[str, Any]) -> None:
        self._journal.add([{"system": system, "row": row}])

    def notes(self, system: str) -> list[str]:
        records = [r["notes"] for r in self._journal.records if r.get(_NOTES_OF) == system]
        return list(records[-1]) if records else []  # the last say what the first said, if that still holds

    def keep_notes(self, system: str, notes: Sequence[str]) -> None:
        self._journal.add([{_NOTES_OF: system, "notes": notes}])


class _JournaledLegs(Memory):
    """What legs found, kept in the journal; `earlier` are records of another run, which may have asked the same."""

    def __init__(
        self, journal: Journal, built: BuiltIndex, questions: Sequence[str], earlier: Sequence[Mapping[str, Any]]
    ) -> None:
        self._journal, self._generation, self._texts = journal, built.generation, _digests(questions)
        self._rows = int(built.index.about["corpus"]["chunks"])
        if not any(TEXTS in record for record in journal.records):
            journal.add([{TEXTS: self._texts}])
        self._known = {(r["leg"], tuple(r["questions"])): r for r in self._own(journal.records)}
        self._earlier = earlier
        self._of_earlier: dict[str, tuple[dict[str, int], Ranked]] = {}

    def _own(self, records: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        return (r for r in records if r.get("index") == self._generation and "questions" in r)

    def recall(self, leg: str, questions: Sequence[int]) -> tuple[Ranked, Floats] | None:
        record = self._known.get((leg, tuple(questions)))
        return None if record is None else (_ranked(record), unpacked(record["seconds"]).astype(np.float64))

    def earlier(self, leg: str, questions: Sequence[int]) -> tuple[list[int], Ranked]:
        if leg not in self._of_earlier:
            self._of_earlier[leg] = self._read_earlier(leg)
        place_of, ranked = self._of_earlier[leg]
        same = [number for number in questions if self._texts[number] in place_of]
        return same, ranked.take(np.array([place_of[self._texts[number]] for number in same], np.int64))

    def _read_earlier(self, leg: str) -> tuple[dict[str, int], Ranked]:
        """What a leg found before, and where the hits of each text are; nothing where the records do not fit."""
        try:
            texts: Sequence[str] = next((record[TEXTS] for record in self._earlier if TEXTS in record), [])
            records = [record for record in self._own(self._earlier) if record["leg"] == leg]
            asked = [texts[number] for record in records for number in record["questions"]]
            ranked = Ranked.joined(list(map(_ranked, records)))
        except (KeyError, TypeError, ValueError, IndexError):
            return {}, Ranked.empty(0)
        fits = len(asked) == len(ranked) and 0 <= ranked.rows.min(initial=0) <= ranked.rows.max(initial=0) < self._rows
        return ({text: place for place, text in enumerate(asked)}, ranked) if fits else ({}, Ranked.empty(0))

    def keep(self, leg: str, questions: Sequence[int], ranked: Ranked, seconds: Floats) -> None:
        record = {"index": self._generation, "leg": leg, "questions": list(questions)}
        arrays = {"sizes": np.diff(ranked.offsets), "rows": ranked.rows, "scores": ranked.scores, "seconds": seconds}
        self._journal.add([{**record, **{name: packed(array) for name, array in arrays.items()}}])


def _ranked(record: Mapping[str, Any]) -> Ranked:
    """The hits of a record of the journal."""
    sizes, rows, scores = (unpacked(record[name]) for name in ("sizes", "rows", "scores"))
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Ranked(offsets, rows.astype(np.int64), scores.astype(np.float64))


def _digests(texts: Sequence[str]) -> list[str]:
    """What stands for each text in a journal."""
    return [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]


def _marked(configuration: Configuration, built: BuiltIndex) -> Configuration:
    """The configuration with its chunking and embedder, in its name too where several are compared."""
    settings = dict(configuration.settings)
    settings |= {"chunk": built.chunk} if built.chunk is not None else {}
    settings |= {"embedder": built.embedder} if built.embedder is not None else {}
    name = f"{configuration.name} [{built.mark}]" if built.mark else configuration.name
    return replace(configuration, name=name, settings=settings)
