"""Answerers that are not karat's own: `call:module:function` and an HTTP endpoint, given a question and its contexts.

A function is called with the question's text and a list of the contexts' texts, best first; a second parameter
annotated `list[Context]` gets `karat.core.asked.Context`, with ids and sources, and a third one called `history` the
earlier turns of the conversation as messages. An endpoint gets what its body says.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from karat.answer import Answerer, AnswererSettings, within
from karat.core.conversation import HISTORY, messages_of, transcript
from karat.core.errors import UsageError
from karat.core.lazy import Lazy
from karat.core.loading import file_of, load_named
from karat.core.text.wellformed import well_formed_values
from karat.core.text.words import excerpt
from karat.core.types import Answer
from karat.systems.outside._call import CallOutcome, CallSettings, Function, without_history
from karat.systems.outside._endpoint import Endpoint, Filling, HttpSettings
from karat.systems.outside._http import answer_at
from karat.systems.outside._jobs import in_jobs
from karat.systems.outside._json_path import JsonPath
from karat.systems.outside._reply import BadReply, shown

if TYPE_CHECKING:
    from karat.core.asked import AnswerRequest, Context

CALL, HTTP = "call", "http"
ACCEPTED = (
    'Return the answer as a text, None, or a dict with "answer" and, where they are known, "confidence" (0 to 1), '
    '"used" (ids of contexts, or their numbers from 1), "contexts" (texts), "tokens" and "cost_usd".'
)
ANSWER_BODY = {"question": "{question}", "contexts": "{contexts}"}
ANSWER_PATH = "$.answer"
_Contexts = tuple["Context", ...]


@contextmanager
def answerer_outside(
    settings: AnswererSettings, outside: CallSettings | HttpSettings, max_failures: int | None = None
) -> Iterator[Answerer]:
    """A function or an endpoint as an answerer, until closed. Opening a function runs its module."""
    asks: _AnsweringFunction | _Http
    if isinstance(outside, CallSettings):
        with redirect_stdout(sys.stderr):
            asks = _AnsweringFunction(outside)
    else:
        asks = _Http(outside)
    try:
        yield OutsideAnswerer(settings, asks, max_failures)
    finally:
        asks.close()


@dataclass(frozen=True)
class ForeignAnswer:
    """What a stranger answered, with what it told about it; `used` are numbers of contexts from 0."""

    text: str | None
    _: KW_ONLY
    used: tuple[int, ...] | None = None
    contexts: tuple[str, ...] | None = None
    confidence: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class OutsideAnswerer:
    """Asks for one question after the other, several at a time; whatever goes wrong is the error of its answer."""

    def __init__(
        self, settings: AnswererSettings, asks: _AnsweringFunction | _Http, max_failures: int | None = None
    ) -> None:
        self.settings, self._asks, self._max_failures = settings, asks, max_failures
        self.name = settings.name
        whole = json.dumps([asks.essence, settings.contexts, settings.context_tokens])
        self.fingerprint = f"{settings.name} {hashlib.sha256(whole.encode()).hexdigest()[:32]}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What should be known of all answers together."""
        return self._asks.remarks

    def answer(self, asked: Sequence[AnswerRequest], done: Callable[[AnswerRequest, Answer], None]) -> None:
        in_jobs(
            Lazy(len(asked), lambda number: (one := asked[number], within(one, self.settings))),
            lambda pair: self._asks.ask(*pair),
            lambda reason: CallOutcome(error=reason, asked=False),
            lambda pair, got: done(pair[0], _answer(*pair, got)),
            jobs=self._asks.jobs,
            max_failures=self._max_failures,
        )


def _answer(asked: AnswerRequest, contexts: _Contexts, got: CallOutcome) -> Answer:
    reply: ForeignAnswer = got.value if got.error is None else ForeignAnswer(None)
    taken = contexts if reply.used is None else tuple(contexts[number] for number in reply.used)
    texts = tuple(context.text for context in taken)
    ids: tuple[str, ...] | None = tuple(context.id for context in taken)
    if reply.contexts is not None:
        texts, ids = reply.contexts, (ids if reply.contexts == texts else None)
    return Answer(
        asked.id,
        reply.text,
        contexts=texts,
        seconds={} if got.seconds is None else {"answer": got.seconds},
        tokens=reply.tokens,
        cost_usd=reply.cost_usd,
        error=got.error,
        confidence=reply.confidence,
        used=ids,
        given=tuple(context.id for context in contexts),
    )


class _AnsweringFunction:
    """A function that answers."""

    def __init__(self, settings: CallSettings) -> None:
        function = load_named(settings.target, "function", settings.folder)
        if inspect.isclass(function):
            raise UsageError(f"{settings.target!r} is a class. Name a function, or an object that can be called.")
        self.jobs, self._function = settings.jobs, Function(function, settings.timeout_seconds)
        self._whole, self._takes_history = _wants(function, settings.target)
        self._alone: set[str] = set()  # questions that were asked without their history
        file = file_of(settings.target, settings.folder)
        held = hashlib.sha256(file.read_bytes()).hexdigest() if file is not None and file.is_file() else None
        self.essence: list[Any] = [CALL, settings.target, held]

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*self._function.remarks, *without_history(len(self._alone)))

    def ask(self, asked: AnswerRequest, contexts: _Contexts) -> CallOutcome:
        passed = list(contexts) if self._whole else [context.text for context in contexts]
        past = [messages_of(asked.history)] if self._takes_history else []
        if asked.history and not past:
            self._alone.add(asked.id)
        return self._function.call((asked.question, passed, *past), lambda returned: read_answer(returned, contexts))

    def close(self) -> None:
        self._function.close()


