"""eRAG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from karat.core.asked import AnswerRequest, Context
from karat.core.errors import UsageError
from karat.core.judged import Judged
from karat.core.language import parse
from karat.core.measure import AnswerTable, Floats, Ints, Measure, MeasureResult, measure
from karat.core.text.refusals import abstains
from karat.core.types import Answer
from karat.measures.answer._support import NO_CONTEXTS
from karat.measures.outcomes import REACHED, check_share

By = Literal["extractive", "chat"]
RankedBy = Literal["nDCG", "Precision", "MAP", "MRR", "Hit", "Recall"]
ScoredBy = Literal["TokenF1", "EM", "ROUGE-L", "Completeness"]
_STEPS = 2**40  # a score from 0 to 1 as a whole number, which grades are
NO_RECALL = "only retrieved passages are graded, so nothing says what was missed: Recall is not known"
NO_PASSAGES = "nothing retrieved"


@dataclass(frozen=True)
class _GradedPassages:
    """The distinct passages of all pairs, each with its question, and where they stand in the lists."""

    pair: Ints  # of each place
    rank: Ints
    number: Ints  # of the passage that stands there
    asked: list[AnswerRequest]
    owner: list[int]  # of each passage, a pair that has it


@measure(
    name="eRAG",
    needs=("chat", "embedder"),
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    formula="a ranking measure whose gains are the scores of the answers made from each passage alone",
    defined_by="eRAG (Salemi and Zamani, 2024)",
    best_for="which passages help the answerer, without judged passages",
    prefer="nDCG where passages are judged; ContextRelevance for relevance by a language model",
    variants=("eRAG@5", "eRAG(of=Precision)@5", "eRAG(by=chat)@5"),
)
def erag(
    answered: AnswerTable,
    k: int | None = None,
    *,
    of: RankedBy = "nDCG",
    score: ScoredBy = "TokenF1",
    by: By = "extractive",
    rel: float = REACHED,
) -> MeasureResult:
    """A ranking measure of the contexts, each worth what the answer that is made from it alone scores.

    Each passage goes alone to the answerer `by`; the `score` of its answer is the passage's gain, 0 where it abstains.
    nDCG takes gains as they are, with the best order of what was retrieved as ideal; the other measures take passages
    as relevant from `rel` on. A list without a passage that helps scores 0. Recall is undefined: what was not retrieved
    is not graded. So is every question without a reference. An answer that fails fails its question.
    """
    check_share("eRAG", "rel", rel)
    values = np.full(len(answered), np.nan)
    usable, undefined = _usable(answered)
    if of == "Recall":
        return MeasureResult(values, dict.fromkeys(range(len(answered)), NO_RECALL) | undefined)
    passages = _passages(answered, usable)
    answers = _answers(answered, passages, by)
    gains, failed, more = _gains(answered, passages, answers, score)
    values[usable] = np.nan_to_num(_ranked(passages, gains, len(answered), of, k, rel)[usable])
    undefined |= {pair: why for pair, why in more.items() if pair in usable}
    return MeasureResult(values, undefined, failed=failed, details=_details(passages, answers, gains, by))


def _usable(answered: AnswerTable) -> tuple[list[int], dict[int, str]]:
    """Pairs whose passages are graded, and why others are not."""
    undefined: dict[int, str] = {}
    for pair, contexts in enumerate(answered.contexts):
        if contexts is None:
            undefined[pair] = NO_CONTEXTS
        elif not answered.references[pair]:
            undefined[pair] = "no reference answer"
        elif not contexts:
            undefined[pair] = NO_PASSAGES
    return [pair for pair in range(len(answered)) if pair not in undefined], undefined


def _passages(answered: AnswerTable, pairs: Sequence[int]) -> _GradedPassages:
    """The passages of some pairs, those of one question and text once for all systems."""
    number_of: dict[tuple[int, str], int] = {}
    asked: list[AnswerRequest] = []
    owner: list[int] = []
    places: list[tuple[int, int, int]] = []
    width = len(answered.questions)
    # one question after the other for all systems: a budget that ends has paid for pairs
    for pair in sorted(pairs, key=lambda pair: (pair % width, pair)):
        for rank, text in enumerate(answered.contexts[pair] or (), 1):
            number = number_of.setdefault((pair % width, text), len(asked))
            if number == len(asked):
                asked.append(AnswerRequest(str(number), answered.texts[pair], (Context(str(number), text),)))
                owner.append(pair)
            places.append((pair, rank, number))
    columns = np.array(sorted(places), np.int64).reshape(-1, 3).T
    return _GradedPassages(columns[0], columns[1], columns[2], asked, owner)


def _answers(answered: AnswerTable, passages: _GradedPassages, by: By) -> list[Answer]:
    """What the answerer says to each passage alone; shared by measures that ask the same."""

    def ask() -> list[Answer]:
        models = answered.models
        if models.answerer is None:
            raise UsageError(
                "eRAG needs an answerer, and none is given. Use `karat score`, `karat judge` or their calls."
            )
        answerer = models.answerer(by, models)
        asked = [request for request in passages.asked if request.contexts[0].text.strip()]
        answers: dict[str, Answer] = {}

        def done(request: AnswerRequest, answer: Answer) -> None:
            answers[request.id] = answer
            if models.progress is not None:
                what = f"answering by {answerer.name} from each passage alone"
                models.progress(what, len(answers), len(asked))

        if asked:
            answerer.answer(asked, done)
        blank = {request.id: Answer(request.id) for request in passages.asked if not request.contexts[0].text.strip()}
        return [(blank if request.id in blank else answers)[request.id] for request in passages.asked]

    return answered.once(("eRAG", by), ask)


def _gains(
    answered: AnswerTable, passages: _GradedPassages, answers: Sequence[Answer], score: ScoredBy
) -> tuple[Floats, dict[int, str], dict[int, str]]:
    """The gain of each passage, and the pairs that failed or are undefined, with the reason."""
    owner = passages.owner
    texts = [None if abstains(answer.text) else answer.text for answer in answers]
    table = AnswerTable(
        ("passages",),
        tuple(request.id for request in passages.asked),
        texts=[answered.texts[pair] for pair in owner],
        answers=texts,
        references=[answered.references[pair] for pair in owner],
        contexts=[(request.contexts[0].text,) for request in passages.asked],
        answerable=[True] * len(owner),
        models=answered.models,
    )
    column = parse(score).of(table) if owner else MeasureResult(np.zeros(0))
    scored = column if isinstance(column, MeasureResult) else MeasureResult(column)
    gains = np.array(scored.values, np.float64)
    gains[[text is None for text in texts]] = 0.0
    problems = {number: answer.error for number, answer in enumerate(answers) if answer.error is not None}
    problems |= {number: why for number, why in scored.failed.items() if texts[number] is not None}
    failed, undefined = (_by_pair(passages, some) for some in (problems, scored.undefined))
    return gains, failed, {pair: why for pair, why in undefined.items() if pair not in failed}


def _by_pair(passages: _GradedPassages, reasons: Mapping[int, str]) -> dict[int, str]:
    """Reasons of passages by the pairs that have them, the first in each list."""
    first_reasons: dict[int, str] = {}
    for pair, rank, number in zip(
        passages.pair.tolist(), passages.rank.tolist(), passages.number.tolist(), strict=True
    ):
        if number in reasons:
            first_reasons.setdefault(pair, f"passage {rank}: {reasons[number]}")
    return first_reasons


def _ranked(passages: _GradedPassages, gains: Floats, pairs: int, of: RankedBy, k: int | None, rel: float) -> Floats:
    """The ranking measure of each pair, whose gold is what it retrieved."""
    key = passages.pair * (len(gains) + 1) + passages.number
    _, first, unit = np.unique(key, return_index=True, return_inverse=True)
    new = np.zeros(len(key), bool)
    new[first] = True
    grade = np.rint(np.nan_to_num(gains) * _STEPS).astype(np.int64)
    judged = Judged(
        systems=("passages",),
        questions=tuple(map(str, range(pairs))),
        pair=passages.pair,
        rank=passages.rank,
        unit=unit.ravel(),
        new=new,
        gold_question=passages.pair[first],
        gold_grade=grade[passages.number[first]],
        slots=np.bincount(passages.pair, minlength=pairs),
        distinct=np.bincount(passages.pair[first], minlength=pairs),
        stale=(passages.pair[~new], passages.rank[~new]),
        rel=1 if of == "nDCG" else max(1, int(np.ceil(rel * _STEPS))),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        values = Measure(parse(of).spec, k, given=(("ideal", "retrieved"),) if of == "nDCG" else ()).of(judged)
    assert isinstance(values, np.ndarray)
    return values


def _details(passages: _GradedPassages, answers: Sequence[Answer], gains: Floats, by: By) -> dict[int, dict[str, Any]]:
    """The answer and the gain of each passage, by pair."""
    details: dict[int, dict[str, Any]] = {}
    for pair, rank, number in zip(
        passages.pair.tolist(), passages.rank.tolist(), passages.number.tolist(), strict=True
    ):
        answer = answers[number]
        shown = details.setdefault(
            pair, {"by": by, **({"model": answer.model} if by == "chat" else {}), "passages": []}
        )
        gain = float(gains[number])
        row = {"passage": rank, "answer": answer.text, "gain": gain if np.isfinite(gain) else None}
        shown["passages"].append(row | ({"error": answer.error} if answer.error is not None else {}))
    for shown in details.values():
        useful = sum((row["gain"] or 0.0) > 0 for row in shown["passages"])
        shown["reason"] = f"{useful} of {len(shown['passages'])} passages give an answer that scores"
    return details
