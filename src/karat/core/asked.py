"""AnswerRequest: what an answerer is given, a question and the contexts it may use. Nothing of the gold stands here."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.types import Turn


@dataclass(frozen=True, slots=True)
class Context:
    """A retrieved text as an answerer sees it; `source` says where it stands ("handbook.pdf, page 34")."""

    id: str
    text: str
    title: str = ""
    _: KW_ONLY
    source: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question by its id and text, with its contexts, best first, and the earlier turns of its conversation."""

    id: str
    question: str
    contexts: tuple[Context, ...] = ()
    history: tuple[Turn, ...] = ()
