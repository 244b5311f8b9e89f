"""Comparison: systems over the same questions, who is better than whom, by how much and how sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

from karat.core.text.words import digits_of, interval, names, number, percent, plural, probability, signed
from karat.report.build._parts import inputs_of, notes_of
from karat.report.build.pareto import cost_cells, cost_difference, cost_notes
from karat.report.document import (
    Block,
    Cell,
    ChartBlock,
    Column,
    Detail,
    Document,
    Heading,
    Table,
    Text,
    Value,
    bullets,
    text_columns,
)
from karat.results.decisions import best_means, better, ranked_means
from karat.results.pareto import COSTS, STATISTIC

if TYPE_CHECKING:
    from karat.results.comparison import ComparedMeasure, ComparedPair, Comparison, Flip, Pair, SlicePair

TESTS = {
    "permutation": "paired permutation test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "t": "paired t test",
    "tukey": "randomised Tukey HSD",
}
CORRECTIONS = {
    "holm": "Holm's correction", "bonferroni": "Bonferroni's correction", "bh": "Benjamini and Hochberg's correction",
    "none": "no correction",
}  # fmt: skip
NO_INTERVAL = (
    "A pair without an interval differs on fewer than 6 questions (or conversations), so that no p of .05 or less "
    "exists, or by the same amount on all of them."
)
NOT_TESTED = "n 0: no question has a value for both, so there is nothing to test; corrections leave such pairs out."
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PAIRS, FLIPS, SLICES = 5, 6, 6  # rows shown in brief
MOST = 2_000  # rows of a table, however much is asked for
RECORD = Column("wins/ties/losses", "count", hint="questions on which b is better, the same, worse")
IS_SIGNIFICANT = Column("significant", pick=True, detail=Detail.PAGE)


def document(comparison: Comparison, *, charts: bool = False) -> Document:
    """What it comes down to, the means, every pair, the questions that flipped, and how it was found out.

    `charts` draws differences with their intervals, and within slices.
    """
    systems = comparison.systems
    title = " against ".join(systems[:3]) + (" and others" if len(systems) > 3 else "")
    quiet = Detail.QUIET
    count = f"{plural(len(systems), 'system')} over {plural(len(comparison.questions), 'question')}, paired by question"
    blocks: list[Block] = [
        Heading(count, anchor="summary", menu="Summary", detail=quiet),
        bullets(sentences(comparison), detail=quiet),
        bullets(loss_sentences(comparison), "!", detail=quiet),
        bullets(noise_sentences(comparison)),
        *notes_of(comparison.notes),
        Heading("Means", anchor="means", menu="Means", detail=quiet),
        means(comparison),
    ]
    if charts:
        from karat.report.charts import comparison_charts

        drawn = [ChartBlock(name, spec) for name, spec in comparison_charts(comparison).items()]
        blocks += [Heading("Charts", anchor="charts", menu="Charts", detail=Detail.PAGE), *drawn] if drawn else []
    if len(systems) > 2 and comparison.baseline is None:
        title_ = "Who differs significantly from whom"
        blocks.append(Heading(title_, anchor="matrix", menu="Matrix", detail=Detail.FULL))
        blocks += [_matrix(comparison, measure) for measure in comparison.measures]
    blocks += [Heading("Pairs", anchor="pairs", menu="Pairs"), _pairs(comparison)]
    flips = Detail.BRIEF if len(systems) == 2 else Detail.FULL
    blocks += [Heading("Questions that flipped", anchor="flips", menu="Flips", detail=flips), _flips(comparison, flips)]
    blocks += [Heading("Slices", anchor="slices", menu="Slices"), _slices(comparison)]
    blocks += [
        Heading("Methods", anchor="methods", menu="Methods"),
        Text(method(comparison)),
    ]
    counted = "A question counts for a pair where both systems have a value; failed and undefined scores have none."
    return Document(title, [*blocks, Text(counted, detail=Detail.FULL), inputs_of(comparison.taken)])


def means(comparison: Comparison) -> Table:
    """Systems by row, measures by column, with marks of significance."""
    letters, marks = _letters(comparison), _marks(comparison)
    by = {(mean.system, mean.measure): mean for mean in comparison.means}
    best = {(one.system, m.name) for m in comparison.measures for one in best_means(comparison, m)}
    lettered = comparison.baseline is None
    usage = {(one.system, one.what): one for one in comparison.costs}
    costs = [cost for cost in COSTS if any(one.what == cost for one in comparison.costs)]
    rows: list[list[Cell]] = []
    spent = {cost: cost_cells([usage.get((system, cost)) for system in comparison.systems]) for cost in costs}
    for place, system in enumerate(comparison.systems):
        row: list[Cell] = [letters[system], system] if lettered else [system]
        for measure in comparison.measures:
            mean, mark = by[system, measure.name], marks.get((system, measure.name), "")
            row.append(
                Value(
                    mean.mean, mean.low, mean.high, mark=f" {mark}" if mark else "",
                    best=(system, measure.name) in best,
                    note="" if mean.over is None else f"({100 * mean.over:+.1f}%)",
                )
            )  # fmt: skip
        row += [spent[cost][place] for cost in costs]
        sizes = [by[system, measure.name].n for measure in comparison.measures]
        row.append(f"{sizes[0]:,}" if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,}")
        rows.append(row)
    columns = [*([Column("")] if lettered else []), Column("system")]
    columns += [Column(_measure_title(m), "value") for m in comparison.measures]
    columns += [Column(cost, "amount", hint=f"{STATISTIC[cost]} per question") for cost in costs]
    caption = f"Means over {plural(len(comparison.questions), 'question')} with 95% intervals"
    return Table(
        caption,
        [*columns, Column("n", "count")],
        rows,
        footnotes=[*_legend(comparison), *cost_notes(costs)],
        detail=Detail.QUIET,
    )


def _legend(comparison: Comparison) -> list[str]:
    """What the marks mean."""
    how = ", ".join(filter(None, (TESTS[comparison.test], _correction(comparison), f"p up to {comparison.level:g}")))
    if comparison.baseline is None:
        return [f"Letters behind a mean: the systems that it is significantly better than ({how})."]
    marks = f"* and **: significantly different from {comparison.baseline}, adjusted p up to .05 and .01 ({how})."
    return [f"{marks} In brackets the change over it."]


def _measure_title(measure: ComparedMeasure) -> str:
    return f"{measure.name} (less is better)" if measure.direction == "lower" else measure.name


def _letters(comparison: Comparison) -> dict[str, str]:
    """A letter for each system, as papers mark them; after z come aa, ab, and after zz aaa."""
    lengths = range(1, len(comparison.systems) + 1)
    every = ("".join(some) for length in lengths for some in product(LETTERS, repeat=length))
    return dict(zip(comparison.systems, every, strict=False))


def _marks(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Significance by system and measure as papers print it, where there is any.

    The letters of the systems that are beaten, or against a baseline * (.05) and ** (.01).
    """
    if comparison.baseline is not None:
        return {
            (pair.b, pair.measure): "**" if pair.adjusted <= 0.01 else "*"
            for pair in comparison.pairs
            if comparison.is_told_apart(pair)
        }
    beaten: dict[tuple[str, str], list[str]] = {}
    for pair in comparison.pairs:
        winner = better(comparison, pair)
        if winner is not None:
            beaten.setdefault((winner, pair.measure), []).append(pair.a if winner == pair.b else pair.b)
    letters, between = _letters(comparison), "," if len(comparison.systems) > len(LETTERS) else ""
    order = comparison.systems.index
    return {key: between.join(letters[one] for one in sorted(others, key=order)) for key, others in beaten.items()}


