"""What an answerer is: questions with their contexts in, one answer each out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol, runtime_checkable

from karat.core.asked import AnswerRequest
from karat.core.errors import UsageError, did_you_mean
from karat.core.models import Models
from karat.core.registry import Registry
from karat.core.types import Answer

Done = Callable[[AnswerRequest, Answer], None]


@dataclass(frozen=True)
class AnswererSettings:
    """Which answerer, in plain values (JSON).

    `contexts` is how many of the first hits it gets. `context_tokens` is how many tokens (by karat's count, as chunks
    are cut) it may read of them: contexts that no longer fit are left out, never cut in the middle; None: no limit.
    `threshold` is the evidence below which `extractive` declines; None: as tuned. `prompt` is a template of the user's
    for `chat`, with {question} and {contexts}; None: karat's.
    """

    name: str = "extractive"
    contexts: int = 5
    context_tokens: int | None = None
    threshold: float | None = None
    prompt: str | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> AnswererSettings:
        """From JSON values, as `plain` makes them."""
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise UsageError(f"unknown answerer setting {name!r}.{did_you_mean(name, known)}")
        return cls(**values)

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)


@runtime_checkable
class Answerer(Protocol):
    """An answerer that is ready to use.

    `fingerprint` changes whenever its answers may change: what is journaled is kept under it. Each answer holds the
    texts and ids of the contexts it used, its seconds under "answer", tokens and cost where they are known, and an
    `error` in place of a text where it failed: one failure stops nothing. `done` is called once for each question, in
    any order, from the calling thread; requests are made when they are looked at, so one is looked at when its turn
    comes and not kept. One that has `remarks`, a sequence of sentences, is told by them afterwards. One that
    `is_portable` asks no endpoint, and another process makes the same of its settings and the embedder.
    """

    name: str
    fingerprint: str

    def answer(self, asked: Sequence[AnswerRequest], done: Done) -> None: ...


Maker = Callable[[AnswererSettings, Models], Answerer]


def _find(source: Any) -> Maker | None:
    answerer = getattr(source, "answerer", source)
    return answerer if callable(answerer) and not isinstance(answerer, type) else None


ANSWERERS: Registry[Maker] = Registry("answerer", ("karat.answer",), "karat.answerers", _find)


def answerer_named(settings: AnswererSettings, models: Models) -> Answerer:
    """The answerer that the settings name, ready to use."""
    if settings.contexts < 1:
        raise UsageError(f"contexts={settings.contexts}: an answerer gets 1 context or more.")
    return ANSWERERS.get(settings.name)(settings, models)