class _Http:
    """An endpoint that answers."""

    def __init__(self, settings: HttpSettings) -> None:
        self.jobs, self._path = settings.jobs, JsonPath.parse(settings.paths["answer"])
        self._endpoint = Endpoint(settings)
        sent = [settings.url, settings.method, dict(settings.headers), settings.body, dict(settings.paths)]
        self.essence: list[Any] = [HTTP, sent]

    @property
    def remarks(self) -> tuple[str, ...]:
        return self._endpoint.remarks

    def ask(self, asked: AnswerRequest, contexts: _Contexts) -> CallOutcome:
        texts = {"question": asked.question, "id": asked.id, "contexts": "\n\n".join(c.text for c in contexts)}
        texts["history"] = transcript(asked.history)
        listed = [{"id": context.id, "text": context.text} for context in contexts]
        filling = Filling(texts, {"contexts": listed, "history": messages_of(asked.history)})
        return self._endpoint.ask(filling, lambda value: ForeignAnswer(answer_at(self._path, value)))

    def close(self) -> None:
        self._endpoint.close()


def _wants(function: Any, target: str) -> tuple[bool, bool]:
    """Whether a function takes contexts as objects, and whether it takes the earlier turns as its third parameter.

    One that does not take a question and contexts is refused.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False, False
    third = [
        p for p in list(signature.parameters.values())[2:3] if p.name in HISTORY and p.kind <= p.POSITIONAL_OR_KEYWORD
    ]
    try:
        signature.bind("", [], *third)
    except TypeError as problem:
        raise UsageError(
            f"{target!r} cannot be called with a question and contexts ({problem}). It takes the question's text and "
            "a list of texts, history if it likes, and nothing else without a default."
        ) from None
    second = list(signature.parameters.values())[1:2]
    return bool(second) and "Context]" in str(second[0].annotation), bool(third)


def read_answer(value: Any, contexts: Sequence[Context]) -> ForeignAnswer:
    """What a function returned, checked."""
    value = well_formed_values(value)
    if value is None or isinstance(value, str):
        return ForeignAnswer(value)
    if not isinstance(value, Mapping):
        raise BadReply(f"returned {shown(value)}. {ACCEPTED}")
    if "answer" not in value:
        keys = ", ".join(map(str, list(value)[:6])) or "nothing in it"
        raise BadReply(f"returned a dict with {excerpt(keys, 80)}. {ACCEPTED}")
    texts = value.get("contexts")
    for text in [] if texts is None else _list(texts, "contexts"):
        _check(text, "context", isinstance(text, str), "text")
    text, confidence, tokens, cost = (value.get(name) for name in ("answer", "confidence", "tokens", "cost_usd"))
    _check(text, "answer", text is None or isinstance(text, str), "text")
    _check(confidence, "confidence", confidence is None or _is_number(confidence, 1.0), "number from 0 to 1")
    _check(tokens, "tokens", tokens is None or _is_whole(tokens), "whole number of 0 or more")
    _check(cost, "cost_usd", cost is None or _is_number(cost, math.inf), "number of 0 or more")
    return ForeignAnswer(
        text,
        used=_used(value.get("used"), contexts),
        contexts=None if texts is None else tuple(texts),
        confidence=None if confidence is None else float(confidence),
        tokens=None if tokens is None else int(tokens),
        cost_usd=None if cost is None else float(cost),
    )


def _check(returned: Any, name: str, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise BadReply(f"returned the {name} {shown(returned)}, which is no {wanted}. {ACCEPTED}")


def _is_number(returned: Any, most: float) -> bool:
    is_number = type(returned) is not bool and isinstance(returned, Real)
    return is_number and math.isfinite(float(returned)) and 0 <= float(returned) <= most


def _is_whole(returned: Any) -> bool:
    return type(returned) is not bool and isinstance(returned, Integral) and int(returned) >= 0


def _list(returned: Any, name: str) -> list[Any]:
    _check(returned, name, isinstance(returned, list | tuple), "list")
    return list(returned)


def _used(returned: Any, contexts: Sequence[Context]) -> tuple[int, ...] | None:
    """Numbers of contexts from 0, of ids or of numbers from 1."""
    if returned is None:
        return None
    places = {context.id: number for number, context in reversed(list(enumerate(contexts)))}
    numbers: dict[int, None] = {}
    for one in _list(returned, "used"):
        place = places.get(one) if isinstance(one, str) else None
        if _is_whole(one) and 1 <= one <= len(contexts):
            place = int(one) - 1
        if place is None:
            raise BadReply(f"says that it used the context {shown(one)}, which it was not given. {ACCEPTED}")
        numbers[place] = None
    return tuple(numbers)
