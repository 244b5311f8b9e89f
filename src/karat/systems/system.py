"""System: settings over an index or a store, ready to search, alone or beside others over the same index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.models import Models
from karat.match import Exclusions
from karat.results.evaluation import Note
from karat.systems.engines import Engines
from karat.systems.retrieval import Retrieval
from karat.systems.retrieved import Retrieved
from karat.systems.settings import DEPTH, SystemSettings
from karat.systems.source import RunRequest, SystemRun, known_seconds, retrieval_seconds

if TYPE_CHECKING:
    from karat.results.study import Configuration
    from karat.systems.index import Index


@dataclass(frozen=True)
class System:
    """Settings over an index; engines are loaded when they are first asked. `notes` say how settings were chosen."""

    settings: SystemSettings
    index: Index | None = None
    models: Models = field(default_factory=Models)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.settings.check()

    @cached_property
    def engines(self) -> Engines:
        """What it asks, opened once for all searches."""
        return Engines(self.index, self.settings.embedder)

    def search(
        self, questions: Sequence[str], k: int = DEPTH, *, whole: bool = False, excluded: Exclusions | None = None
    ) -> Retrieved:
        """The best k chunks of each question that it does not exclude; `whole` keeps all that the legs gave."""
        if k < 1:
            raise UsageError(f"k={k}: a cut-off is 1 or more.")
        retrieved = Retrieval(self.engines, questions, self.models, excluded=excluded).of(self.settings, k)
        told = (note for name in retrieved.legs for note in self.engines.notes(name))
        retrieved = replace(retrieved, notes=(*self.notes, *told, *retrieved.notes))
        return retrieved if whole else retrieved.top(k)

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        """What it finds for all questions at once; the seconds of one are those of stores that are asked one by one.

        Rows over a store that are known from before are taken as they are: it may have failed on the others alone.
        """
        from karat.core.run import Run
        from karat.files import result_rows
        from karat.retrieve import StoreError
        from karat.systems.outside import run_of_records

        name, testset = configuration.name, request.testset
        rows = dict(request.rows.known(name)) if self.settings.has_store else {}
        asked = [question for question in testset if question.id not in rows]
        notes = tuple(request.rows.notes(name)) if rows else ()
        if asked:
            request.progress(f"searching by {name}", 0, 1)
            ids = [question.id for question in asked]
            seconds: Sequence[float | None] = [None] * len(ids)
            try:
                excluded = Exclusions(testset.with_questions(asked, testset.name))
                retrieved = self.search([question.text for question in asked], request.length, excluded=excluded)
                run, notes = retrieved.run(name, ids, request.pages), (*notes, *retrieved.notes)
                if all(":" in leg for leg in retrieved.legs):
                    seconds = retrieved.total_seconds
            except StoreError as problem:  # it could not be opened
                run = Run(name, failed=dict.fromkeys(ids, str(problem)))
            if self.settings.has_store:
                spent = dict(zip(ids, seconds, strict=True))
                request.rows.keep_notes(name, notes)
                for row in result_rows([run]):
                    retrieving = spent[str(row["id"])]
                    rows[str(row["id"])] = row | ({} if retrieving is None else {"seconds": {"retrieve": retrieving}})
                    request.rows.keep(name, rows[str(row["id"])])
        timed = known_seconds(retrieval_seconds(rows.get(qid, {}).get("seconds", {}), False) for qid in testset.ids)
        if len(asked) < len(testset):
            untimed = [{key: value for key, value in rows[qid].items() if key != "seconds"} for qid in testset.ids]
            run = replace(run_of_records(name, untimed), unique=True, complete=True)
        yield SystemRun(configuration=configuration, run=run, seconds=timed, notes=_notes(configuration, notes))

    def reads(self) -> Iterator[Path]:
        return self.settings.reads()


@dataclass(frozen=True)
class IndexSystem:
    """Settings over an index that several systems search together: legs, pools and chunks are shared."""

    settings: SystemSettings
    retrieval: Retrieval

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        """What it finds for each question, with the seconds of those that were timed."""
        retrieved = self.retrieval.of(self.settings, request.length)
        seconds = retrieved.total_seconds
        top = retrieved.top(request.length)
        run = top.run(configuration.name, request.testset.ids, request.pages)
        yield SystemRun(
            configuration=configuration,
            run=run,
            seconds=seconds if any(spent is not None for spent in seconds) else (),
            notes=_notes(configuration, retrieved.notes),
            retrieved=top if retrieved.settings.rerank is None else retrieved,
            retrieval=self.retrieval,
        )

    def reads(self) -> Iterator[Path]:
        return self.settings.reads()


def _notes(configuration: Configuration, notes: Sequence[str]) -> list[Note]:
    return [Note("warning", f"{configuration.name}: {note}") for note in dict.fromkeys(notes)]
