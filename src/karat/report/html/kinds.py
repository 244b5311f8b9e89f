"""Kinds: for each kind of question what is best, how every system does, and what fails; then the other slices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.report._labels import LABELS
from karat.report._view import statuses
from karat.report.html._markup import Column, Row, folded, section, table, text
from karat.report.html._shown import counted
from karat.report.html.scores import cell

if TYPE_CHECKING:
    from karat.report.html._shown import Shown

MEASURES = 4  # of each slice; the others are in summary.csv
HARDEST = 5


def make(shown: Shown) -> str:
    """A matrix of the main measure for each slice, then a part for each of its values."""
    slices = shown.view.slices
    if not slices:
        return ""
    body = ""
    for name, values in slices.items():
        body += _matrix(shown, name, values)
        body += "".join(folded(_head(shown, name, v), _value(shown, name, v)) for v in values)
    left = len(shown.view.measures) - MEASURES
    lead = f"{counted(left, 'more measure')} of each are in summary.csv." if left > 0 else ""
    return section("kinds", "Kinds of questions", body, lead)


def _matrix(shown: Shown, name: str, values: list[str]) -> str:
    measure = shown.main
    if measure is None:
        return ""
    marks = {v: shown.view.marks(measure, name, v) for v in values}
    rows: list[Row] = [
        [text(s), *(cell(measure, shown.view.summary(s, measure, name, v), marks[v]) for v in values)]
        for s in shown.ranking
    ]
    columns = [Column("system"), *(Column(text(v), number=True) for v in values)]
    return table(f"{text(measure.name)} by {text(name)}", columns, rows)


def _head(shown: Shown, name: str, value: str) -> str:
    asked = [q for q in shown.evaluation.testset if (q.slice_value(name) or "(none)") == value]
    said = f"<b>{text(value)}</b> <span>{counted(len(asked), 'question')}</span>"
    choice = shown.study.choice
    found = (
        next((k for k in choice.by_kind if k.kind == value), None) if choice is not None and name == "kind" else None
    )
    if found is None:
        return said
    alpha = shown.alpha(found.best.system)
    weight = f" (alpha {alpha:g})" if alpha is not None and "alpha" not in found.best.system else ""
    equals = counted(len(found.equals), "equal") if found.equals else "no equal"
    return f"{said} <span>best: {text(found.best.system)}{weight}, {equals}</span>"


def _value(shown: Shown, name: str, value: str) -> str:
    measures = shown.key_measures[:MEASURES]
    marks = {m.name: shown.view.marks(m, name, value) for m in measures}
    rows: list[Row] = []
    for system in shown.ranking:
        whole = shown.view.summary(system, measures[0], name, value) if measures else None
        cells = [cell(m, shown.view.summary(system, m, name, value), marks[m.name]) for m in measures]
        rows.append([text(system), *cells, f"{whole.n:,}" if whole is not None else "0"])
    columns = [Column("system"), *(Column(text(m.name), number=True) for m in measures), Column("n", number=True)]
    caption = f"{text(name)}: {text(value)}"
    return table(caption, columns, rows) + _failing(shown, name, value) + _hardest(shown, name, value)


def _failing(shown: Shown, name: str, value: str) -> str:
    """How the leading system fails here."""
    here = {q.id for q in shown.evaluation.testset if (q.slice_value(name) or "(none)") == value}
    counts = Counter(f.label for f in shown.study.failures if f.system == shown.best and f.question in here)
    if not counts:
        return ""
    said = ", ".join(f"{text(LABELS[label].title)} {n:,}" for label, n in counts.most_common())
    return f"<p>{text(shown.best or '')} fails {counted(counts.total(), 'question')} of {len(here):,}: {said}.</p>"


def _hardest(shown: Shown, name: str, value: str) -> str:
    """The questions on which the systems do worst, with a way to each."""
    scores, measure = shown.evaluation.scores, shown.main
    if measure is None or measure.spec.direction == "none":
        return ""
    column = next(i for i, m in enumerate(scores.measures) if m.name == measure.name)
    sign = -1 if measure.spec.direction == "lower" else 1
    ok = statuses(scores)[:, :, column] == Status.ok
    total = np.where(ok, scores.values[:, :, column], 0.0).sum(axis=0)
    found = [
        (sign * float(total[q]) / int(ok[:, q].sum()), q, question)
        for q, question in enumerate(shown.evaluation.testset)
        if (question.slice_value(name) or "(none)") == value and ok[:, q].any()
    ]
    found.sort(key=lambda row: row[:2])
    links = (f'<li><a href="#q{q}">{text(x.id)}</a> {text(x.text)}</li>' for _, q, x in found[:HARDEST])
    return f"<p>Hardest for all systems together:</p><ul>{''.join(links)}</ul>" if found else ""
