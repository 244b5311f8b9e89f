"""Run: all that one system returned for many questions, columnar."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import chain, repeat
from math import isfinite
from operator import eq
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np

from karat.core.errors import InputError
from karat.core.glance import NotebookView, Table
from karat.core.text.words import plural
from karat.core.types import Answer

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

T = TypeVar("T")
Order = Literal["given", "score"]
HIT_FIELDS = ("chunk", "doc", "page", "page_label", "url", "text", "span", "tokens")


class HitColumn(Sequence[T]):
    """A value of each hit, looked up when it is asked for: `by_row` has one for each row of a table of chunks."""

    def __init__(self, by_row: Sequence[T], rows: NDArray[np.int64]) -> None:
        self.by_row, self.rows = by_row, rows

    @overload
    def __getitem__(self, hit: int) -> T: ...
    @overload
    def __getitem__(self, hit: slice) -> list[T]: ...
    def __getitem__(self, hit: int | slice) -> T | list[T]:
        if isinstance(hit, slice):
            return [self.by_row[row] for row in self.rows[hit].tolist()]
        return self.by_row[int(self.rows[hit])]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[T]:
        return map(self.by_row.__getitem__, self.rows.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


@dataclass(frozen=True, eq=False, repr=False)
class Run(NotebookView):
    """A system's hits, grouped by question, with its answers and failures. `dataclasses.replace` copies it.

    `question_ids` are the questions that have a list of hits; that of question i is `docs[offsets[i]:offsets[i + 1]]`.
    `order` says how to rank them: "given" keeps the order of the list; "score" ranks as trec_eval does: score
    descending as float32, then id descending. `fields` holds further columns of the hits (HIT_FIELDS), each as long as
    `docs`. A question in `failed` has a reason instead of a result, one in `unasked` a reason why no answer was asked
    for. `settings` are alpha and k, and `texts` what the questions asked (to align without ids), where results say so.
    `steps` are the calls of a question, where they are known, each with `query`, `retrieved` (of a retrieval call),
    `tool`, `seconds` and `tokens`.
    `unique`: no id stands twice for a question. `complete`: a list ends where nothing more was found, not at a cut-off
    that is measured. `by_question` holds the hits as dicts until columns are asked for.
    """

    name: str
    question_ids: Sequence[str] = ()
    offsets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    _docs: Sequence[str] | pl.Series = ()
    _scores: NDArray[np.float64] | None = None
    _: KW_ONLY
    order: Order = "given"
    fields: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    unique: bool = False
    complete: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    settings: Mapping[str, float] = field(default_factory=dict)
    by_question: Mapping[str, Mapping[str, float]] | None = None

    def __post_init__(self) -> None:
        if not self.source:
            object.__setattr__(self, "source", self.name)

    @classmethod
    def from_scores(cls, name: str, hits: Mapping[str, Mapping[str, float]], source: str = "") -> Run:
        """A run from `{question: {doc: score}}`; the dicts are kept, and read when scores are asked for."""
        return cls(
            name,
            question_ids=list(hits),
            offsets=_offsets(hits),
            order="score",
            source=source,
            unique=True,
            by_question=hits,
        )

    @classmethod
    def from_lists(cls, name: str, hits: Mapping[str, Sequence[str]], source: str = "") -> Run:
        """A run from `{question: [doc, ...]}`, best first."""
        return cls(
            name,
            question_ids=list(hits),
            offsets=_offsets(hits),
            _docs=list(chain.from_iterable(hits.values())),
            source=source,
        )

    @cached_property
    def docs(self) -> Sequence[str] | pl.Series:
        """The id of each hit."""
        return self._docs if self.by_question is None else list(chain.from_iterable(self.by_question.values()))

    @cached_property
    def scores(self) -> NDArray[np.float64] | None:
        """The score of each hit, all finite; None where hits have none."""
        return self._scores if self.by_question is None else self._lay_out(repeat(()))[0]

    def look_up(self, wanted: Mapping[str, Iterable[str]]) -> NDArray[np.float64]:
        """Scores of the wanted documents of each question, one after the other, NaN where they are no hits.

        For runs made of dicts. Reading the dicts is what takes the time, so they are read once for this and for
        `scores` where the questions stand in the same order.
        """
        assert self.by_question is not None
        hits = self.by_question
        if "scores" not in self.__dict__ and list(wanted) == list(self.question_ids):
            self.__dict__["scores"], wanted_scores = self._lay_out(wanted.values())
            return wanted_scores
        none: Mapping[str, float] = {}
        lists = map(hits.get, wanted, repeat(none))
        score_lists = [map(docs.get, names) for docs, names in zip(lists, wanted.values(), strict=True)]
        return np.array(list(chain.from_iterable(score_lists)), np.float64)

    def _lay_out(self, wanted: Iterable[Iterable[str]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Scores of all hits of the dicts, and of the wanted documents of each, looked up on the way."""
        hits = self.by_question or {}
        scores = np.empty(len(self))
        buffer = scores.view(np.uint8).data
        sizes = np.diff(self.offsets).tolist()
        packers = {size: struct.Struct(f"{size}d").pack_into for size in set(sizes)}
        starts = (self.offsets[:-1] * 8).tolist()
        wanted_scores: list[float | None] = []
        try:
            for size, begin, docs, names in zip(sizes, starts, hits.values(), wanted, strict=False):
                packers[size](buffer, begin, *docs.values())
                wanted_scores.extend(map(docs.get, names))
        except (TypeError, ValueError, OverflowError, struct.error):
            raise _bad_score(self.name, hits) from None
        if not np.isfinite(scores.sum()) and not np.isfinite(scores).all():
            raise _bad_score(self.name, hits)
        return scores, np.array(wanted_scores, np.float64)

    @property
    def first_doc(self) -> str:
        """The id of the first hit; of dicts it is read without laying out all others."""
        if self.by_question is not None and "docs" not in self.__dict__:
            return next(iter(next(filter(None, self.by_question.values()))))
        return str(self.docs[0])

    @cached_property
    def doc_list(self) -> Sequence[str]:
        """The ids of the hits as Python strings."""
        return self.docs if isinstance(self.docs, list | HitColumn) else list(self.docs)

    @property
    def has_texts_for_ids(self) -> bool:
        """Whether hits were given without ids, so that the text of each serves as one."""
        return any(map(eq, self.doc_list, self.fields.get("text", ())))

    def by_score(self) -> Run:
        """The same hits ranked by their scores; without scores, unchanged."""
        return self if self.order == "score" or self.scores is None else replace(self, order="score")

    def without_rankings(self) -> Run:
        """The same answers and failures without the hits, which remain as the contexts of the answers."""
        bare = Run(self.name)
        return replace(
            self, question_ids=bare.question_ids, offsets=bare.offsets, _docs=bare.docs, _scores=None, order="given",
            fields={}, by_question=None,
        )  # fmt: skip

    def with_hits(self, keep: NDArray[np.bool_]) -> Run:
        """The same run with some of its hits alone, in their order."""
        held = np.concatenate(([0], np.cumsum(keep)))[self.offsets]
        chosen = np.flatnonzero(keep).tolist()
        fields = {name: [column[hit] for hit in chosen] for name, column in self.fields.items()}
        ids, scores = self.doc_list, self.scores
        return replace(
            self, offsets=held, _docs=[ids[hit] for hit in chosen], _scores=None if scores is None else scores[keep],
            fields=fields, by_question=None,
        )  # fmt: skip

    @property
    def has_only_texts(self) -> bool:
        """Whether the hits are texts without any id: contexts, which only quotes can be found in."""
        texts = self.fields.get("text")
        return len(self) > 0 and texts is not None and all(d == t for d, t in zip(self.doc_list, texts, strict=True))

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def common_length(self) -> int | None:
        """The length at which every list of hits ends, empty ones aside; None where they differ or there is none."""
        lengths = set(np.diff(self.offsets).tolist()) - {0}
        return lengths.pop() if len(lengths) == 1 else None

    @property
    def has_answers(self) -> bool:
        """Whether any answer says something, if only an empty text, or failed; times and costs alone are no answers."""
        return any(answer.text is not None or answer.error is not None for answer in self.answers.values())

    @cached_property
    def listed(self) -> frozenset[str]:
        """Questions that have a list of hits, if only an empty one."""
        return frozenset(self.question_ids)

    @property
    def asked(self) -> tuple[str, ...]:
        """Every question of which anything is known: hits, an answer or a failure."""
        return tuple(dict.fromkeys((*self.question_ids, *self.answers, *self.failed)))

    @property
    def has_rankings(self) -> bool:
        """Whether it holds lists of hits, if only empty ones."""
        return bool(self.question_ids)

    def _line(self) -> str:
        counts = ((self.question_ids, "question"), (self, "hit"), (self.answers, "answer"))
        return ", ".join((repr(self.name), *(plural(len(some), noun) for some, noun in counts)))

    def _table(self) -> Table:
        sizes = dict(zip(self.question_ids, np.diff(self.offsets).tolist(), strict=True))
        texts = {question: answer.text for question, answer in self.answers.items()}
        return ("question", "hits", "answer", "failed"), (
            (question, sizes.get(question, 0), texts.get(question) or "", self.failed.get(question, ""))
            for question in self.asked
        )


