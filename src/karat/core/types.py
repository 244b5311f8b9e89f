"""The nouns a test set and an answer are made of. All frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from operator import index
from typing import Any, overload

from karat.core.errors import UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.text import Norm
from karat.core.text.words import names, plural

Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """One unit that answers a question, named in whatever ways its author named it, and its grade.

    `id` is the plain identifier of a qrels file; the other fields say what kind of thing it is.
    """

    id: str | None = None
    doc: str | None = None
    page: str | None = None
    url: str | None = None
    chunk: str | None = None
    quote: str | None = None
    span: tuple[int, int] | None = None
    grade: int = 1

    @property
    def label(self) -> str:
        """One name for the unit, for messages and exact matching: its id, or document and the place in it."""
        plain = self.id if self.id is not None else self.chunk
        if plain is not None:
            return plain
        whole = self.url if self.url is not None else self.doc
        if self.page is not None:
            return self.page if whole is None else f"{whole}#page={self.page}"
        if self.span is not None:
            return f"{whole or ''}#char={self.span[0]},{self.span[1]}"
        if self.quote is not None:
            return self.quote if whole is None else f"{whole}#quote={self.quote}"
        return whole or ""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer states: a vital one must be there, another is okay to have."""

    text: str
    vital: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier turn of a conversation: what was asked, and what was answered where that is known."""

    question: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold; `answers` are acceptable reference answers, any of them.

    `nuggets` are the facts that an answer should state. Hits on `excluded` ids do not count for it. `history` are the
    earlier turns of its conversation, `turn` is its own place in it: a question without any of these is a
    conversation of its own.
    """

    id: str
    text: str = ""
    _: KW_ONLY
    answers: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    kind: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    answerable: bool = True
    nuggets: tuple[Nugget, ...] = ()
    excluded: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    conversation: str | None = None
    turn: int | None = None

    @property
    def excluded_gold(self) -> str | None:
        """An excluded id that its own gold names, as id or document: such a question contradicts itself."""
        named = {name for gold in self.gold for name in (gold.id, gold.chunk, gold.doc, gold.url, gold.label)}
        return next((name for name in self.excluded if name in named), None) if self.excluded else None

    def slice_value(self, name: str) -> str | None:
        """The question's value of a slice: its kind, turn, whether it is answerable, or one of its tags."""
        if name == "kind":
            return self.kind
        if name == "turn" and self.turn is not None:
            return str(self.turn)
        if name == "answerable":
            return "yes" if self.answerable else "no"
        return self.tags.get(name)


NO_VALUE = "(none)"
"""The value of a slice that stands for questions without one, such as those without a kind."""


def slice_order(name: str, values: Iterable[str]) -> list[str]:
    """The values of a slice as reports list them: turns by number, those of any other slice as they come.

    >>> slice_order("turn", ["1", "10", "(none)", "2"]), slice_order("kind", ["b", "a"])
    (['1', '2', '10', '(none)'], ['b', 'a'])
    """
    if name != "turn":
        return list(values)
    return sorted(values, key=lambda value: (not value.isdecimal(), int(value) if value.isdecimal() else 0))


