"""Spans: what is kept of one span, a trace put together from spans in any order, and the row of results it makes.

The vendors' files differ in where things stand (`otlp`, `phoenix`, `langfuse`, `langsmith`, `mlflow`); from here on a
trace is a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from karat.core.steps import hit_id, union_of
from karat.core.types import Answer

ASKING = ("chain", "agent", "retriever", "")
"""Kinds of spans whose input may be the question: those of models hold prompts, those of tools arguments."""
UNREAD = "the retriever's documents cannot be read"
_NO_DOCUMENT = ""  # stands for what a retriever returned that does not say what
Hit = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Span:
    """One step of a trace: where it stands, and what of its input and output a row of results needs.

    `hits` are documents that it returned, None where it says nothing of any; `given` what a reranker was given;
    `documents`, as they stand there, what a root that is no retriever returned. Times are seconds since 1970.
    """

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    kind: str = ""  # retriever, reranker, llm, chain, agent, tool, http, other; "" where nothing is said
    start: float | None = None
    end: float | None = None
    error: str | None = None
    question: str | None = None
    answer: str | None = None
    hits: list[Hit] | None = None
    given: tuple[str, ...] | None = None
    documents: Sequence[Any] | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None

    @property
    def retrieves(self) -> bool:
        """Whether it is a step of retrieval."""
        return self.kind in ("retriever", "reranker")

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if self.start is None or self.end is None or self.end < self.start:
            return None
        return self.end - self.start


@dataclass(frozen=True)
class Step:
    """One retrieval: what was asked, what came back, by which span, and when."""

    query: str | None
    hits: Sequence[Hit]
    span: Span

    def row(self) -> dict[str, Any]:
        """The step as results write it down."""
        fields = {
            "query": self.query,
            "retrieved": [{name: _plain(value) for name, value in hit.items()} for hit in self.hits],
            "tool": self.span.name or None,
            "seconds": self.span.seconds,
        }
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class TraceRow:
    """What a trace says of one question: `hits` is None where nothing was retrieved, `failed` why there is no row.

    Where documents cannot be read (`failed` is UNREAD), the answer may still be.
    """

    question: str | None
    hits: list[Hit] | None
    steps: tuple[Step, ...] = ()
    answer: Answer | None = None
    failed: str | None = None


@dataclass
class Trace:
    """The spans of one trace, put together; of two with the same id the one that ended counts."""

    id: str
    given: Iterable[Span]
    repeated: int = field(default=0, init=False)

    @cached_property
    def spans(self) -> dict[str, Span]:
        """Spans by id, in the order in which they began."""
        spans: dict[str, Span] = {}
        for span in self.given:
            other = spans.get(span.id)
            self.repeated += other is not None
            if other is None or (other.end is None and span.end is not None):
                spans[span.id] = span
        return dict(sorted(spans.items(), key=lambda pair: _begin(pair[1])))

    @cached_property
    def orphans(self) -> list[Span]:
        """Spans that name a parent which is not there."""
        return [span for span in self.spans.values() if span.parent is not None and span.parent not in self.spans]

    @cached_property
    def _tops(self) -> list[Span]:
        return [span for span in self.spans.values() if span.parent is None]

    @property
    def has_root(self) -> bool:
        """Whether there is a span without a parent."""
        return bool(self._tops)

    @property
    def root(self) -> Span:
        """The first span without a parent; where there is none, the first whose parent is missing, or the first."""
        return next(iter(self._tops or self.orphans or self.spans.values()))

    @cached_property
    def order(self) -> dict[str, Span]:
        """All spans, those nearer to the root first; a circle of spans begins with its first, which has no parent."""
        children: dict[str, list[Span]] = {}
        for span in self.spans.values():
            if span.parent is not None:
                children.setdefault(span.parent, []).append(span)
        order: dict[str, Span] = {}

        def add(level: list[Span]) -> None:
            while level:
                order.update((span.id, span) for span in level)
                level = [child for span in level for child in children.get(span.id, ()) if child.id not in order]

        add(self._tops)
        add(self.orphans)
        for span in self.spans.values():
            if span.id not in order:
                span.parent = None
                add([span])
        return order

    def _inside(self, wanted: Iterable[str]) -> set[str]:
        """Ids of spans that stand somewhere under one of these."""
        tops, inside = set(wanted), set[str]()
        for span in self.order.values():
            if span.parent in tops or span.parent in inside:
                inside.add(span.id)
        return inside

    @cached_property
    def _asker(self) -> Span | None:
        """The root, or else the nearest span inside that asks; a model's only where no other does."""
        spans = [self.root, *self.order.values()]
        asking = (span for span in spans if span.kind in ASKING and span.question)
        prompts = (span for span in spans if span.kind == "llm" and span.question)
        return next(asking, None) or next(prompts, None)

    @property
    def question(self) -> str | None:
        """What was asked."""
        return None if self._asker is None else self._asker.question

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Retrievals in the order in which they began; a reranker stands for those that it was given.

        Of retrievers inside a retriever that returned documents, the outer one counts.
        """
        answering = {span.id for span in self.spans.values() if span.retrieves and span.hits}
        inner, holding = self._inside(answering), set[str | None]()
        for span in reversed(self.order.values()):
            if span.id in answering or span.id in holding:
                holding.add(span.parent)
        left = self.spans.keys() - answering - inner - holding
        empty = {id_ for id_ in left if self.spans[id_].kind == "retriever"}
        if not empty and not answering:
            empty = {id_ for id_ in left if self.spans[id_].retrieves}
        wanted = (answering - inner) | (empty - self._inside(empty))
        steps: dict[str, Step] = {}  # by id of the span
        holders: dict[str, list[str]] = {}  # ids of the spans that returned a document
        for span in self.spans.values():
            if span.id not in wanted:
                continue
            taken: list[Step] = []
            if span.kind == "reranker":
                given = list(holders) if span.given is None else (*span.given, _NO_DOCUMENT)
                ids = dict.fromkeys(id_ for key in given for id_ in holders.pop(key, ()))
                taken = [steps.pop(id_) for id_ in ids if id_ in steps]
            query = taken[0].query if taken else self.question if not steps else None
            steps[span.id] = Step(span.question or query, span.hits or [], span)
            for key in hit_keys(span.hits or ()) or (_NO_DOCUMENT,):
                holders.setdefault(key, []).append(span.id)
        return tuple(steps.values())

    def row(self) -> TraceRow:
        """The row of results that it makes."""
        steps, root = self.steps, self.root
        hits = list(steps[0].hits) if len(steps) == 1 else union_of(step.hits for step in steps) if steps else None
        broken = any(span.error for span in self.spans.values() if span.retrieves)
        failed = self._unknown
        if root.error is not None and (failed is not None or hits is None or broken):
            failed = root.error
        return TraceRow(
            question=self.question,
            hits=hits,
            steps=steps,
            answer=None if failed is not None and failed != UNREAD else self._answer(),
            failed=failed,
        )

    @property
    def _unknown(self) -> str | None:
        """Why it is not known what was retrieved; a step that failed is made good by one that found something."""
        errors = [step.span.error for step in self.steps if not step.hits and step.span.error is not None]
        if any(step.span.hits is None and step.span.error is None for step in self.steps):
            return UNREAD
        return None if any(step.hits for step in self.steps) else next(iter(errors), None)

    def _answer(self) -> Answer | None:
        """The output of the root, of what asked the question, or of the last model; with what it took."""
        models = [span for span in self.spans.values() if span.kind == "llm"]
        tops = [span for span in (self.root, self._asker) if span is not None and not span.retrieves]
        text = next((span.answer for span in (*tops, *reversed(models)) if span.answer is not None), None)
        seconds, tokens, cost = self._seconds(models), self._total("tokens"), self._total("cost")
        error = self.root.error
        if text is None and error is None and not seconds and tokens is None:
            return None
        return Answer(
            self.id,
            text if error is None else None,
            model=next((span.model for span in reversed(models) if span.model), None),
            seconds=seconds,
            tokens=None if tokens is None else int(tokens),
            cost_usd=cost,
            error=error,
        )

    def _seconds(self, models: Sequence[Span]) -> dict[str, float]:
        """Seconds of retrieval, of models outside of it, and of all; what ran at once counts once."""
        retrieving = [span for span in self.spans.values() if span.retrieves]
        inside = self._inside(span.id for span in retrieving)
        parts = {
            "retrieve": covered(retrieving),
            "answer": covered([span for span in models if span.id not in inside]),
            "total": self.root.seconds,
        }
        return {name: value for name, value in parts.items() if value is not None}

    def _total(self, name: str) -> float | None:
        """Tokens or cost of all; where a span repeats those of the spans inside it they count once."""
        below: dict[str | None, float] = {}
        total: float | None = None
        placed = set[str]()
        for span in reversed(self.order.values()):
            own, inner = getattr(span, name), below.get(span.id)
            known = [value for value in (own, inner) if value is not None]
            placed.add(span.id)
            if not known:
                continue
            if span.parent in self.spans and span.parent not in placed:
                below[span.parent] = below.get(span.parent, 0) + max(known)
            else:
                total = (total or 0) + max(known)
        return total


def covered(spans: Iterable[Span]) -> float | None:
    """Seconds in which at least one of some spans ran; None where no span says when."""
    times = sorted((span.start or 0.0, span.end or 0.0) for span in spans if span.seconds is not None)
    total, until = 0.0, float("-inf")
    for start, end in times:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total if times else None


def hit_keys(hits: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What documents are called, each once, to find them again."""
    return tuple(dict.fromkeys(map(hit_id, hits)))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _begin(span: Span) -> float:
    return span.start if span.start is not None else float("inf")
