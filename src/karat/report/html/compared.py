"""Compared: the page of a comparison, with its forest of differences, matrix, flips and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.wellformed import well_formed
from karat.core.text.words import probability
from karat.report._compared_words import (
    ends,
    loss_sentences,
    method,
    noise_sentences,
    sentences,
    signed,
    without_interval,
)
from karat.report._comparison_charts import charts
from karat.report._numbers import short
from karat.report.compared import matrix, means_table
from karat.report.html import charts as drawn
from karat.report.html._markup import Box, Column, Row, bullets, section, table, text
from karat.report.html.page import document

if TYPE_CHECKING:
    from karat.results.comparison import Comparison, Flip

PAIRS, FLIPPED, SLICED = 1_500, 2_000, 2_000
MENU = {
    "summary": "Summary", "means": "Means", "charts": "Charts", "matrix": "Matrix", "pairs": "Pairs", "flips": "Flips",
    "slices": "Slices", "methods": "Methods",
}  # fmt: skip


def render(found: Comparison) -> str:
    """The comparison as one page that needs nothing but itself."""
    specs = charts(found)
    body = "".join(
        [_summary(found), _means(found), drawn.make(specs), _matrices(found), _pairs(found), _flips(found),
         _slices(found), _methods(found)]
    )  # fmt: skip
    title = f"{' against '.join(found.systems[:2])}{' and others' if len(found.systems) > 2 else ''}"
    return document(title, well_formed(body), MENU, [drawn.runtime()] if specs else [])


def _summary(found: Comparison) -> str:
    lines = [text(line) for line in sentences(found)]
    beside = [text(line) for line in loss_sentences(found)]
    beside += [text(note.text) for note in found.notes]
    lead = f"{len(found.systems)} systems over {len(found.questions):,} questions, paired by question."
    return section("summary", "Summary", bullets(lines) + (bullets(beside) if beside else ""), lead)


def _means(found: Comparison) -> str:
    made = means_table(found)
    columns = [Column(text(made.titles[0])), *(Column(text(name), number=True) for name in made.titles[1:])]
    return section(
        "means", "Means", table("Means", columns, [[text(c) for c in row] for row in made.rows]), text(made.below)
    )


def _matrices(found: Comparison) -> str:
    if len(found.systems) < 3 or found.baseline is not None:
        return ""
    body = ""
    for measure in found.measures:
        made = matrix(found, measure)
        columns = [Column("system"), *(Column(text(name)) for name in made.titles[1:])]
        body += table(text(made.heading), columns, [[text(cell) for cell in row] for row in made.rows])
    return section("matrix", "Who is told apart from whom", body, text(made.below))


def _pairs(found: Comparison) -> str:
    columns = [
        Column("b"), Column("a"), Column("measure", pick=True), Column("b - a", number=True), Column("95% interval"),
        Column("p", number=True), Column("p adjusted", number=True), Column("Wilcoxon", number=True, extra=True),
        Column("t", number=True, extra=True), Column("McNemar", number=True, extra=True),
        Column("Tukey", number=True, extra=True), Column("d", number=True, hint="Cohen's d of paired values"),
        Column("rank-biserial", number=True, extra=True), Column("b over a", number=True, extra=True),
        Column("wins", number=True), Column("ties", number=True), Column("losses", number=True),
        Column("n", number=True), Column("told apart", pick=True),
    ]  # fmt: skip
    rows: list[Row] = [
        [
            text(p.b), text(p.a), text(p.measure), Box(signed(p.difference), p.difference), ends(p.low, p.high),
            *(Box(text(probability(v)), v) for v in (p.p, p.adjusted, p.wilcoxon, p.t, p.mcnemar, p.tukey)),
            Box(short(p.d), p.d), Box(short(p.biserial), p.biserial),
            Box("" if p.over is None else f"{100 * p.over:+.1f}%", p.over), f"{p.wins:,}", f"{p.ties:,}",
            f"{p.losses:,}", f"{p.n:,}", "yes" if found.is_told_apart(p) else "no",
        ]
        for p in found.pairs[:PAIRS]
    ]  # fmt: skip
    left = len(found.pairs) - PAIRS
    more = f" {left:,} more are not shown." if left > 0 else ""
    lead = f"b minus a over the questions that both have a value for.{more} {without_interval(found.pairs)}".rstrip()
    return section("pairs", "Pairs", table("Pairs of systems", columns, rows), lead)


def _flips(found: Comparison) -> str:
    columns = [
        Column("question"), Column("text"), Column("measure", pick=True), Column("better", pick=True),
        Column("worse", pick=True), Column("better has", number=True), Column("worse has", number=True),
    ]  # fmt: skip
    rows: list[Row] = []
    for pair in found.pairs:
        sides: list[tuple[tuple[Flip, ...], str, str, bool]] = [
            (pair.better, pair.b, pair.a, True), (pair.worse, pair.a, pair.b, False),
        ]  # fmt: skip
        for flips, won, lost, up in sides:
            for flip in flips:
                first, second = (flip.b, flip.a) if up else (flip.a, flip.b)
                rows.append([
                    text(flip.question), text(flip.text), text(pair.measure), text(won), text(lost),
                    Box(short(first), first), Box(short(second), second),
                ])  # fmt: skip
    if not rows:
        return ""
    left = len(rows) - FLIPPED
    lead = "Questions on which one of two systems is better, the largest differences first."
    lead += f" {left:,} more are not shown." if left > 0 else ""
    return section("flips", "Questions that flipped", table("Flips", columns, rows[:FLIPPED]), lead)


def _slices(found: Comparison) -> str:
    if not found.slices:
        return ""
    columns = [
        Column("value"), Column("slice", pick=True), Column("b", pick=True), Column("a", pick=True),
        Column("measure", pick=True), Column("b - a", number=True), Column("95% interval"), Column("p", number=True),
        Column("p adjusted", number=True), Column("wins", number=True), Column("ties", number=True),
        Column("losses", number=True), Column("n", number=True),
    ]  # fmt: skip
    rows: list[Row] = [
        [
            text(s.value), text(s.slice), text(s.b), text(s.a), text(s.measure),
            Box(signed(s.difference), s.difference), ends(s.low, s.high), Box(text(probability(s.p)), s.p),
            Box(text(probability(s.adjusted)), s.adjusted), f"{s.wins:,}", f"{s.ties:,}", f"{s.losses:,}", f"{s.n:,}",
        ]
        for s in sorted(found.slices, key=lambda s: s.adjusted)[:SLICED]
    ]  # fmt: skip
    lead = f"Permutation test, corrected over all {found.slice_tests:,} differences within slices."
    lead = f"{lead} {without_interval(found.slices)}".rstrip()
    return section("slices", "Slices", table("Differences within slices", columns, rows), lead)


def _methods(found: Comparison) -> str:
    lines = [method(found), *noise_sentences(found)]
    lines += [f"{taken.place}: taken for {taken.format}, {taken.what}" for taken in found.taken]
    lines.append("A question counts for a pair where both systems have a value; failed and undefined scores have none.")
    return section("methods", "Methods", bullets(text(line) for line in lines))
