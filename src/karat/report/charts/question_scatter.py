"""Each question by the best system and the runner-up."""

from __future__ import annotations

from typing import Any

import altair as alt

from karat.core.text.words import clean, number
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import Lens
from karat.report.charts._style import BLUE, GREY, VERMILION, headed, tips

SIDE = 420
SHAPES = ["triangle-up", "circle", "triangle-down"]
MOST = 2000  # points
SHAKE = 0.018  # of the range, so that equal pairs do not hide each other
GOLDEN = 0.6180339887498949


def make(study: Study) -> Figure | Missing:
    """Points are shaken a little, in a fixed way: by the place of the question, not by chance."""
    lens = Lens(study)
    main, best = lens.main, lens.best
    others = [s for s in lens.by_mean if s != best and lens.mean(s, main) is not None]
    if main is None or best is None or not others:
        return Missing("fewer than two systems have a value of the main measure")
    second = others[0]
    texts = {q.id: q.text for q in study.evaluation.testset}
    first_values, second_values = lens.per_question(best, main), lens.per_question(second, main)
    both = [
        (i, a, b)
        for i, (a, b) in enumerate(zip(first_values, second_values, strict=True))
        if a is not None and b is not None
    ]
    if not both:
        return Missing("no question has a value of the main measure for both systems")
    sign = -1 if main.spec.direction == "lower" else 1
    short_best, short_second = "best system", "runner-up"
    verdicts = {
        "best": f"{short_best} does better", "tie": "equal", "second": f"{short_second} does better",
    }  # fmt: skip
    counts = dict.fromkeys(verdicts, 0)
    least, most = min(min(a, b) for _, a, b in both), max(max(a, b) for _, a, b in both)
    if main.bounds == (0.0, 1.0):
        least, most = 0.0, 1.0
    span = (most - least) or 1.0
    step = -(-len(both) // MOST)
    rows: list[dict[str, Any]] = []
    for place, (i, a, b) in enumerate(both):
        won = "tie" if abs(a - b) < 1e-9 else "best" if sign * (a - b) > 0 else "second"
        counts[won] += 1
        if place % step:
            continue
        shake = [SHAKE * span * (2 * ((place * GOLDEN * factor) % 1) - 1) for factor in (1.0, 1.7)]
        question = lens.scores.questions[i]
        rows.append({
            "x": round(b + shake[0], 4), "y": round(a + shake[1], 4), "a": number(a, 3), "b": number(b, 3), "won": won,
            "question": clean(question, 60), "text": clean(texts.get(question, ""), 90),
        })  # fmt: skip
    labelled = {key: f"{words} ({counts[key]:,})" for key, words in verdicts.items()}
    for row in rows:
        row["won"] = labelled[row["won"]]
    domain = list(labelled.values())
    edge = [least - 0.05 * span, most + 0.05 * span]
    scale = alt.Scale(domain=edge, nice=False)
    axis = alt.Axis(format=".6~g", tickCount=5)
    titles = [f"{main.name}: {lens.labels[second]} (runner-up)", f"{main.name}: {lens.labels[best]} (best)"]
    x = alt.X("x:Q", title=titles[0], scale=scale, axis=axis)
    y = alt.Y("y:Q", title=titles[1], scale=scale, axis=axis)
    legend = alt.Legend(title=None, columns=3, symbolOpacity=1)
    picked = alt.selection_point(name="picked", fields=["won"], bind="legend")
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(size=55)
        .encode(
            x=x, y=y,
            color=alt.Color("won:N", scale=alt.Scale(domain=domain, range=[BLUE, GREY, VERMILION]), legend=legend),
            shape=alt.Shape("won:N", scale=alt.Scale(domain=domain, range=SHAPES), legend=legend),
            opacity=alt.when(picked).then(alt.value(0.65)).otherwise(alt.value(0.08)),
            tooltip=tips(question="question", text="text", a=short_best, b=short_second),
        )
        .add_params(picked)
    )  # fmt: skip
    diagonal = (
        alt.Chart(alt.InlineData(values=[{"x": end, "y": end} for end in edge]))
        .mark_line(style="guide")
        .encode(x=x, y=y)
    )
    left = f"Every {step}. question is drawn; the counts are of all." if step > 1 else ""
    return alt.layer(diagonal, points).properties(
        width=SIDE,
        height=SIDE,
        title=headed(
            "Question by question: the best system and the runner-up",
            [
                f"n = {len(both):,} questions with a value for both. On the broken line both do equally well; points "
                f"are moved a little so that equal ones can be seen. {left}",
                _difference(lens, best, second),
            ],
            SIDE + 120,
        ),
    )


def _difference(lens: Lens, best: str, second: str) -> str:
    """The paired difference with its interval, where the study has it."""
    for pair in lens.study.pairs:
        if lens.main is not None and pair.measure == lens.main.name and {pair.a, pair.b} == {best, second}:
            sign = 1 if pair.b == best else -1
            ends = [pair.low, pair.high] if sign == 1 else [pair.high, pair.low]
            if pair.difference is None or ends[0] is None or ends[1] is None:
                return ""
            low, high = (number(sign * end, 3) for end in ends if end is not None)
            return (
                f"Difference of means {number(sign * pair.difference, 3)}, 95% interval [{low}, {high}], "
                f"p = {number(pair.adjusted, 3)} after Holm's correction."
            )
    return ""


chart = Chart(
    "question_scatter",
    "Question by question: the best system and the runner-up",
    "Which questions set two systems apart: each is a point, those on the line score the same.",
    make,
)