def _matrix(comparison: Comparison, measure: ComparedMeasure) -> Table:
    letters = _letters(comparison)
    sign: dict[tuple[str, str], str] = {}
    for pair in comparison.pairs:
        if pair.measure == measure.name:
            winner = better(comparison, pair)
            sign[pair.a, pair.b] = "." if winner is None else ">" if winner == pair.a else "<"
            sign[pair.b, pair.a] = {".": ".", ">": "<", "<": ">"}[sign[pair.a, pair.b]]
    order = [mean.system for mean in ranked_means(comparison, measure)]
    rows = [[f"{letters[row]}  {row}", *(sign.get((row, column), "") for column in order)] for row in order]
    legend = "> the row is better than the column, < worse, . not significantly different. Best mean first."
    columns = [Column("system"), *text_columns(*(letters[name] for name in order))]
    return Table(measure.name, columns, rows, footnotes=[legend], detail=Detail.FULL)


def difference(pair: Pair) -> Value:
    """b - a with its interval."""
    return Value(pair.difference, pair.low, pair.high, signed=True)


def record(pair: Pair) -> str:
    """Questions on which b is better, the same, worse."""
    return f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}"


def _pairs(comparison: Comparison) -> Table:
    order = [measure.name for measure in comparison.measures]
    pairs = sorted(
        comparison.pairs, key=lambda p: (order.index(p.measure), not p.n, p.adjusted, p.p, -abs(p.difference or 0.0))
    )
    columns = [
        Column("measure", pick=True), *text_columns("b", "a"), Column("b - a", "value"), Column("p", "p"),
        Column("adjusted p", "p"), Column("d", "score", detail=Detail.FULL, hint="Cohen's d of paired values"),
        RECORD, Column("n", "count"), IS_SIGNIFICANT,
        *(Column(title, "p", detail=Detail.FULL) for title in ("Wilcoxon", "t", "McNemar", "Tukey")),
        *(Column(title, "score", detail=Detail.FULL) for title in ("rank-biserial", "b over a")),
    ]  # fmt: skip
    rows = [_pair(comparison, pair) for pair in pairs[:MOST]]
    rows += [_cost_pair(comparison, pair) for pair in comparison.cost_pairs[:MOST]]
    lead = "b minus a over the questions that both have a value for."
    costs = ["Costs: mean differences; their p is corrected over costs alone."] if comparison.cost_pairs else []
    return Table(f"Pairs of systems: {lead}", columns, rows, most=PAIRS, footnotes=[*_footnotes(pairs), *costs])


