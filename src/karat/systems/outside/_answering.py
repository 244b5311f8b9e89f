"""Answerers that are not karat's own: `call:module:function` and an HTTP endpoint, given a question and its contexts.

A function is called with the question's text and a list of the contexts' texts, best first; a second parameter
annotated `list[Context]` gets `karat.core.asked.Context`, with ids and sources. An endpoint gets what its body says.
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

from karat.answer import within
from karat.core.errors import UsageError
from karat.core.loading import file_of
from karat.core.text.wellformed import well_formed_values
from karat.core.text.words import excerpt
from karat.core.types import Answer
from karat.systems.outside._call import CallOutcome, CallSettings, Function
from karat.systems.outside._endpoint import Endpoint, Filling, HttpSettings
from karat.systems.outside._http import answer_at
from karat.systems.outside._jobs import in_jobs
from karat.systems.outside._json_path import JsonPath
from karat.systems.outside._reply import BadReply, shown

if TYPE_CHECKING:
    from karat.answer import Answerer, AnswererSettings
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
            [(one, within(one, self.settings)) for one in asked],
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
        self.jobs, self._function = settings.jobs, Function(settings)
        self._whole = _wants_contexts(self._function.function, settings.target)
        file = file_of(settings.target, settings.folder)
        held = hashlib.sha256(file.read_bytes()).hexdigest() if file is not None and file.is_file() else None
        self.essence: list[Any] = [CALL, settings.target, held]

    @property
    def remarks(self) -> tuple[str, ...]:
        return self._function.remarks

    def ask(self, asked: AnswerRequest, contexts: _Contexts) -> CallOutcome:
        passed = list(contexts) if self._whole else [context.text for context in contexts]
        return self._function.call((asked.question, passed), {}, lambda returned: read_answer(returned, contexts))

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
        listed = [{"id": context.id, "text": context.text} for context in contexts]
        filling = Filling(texts, {"contexts": listed})
        return self._endpoint.ask(filling, lambda value: ForeignAnswer(answer_at(self._path, value)))

    def close(self) -> None:
        self._endpoint.close()


def _wants_contexts(function: Any, target: str) -> bool:
    """Whether a function takes contexts as objects; one that does not take a question and contexts is refused."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    try:
        signature.bind("", [])
    except TypeError as problem:
        raise UsageError(
            f"{target!r} cannot be called with a question and contexts ({problem}). It takes the question's text and "
            "a list of texts, and nothing else without a default."
        ) from None
    second = list(signature.parameters.values())[1:2]
    return bool(second) and "Context]" in str(second[0].annotation)


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
    text = value["answer"]
    if text is not None and not isinstance(text, str):
        raise BadReply(f"returned the answer {shown(text)}, which is no text. {ACCEPTED}")
    tokens = _whole(value.get("tokens"))
    if value.get("tokens") is not None and (tokens is None or tokens < 0):
        raise BadReply(
            f"returned the tokens {shown(value['tokens'])}, which is no whole number of 0 or more. {ACCEPTED}"
        )
    return ForeignAnswer(
        text,
        used=_used(value.get("used"), contexts),
        contexts=_texts(value.get("contexts")),
        confidence=_number(value, "confidence", 1.0),
        tokens=tokens,
        cost_usd=_number(value, "cost_usd", math.inf),
    )


def _number(value: Mapping[Any, Any], name: str, most: float) -> float | None:
    returned = value.get(name)
    if returned is None:
        return None
    number = math.nan if isinstance(returned, bool) or not isinstance(returned, Real) else float(returned)
    if not (math.isfinite(number) and 0 <= number <= most):
        span = "from 0 to 1" if most == 1 else "of 0 or more"
        raise BadReply(f"returned the {name} {shown(returned)}, which is no number {span}. {ACCEPTED}")
    return number


def _whole(returned: Any) -> int | None:
    return None if isinstance(returned, bool) or not isinstance(returned, Integral) else int(returned)


def _listed(returned: Any, name: str) -> list[Any]:
    if not isinstance(returned, list | tuple):
        raise BadReply(f"returned the {name} {shown(returned)}, which is no list. {ACCEPTED}")
    return list(returned)


def _texts(returned: Any) -> tuple[str, ...] | None:
    if returned is None:
        return None
    texts = _listed(returned, "contexts")
    strange = [text for text in texts if not isinstance(text, str)]
    if strange:
        raise BadReply(f"returned the context {shown(strange[0])}, which is no text. {ACCEPTED}")
    return tuple(texts)


def _used(returned: Any, contexts: Sequence[Context]) -> tuple[int, ...] | None:
    """Numbers of contexts from 0, of ids or of numbers from 1."""
    if returned is None:
        return None
    places = {context.id: number for number, context in reversed(list(enumerate(contexts)))}
    numbers: dict[int, None] = {}
    for one in _listed(returned, "used"):
        number = _whole(one)
        place = places.get(one) if isinstance(one, str) else None
        if number is not None and 1 <= number <= len(contexts):
            place = number - 1
        if place is None:
            raise BadReply(f"says that it used the context {shown(one)}, which it was not given. {ACCEPTED}")
        numbers[place] = None
    return tuple(numbers)
