"""Failures: how each system fails and what mending it would buy, then each failed question of the leading one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.report._labels import LABELS, gained, nothing_to_gain
from karat.report._numbers import NONE, short
from karat.report.html._markup import Box, Column, Row, section, table, text

if TYPE_CHECKING:
    from karat.report.html._shown import Shown


def make(shown: Shown) -> str:
    """One label a failed question; nothing where no failures were looked for."""
    study = shown.study
    if not study.failures and not study.failure_counts:
        return ""
    place = {system: i for i, system in enumerate(shown.ranking)}
    counts = sorted(study.failure_counts, key=lambda c: (place.get(c.system, len(place)), -c.gain, c.label))
    rows: list[Row] = [
        [
            text(c.system),
            text(LABELS[c.label].title),
            f"{len(c.questions):,}",
            Box(NONE if nothing_to_gain(c) else f"+{short(c.gain)} <small>{text(gained(c, study.k))}</small>", c.gain),
            text(LABELS[c.label].meaning),
        ]
        for c in counts
    ]
    columns = [
        Column("system", pick=True),
        Column("failure", pick=True),
        Column("questions", number=True),
        Column("to gain", number=True, hint="what mending all of them would add to the mean of the measure named"),
        Column("meaning"),
    ]
    lead = (
        f"A question fails when its top {study.k} misses relevant gold, or its answer is wrong. "
        "Each failed question has one label: the first step that lost it."
    )
    body = table("Ways to fail", columns, rows) if rows else ""
    return section("failures", "Failures", body + _classes(shown) + _questions(shown), lead)


def _classes(shown: Shown) -> str:
    """The error classes of hybrid-rag, how many questions of each system fall into each."""
    found = shown.study.error_classes
    if not found:
        return ""
    names = list(dict.fromkeys(name for counts in found.values() for name in counts))
    ordered = [*(s for s in shown.ranking if s in found), *(s for s in found if s not in shown.ranking)]
    rows: list[Row] = [[text(s), *(f"{found[s].get(name, 0):,}" for name in names)] for s in ordered]
    columns = [Column("system"), *(Column(text(name.replace("_", " ")), number=True) for name in names)]
    return table("Error classes, as hybrid-rag counts them", columns, rows)


def _questions(shown: Shown) -> str:
    """Each failed question of the leading system, with a way to it."""
    texts = {q.id: q.text for q in shown.evaluation.testset}
    kinds = {q.id: q.kind for q in shown.evaluation.testset}
    found = [f for f in shown.study.failures if f.system == shown.best]
    if not found:
        return ""
    rows = []
    for f in found:
        name = text(f"{f.question}: {texts.get(f.question, '')}" if texts.get(f.question) else f.question)
        number = shown.number_of.get(f.question)
        link = f'<a href="#q{number}">{name}</a>' if number is not None else name
        rows.append([link, text(kinds.get(f.question) or "–"), text(LABELS[f.label].title), text(f.detail)])
    columns = [Column("question"), Column("kind", pick=True), Column("failure", pick=True), Column("why")]
    caption = f"{plural(len(found), 'question')} that {text(shown.best or '')} fails"
    return table(caption, columns, rows)
