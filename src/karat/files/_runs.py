"""Runs being built: one system's hits, answers and failures, collected row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from karat.core.run import HIT_FIELDS, Run
from karat.core.text.words import plural
from karat.core.types import Answer
from karat.files._entries import HitColumns
from karat.io import cells
from karat.io.cells import CellError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Key = tuple[str, str, str]
"""A system, and its alpha and k where rows say them."""

_HIT_FIELDS = frozenset(HIT_FIELDS)
_MOST_DESCRIBED = 5  # systems
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?")  # never beyond the range of a float


class RunBuilder:
    """Collects the rows of one system; `run` makes the Run."""

    def __init__(self) -> None:
        self.listed: list[str] = []  # questions with a list of hits, if only an empty one
        self.sizes: list[int] = []
        self.docs: list[str] = []
        self.scores: list[float | None] = []
        self.fields: dict[str, list[Any]] = {}
        self.answers: dict[str, Answer] = {}
        self.failed: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.steps: dict[str, list[dict[str, Any]]] = {}
        self.blank = 0  # questions whose list of hits is an empty cell

    def add(self, qids: Sequence[str], sizes: Sequence[int], hits: HitColumns) -> None:
        """The hits of some questions, one after the other, best first, and how many each has."""
        place = len(self.docs)
        self.listed += qids
        self.sizes += sizes
        self.docs += hits.ids()
        scores = hits.fields.get("score") or [None] * hits.size
        self.scores += scores
        for field in filter(_HIT_FIELDS.__contains__, hits.fields):
            column = self.fields.setdefault(field, [])
            column.extend([None] * (place - len(column)))
            column += hits.fields[field]

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        """The scores of all hits, NaN where one has none; asked for when all are there."""
        return np.array(self.scores, np.float64)

    @property
    def has_some_scores(self) -> bool:
        """Whether some hits have scores, and some have none."""
        return 0 < int(np.isnan(self._numbers).sum()) < len(self._numbers)

    @property
    def falls(self) -> bool:
        """Whether scores never rise within a list."""
        rises = np.diff(self._numbers) > 0  # never of one that is None
        ends = np.cumsum(self.sizes, dtype=np.int64)
        rises[ends[(ends > 0) & (ends < len(self.scores))] - 1] = False  # from one list to the next
        return not rises.any()

    def run(self, name: str, source: str, key: Key) -> Run:
        """The run. Where every list is an empty cell beside answers, it holds answers alone."""
        size = len(self.docs)
        if self.blank == len(self.listed) and self.answers:
            self.listed, self.sizes = [], []
        for column in self.fields.values():
            column.extend([None] * (size - len(column)))
        scored = size and not np.isnan(self._numbers).any()
        return Run(
            name,
            question_ids=self.listed,
            offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(self.sizes, np.int64)))),
            _docs=self.docs,
            _scores=self._numbers if scored else None,
            fields=self.fields,
            answers=self.answers,
            failed=self.failed,
            source=source,
            texts=self.texts,
            steps=self.steps,
            settings=_settings(key),
        )


def small_run(name: str, rows: Iterable[tuple[str, str, str]], source: str) -> Run | None:
    """A run from question, document and score of each hit, as texts; None where one is blank, odd or stands twice."""
    hits: dict[str, dict[str, float]] = {}
    triples = list(rows)
    for question, doc, score in triples:
        if not (question and doc and question.isprintable() and doc.isprintable() and _NUMBER.fullmatch(score)):
            return None
        hits.setdefault(question, {})[doc] = float(score)
    is_whole = len(triples) == sum(map(len, hits.values()))
    return Run.from_scores(name, hits, source) if hits and is_whole else None


def run_of_frames(
    name: str, frames: Iterable[pl.DataFrame], source: str, refuse_repeat: Callable[[str, str], NoReturn]
) -> Run:
    """A run from frames of question, doc and score, a row a hit; rows of a question need not stand together.

    Held are its columns and one frame. `refuse_repeat` is called with a question and a document that stands twice.
    """
    import polars as pl

    codes: dict[str, int] = {}
    stretches: list[NDArray[np.int64]] = []  # the question's code and the number of rows, of rows that stand together
    docs: list[pl.Series] = []
    scores: list[NDArray[np.float64]] = []
    hashed: list[NDArray[np.uint32]] = []  # half of polars' hash of each id: enough to suspect a repeat
    for frame in frames:
        together = frame["question"].rle().struct.unnest()
        questions = [codes.setdefault(question, len(codes)) for question in together["value"].to_list()]
        stretches.append(np.array([questions, together["len"].to_numpy()], np.int64))
        docs.append(frame["doc"])
        scores.append(frame["score"].to_numpy())
        hashed.append(docs[-1].hash().to_numpy().astype(np.uint32))
    blocks, lengths = np.concatenate(stretches, axis=1)
    doc, score, hashes = pl.concat(docs, rechunk=False), np.concatenate(scores), np.concatenate(hashed)
    if len(blocks) > len(codes) and (blocks[1:] != blocks[:-1]).sum() >= len(codes):  # a question in several places
        order = np.argsort(np.repeat(blocks, lengths), kind="stable")
        doc, score, hashes = doc.gather(order), score[order], hashes[order]
    counts = np.bincount(blocks, lengths, len(codes)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    ids = list(codes)
    repeat = _first_repeat(offsets, doc, hashes)
    if repeat is not None:
        refuse_repeat(ids[repeat[0]], repeat[1])
    return Run(
        name, question_ids=ids, offsets=offsets, _docs=doc, _scores=score, order="score", unique=True, source=source
    )


def _first_repeat(offsets: NDArray[np.int64], doc: pl.Series, hashes: NDArray[np.uint32]) -> tuple[int, str] | None:
    """The first list that holds a document twice, by its number, and the document."""
    edges = np.flatnonzero(np.diff(np.diff(offsets), prepend=-1, append=-1))
    for one, end in pairwise(edges.tolist()):  # lists of one length are sorted together
        lists = hashes[offsets[one] : offsets[end]].reshape(end - one, -1)
        lists.sort(axis=1)
        for q in (np.flatnonzero((lists[:, 1:] == lists[:, :-1]).any(axis=1)) + one).tolist():
            listed = doc[int(offsets[q]) : int(offsets[q + 1])]
            if listed.n_unique() < len(listed):
                return q, str(listed.filter(listed.is_duplicated())[0])
    return None


def described(runs: list[Run]) -> str:
    """ "bm25: 7,000 hits for 120 questions"; several systems separated by semicolons."""
    parts = []
    for run in runs[:_MOST_DESCRIBED]:
        spoken = sum(answer.text is not None for answer in run.answers.values())
        counts = ((len(run), "hit"), (spoken, "answer"))
        what = " and ".join(plural(count, noun) for count, noun in counts if count) or "nothing retrieved"
        failures = f" ({len(run.failed)} failed)" if run.failed else ""
        parts.append(f"{run.name}: {what} for {plural(len(run.asked), 'question')}{failures}")
    more = len(runs) - _MOST_DESCRIBED
    return "; ".join([*parts, *([f"{more} more"] if more > 0 else [])])


def system_names(keys: Iterable[Key]) -> dict[Key, str]:
    """Names for (system, alpha, k): alpha and k are added where they vary under one name."""
    keys = list(keys)
    names: dict[Key, str] = {}
    for key in keys:
        group = [other for other in keys if other[0] == key[0]]
        varying = [
            f" {what}={key[place]}"
            for place, what in ((1, "alpha"), (2, "k"))
            if len({other[place] for other in group}) > 1
        ]
        names[key] = "".join((key[0], *varying))
    return names


def _settings(key: Key) -> dict[str, float]:
    """alpha and k as numbers, where they are numbers."""
    settings: dict[str, float] = {}
    _, alpha, k = key
    with suppress(CellError):
        settings["alpha"] = cells.finite_number(alpha)
    with suppress(CellError):
        settings["k"] = cells.whole_number(k)
    return settings


def list_notes(builders: Collection[RunBuilder]) -> list[str]:
    """What to say of the lists of all systems, a sentence each."""
    notes = []
    if not all(builder.falls for builder in builders):
        notes.append("scores do not fall within the lists: the order of the lists is kept")
    if any(builder.has_some_scores for builder in builders):
        notes.append("some hits have no score: scores are left aside, the order of the lists is kept")
    blank = sum(builder.blank for builder in builders)
    if blank and any(builder.docs for builder in builders):
        notes.append(f"{plural(blank, 'row')} with an empty list of hits: nothing was retrieved there")
    return notes
