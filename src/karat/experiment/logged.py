"""Logged: a test set of questions that a system was really asked, sampled from its traces or other results."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.core.glance import NotebookView, Table
from karat.core.text.normalise import normalise
from karat.core.text.words import plural
from karat.core.types import Gold, Question, TestSet
from karat.experiment.generate import SAMPLES, PathLike, checked_target

if TYPE_CHECKING:
    from karat.core.run import Run

SOURCE = "traces"
"""The tag `source` of a question from a log."""
_GOLD = ("id", "doc", "page", "url", "chunk")


@dataclass(frozen=True, kw_only=True, repr=False)
class LoggedTestSet(NotebookView):
    """Questions sampled from a log: how many there were to choose from, what to say of them, and the file."""

    testset: TestSet
    available: int
    notes: tuple[str, ...] = ()
    output: str | None = None

    def _line(self) -> str:
        where = "" if self.output is None else f"; written to {self.output}"
        return f"{plural(len(self.testset), 'question')} of {self.available:,} that were asked{where}"

    def _table(self) -> Table:
        return self.testset._table()


def sample_traces(
    traces: Any,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    candidates: int = 0,
    redact: Sequence[str] = (),
    output: PathLike | None = None,
    force: bool = False,
    columns: Mapping[str, str] | None = None,
) -> LoggedTestSet:
    """Distinct questions of a file of traces, or of any results that hold their texts, drawn by a seed.

    Each keeps the id of its trace, and the answer that was given as a reference to review. The first `candidates`
    documents that were retrieved become gold to review; unless asked for there is none. What the patterns of `redact`
    find is replaced before anything is written; no model is asked.
    """
    from karat.files import Redactor, as_runs, write

    if samples < 1 or candidates < 0:
        raise UsageError("--samples must be at least 1, and --candidates at least 0.")
    redactor = Redactor(redact)
    target = checked_target(output, None, force)
    runs, inputs = as_runs(traces, columns=columns)
    asked = _distinct(runs)
    if not asked:
        raise UsageError(f"{inputs[0].place} holds no question as text: there is nothing to sample.")
    drawn = random.Random(seed).sample(range(len(asked)), min(samples, len(asked)))
    questions = [_question(*asked[place], candidates) for place in sorted(drawn)]
    testset = TestSet(questions, name="traces" if target is None else target.name)
    testset = redactor.redacted_testset(testset)
    if target is not None:
        write(testset, target, format="canonical", inputs=(traces,) if isinstance(traces, str) else ())
    notes = [f"{info.place}: {info.format}, {info.what}" for info in inputs]
    notes += [note for info in inputs for note in info.notes]
    return LoggedTestSet(
        testset=testset,
        available=len(asked),
        notes=(*notes, *redactor.notes()),
        output=None if target is None else str(target),
    )


def _distinct(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    """Each question once, by its words: the first row that asks it."""
    first: dict[str, tuple[Run, str]] = {}
    for run in runs:
        for qid, text in run.texts.items():
            first.setdefault(normalise(text, "words"), (run, qid))
    return [row for words, row in first.items() if words]


def _question(run: Run, qid: str, candidates: int) -> Question:
    answer = run.answers.get(qid)
    answers = (answer.text,) if answer is not None and answer.text else ()
    gold = tuple(_gold(run, qid, candidates)) if candidates else ()
    review = " and ".join(name for name, given in (("answer", answers), ("gold", gold)) if given)
    tags = {"source": SOURCE, **({"to_review": review} if review else {})}
    return Question(qid, run.texts[qid], answers=answers, gold=gold, tags=tags)


def _gold(run: Run, qid: str, most: int) -> Iterator[Gold]:
    """The first documents that were retrieved for a question; those without an id by their text."""
    if qid not in run.listed:
        return
    place = list(run.question_ids).index(qid)
    begin, end = run.offsets[place : place + 2].tolist()
    for row in range(begin, min(end, begin + most)):
        fields = {name: run.fields[name][row] for name in (*_GOLD, "text") if name in run.fields}
        fields = {"id": run.doc_list[row], **{name: value for name, value in fields.items() if value is not None}}
        text = fields.pop("text", None)
        if isinstance(fields.get("page"), tuple):
            del fields["page"]
        yield Gold(quote=text) if text == fields["id"] else Gold(**fields)