def _pair(comparison: Comparison, pair: ComparedPair) -> list[Cell]:
    if not pair.n:
        return [pair.measure, pair.b, pair.a, *[None] * 4, record(pair), 0, *[None] * 7]
    significant = "yes" if comparison.is_told_apart(pair) else "no"
    over = None if pair.over is None else f"{100 * pair.over:+.1f}%"
    return [
        pair.measure, pair.b, pair.a, difference(pair), pair.p, pair.adjusted, number(pair.d, 2), record(pair), pair.n,
        significant, pair.wilcoxon, pair.t, pair.mcnemar, pair.tukey, number(pair.biserial, 3), over,
    ]  # fmt: skip


def _cost_pair(comparison: Comparison, pair: Pair) -> list[Cell]:
    """A pair by what it costs: the mean difference; fewer seconds, tokens or dollars are better."""
    significant = "yes" if comparison.is_told_apart(pair) else "no"
    row: list[Cell] = [pair.measure, pair.b, pair.a, cost_difference(pair), pair.p, pair.adjusted, None, record(pair)]
    return [*row, pair.n, significant, *[None] * 6]


def _footnotes(pairs: Sequence[Pair]) -> list[str]:
    more = [f"{len(pairs) - MOST:,} more are not shown."] if len(pairs) > MOST else []
    return [*more, *pair_notes(pairs)]


def pair_notes(pairs: Sequence[Pair]) -> list[str]:
    """Why pairs have no interval, and why no p."""
    few = [NO_INTERVAL] if any(pair.low is None and pair.n for pair in pairs) else []
    return [*few, *([NOT_TESTED] if any(not pair.n for pair in pairs) else [])]


