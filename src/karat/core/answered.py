"""Answered: the meeting of answers and references, as Judged is of hits and gold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from karat.core.conversation import texts_of
from karat.core.lazy import Lazy
from karat.core.models import Models

if TYPE_CHECKING:
    from karat.core.claims import ClaimTable
    from karat.core.types import Nugget, Turn

T = TypeVar("T")
BY_PAIR = (
    "texts", "answers", "references", "contexts", "answerable", "context_ids", "nuggets", "confidence", "context_gold",
    "history",
)  # fmt: skip
"""Fields of an `AnswerTable` that have an entry for each pair, or are empty."""


@dataclass(frozen=True)
class AnswerTable:
    """One entry per pair (system x question), numbered system-major.

    `answers` None: the system gave none. `contexts` None: none are known; `context_ids` are the ids of a pair's
    contexts, in the same order, () where they are not known. `nuggets` are the facts an answer should
    state, `confidence` how sure the system says it is (0 to 1), `context_gold` whether the contexts hold the gold,
    `history` the earlier turns of the question's conversation; each empty where nothing is known of it. `claims` is the
    claims table, None where none was made. `made` lets measures share what they make of the texts; it lives and dies
    with this object. `models` are the models that a measure may ask.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    _: KW_ONLY
    texts: Sequence[str]
    answers: Sequence[str | None]
    references: Sequence[tuple[str, ...]]
    contexts: Sequence[tuple[str, ...] | None]
    answerable: Sequence[bool]
    context_ids: Sequence[tuple[str, ...]] = ()
    nuggets: Sequence[tuple[Nugget, ...]] = ()
    confidence: Sequence[float | None] = ()
    context_gold: Sequence[bool | None] = ()
    history: Sequence[tuple[Turn, ...]] = ()
    claims: ClaimTable | None = None
    models: Models = field(default_factory=Models, repr=False, compare=False)
    made: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once under this key and shared by all measures of this object."""
        if key not in self.made:
            self.made[key] = make()
        value: T = self.made[key]
        return value

    def select(self, systems: Sequence[int], questions: Sequence[int]) -> AnswerTable:
        """Some systems and questions, by their numbers. Claims are of the whole, and are not handed on."""
        n = len(self.questions)
        pairs = [system * n + question for system in systems for question in questions]
        held = {name: getattr(self, name) for name in BY_PAIR}
        columns = {name: Lazy(len(pairs), _at(column, pairs)) for name, column in held.items() if len(column)}
        named = {
            "systems": tuple(self.systems[system] for system in systems),
            "questions": tuple(self.questions[question] for question in questions),
        }
        changed: dict[str, Any] = {**named, **columns, "claims": None, "made": {}}
        return replace(self, **changed)

    def ids_of(self, pair: int) -> tuple[str, ...]:
        """The ids of a pair's contexts, which its answer may cite; () where they are not known."""
        return self.context_ids[pair] if self.context_ids else ()

    def history_of(self, pair: int) -> tuple[Turn, ...]:
        """The earlier turns of a pair's conversation."""
        return self.history[pair] if self.history else ()

    @property
    def evidence(self) -> Sequence[tuple[str, ...] | None]:
        """What may support each answer: its contexts, and after them the texts of the earlier turns.

        Citations, gold and relevance are of `contexts` alone, whose numbers stay what they are.
        """
        if not any(self.history):
            return self.contexts
        return self.once("evidence", self._evidence)

    def _evidence(self) -> list[tuple[str, ...] | None]:
        known = zip(self.contexts, self.history, strict=True)
        return [None if texts is None else (*texts, *texts_of(turns)) for texts, turns in known]

    def __len__(self) -> int:
        return len(self.answers)


def _at(column: Sequence[Any], pairs: Sequence[int]) -> Callable[[int], Any]:
    return lambda number: column[pairs[number]]
