"""Kinds: for each kind of question what is best, how every system does, and what fails; then the other slices."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report._labels import LABELS
from karat.report.html._markup import Column, Row, folded, section, table, text
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
    lead = f"{plural(left, 'more measure')} of each are in summary.csv." if left > 0 else ""
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
    asked = len(shown.questions_of(name).get(value, ()))
    said = f"<b>{text(value)}</b> <span>{plural(asked, 'question')}</span>"
    found = shown.choice_of_kind.get(value) if name == "kind" else None
    if found is None:
        return said
    alpha = shown.alpha(found.best.system)
    weight = f" (alpha {alpha:g})" if alpha is not None and "alpha" not in found.best.system else ""
    equals = plural(len(found.equals), "equal") if found.equals else "no equal"
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
    best, here = shown.best or "", shown.questions_of(name).get(value, ())
    counts = Counter(shown.failure_of[best, q.id].label for q in here if (best, q.id) in shown.failure_of)
    if not counts:
        return ""
    said = ", ".join(f"{text(LABELS[label].title)} {n:,}" for label, n in counts.most_common())
    return f"<p>{text(best)} fails {plural(counts.total(), 'question')} of {len(here):,}: {said}.</p>"


def _hardest(shown: Shown, name: str, value: str) -> str:
    """The questions on which the systems do worst, with a way to each."""
    ease, place = shown.ease, shown.number_of
    asked = [q for q in shown.questions_of(name).get(value, ()) if q.id in ease]
    hardest = sorted(asked, key=lambda q: (ease[q.id], place[q.id]))[:HARDEST]
    links = (f'<li><a href="#q{place[q.id]}">{text(q.id)}</a> {text(q.text)}</li>' for q in hardest)
    return f"<p>Hardest for all systems together:</p><ul>{''.join(links)}</ul>" if hardest else ""
