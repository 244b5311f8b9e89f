"""Answered: how the answers of a study went, as a person reads it in a terminal, and as lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.report._answers import HEURISTIC, KNOWN, SUPPORT, UNKNOWN, Answers
from karat.report._escape import clean, markdown
from karat.report._grid import Cell, Row, grids, listing, plain_table, texts, title
from karat.report._numbers import NONE, amount, figure, percent, short
from karat.report._view import View

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.measure import Measure
    from karat.report._answers import Bill
    from karat.results.evaluation import Evaluation
    from karat.results.study import Study

MEASURES = 5
ROWS = 12
WORST = 3
CLAIMS = 3  # missing claims of an answer


def blocks(study: Study, width: int, *, every: bool = False) -> Iterator[RenderableType]:
    """Means of the answers of each system, refusals, the worst, and what they took; nothing where there are none."""
    answers = Answers(study.evaluation, study.answers)
    if not answers.systems:
        return
    ranked = answers.ranked(study.choice.best.system if study.choice is not None else None)
    shown = ranked if every else ranked[:ROWS]
    yield title("Answers")
    yield from _means(answers, shown, width)
    if len(shown) < len(ranked):
        yield from texts([f"and {len(ranked) - len(shown)} more: -v shows all"])
    yield from texts([over(answers, shown, _columns(answers)), *unanswered(study, answers)])
    judged = [j.measure for j in answers.judged if j.who == HEURISTIC]
    if judged:
        names = ", ".join(dict.fromkeys(judged))
        yield from texts([f"Heuristic, by words and rules and not by a model: {names}."])
    yield from _refusals(answers, shown)
    best = ranked[0]
    yield from _worst(answers, best)
    yield listing(*(("took", _took(answers.bill(s, study.seconds.get(s, ())))) for s in (best,)))


def lines(evaluation: Evaluation) -> Iterator[str]:
    """The worst answers of each system and its refusals, in Markdown."""
    answers = Answers(evaluation)
    if not answers.systems:
        return
    yield "## Answers"
    yield ""
    for system in answers.systems:
        yield f"- {markdown(system)}: {_counted(answers, system)}"
        for one in _worst_lines(answers, system):
            yield f"  - {markdown(one)}"
    yield ""


def _columns(answers: Answers) -> list[Measure]:
    """The measures of answers that are known best, one of support among them."""
    support = answers.first(SUPPORT)
    known = [m for m in answers.measures if m.spec.name in KNOWN and m.spec.name not in SUPPORT]
    others = [m for m in answers.measures if m.spec.direction != "none" and m.spec.name not in SUPPORT]
    return (known or others)[: MEASURES - 1] + ([support] if support is not None else [])


def _means(answers: Answers, systems: Sequence[str], width: int) -> Iterator[RenderableType]:
    view, measures = View(answers.evaluation), _columns(answers)
    heads = [*(clean(m.name).replace("(", "\n(").replace(", ", ",\n") for m in measures), "declined", "failed"]
    rows = []
    for system in systems:
        counts = answers.counts(system)
        found = [view.summary(system, m) for m in measures]
        means = [NONE if s is None else figure(m, s.mean) for m, s in zip(measures, found, strict=True)]
        cells = [*means, f"{counts['declined']:,}", f"{counts['failed']:,}"]
        rows.append(Row(clean(system, 60), [Cell(cell) for cell in cells]))
    yield from grids("system", heads, rows, width)


def over(answers: Answers, systems: Sequence[str], measures: Sequence[Measure]) -> str:
    """Over how many questions the means are: what declines, say, has no support, and raises its mean by that."""
    view = View(answers.evaluation)
    counts: dict[str, list[str]] = {}
    for measure in measures:
        found = [n for s in systems if (one := view.summary(s, measure)) is not None and (n := one.n)]
        few, many = min(found, default=0), max(found, default=0)
        counts.setdefault(f"{few:,}" if few == many else f"{few:,} to {many:,}", []).append(measure.name)
    said = "; ".join(f"{clean(', '.join(names))} {count}" for count, names in counts.items())
    return f"Means are over the questions with a value: {said}."


def unanswered(study: Study, answers: Answers) -> list[str]:
    """Which systems have no answers, the best by the main measure above all; nothing where all have some."""
    without = [c.name for c in study.configurations if c.name not in answers.systems]
    if not without:
        return []
    best = study.choice.best.system if study.choice is not None else None
    few = f"{len(without):,} systems have" if len(without) > 1 else "1 system has"
    named = ""
    if best in without and study.choice is not None:
        named = f", {clean(best, 60)}, the best by {clean(study.choice.measure)}, among them"
    remedy = "answer.systems in karat.yaml names who answers; without it those listed do, not those of a sweep."
    return [f"{few} no answers{named}. {remedy}"]


def _refusals(answers: Answers, systems: Sequence[str]) -> Iterator[RenderableType]:
    found = [one for s in systems if (one := answers.evaluation.refusals.get(s)) is not None]
    if not any(one.unanswerable for one in found):
        return
    yield title("Refusals of questions that have no answer")
    table = plain_table("system", "precision", "recall", "F1", "declined", "without answer", right=range(1, 6))
    for one in found:
        rates = [short(one.precision), short(one.recall), short(one.f1)]
        table.add_row(*texts([clean(one.system, 60), *rates, f"{one.declined:,}", f"{one.unanswerable:,}"]))
    yield table


def _worst(answers: Answers, system: str) -> Iterator[RenderableType]:
    found = list(_worst_lines(answers, system))
    if found and answers.quality is not None:
        yield title(f"Worst answers of {clean(system, 60)} by {answers.quality.name}")
        yield listing(*(("-", line) for line in found))


def _worst_lines(answers: Answers, system: str) -> Iterator[str]:
    """A line for each of the worst: the question, what was said, what is missing."""
    for q, value in answers.worst(system, WORST):
        question = answers.evaluation.testset.questions[q]
        said = answers.of(system, question.id)
        words = clean(" ".join((said.text or "").split()), 120) if said is not None else ""
        missing = answers.missing(system, q)
        more = f" and {len(missing) - CLAIMS} more" if len(missing) > CLAIMS else ""
        lacks = f" Missing: {'; '.join(clean(claim, 100) for claim in missing[:CLAIMS])}{more}." if missing else ""
        asked = f"{clean(question.id, 40)} {short(value)}: {clean(question.text, 100)}"
        yield f"{asked} It says: {words or '(nothing)'}{'' if words.endswith(('.', '…', '!', '?')) else '.'}{lacks}"


def _counted(answers: Answers, system: str) -> str:
    counts = answers.counts(system)
    said = f"{counts['answers']:,} answers, {counts['declined']:,} decline, {counts['empty']:,} empty"
    one = answers.evaluation.refusals.get(system)
    if one is None or not one.unanswerable:
        return said
    rates = f"precision {percent(one.precision)}, recall {percent(one.recall)}"
    return f"{said}; of {one.unanswerable:,} questions without an answer {one.right:,} declined ({rates})"


def _took(bill: Bill) -> str:
    """Seconds, tokens and cost of a system's answers in one line; unknown where nobody said."""
    parts = [
        f"retrieval {_seconds(bill.retrieve_seconds)}",
        f"answer {_seconds(bill.answer_seconds)}",
        f"tokens {UNKNOWN if bill.tokens is None else f'{bill.tokens:,}'}{_of(bill.tokens_known, bill.n)}",
        f"cost {UNKNOWN if bill.cost_usd is None else f'${amount(bill.cost_usd)}'}{_of(bill.cost_known, bill.n)}",
    ]
    return f"{clean(bill.system, 60)}: {', '.join(parts)}"


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{amount(float(f'{1000 * value:.2g}'))} ms a question (median)"


def _of(known: int, n: int) -> str:
    return f" ({known:,} of {n:,} answers say)" if 0 < known < n else ""
