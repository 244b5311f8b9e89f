"""Reply: what a system that is not karat's returned for one question, checked, or why there is nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from typing import Any

from karat.core.types import Question

Hit = dict[str, Any]
ACCEPTED = (
    "Return a list of ids, of (id, score) pairs or of dicts with id, score, text, doc, page, url; "
    'or a dict with "retrieved" (such a list) and "answer" (a text).'
)
_IDS = ("id", "chunk", "doc", "url")
_KNOWN = (*_IDS, "page", "text")
_LONGEST = 500


@dataclass(frozen=True)
class Reply:
    """The hits of one question, best first, and the answer; or the error.

    `hits` None: the system returned no list, as one that only answers. `asked` False: the question was never put.
    """

    hits: tuple[Hit, ...] | None = None
    answer: str | None = None
    seconds: float | None = None
    error: str | None = None
    asked: bool = True

    def record(self, question: Question) -> dict[str, Any]:
        """As one row of canonical results, which `run_of` and `karat score` read."""
        row: dict[str, Any] = {"id": question.id}
        if self.error is not None:
            row |= {"status": "failed", "error": self.error}
            return row if self.seconds is None else {**row, "seconds": {"total": self.seconds}}
        if self.hits is not None:
            row["retrieved"] = [dict(hit) for hit in self.hits]
        if self.answer is not None:
            row["answer"] = self.answer
        if self.seconds is not None:
            row["seconds"] = {"total": self.seconds}
        return row


class BadReply(Exception):  # noqa: N818
    """What was returned cannot be read: says what it was and what is accepted."""


def shown(value: Any) -> str:
    """A value of a stranger in a few printable characters."""
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return one_line(text, 80)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Text of a stranger, safe to print: one line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * longest]).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def read_returned(value: Any, k: int) -> tuple[tuple[Hit, ...] | None, str | None]:
    """Hits and answer of what a function returned; at most k hits are taken."""
    if isinstance(value, Mapping):
        if not {"retrieved", "answer"} & set(value):
            keys = ", ".join(map(str, list(value)[:6])) or "nothing in it"
            raise BadReply(f"returned a dict with {one_line(keys, 80)}. {ACCEPTED}")
        answer = value.get("answer")
        if answer is not None and not isinstance(answer, str):
            raise BadReply(f"returned the answer {shown(answer)}, which is no text. {ACCEPTED}")
        retrieved = value.get("retrieved")
        if retrieved is None and answer is None:
            raise BadReply(f"returned neither hits nor an answer. {ACCEPTED}")
        return (None if retrieved is None else _hits(retrieved, k)), answer
    return _hits(value, k), None


def _hits(value: Any, k: int) -> tuple[Hit, ...]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | bytearray | Mapping | set | frozenset):
        raise BadReply(f"returned {shown(value)}. {ACCEPTED}")
    return tuple(_hit(item, place) for place, item in enumerate(_first(value, k), 1))


def _first(value: Iterable[Any], k: int) -> Iterator[Any]:
    return islice(iter(value), k)


def _hit(item: Any, place: int) -> Hit:
    if isinstance(item, Mapping):
        return hit_of(item, place)
    if isinstance(item, list | tuple):
        if len(item) != 2:
            raise BadReply(f"hit {place} is {shown(item)}, which is no (id, score) pair. {ACCEPTED}")
        return {"id": _id(item[0], place), "score": _score(item[1], place)}
    return {"id": _id(item, place)}


def hit_of(given: Mapping[Any, Any], place: int) -> Hit:
    """A hit from its fields; what karat does not know of it is left aside."""
    made: Hit = {}
    for name in _IDS:
        if given.get(name) is not None:
            made[name] = _id(given[name], place)
    if given.get("page") is not None:
        pages = given["page"]
        several = isinstance(pages, list | tuple)
        made["page"] = [_id(page, place) for page in pages] if several else _id(pages, place)
    if given.get("text") is not None:
        if not isinstance(given["text"], str):
            raise BadReply(f"hit {place}: its text is {shown(given['text'])}. {ACCEPTED}")
        made["text"] = given["text"]
    if given.get("score") is not None:
        made["score"] = _score(given["score"], place)
    if not any(name in made for name in _KNOWN):
        keys = ", ".join(map(str, list(given)[:6])) or "nothing in it"
        raise BadReply(f"hit {place} is a dict with {one_line(keys, 80)} and none of {', '.join(_KNOWN)}. {ACCEPTED}")
    return made


def _id(value: Any, place: int) -> str:
    if isinstance(value, str) and value.strip():
        return value
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    if whole and not isinstance(value, bool):
        return str(int(value))
    raise BadReply(f"hit {place} has the id {shown(value)}, which is neither text nor a whole number. {ACCEPTED}")


def _score(value: Any, place: int) -> float:
    real = isinstance(value, Real)
    if real and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise BadReply(f"hit {place} has the score {shown(value)}, which is no finite number. {ACCEPTED}")