def _flips(comparison: Comparison, detail: Detail) -> Table:
    """The questions that flipped, the largest differences first."""
    every = [flip for pair in comparison.pairs for flip in (*pair.better, *pair.worse)]
    has_ids = any(flip.question != flip.text for flip in every)
    columns = [Column("question"), *([Column("text")] if has_ids else [])]
    columns += [Column(t, pick=True) for t in ("measure", "better", "worse")]
    columns += [Column("better has", "score"), Column("worse has", "score")]
    rows: list[list[Cell]] = []
    for pair in comparison.pairs:
        sides: list[tuple[Sequence[Flip], str, str]] = [(pair.better, pair.b, pair.a), (pair.worse, pair.a, pair.b)]
        for flips, winner, loser in sides:
            for flip in flips:
                first, second = (flip.b, flip.a) if winner == pair.b else (flip.a, flip.b)
                asked = [flip.question, *([flip.text] if has_ids else [])]
                rows.append([*asked, pair.measure, winner, loser, number(first, 3), number(second, 3)])
    left = sum(pair.wins + pair.losses for pair in comparison.pairs) - min(len(rows), MOST)
    note = [f"{left:,} more flipped and are not listed."] if left > 0 else []
    return Table("", columns, rows[:MOST], most=FLIPS, footnotes=note, detail=detail)


def _slices(comparison: Comparison) -> Table:
    columns = [
        Column("value"), *(Column(t, pick=True) for t in ("slice", "measure", "b", "a")), Column("b - a", "value"),
        Column("p", "p"), Column("adjusted p", "p"), RECORD, Column("n", "count"),
    ]  # fmt: skip
    parts: list[SlicePair] = sorted(comparison.slices, key=lambda part: (part.adjusted, part.p))
    rows: list[list[Cell]] = [
        [p.value, p.slice, p.measure, p.b, p.a, difference(p), p.p, p.adjusted, record(p), p.n] for p in parts[:MOST]
    ]
    how = f"Permutation test, corrected over all {comparison.slice_tests:,} differences within slices."
    return Table("Differences within slices", columns, rows, most=SLICES, footnotes=[how, *_footnotes(parts)])


def _correction(comparison: Comparison) -> str:
    """How p was corrected, and over how many tests."""
    if comparison.test == "tukey":
        measures = len(comparison.measures) if comparison.correction != "none" else 1
        return f"times {measures} measures" if measures > 1 else ""
    many = f" over {comparison.tests:,} tests" if comparison.correction != "none" and comparison.tests > 1 else ""
    return f"{CORRECTIONS[comparison.correction]}{many}"


def method(comparison: Comparison) -> str:
    """How it was decided, in one sentence."""
    drawn = f"{comparison.draws:,} draws" if comparison.test in ("permutation", "tukey") else ""
    sides, over = "" if comparison.test == "tukey" else "two-sided", _correction(comparison)
    settled = ", ".join(filter(None, (sides, drawn, f"seed {comparison.seed}")))
    how = f"{TESTS[comparison.test]} ({settled})" + (f", {over}" if over else "")
    decided = f"Significant: adjusted p of {comparison.level:g} or less, by the {how}."
    return f"{decided} 95% intervals of differences: the permutation test, inverted."


def sentences(comparison: Comparison) -> list[str]:
    """What a comparison comes down to: every pair of two or three systems, else each measure in one sentence."""
    if len(comparison.pairs) <= 3 * len(comparison.measures):
        return [_pair_sentence(comparison, pair) for pair in comparison.pairs]
    if comparison.baseline is not None:
        return [_against(comparison, measure) for measure in comparison.measures]
    return [line for measure in comparison.measures for line in _leading(comparison, measure)]


def _pair_sentence(comparison: Comparison, pair: ComparedPair) -> str:
    measure = next(m for m in comparison.measures if m.name == pair.measure)
    if pair.difference is None:
        return f"By {pair.measure}, {pair.a} and {pair.b} have no question in common that both have a value for."
    if not pair.wins and not pair.losses:
        return f"By {pair.measure}, {pair.a} and {pair.b} are the same on all {plural(pair.n, 'question')}."
    sure = f"adjusted p {probability(pair.adjusted)}"
    digits = min(3, digits_of(pair.low, pair.high))
    if comparison.is_told_apart(pair):
        turned = pair.difference < 0
        first, second = (pair.a, pair.b) if turned else (pair.b, pair.a)
        word = "higher"
        if measure.direction != "none":
            first, second = (second, first) if measure.direction == "lower" else (first, second)
            word = "significantly better"
        low, high = pair.low, pair.high
        if turned and low is not None and high is not None:
            low, high = 0.0 - high, 0.0 - low
        by = f"{number(abs(pair.difference), digits)} {interval(low, high, digits)}".rstrip()
        return f"By {pair.measure}, {first} is {word} than {second} by {by} ({sure}, {plural(pair.n, 'question')})."
    by = f"{signed(pair.difference, digits)} {interval(pair.low, pair.high, digits)}".rstrip()
    line = f"By {pair.measure}, {pair.b} is not significantly different from {pair.a}: {by}, {sure}."
    if pair.detectable is None:
        return line
    questions = f"{plural(pair.n, 'question')} like these"
    return f"{line} {questions} find a difference of {number(pair.detectable, 3)} in 80% of studies."


