"""Answers: how good those of each system are, when they decline, who judged, what they took, and the worst of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from karat.core.text.words import plural
from karat.report._answers import HEURISTIC, UNKNOWN, Bill
from karat.report._numbers import NONE, amount, percent, short
from karat.report.answered import over, unanswered
from karat.report.html._markup import Box, Column, Row, bullets, section, table, text
from karat.report.html.scores import cell

if TYPE_CHECKING:
    from karat.report._answers import Answers
    from karat.report.html._shown import Shown

WORST = 20
COLUMNS = 6  # measures shown before all are asked for


def make(shown: Shown) -> str:
    """The section; nothing where no system answered."""
    answers = shown.answers
    ranked = answers.ranked(shown.best)
    if not ranked:
        return ""
    body = _scores(shown, ranked) + _unanswered(shown) + _floors(answers) + _refusals(shown, ranked)
    body += _judges(shown) + _bills(shown, ranked)
    worst = ""
    if answers.quality is not None:
        worst = (
            f'<h3>Worst answers by {text(answers.quality.name)}</h3><div id="worst"><noscript><p>This part needs a '
            "script; results.json holds every answer.</p></noscript></div>"
        )
    lead = (
        "What the systems said. An answer that could not be made is failed, never a zero; one that declines is counted."
    )
    return section("answers", "Answers", body + worst, lead)


def worst_of(shown: Shown) -> dict[str, Any]:
    """For the page's script: by which measure, and by rank of the system its worst answers, as question and score."""
    answers = shown.answers
    if answers.quality is None:
        return {}
    lists = [
        [shown.ranking.index(system), [[q, round(value, 4)] for q, value in answers.worst(system, WORST)]]
        for system in answers.ranked(shown.best)
    ]
    return {"measure": answers.quality.name, "lists": [one for one in lists if one[1]]}


def _scores(shown: Shown, ranked: list[str]) -> str:
    answers = shown.answers
    measures = answers.measures
    marks = {m.name: shown.view.marks(m) for m in measures}
    columns = [
        Column("system"),
        *(
            Column(text(m.name), number=True, extra=i >= COLUMNS, hint=text(m.spec.summary))
            for i, m in enumerate(measures)
        ),
        Column("answers", number=True, hint="questions that were answered or declined"),
        Column("declined", number=True),
        Column("empty", number=True),
        Column("failed", number=True, hint="answers that could not be made"),
    ]
    rows: list[Row] = []
    for system in ranked:
        counts = answers.counts(system)
        cells = [cell(m, shown.view.summary(system, m), marks[m.name]) for m in measures]
        rows.append(
            [text(system), *cells, *(f"{counts[name]:,}" for name in ("answers", "declined", "empty", "failed"))]
        )
    return table("Answers by measure", columns, rows) + f"<p>{text(over(answers, ranked, measures))}</p>"


def _unanswered(shown: Shown) -> str:
    return "".join(f"<p>{text(one)}</p>" for one in unanswered(shown.study, shown.answers))


def _floors(answers: Answers) -> str:
    """Where a similarity starts: without it the number cannot be read."""
    return bullets(text(note.text) for note in answers.floors) if answers.floors else ""


def _refusals(shown: Shown, ranked: list[str]) -> str:
    """How right the systems are to decline."""
    rows: list[Row] = []
    for system in ranked:
        one = shown.evaluation.refusals.get(system)
        if one is not None and (one.unanswerable or one.declined):
            rates = [Box(short(value), value) for value in (one.precision, one.recall, one.f1)]
            rows.append([text(system), *rates, *(f"{n:,}" for n in (one.declined, one.unanswerable, one.right))])
    if not rows:
        return ""
    columns = [
        Column("system"),
        Column("precision", number=True, hint="of the answers that decline, the share that is right to"),
        Column("recall", number=True, hint="of the questions without an answer, the share that is declined"),
        Column("F1", number=True),
        Column("declined", number=True),
        Column("without an answer", number=True, hint="questions that the documents do not answer"),
        Column("rightly declined", number=True),
    ]
    return table("Refusals", columns, rows)


def _judges(shown: Shown) -> str:
    """Who judged what, how often that failed, and how often asking again changed the verdict."""
    place = {system: i for i, system in enumerate(shown.ranking)}
    found = sorted(shown.answers.judged, key=lambda j: (j.measure, place.get(j.system, len(place))))
    rows: list[Row] = []
    for one in found:
        who = f'<span class="chip warns">{HEURISTIC}</span>' if one.who == HEURISTIC else text(one.who)
        flips = NONE if one.flips is None else percent(one.flips)
        rows.append(
            [text(one.system), text(one.measure), who, f"{one.n:,}", f"{one.failed:,}", f"{one.repeats:,}",
             Box(flips, one.flips)]
        )  # fmt: skip
    if not rows:
        return ""
    columns = [
        Column("system", pick=True),
        Column("measure", pick=True),
        Column("judge", pick=True),
        Column("judged", number=True),
        Column("failed", number=True, hint="replies that could not be read, or calls that failed, after the retries"),
        Column("asked", number=True, hint="times for each answer"),
        Column("flip rate", number=True, hint="share of the answers whose verdict differs when asked again"),
    ]
    said = ""
    if any(one.who == HEURISTIC for one in found):
        said = "<p>A heuristic verdict comes from words and rules, not from a model: read it as a hint.</p>"
    return table("Judges", columns, rows) + said


def _bills(shown: Shown, ranked: list[str]) -> str:
    """Seconds of retrieval and of answering apart, tokens and cost; unknown where nobody said."""
    bills = [shown.answers.bill(s, shown.study.seconds.get(s, ())) for s in ranked]
    rows: list[Row] = [
        [
            text(b.system),
            _known(b.retrieve_seconds),
            _known(b.answer_seconds),
            _known(b.tokens, b.tokens_known, b.n),
            _known(b.cost_usd, b.cost_known, b.n),
            f"{b.n:,}",
        ]
        for b in bills
    ]
    columns = [
        Column("system"),
        Column("retrieval, seconds", number=True, hint="median of a question"),
        Column("answer, seconds", number=True, hint="median of a question"),
        Column("tokens", number=True, hint="of all answers together"),
        Column("cost, USD", number=True, hint="of all answers together"),
        Column("n", number=True),
    ]
    return table("What answering took", columns, rows) if any(map(_told, bills)) else ""


def _told(bill: Bill) -> bool:
    return any(value is not None for value in (bill.answer_seconds, bill.tokens, bill.cost_usd))


def _known(value: float | None, known: int = 0, n: int = 0) -> Box:
    """A number, or that it is not known; of how many answers, where not of all."""
    if value is None:
        return Box(UNKNOWN)
    part = f" <small>of {plural(known, 'answer')}</small>" if 0 < known < n else ""
    return Box(f"{amount(value)}{part}", float(value))