def hit_tokens(run: Run, hit: int) -> int | None:
    """Tokens of a hit: as given, else counted as words in its text; None where it has neither."""
    tokens, text = (None if (column := run.fields.get(name)) is None else column[hit] for name in ("tokens", "text"))
    if tokens is None:
        from karat.core.text.normalise import tokenise

        return None if text is None else len(tokenise(text, "words"))
    if int(tokens) < 0:
        raise InputError(f"a hit has {tokens} tokens", place=run.source, remedy="Give counts from 0 up, or none.")
    return int(tokens)


def _offsets(lists: Mapping[str, Sized]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.fromiter(map(len, lists.values()), np.int64, len(lists)))))


def _is_finite(score: object) -> bool:
    try:
        return isinstance(score, int | float | np.number) and not isinstance(score, bool) and isfinite(score)
    except OverflowError:
        return False


def _shown(score: object) -> str:
    try:
        return repr(score)[:60]
    except ValueError:
        return "of thousands of digits"


def _bad_score(name: str, hits: Mapping[str, Mapping[str, float]]) -> InputError:
    """The first score that is not a finite number, named."""
    for question, docs in hits.items():
        for doc, score in docs.items():
            if not _is_finite(score):
                return InputError(
                    f"score {_shown(score)} of question {question!r}, document {doc!r} is not a finite number",
                    place=name,
                    remedy="Give every hit a number, or pass plain lists in ranked order.",
                )
    raise AssertionError("no bad score found")