def _against(comparison: Comparison, measure: ComparedMeasure) -> str:
    pairs = [pair for pair in comparison.pairs if pair.measure == measure.name and pair.difference is not None]
    winners = [pair.b for pair in pairs if better(comparison, pair) == pair.b]
    losers = [pair.b for pair in pairs if better(comparison, pair) == pair.a]
    rest = len(pairs) - len(winners) - len(losers)
    return (
        f"By {measure.name}, {_counted(winners)} significantly better than {comparison.baseline}, "
        f"{_counted(losers)} worse, and {rest:,} not significantly different from it."
    )


def _counted(systems: Sequence[str]) -> str:
    return f"{names(systems)} {'is' if len(systems) == 1 else 'are'}" if systems else "none is"


def _leading(comparison: Comparison, measure: ComparedMeasure) -> Iterator[str]:
    leading = best_means(comparison, measure)
    if not leading:
        return
    best, *ties = leading
    of_best = [p for p in comparison.pairs if p.measure == measure.name and best.system in (p.a, p.b)]
    pairs = [p for p in of_best if p.difference is not None]
    beaten = [p for p in pairs if better(comparison, p) == best.system]
    equal = [p.b if p.a == best.system else p.a for p in pairs if p not in beaten]
    mean = number(best.mean, min(3, digits_of(best.low, best.high)))
    if len(ties) == len(pairs):
        yield f"By {measure.name}, all {len(leading):,} systems have the same mean, {mean}."
        return
    stands = f"ties with {names([one.system for one in ties])} for" if ties else "has"
    top = f"By {measure.name}, {best.system} {stands} the best mean, {mean}"
    if len(pairs) < len(of_best):
        top += f" ({len(of_best) - len(pairs):,} without a question in common left aside)"
    if not pairs:
        yield f"{top}."
    elif not equal:
        yield f"{top}, significantly better than all {len(pairs):,} others."
    elif not beaten:
        yield f"{top}; none of the {len(pairs):,} others differs significantly from it."
    else:
        rest = f"not significantly different from {names(equal)}"
        yield f"{top}: significantly better than {len(beaten):,} of the others, {rest}."


def loss_sentences(comparison: Comparison) -> list[str]:
    """What aligning left out."""
    return [
        f"{loss.place}: {loss.questions - loss.kept:,} of {loss.questions:,} questions are not in all inputs and are "
        f"left out ({', '.join(loss.examples)}{', ...' if loss.questions - loss.kept > len(loss.examples) else ''})."
        for loss in comparison.losses
    ]


def noise_sentences(comparison: Comparison) -> list[str]:
    """What the repeats of judges say, and where it stands in the intervals."""
    lines = [
        f"{one.system}, {one.measure}: of {one.rows:,} scores asked {one.repeats:.3g} times {percent(one.flips)} flip; "
        f"ICC of one reply {number(one.icc, 3)}, of a score {number(one.icc_mean, 3)}. Asked again, the mean moves by "
        f"about {number(one.error, 3)}."
        for one in comparison.noise
    ]
    shares = [pair.judge_share for pair in comparison.pairs if pair.judge_share is not None]
    if shares:
        lines.append(
            f"Intervals hold this noise already, since every score is a draw of it: up to {percent(max(shares))} of "
            "the variance of a difference is the judge's, and more repeats would take it away."
        )
    return lines
