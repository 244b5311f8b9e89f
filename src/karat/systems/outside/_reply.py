"""SystemReply: what a system that is not karat's returned for one question, checked, or why there is nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any
from uuid import UUID

from karat.core.errors import InputError
from karat.core.text.wellformed import well_formed
from karat.core.text.words import excerpt
from karat.core.types import Answer, Question
from karat.files import ReplyReader, answer_row
from karat.io.fields import QUESTION, field_name
from karat.io.shapes import hit_of, record_of, with_plain_answer

Hit = dict[str, Any]
ACCEPTED = (
    "Return a list of ids, of (id, score) pairs, of dicts with id, score, text, doc, page, url, or of a framework's "
    'documents; or a dict with what a row of results may hold: "retrieved" (such a list), "answer", "contexts", '
    '"tokens" ... Otherwise say what is what: karat.system(obj, hits=..., answer=...).'
)
LONGEST = 500  # characters of an error


@dataclass(frozen=True, kw_only=True)
class SystemReply:
    """The hits of one question, best first, and the answer; or the error.

    `hits` None: the system returned no list, as one that only answers. `asked` False: the question was never put.
    `echo` is the question as the reply repeats it. `longer`: there were more hits than were asked for. `steps` are the
    calls that it made, as `Run.steps` has them; where it ranks nothing itself `hits` is None and theirs count.
    """

    hits: tuple[Hit, ...] | None = None
    answer: Answer | None = None
    seconds: float | None = None
    error: str | None = None
    asked: bool = True
    echo: str | None = None
    longer: bool = False
    steps: tuple[Hit, ...] | None = None

    def record(self, question: Question) -> dict[str, Any]:
        """As one row of canonical results, which `run_of` and `karat score` read."""
        spent = {} if self.seconds is None else {"total": self.seconds}
        row: dict[str, Any] = {"id": question.id}
        if self.error is not None:
            row |= {"status": "failed", "error": self.error}
        else:
            row |= {} if self.hits is None else {"retrieved": [dict(hit) for hit in self.hits]}
            row |= {} if self.answer is None else answer_row(self.answer)
            row |= {} if self.steps is None else {"steps": [dict(step) for step in self.steps]}
        seconds = {**row.get("seconds", {}), **spent}
        return {**row, "seconds": seconds} if seconds else row


class BadReply(Exception):  # noqa: N818
    """What was returned cannot be read: says what it was and what is accepted."""


def shown(value: Any) -> str:
    """A value of a stranger in a few printable characters."""
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return excerpt(text, 80)


def reply_of(record: Mapping[str, Any], question: Question, k: int, reader: ReplyReader) -> SystemReply:
    """What a record of results says of a question, with at most k hits."""
    try:
        row = reader.read(record, question.id)
    except InputError as error:
        raise BadReply(excerpt(str(error), LONGEST)) from None
    own = None if row.is_union else row.hits
    hits = None if own is None else tuple(own.rows()[:k])
    repeated = next((text for name, text in record.items() if field_name(str(name)) in QUESTION), None)
    echo = repeated if isinstance(repeated, str) else None
    steps = None if row.steps is None else tuple(row.steps)
    longer = own is not None and own.size > k
    return SystemReply(hits=hits, answer=row.answer, error=row.error, echo=echo, longer=longer, steps=steps)


def read_returned(value: Any, question: Question, k: int, reader: ReplyReader, *, answers: bool = False) -> SystemReply:
    """What was returned for a question: a list of hits, a record of results, or a reply in a framework's own shape.

    A text alone is an answer where the system is one that `answers`.
    """
    if isinstance(value, str) and answers:
        value = {"answer": value}
    reply = None if isinstance(value, list | tuple) else record_of(value)
    if reply is not None:
        value = {**value, **reply} if isinstance(value, Mapping) else reply
    elif not isinstance(value, Mapping):
        is_object = hasattr(value, "keys") or hasattr(type(value), "model_fields")  # iterated, it gives its names
        if is_object or not isinstance(value, Iterable) or isinstance(value, str | bytes | bytearray | set | frozenset):
            raise BadReply(f"returned {shown(value)}. {ACCEPTED}")
        value = {"retrieved": islice(iter(value), k + 1)}
    return reply_of(_plain(with_plain_answer(value), k), question, k, reader)


def _plain(value: Any, k: int) -> Any:
    """The same in dicts, lists, texts and numbers; of what is made on the way no more than k, as it may never end."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        if isinstance(value.get("steps"), Iterator):
            raise BadReply(f"returned steps {shown(value['steps'])}, which may never end. Return a list of them.")
        return {_plain(name, k): _plain(part, k) for name, part in value.items()}
    if isinstance(value, set | frozenset):
        raise BadReply(f"returned {shown(value)}, which has no order. {ACCEPTED}")
    if isinstance(value, UUID | PurePath):
        return str(value)
    if (part := hit_of(value) or record_of(value)) is not None:
        return _plain(part, k)
    if isinstance(value, Iterator):
        value = list(islice(value, k + 1))
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, k) for part in value]
    if isinstance(value, bool | int | float) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)
