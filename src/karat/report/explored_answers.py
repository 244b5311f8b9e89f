"""Explored answers: an answer as the page's script shows it, with contexts, verdicts and supported sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Protocol

from karat.core.scores import Status
from karat.core.text.wellformed import well_formed
from karat.core.text.words import amount, clean, number
from karat.report.answers import HEURISTIC, Answers, Judgement
from karat.results.study import StudyAnswer

ANSWER = 2_000  # characters of an answer
PASSAGE = 500  # characters of a sentence, a claim or a reason
SEVERAL = 25  # sentences, claims or contexts of one answer


class ContextPool(Protocol):
    """Where the contexts of a question are kept once each."""

    def context(self, question: int, id_: str, text: str | None) -> int | None: ...


def plain(value: str) -> str:
    """Text of several lines without the characters that nobody sees; the page's script shows it as it stands."""
    return "\n".join(clean(line) for line in well_formed(value).splitlines())


def wording(text: str | None, most: int = ANSWER) -> str | None:
    """An answer's words; where some are left out, how many."""
    if text is None:
        return None
    whole = plain(text)
    return whole if len(whole) <= most else f"{whole[:most]}… ({most:,} of {len(whole):,} characters)"


def answer_entry(answers: Answers, system: str, question: int, pool: ContextPool) -> dict[str, Any]:
    """All that is known of an answer but its words; what there is not has no entry."""
    answer = answers.of(system, answers.scores.questions[question])
    entry: dict[str, Any] = {"scores": _scores(answers, system, question)}
    if answer is not None:
        entry |= {
            "error": clean(answer.error, PASSAGE) if answer.error else None,
            "declined": answer.declined,
            "about": _about(answer),
            "contexts": _contexts(answer, question, pool),
        }
    sentences, verdicts = answers.sentences(system, question), answers.judgements(system, question)
    entry |= {
        "missing": _some([_passage(claim) for claim in answers.missing(system, question)]),
        "verdicts": [_verdict(v) for v in verdicts],
        "sentences": _some([_sentence(one) for one in sentences]),
    }
    return {name: value for name, value in entry.items() if value}


def _scores(answers: Answers, system: str, question: int) -> list[Any]:
    """A value for each measure of answers, or why there is none."""
    s = answers.scores.systems.index(system)
    status, values = answers.status[s, question].tolist(), answers.scores.values[s, question].tolist()
    values_: list[Any] = []
    for m in (answers.column[measure.name] for measure in answers.measures):
        if status[m] == Status.ok:
            values_.append(round(values[m], 4))
        else:
            why = clean(answers.scores.reason(s, question, m) or "no value", 200)
            values_.append(f"{Status(status[m]).name}: {why}")
    return values_


def _about(answer: StudyAnswer) -> str:
    """Model, tokens, cost, seconds and confidence, those that are known."""
    parts = [
        clean(answer.model, 80) if answer.model else "",
        f"{answer.tokens:,} tokens" if answer.tokens is not None else "",
        f"${amount(answer.cost_usd)}" if answer.cost_usd is not None else "",
        f"{amount(answer.seconds)} s" if answer.seconds is not None else "",
        f"confidence {number(answer.confidence, 3)}" if answer.confidence is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _contexts(answer: StudyAnswer, question: int, pool: ContextPool) -> list[int | None]:
    """The places of the contexts that were used, in their order; none where only an id is known."""
    named = list(zip_longest(answer.used, answer.contexts))[:SEVERAL]
    return [
        pool.context(question, id_ if id_ is not None else f"context {n}", text)
        for n, (id_, text) in enumerate(named, 1)
    ]


def _verdict(verdict: Judgement) -> list[Any]:
    """Measure, value, who, reason, the values where it was asked several times, and the claims."""
    who = HEURISTIC if verdict.by == HEURISTIC else clean(verdict.model or verdict.by, 80)
    claims = [
        [
            _passage(one.get("claim")),
            clean(str(one.get("verdict") if one.get("verdict") is not None else ""), 40),
            ", ".join(clean(str(number), 20) for number in _numbers(one.get("contexts"))),
            _passage(one.get("reason")),
        ]
        for one in verdict.claims
    ]
    value = None if verdict.value is None else round(verdict.value, 4)
    repeats = [round(v, 4) for v in verdict.repeats[:SEVERAL]] if len(verdict.repeats) > 1 else []
    return [verdict.measure, value, who, _passage(verdict.reason), repeats, _some(claims)]


def _sentence(one: Any) -> list[Any]:
    """A sentence of the answer, how far it is supported, and the sentence and context that support it best."""
    support, by = one.get("support"), one.get("by")
    context, words = (by.get("context"), by.get("text")) if isinstance(by, Mapping) else (None, None)
    return [
        _passage(one.get("text")),
        round(float(support), 3) if isinstance(support, int | float) else None,
        clean(str(context), 40) if context is not None else "",
        _passage(words),
        bool(one.get("supported")),
    ]


def _numbers(value: object) -> Sequence[Any]:
    return value[:SEVERAL] if isinstance(value, list | tuple) else () if value is None else (value,)


def _passage(value: object) -> str:
    text = plain(str(value)) if value is not None else ""
    return text if len(text) <= PASSAGE else f"{text[:PASSAGE]}… ({PASSAGE:,} of {len(text):,} characters)"


def _some(rows: list[Any]) -> list[Any]:
    """The first of many, and at the end the number of those left out."""
    return rows if len(rows) <= SEVERAL else [*rows[:SEVERAL], len(rows) - SEVERAL]
