"""Answered: the meeting of answers and references, as Judged is of hits and gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answered:
    """One entry per pair (system x question), numbered system-major.

    `answers` None: the system gave none. `contexts` None: none are known. `memo` lets measures share tokens; it
    lives and dies with this object.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    texts: Sequence[str]
    answers: Sequence[str | None]
    references: Sequence[tuple[str, ...]]
    contexts: Sequence[tuple[str, ...] | None]
    answerable: Sequence[bool]
    memo: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    def tokens(self, text: str, tokenise: Callable[[str], Sequence[str]], name: str) -> tuple[str, ...]:
        """Tokens of a text, computed once per text and tokeniser name."""
        key = (name, text)
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = tuple(tokenise(text))
        return found

    def __len__(self) -> int:
        return len(self.answers)
