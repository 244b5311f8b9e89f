"""Answers: how good those of each system are, when they decline, who judged, what they took, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from karat.core.measure import Measure
from karat.core.text.words import amount, clean, excerpt, names, number, percent, plural
from karat.report.answers import HEURISTIC, KNOWN, UNKNOWN, Answers, Bill
from karat.report.build._parts import value_of
from karat.report.build.outcomes import outcome_blocks
from karat.report.document import (
    Block,
    Cell,
    Column,
    Detail,
    Heading,
    Listing,
    ListItem,
    Table,
    Text,
    Widget,
    bullets,
)
from karat.report.lookups import EvaluationView, StudyView
from karat.results.decisions import SUPPORT
from karat.results.evaluation import Evaluation

MEASURES = 5  # of answers that come first
BRIEF = 3  # columns in brief
ROWS = 4  # systems in brief
WORST = 3
CLAIMS = 3  # missing claims of an answer
FULL = Detail.FULL


def answer_blocks(view: StudyView) -> Iterator[Block]:
    """The part of a study on its answers; nothing where no system answered."""
    answers, study = view.answers, view.study
    ranked = answers.ranked(view.best)
    if not ranked:
        return
    yield Heading("Answers", anchor="answers", menu="Answers")
    measures = _columns(answers)
    yield _means(view, ranked, measures)
    yield Text(_over(answers, ranked, measures), detail=FULL)
    yield from map(Text, _unanswered(view))
    heuristic = dict.fromkeys(j.measure for j in answers.judged if j.who == HEURISTIC)
    if heuristic:
        yield Text(f"Heuristic, by words and rules and not by a model: {', '.join(heuristic)}.", detail=FULL)
    yield bullets((note.text for note in answers.floors), detail=FULL)
    yield from (replace(block, detail=FULL) for block in refusals(view.evaluation, ranked))
    yield from outcome_blocks(view.evaluation, ranked)
    yield _judges(view)
    bills = [answers.bill(s, study.seconds.get(s, ())) for s in ranked]
    yield from _bills(bills)
    best = ranked[0]
    if answers.quality is not None:
        yield Heading(f"Worst answers by {answers.quality.name}", depth=3, detail=Detail.PAGE)
        yield Widget("worst", "This part needs a script; results.json holds every answer.")
        yield Heading(f"Worst answers of {best} by {answers.quality.name}", depth=3, detail=FULL)
        yield Listing(worst_items(answers, best), detail=FULL)
    yield Listing([ListItem("took", _took(bills[0]))], detail=FULL)


def _columns(answers: Answers) -> list[Measure]:
    """The measures of answers, those known best first with one of support among them."""
    support = answers.first(SUPPORT)
    known = [m for m in answers.measures if m.spec.name in KNOWN and m.spec.name not in SUPPORT]
    others = [m for m in answers.measures if m.spec.direction != "none" and m.spec.name not in SUPPORT]
    first = (known or others)[: MEASURES - 1] + ([support] if support is not None else [])
    judged = {one.measure for one in answers.judged}
    asked = [m for m in answers.measures if m.name in judged][: BRIEF - 1]  # a judge was asked for them by name
    first = list(dict.fromkeys([*first[:1], *asked, *first]))
    return [*first, *(m for m in answers.measures if m not in first)]


def _means(view: StudyView, ranked: Sequence[str], measures: Sequence[Measure]) -> Table:
    columns = [Column("system")]
    columns += [
        Column(m.name, "value", detail=Detail.QUIET if i < BRIEF else FULL, hint=m.spec.summary)
        for i, m in enumerate(measures)
    ]
    columns += [
        Column("answers", "count", hint="questions that were answered or declined", detail=FULL),
        Column("declined", "count"), Column("empty", "count", detail=FULL),
        Column("failed", "count", hint="answers that could not be made", detail=FULL),
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for system in ranked:
        counts = view.answers.counts(system)
        values = [value_of(view, system, m) for m in measures]
        rows.append([system, *values, *(counts[name] for name in ("answers", "declined", "empty", "failed"))])
    return Table("Answers by measure", columns, rows, most=ROWS)


def _over(answers: Answers, systems: Sequence[str], measures: Sequence[Measure]) -> str:
    """Over how many questions the means are: what declines, say, has no support, and raises its mean by that."""
    view = EvaluationView(answers.evaluation)
    counts: dict[str, list[str]] = {}
    for measure in measures:
        sizes = [n for s in systems if (one := view.summary(s, measure)) is not None and (n := one.n)]
        few, many = min(sizes, default=0), max(sizes, default=0)
        counts.setdefault(f"{few:,}" if few == many else f"{few:,} to {many:,}", []).append(measure.name)
    parts = "; ".join(f"{', '.join(named)} {count}" for count, named in counts.items())
    return f"Means are over the questions with a value: {parts}."


def _unanswered(view: StudyView) -> list[str]:
    """Which systems have no answers, the best by the main measure above all; nothing where all have some."""
    study = view.study
    without = [c.name for c in study.configurations if c.name not in view.answers.systems]
    if not without:
        return []
    best = study.choice.best.system if study.choice is not None else None
    named = ""
    if best in without and study.choice is not None:
        named = f", {best}, the best by {study.choice.measure}, among them"
    remedy = "answer.systems in karat.yaml names who answers; without it those listed do, not those of a sweep."
    return [f"{plural(len(without), 'system')} {'has' if len(without) == 1 else 'have'} no answers{named}. {remedy}"]


def refusals(evaluation: Evaluation, systems: Sequence[str] | None = None) -> Iterator[Block]:
    """How right the systems are to decline; nothing where nothing is unanswerable or declined."""
    every = evaluation.refusals
    counted = [every[s] for s in (every if systems is None else systems) if s in every]
    rows: list[list[Cell]] = [
        [r.system, r.n, r.unanswerable, r.declined, r.right, *(number(v, 3) for v in (r.precision, r.recall, r.f1))]
        for r in counted
        if r.unanswerable or r.declined
    ]
    columns = [
        Column("system"), Column("asked", "count"),
        Column("unanswerable", "count", hint="questions that the documents do not answer"),
        Column("declined", "count"), Column("rightly", "count"),
        Column("precision", "score", hint="of the answers that decline, the share that is right to"),
        Column("recall", "score", hint="of the questions without an answer, the share that is declined"),
        Column("F1", "score"),
    ]  # fmt: skip
    yield Table("Refusals", columns, rows)


def _judges(view: StudyView) -> Table:
    """Who judged what, how often that failed, and how often asking again changed the verdict."""
    place = {system: i for i, system in enumerate(view.ranking)}
    judged = sorted(view.answers.judged, key=lambda j: (j.measure, place.get(j.system, len(place))))
    columns = [
        *(Column(title, pick=True) for title in ("system", "measure", "judge")), Column("judged", "count"),
        Column("failed", "count", hint="replies that could not be read, or calls that failed, after the retries"),
        Column("asked", "count", hint="times for each answer"),
        Column("flip rate", "percent", hint="share of the answers whose verdict differs when asked again"),
    ]  # fmt: skip
    rows = [(j.system, j.measure, j.who, j.n, j.failed, j.repeats, j.flips) for j in judged]
    hint = "A heuristic verdict comes from words and rules, not from a model: read it as a hint."
    heuristic = [hint] if any(j.who == HEURISTIC for j in judged) else []
    return Table("Judges", columns, rows, footnotes=heuristic, detail=FULL)


def _bills(bills: Sequence[Bill]) -> Iterator[Block]:
    """Seconds of retrieval and of answering apart, tokens and cost; unknown where nobody said."""
    rows: list[list[Cell]] = [
        [b.system, _known(b.retrieve_seconds), _known(b.answer_seconds), _known(b.tokens, b.tokens_known, b.n),
         _known(b.cost_usd, b.cost_known, b.n), b.n]
        for b in bills
        if (b.answer_seconds, b.tokens, b.cost_usd) != (None, None, None)
    ]  # fmt: skip
    titles = ("retrieval, seconds", "answer, seconds", "tokens", "cost, USD")
    hints = ("median of a question", "median of a question", "of all answers together", "of all answers together")
    columns = [Column(title, "amount", hint=hint) for title, hint in zip(titles, hints, strict=True)]
    yield Table("What answering took", [Column("system"), *columns, Column("n", "count")], rows, detail=FULL)


def _known(value: float | None, known: int = 0, n: int = 0) -> Cell:
    """A number, or that it is not known; of how many answers, where not of all."""
    if value is None:
        return UNKNOWN
    return f"{amount(value)} (of {plural(known, 'answer')})" if 0 < known < n else value


def worst_items(answers: Answers, system: str) -> list[ListItem]:
    """The worst answers: the question, what was said, what is missing."""
    items = []
    for q, value in answers.worst(system, WORST):
        question = answers.evaluation.testset.questions[q]
        answer = answers.of(system, question.id)
        words = excerpt(answer.text, 120) if answer is not None else ""
        quoted = f"It says: {words or '(nothing)'}{'' if words.endswith(('.', '…', '!', '?')) else '.'}"
        missing = answers.missing(system, q)
        lacks = f" Missing: {names([clean(claim, 100) for claim in missing], CLAIMS)}." if missing else ""
        items.append(ListItem("-", f"{question.id} {number(value, 3)}: {excerpt(question.text, 100)} {quoted}{lacks}"))
    return items


def counted(answers: Answers, system: str) -> str:
    """How many answers there are, and how right the system is to decline."""
    counts = answers.counts(system)
    line = f"{counts['answers']:,} answers, {counts['declined']:,} decline, {counts['empty']:,} empty"
    one = answers.evaluation.refusals.get(system)
    if one is None or not one.unanswerable:
        return line
    rates = f"precision {percent(one.precision)}, recall {percent(one.recall)}"
    return f"{line}; of {one.unanswerable:,} questions without an answer {one.right:,} declined ({rates})"


def _took(bill: Bill) -> str:
    """Seconds, tokens and cost of a system's answers in one line; unknown where nobody said."""
    tokens = UNKNOWN if bill.tokens is None else f"{bill.tokens:,}"
    cost = UNKNOWN if bill.cost_usd is None else f"${amount(bill.cost_usd, 4)}"
    parts = [
        f"retrieval {_milliseconds(bill.retrieve_seconds)}",
        f"answer {_milliseconds(bill.answer_seconds)}",
        f"tokens {tokens}{_share(bill.tokens_known, bill.n)}",
        f"cost {cost}{_share(bill.cost_known, bill.n)}",
    ]
    return f"{bill.system}: {', '.join(parts)}"


def _milliseconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{amount(float(f'{1000 * value:.2g}'))} ms a question (median)"


def _share(known: int, n: int) -> str:
    return f" ({known:,} of {n:,} answers say)" if 0 < known < n else ""
