"""System: settings over an index or a store, ready to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from karat.core.errors import UsageError
from karat.core.models import Models
from karat.systems.engines import Engines
from karat.systems.retrieval import Retrieval, Retrieved
from karat.systems.settings import DEPTH, SystemSettings

if TYPE_CHECKING:
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

    def search(self, questions: Sequence[str], k: int = DEPTH, *, whole: bool = False) -> Retrieved:
        """The best k chunks of each question; `whole` keeps all that the legs gave."""
        if k < 1:
            raise UsageError(f"k={k}: a cut-off is 1 or more.")
        retrieved = Retrieval(self.engines, questions, self.models).of(self.settings, k)
        told = (note for name in retrieved.legs for note in self.engines.notes(name))
        retrieved = replace(retrieved, notes=(*self.notes, *told, *retrieved.notes))
        return retrieved if whole else retrieved.top(k)
