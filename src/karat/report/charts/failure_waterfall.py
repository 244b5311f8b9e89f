"""All questions of the best system, less those that fail for each reason, down to those that succeed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import altair as alt

from karat.core.scores import Status
from karat.core.text.words import clean, number, percent
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import Lens, wrap
from karat.report.charts._style import GREEN, GREY, VERMILION, headed, names_axis, tips
from karat.report.labels import LABELS

WIDE = 430


def make(study: Study) -> Figure | Missing:
    """Each question stands in one step only, so that the steps add up."""
    lens = Lens(study)
    if not study.failure_counts:
        return Missing("no failure was attributed")
    counted = list(dict.fromkeys(c.system for c in study.failure_counts))
    system = lens.best if lens.best in counted else min(counted, key=lens.by_mean.index)
    rows = _steps(lens, system)
    domain = [row["step"] for row in rows]
    colours = {"questions": GREY, "fails": VERMILION, "no score": GREY, "succeeds": GREEN}
    total = rows[0]["until"]
    base = alt.Chart().encode(y=alt.Y("step:N", sort=domain, title=None, axis=alt.Axis(**names_axis())))
    scale = alt.Scale(domain=[0, total], nice=False)
    bars = base.mark_bar(height={"band": 0.66}).encode(
        x=alt.X("from:Q", title="questions", scale=scale, axis=alt.Axis(tickMinStep=1, format=",d")),
        x2="until:Q",
        color=alt.Color("what:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=None),
        tooltip=tips(step="step", said="questions"),
    )  # fmt: skip
    links = (
        base.mark_rule(style="guide")
        .encode(x=alt.X("link:Q", title="questions"), y2=alt.Y2("next:N"))
        .transform_filter("isValid(datum.next)")
    )
    figures = base.mark_text(align="left").encode(x=alt.value(WIDE + 8), text="said:N")
    return alt.layer(links, bars, figures, data=alt.InlineData(values=rows)).properties(
        width=WIDE,
        height=alt.Step(36),
        title=headed(
            f"Why questions fail: {lens.labels[system]}",
            [
                f"n = {total:,} question{'s' if total != 1 else ''} at k = {study.k}, each in one step. "
                f"The gain is what fixing that step alone would add to mean {_means(lens, system)}.",
            ],
            760,
        ),
    )


def _means(lens: Lens, system: str) -> str:
    """The measures that gains are of: recall, and where answers fail too the measure of those."""
    measures = {c.measure for c in lens.study.failure_counts if c.system == system}
    answers = ", ".join(sorted(clean(name, 40) for name in measures if name))
    if not answers:
        return "Recall"
    return f"Recall (for answers, {answers})" if "" in measures else answers


def _steps(lens: Lens, system: str) -> list[dict[str, Any]]:
    """All questions, each label that occurs, rows without a score, and the rest."""
    study, total = lens.study, lens.questions
    seen: set[str] = set()
    steps: list[tuple[str, int, str, str]] = []
    counts = {c.label: c for c in study.failure_counts if c.system == system}
    for label in (label for label in LABELS if label in counts):
        fresh = set(counts[label].questions) - seen
        seen |= fresh
        gain = counts[label].gain
        more = f", gain {'+' if gain >= 0 else ''}{number(gain, 3)}"
        steps.append((LABELS[label].title, len(fresh), "fails", more))
    if lens.main is not None:
        s, m = lens.scores.systems.index(system), lens.scores.measures.index(lens.main)
        for status, words in ((Status.failed, "failed to run"), (Status.undefined, "nothing to score (undefined)")):
            ids = {q for q, own in zip(lens.scores.questions, lens.status[s, :, m], strict=True) if own == status}
            fresh = ids - seen - (_declined(study, system) if status == Status.undefined else set())
            seen |= fresh
            if fresh:
                steps.append((words, len(fresh), "no score", ""))
    rows: list[dict[str, Any]] = []
    left = total
    rows.append(_row("all questions", 0, total, "questions", total, ""))
    for words, count, what, more in steps:
        rows.append(_row(words, left - count, left, what, total, more))
        left -= count
    rows.append(_row("succeed", 0, left, "succeeds", total, ""))
    for row, after in pairwise(rows):
        row["next"] = after["step"]
        row["link"] = row["until"] if row["what"] == "questions" else row["from"]
    return rows


def _declined(study: Study, system: str) -> set[str]:
    """Questions without an answer that the system rightly declines: they succeed, though there is nothing to find."""
    unanswerable = {q.id for q in study.evaluation.testset if not q.answerable}
    return {q for q, answer in study.answers.get(system, {}).items() if answer.declined and q in unanswerable}


def _row(step: str, start: int, end: int, what: str, total: int, more: str) -> dict[str, Any]:
    count = end - start
    words = f"{count:,} ({percent(count / total if total else None)}){more}"
    return {"step": wrap(step, 28), "from": start, "until": end, "count": count, "what": what, "said": words}


chart = Chart(
    "failure_waterfall",
    "Why questions fail",
    "From all questions of the best system to those that succeed, one step per reason.",
    make,
)