class TestSet(NotebookView):
    """Questions in a fixed order, with a digest of all that scoring depends on.

    Made from questions or, without building an object per judgement, from qrels
    (`{question: {doc: grade}}`); either form is derived from the other when asked for. `version` is what it is frozen
    as; `changed` says how it is not what was frozen, where it was changed since. `norm` is the normaliser of
    answers that belongs to the form it was read from. `testset["q7"]` is the question of an id,
    `testset[0]` the first, `testset[:10]` a test set of the first ten.
    """

    __test__ = False  # not a pytest class, whatever its name

    def __init__(
        self,
        questions: Iterable[Question] = (),
        *,
        qrels: Qrels | None = None,
        name: str = "test set",
        version: str | None = None,
        changed: str | None = None,
        norm: Norm | None = None,
    ) -> None:
        self.name, self.version, self.changed, self.norm = name, version, changed, norm
        self._qrels = qrels
        if qrels is None:
            self.questions = tuple(questions)

    def with_questions(self, questions: Iterable[Question], name: str) -> TestSet:
        """The same test set with some of its questions."""
        return TestSet(questions, name=name, version=self.version, changed=self.changed, norm=self.norm)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        return tuple(
            Question(qid, gold=tuple(Gold(id=doc, grade=grade) for doc, grade in docs.items()))
            for qid, docs in (self._qrels or {}).items()
        )

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._qrels) if self._qrels is not None else tuple(q.id for q in self.questions)

    @cached_property
    def qrels(self) -> Qrels | None:
        """`{question: {label: grade}}`; of gold named twice the higher grade holds."""
        if self._qrels is not None:
            return self._qrels
        table: dict[str, dict[str, int]] = {}
        for question in self.questions:
            row = table.setdefault(question.id, {})
            for gold in question.gold:
                row[gold.label] = max(gold.grade, row.get(gold.label, gold.grade))
        return table

    @cached_property
    def golds(self) -> tuple[Gold, ...]:
        """Every gold entry once, in order of appearance."""
        objects = {id(gold): gold for question in self.questions for gold in question.gold}  # many questions share one
        return tuple(dict.fromkeys(objects.values()))

    @property
    def has_gold(self) -> bool:
        """Whether any question has gold."""
        return any(self._qrels.values()) if self._qrels is not None else any(q.gold for q in self.questions)

    @property
    def is_plain(self) -> bool:
        """True when the gold is nothing but ids, as in a qrels file."""
        return self._qrels is not None

    @cached_property
    def slices(self) -> tuple[str, ...]:
        """Names that `by` accepts, in order of first appearance."""
        names: dict[str, None] = {}
        if any(q.kind is not None for q in self.questions):
            names["kind"] = None
        if any(q.turn is not None for q in self.questions):
            names["turn"] = None
        for question in self.questions:
            names.update(dict.fromkeys(question.tags))
        if not all(q.answerable for q in self.questions):
            names["answerable"] = None
        return tuple(names)

    @cached_property
    def conversations(self) -> tuple[int, ...] | None:
        """The number of each question's conversation; None where no two questions are of the same one.

        Scores of turns of one conversation are not independent: intervals and tests resample conversations.
        """
        if self._qrels is not None:
            return None
        numbers: dict[object, int] = {}
        keys = (q.conversation if q.conversation is not None else (place,) for place, q in enumerate(self.questions))
        by_question = tuple(numbers.setdefault(key, len(numbers)) for key in keys)
        return by_question if len(numbers) < len(by_question) else None

    @cached_property
    def digest(self) -> str:
        """sha256 over the questions in canonical JSON, in order."""
        sha = hashlib.sha256()
        for q in self.questions:
            gold = [[g.label, g.doc, g.page, g.url, g.chunk, g.quote, g.span, g.grade] for g in q.gold]
            row: list[Any] = [q.id, q.text, q.answers, gold, q.kind, dict(q.tags), q.answerable]
            if q.nuggets or q.excluded:  # else the digest is that of versions that knew neither
                row += [[[n.text, n.vital] for n in q.nuggets], q.excluded]
            if q.history or q.conversation is not None or q.turn is not None:
                row.append([[[t.question, t.answer] for t in q.history], q.conversation, q.turn])
            sha.update(json.dumps(row, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass"))
            sha.update(b"\n")
        return sha.hexdigest()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    @overload
    def __getitem__(self, which: int | str) -> Question: ...
    @overload
    def __getitem__(self, which: slice) -> TestSet: ...
    def __getitem__(self, which: int | str | slice) -> Question | TestSet:
        if isinstance(which, slice):
            name = f"{self.name} ({len(self.ids[which]):,} of {len(self):,})"
            if self._qrels is None:
                return self.with_questions(self.questions[which], name)
            qrels = {id_: self._qrels[id_] for id_ in self.ids[which]}
            return TestSet(qrels=qrels, name=name, version=self.version, changed=self.changed, norm=self.norm)
        if isinstance(which, str):
            places = self._places.get(which, [])
            if len(places) != 1:
                what = "holds no question" if not places else f"holds {len(places)} questions with the id"
                remedy = f"{did_you_mean(which, self.ids)} Its ids are {names(self.ids)}." if not places else ""
                raise UsageError(f"{self.name} {what} {which!r}.{remedy}")
            return self.questions[places[0]]
        return self.questions[index(which)]

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, id_ in enumerate(self.ids):
            places.setdefault(id_, []).append(place)
        return places

    def __contains__(self, which: object) -> bool:
        return which in self._places if isinstance(which, str) else which in self.questions

    def _line(self) -> str:
        return f"{self.name!r}, {plural(len(self), 'question')}"

    def _table(self) -> Table:
        return ("id", "question", "kind", "gold"), ((q.id, q.text, q.kind or "", _golds(q)) for q in self.questions)


def _golds(question: Question) -> str:
    return names([gold.label for gold in question.gold], most=2)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said to one question. `text` None: it said nothing.

    `contexts` are the texts it used and `used` their ids, where they are known; `given` are the ids of all that it
    could choose from, None: those it used. `error` is why it gave no answer though its hits stand. `confidence` (0 to
    1) is how sure the system says it is.
    """

    question: str
    text: str | None = None
    _: KW_ONLY
    contexts: tuple[str, ...] | None = None
    model: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    tokens: int | None = None
    cost_usd: float | None = None
    error: str | None = None
    confidence: float | None = None
    used: tuple[str, ...] | None = None
    given: tuple[str, ...] | None = None
