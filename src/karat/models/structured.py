"""Structured replies: what a chat model says, as an object that fits a schema, or why it is none.

A reply that does not fit is sent back once with what was wrong. What still does not fit is an error with its reason;
no value is ever made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from karat.core.lazy import Lazy
from karat.core.models import ChatModel, ChatReply, Prompt
from karat.core.text.blocks import after_thoughts
from karat.core.text.wellformed import well_formed_values

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    T = TypeVar("T", bound=BaseModel)
else:
    T = TypeVar("T")

N = TypeVar("N", int, float)

READ = 4_000_000  # characters of a reply that are looked at
KEPT = 4_000  # characters of a reply that are kept to be shown
_SHOWN_BACK = 2_000  # characters of a reply that are sent back to be repaired
_TRIES = 100  # places in a reply where an object may begin
_BEGINS = re.compile(r'\{\s*["}]')  # as a JSON object does, unlike {this}
_NAMED = 5  # problems named when a reply is sent back


@dataclass(frozen=True)
class Structured(Generic[T]):
    """A reply as an object, or the reason why there is none. `raw` and `said` are the replies, the repair last."""

    value: T | None = None
    error: str | None = None
    raw: tuple[str, ...] = ()
    said: tuple[ChatReply, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Tokens of all its calls; None where one is unknown."""
        return total(n for reply in self.said for n in (reply.prompt_tokens, reply.completion_tokens))

    @property
    def cost_usd(self) -> float | None:
        """Cost of all its calls; None where one is unknown."""
        return total(reply.cost_usd for reply in self.said)


def total(numbers: Iterable[N | None]) -> N | None:
    """The sum; None where a number is not known, or there is none.

    >>> total([1, 2]), total([1, None]), total([])
    (3, None, None)
    """
    known = list(numbers)
    there = [number for number in known if number is not None]
    return sum(there[1:], there[0]) if there and len(there) == len(known) else None


def ask_structured(
    chat: ChatModel,
    prompts: Sequence[Prompt],
    schema: type[T] | Sequence[type[T]],
    said: Callable[[int, ChatReply], None] | None = None,
    *,
    check: Callable[[int, T], str | None] | None = None,
) -> list[Structured[T]]:
    """What the model says to each prompt, as objects of a pydantic model, or of one for each prompt.

    All prompts are asked in one batch and all repairs in another. `check` gets the number of a prompt and its object
    and says what is wrong beyond the schema. `said` is called for each reply, those of repairs too.
    """
    schemas = [schema] * len(prompts) if isinstance(schema, type) else schema

    def read(number: int, reply: ChatReply) -> Structured[T]:
        if reply.error is not None or reply.text is None:
            return Structured(error=reply.error or "the model said nothing", said=(reply,))
        raw = reply.text if len(reply.text) <= KEPT else f"{reply.text[:KEPT]} ... ({len(reply.text):,} characters)"
        value, problem = parse_reply(reply.text, schemas[number])
        if value is not None and check is not None:
            problem = check(number, value)
        if problem and reply.cut:
            problem = f"{problem}; the reply was cut off at its limit of tokens"
        return Structured(None if problem else value, problem, (raw,), (reply,))

    first = chat.ask(prompts, said)
    results = [read(number, reply) for number, reply in enumerate(first)]
    again = [n for n, result in enumerate(results) if result.value is None and first[n].error is None]
    if again:

        def repair(number: int) -> Prompt:
            n = again[number]
            return _repair(prompts[n], first[n], results[n].error or "", schemas[n])

        listener = (lambda number, reply: said(again[number], reply)) if said is not None else None
        for n, reply in zip(again, chat.ask(Lazy(len(again), repair), listener), strict=True):
            before, after = results[n], read(n, reply)
            error = f"the reply could not be used ({before.error}), nor could the one after it ({after.error})"
            results[n] = Structured(
                after.value, error if after.value is None else None, before.raw + after.raw, before.said + after.said
            )
    return results


def _repair(prompt: Prompt, reply: ChatReply, problem: str, schema: type[T]) -> Prompt:
    shown = json.dumps(schema.model_json_schema(), ensure_ascii=False, sort_keys=True)
    wrong = (
        f"That reply cannot be used: {problem}. Answer the same request again with one JSON object and nothing else: "
        f"no prose, no code fence. The object has to fit this JSON Schema: {shown}"
    )
    before = (reply.text or "").strip()[:_SHOWN_BACK] or "(an empty reply)"
    return replace(prompt, turns=(*prompt.turns, before, wrong))


def parse_reply(text: str, schema: type[T]) -> tuple[T | None, str | None]:
    """The one object of a reply that fits the schema, or what is wrong with the reply."""
    from pydantic import ValidationError

    if not text.strip():
        return None, "the reply is empty"
    objects, broken = _objects(after_thoughts(text[:READ]))
    if broken or not objects:
        return None, broken or "the reply holds no JSON object"
    fitting: list[T] = []
    problem = ""
    for one in objects:
        try:
            value = schema.model_validate(one)
        except ValidationError as error:
            problem = _problems(error)
        else:
            if value not in fitting:
                fitting.append(value)
    if len(fitting) > 1:
        return None, f"the reply holds {len(fitting)} different objects of which each could be meant"
    return (fitting[0], None) if fitting else (None, problem)


def _objects(text: str) -> tuple[list[dict[str, Any]], str | None]:
    """The outermost JSON objects in a text, or what is wrong with one of them.

    Nothing is taken from inside a broken object: that may be a quotation of somebody else's verdict. However hostile
    the text, no more than a few places are tried.
    """
    decoder = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_once)
    objects: list[dict[str, Any]] = []
    end = 0
    for _ in range(_TRIES):
        at = text.find("{", end)
        if at < 0:
            break
        end = at + 1
        if _BEGINS.match(text, at):
            try:
                value, end = decoder.raw_decode(text, at)
            except RecursionError:
                return [], "the reply nests too deeply"
            except ValueError as error:
                wrong = error.msg if isinstance(error, json.JSONDecodeError) else str(error).partition(":")[0]
                return [], f"the JSON object in the reply is broken: {wrong}"
            objects.append(well_formed_values(value))
    return objects, None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which no key has two values: which of them is meant cannot be told."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise ValueError("one key has two values")
    return values


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _problems(error: ValidationError) -> str:
    """What a schema finds wrong, without the values: they may hold anything."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{'.'.join(map(str, one['loc'])) or 'the object'}: {one['msg']}" for one in errors[:_NAMED]]
    more = len(errors) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")
