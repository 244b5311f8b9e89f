"""System: settings over an index or a store, ready to search, alone or beside others over the same index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.models import Models
from karat.systems.engines import Engines
from karat.systems.retrieval import Retrieval, Retrieved
from karat.systems.settings import DEPTH, SystemSettings
from karat.systems.source import RunRequest, SystemRun

if TYPE_CHECKING:
    from karat.match import Exclusions
    from karat.results.evaluation import Note
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
        """What it finds for all questions at once; nobody can tell the seconds of one."""
        from karat.match import Exclusions

        request.progress(f"searching by {configuration.name}", 0, 1)
        excluded = Exclusions(request.testset)
        retrieved = self.search([q.text for q in request.testset], request.length, excluded=excluded)
        run = retrieved.run(configuration.name, request.testset.ids, request.pages)
        yield SystemRun(configuration=configuration, run=run, notes=_notes(configuration, retrieved))

    def reads(self) -> Iterator[Path]:
        return self.settings.reads()


@dataclass(frozen=True)
class IndexSystem:
    """Settings over an index that several systems search together: legs, pools and chunks are shared."""

    settings: SystemSettings
    retrieval: Retrieval

    def runs(self, configuration: Configuration, request: RunRequest) -> Iterator[SystemRun]:
        """What it finds for each question, with the seconds of each."""
        retrieved = self.retrieval.of(self.settings, request.length)
        top = retrieved.top(request.length)
        run = top.run(configuration.name, request.testset.ids, request.pages)
        yield SystemRun(
            configuration=configuration,
            run=run,
            seconds=retrieved.total_seconds,
            notes=_notes(configuration, retrieved),
            retrieved=top if retrieved.settings.rerank is None else retrieved,
            retrieval=self.retrieval,
        )

    def reads(self) -> Iterator[Path]:
        return self.settings.reads()


def _notes(configuration: Configuration, retrieved: Retrieved) -> list[Note]:
    from karat.results.evaluation import Note

    return [Note("warning", f"{configuration.name}: {note}") for note in retrieved.notes]
