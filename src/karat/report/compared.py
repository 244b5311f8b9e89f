"""Compared: a comparison for the terminal, as Markdown, JSON and CSV. LaTeX is in `compared_latex`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._compared_words import (
    better,
    chance,
    ends,
    loss_sentences,
    method,
    noise_sentences,
    ranked,
    sentences,
    signed,
    without_interval,
)
from karat.report._escape import clean
from karat.report._escape import markdown as escape
from karat.report._grid import listing, plain_table, texts, title
from karat.report._inputs import input_lines
from karat.report._numbers import NONE, number, short
from karat.report._screen import as_text, put
from karat.report.outputs.markdown import pipes
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.comparison import ComparedPair, Comparison, Measured

_PAIRS, _SLICES, _NAME, _TEXT = 15, 12, 36, 90
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Table:
    """A table for any page: texts not yet escaped; `left` columns are text."""

    heading: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    below: str = ""


def show(found: Comparison, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(found, quiet, verbose), stream)


def render(found: Comparison, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text; `quiet` leaves out tables but that of the means, `verbose` shows every pair, flip and test."""
    return as_text(lambda width: _blocks(found, quiet, verbose), width=width)


def as_json(found: Comparison, *, indent: int | None = 2) -> str:
    """One object with every figure and sentence; a number that does not exist is null."""
    document: dict[str, Any] = plain(found)
    document["sentences"] = [*sentences(found), *loss_sentences(found), *noise_sentences(found)]
    for made, pair in zip(document["pairs"], found.pairs, strict=True):
        made["told_apart"], made["better_system"] = found.is_told_apart(pair), better(found, pair)
    return json.dumps(document, indent=indent, allow_nan=False)


_COLUMNS = (
    "measure", "a", "b", "n", "mean_a", "mean_b", "difference", "low", "high", "p", "adjusted", "permutation",
    "wilcoxon", "t", "mcnemar", "tukey", "d", "biserial", "wins", "ties", "losses", "spread", "detectable", "over",
)  # fmt: skip


def as_csv(found: Comparison) -> str:
    """Every pair by every measure, as a table for spreadsheets and scripts."""
    import polars as pl

    from karat.report.outputs.csv import written

    kinds: dict[str, Any] = dict.fromkeys(("measure", "a", "b"), pl.String)
    kinds |= dict.fromkeys(("n", "wins", "ties", "losses"), pl.Int64)
    table = {name: [getattr(pair, name) for pair in found.pairs] for name in _COLUMNS}
    return written(pl.DataFrame(table, schema={name: kinds.get(name, pl.Float64) for name in _COLUMNS}))


def as_markdown(found: Comparison) -> str:
    """The page as headings, sentences and pipe tables."""
    return "\n".join(_lines(found)).rstrip() + "\n"


def _lines(found: Comparison) -> Iterator[str]:
    yield f"# {escape(' against '.join(found.systems[:3]))}{' and others' if len(found.systems) > 3 else ''}"
    yield ""
    yield from (f"- {escape(line)}" for line in sentences(found))
    yield from ("", escape(method(found)), "")
    yield from (f"- {escape(line)}" for line in [*loss_sentences(found), *noise_sentences(found)])
    yield from (f"- {note.level}: {escape(note.text)}" for note in found.notes)
    for table in tables(found, verbose=True):
        yield from ("", f"## {escape(table.heading)}", "")
        rows = [[escape(cell) for cell in row] for row in table.rows]
        yield from pipes([escape(t) for t in table.titles], rows, right=range(table.left, len(table.titles)))
        if table.below:
            yield from ("", escape(table.below))


def _blocks(found: Comparison, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield from texts(list(input_lines(found.taken)))
    many = f"{len(found.systems)} systems over {len(found.questions):,} questions, paired by question"
    yield title(many)
    yield listing(*(("-", clean(line)) for line in sentences(found)))
    beside = [("!", line) for line in loss_sentences(found)]
    beside += [
        ("!" if note.level == "warning" else " ", note.text)
        for note in found.notes
        if not quiet or note.level == "warning"
    ]
    beside += [(" ", line) for line in noise_sentences(found)]
    if beside:
        yield ""
        yield listing(*((mark, clean(line)) for mark, line in beside))
    for table in tables(found, verbose=verbose, quiet=quiet):
        yield title(clean(table.heading))
        made = plain_table(*(clean(t, _NAME) for t in table.titles), right=range(table.left, len(table.titles)))
        for row in table.rows:
            made.add_row(*texts([clean(cell, _TEXT) for cell in row]))
        yield made
        if table.below:
            yield from texts([clean(table.below)])
    yield ""
    yield from texts([method(found)])


def tables(found: Comparison, *, verbose: bool = False, quiet: bool = False) -> Iterator[Table]:
    """The tables of a comparison: means, pairs, tests, flips and slices."""
    yield means_table(found)
    if quiet:
        return
    yield from _pair_tables(found, verbose)
    if len(found.systems) > 3 and found.baseline is None:
        yield from (matrix(found, measure) for measure in found.measures[: None if verbose else 1])
    yield from _flip_tables(found, verbose)
    yield from _slice_tables(found, verbose)


def beaten(found: Comparison) -> dict[tuple[str, str], list[str]]:
    """By system and measure, the systems it is told apart from and better than."""
    made: dict[tuple[str, str], list[str]] = {}
    for pair in found.pairs:
        winner = better(found, pair)
        if winner is not None:
            made.setdefault((winner, pair.measure), []).append(pair.a if winner == pair.b else pair.b)
    return made


def letters(found: Comparison) -> dict[str, str]:
    """A letter for each system, as papers mark them; after z come aa, ab, and after zz aaa."""
    every = ("".join(some) for length in range(1, len(found.systems) + 1) for some in product(LETTERS, repeat=length))
    return dict(zip(found.systems, every, strict=False))


def marks(found: Comparison) -> dict[tuple[str, str], str]:
    """Significance by system and measure as papers print it, where there is any.

    The letters of the systems that are beaten, or against a baseline * (.05) and ** (.01).
    """
    if found.baseline is None:
        of, between = letters(found), "," if len(found.systems) > len(LETTERS) else ""
        order = {system: i for i, system in enumerate(found.systems)}
        won = beaten(found)
        return {
            key: between.join(of[one] for one in sorted(others, key=order.__getitem__)) for key, others in won.items()
        }
    return {
        (pair.b, pair.measure): "**" if pair.adjusted <= 0.01 else "*"
        for pair in found.pairs
        if found.is_told_apart(pair)
    }


def legend(found: Comparison) -> str:
    """What the marks mean."""
    if found.baseline is not None:
        return (
            f"* and **: told apart from {found.baseline}, adjusted p up to .05 and .01. In brackets the change over it."
        )
    return "Letters behind a mean: the systems that it is better than and told apart from."


def means_table(found: Comparison) -> Table:
    """Systems by row, measures by column, with marks."""
    of, marked = letters(found), marks(found)
    by = {(mean.system, mean.measure): mean for mean in found.means}
    rows = []
    for system in found.systems:
        row = [f"{of[system]}  {system}" if found.baseline is None else system]
        for measure in found.measures:
            mean = by[system, measure.name]
            cell = number(mean.mean) + (f" {mark}" if (mark := marked.get((system, measure.name))) else "")
            if mean.over is not None:
                cell += f" ({'+' if mean.over > 0 else ''}{100 * mean.over:.1f}%)"
            row.append(cell)
        row.append(_ns([by[system, measure.name].n for measure in found.measures]))
        rows.append(row)
    return Table("Means", ["system", *(_arrow(m) for m in found.measures), "n"], rows, below=legend(found))


def _ns(sizes: Sequence[int]) -> str:
    return f"{sizes[0]:,}" if len(set(sizes)) == 1 else f"{min(sizes):,} to {max(sizes):,}"


def _arrow(measure: Measured) -> str:
    return f"{measure.name} (less is better)" if measure.direction == "lower" else measure.name


def _pair_tables(found: Comparison, verbose: bool) -> Iterator[Table]:
    for measure in found.measures:
        pairs = [pair for pair in found.pairs if pair.measure == measure.name]
        ordered = sorted(pairs, key=lambda p: (p.adjusted, p.p, -abs(p.difference or 0.0)))
        shown = ordered if verbose else ordered[:_PAIRS]
        left = len(pairs) - len(shown)
        titles = ["b", "a", "b - a", "95% interval", "p", "adjusted", "d", "wins/ties/losses", "n"]
        if verbose:
            titles += ["Wilcoxon", "t", "McNemar", "Tukey", "rank-biserial", "b over a"]
        rows = [_pair_row(pair, verbose) for pair in shown]
        below = " ".join(filter(None, (f"{left:,} more pairs: -v shows all." if left else "", without_interval(shown))))
        yield Table(f"{measure.name}: b - a", titles, rows, 2, below)


def _pair_row(pair: ComparedPair, verbose: bool) -> list[str]:
    row = [
        pair.b, pair.a, signed(pair.difference), ends(pair.low, pair.high) or NONE, chance(pair.p),
        chance(pair.adjusted), short(pair.d), f"{pair.wins}/{pair.ties}/{pair.losses}", f"{pair.n:,}",
    ]  # fmt: skip
    if verbose:
        row += [chance(p) for p in (pair.wilcoxon, pair.t, pair.mcnemar, pair.tukey)]
        row += [short(pair.biserial), NONE if pair.over is None else f"{100 * pair.over:+.1f}%"]
    return row


def matrix(found: Comparison, measure: Measured) -> Table:
    """Who is told apart from whom: > the row is better, < worse, . not distinguishable."""
    of = letters(found)
    sign: dict[tuple[str, str], str] = {}
    for pair in found.pairs:
        if pair.measure == measure.name:
            winner = better(found, pair)
            sign[pair.a, pair.b] = "." if winner is None else ">" if winner == pair.a else "<"
            sign[pair.b, pair.a] = {".": ".", ">": "<", "<": ">"}[sign[pair.a, pair.b]]
    order = [mean.system for mean in ranked(found, measure)]
    rows = [[f"{of[row]}  {row}", *(sign.get((row, column), "") for column in order)] for row in order]
    below = "> the row is better than the column, < it is worse, . they are not distinguishable. Best mean first."
    return Table(f"{measure.name}: who is told apart", ["", *(of[name] for name in order)], rows, below=below)


def _flip_tables(found: Comparison, verbose: bool) -> Iterator[Table]:
    """The questions that flipped, where two systems are compared or with `verbose`."""
    chosen = found.pairs if verbose else found.pairs[: len(found.measures)] if len(found.systems) == 2 else ()
    for pair in chosen:
        if not pair.better and not pair.worse:
            continue
        rows = [
            [who, flip.question, flip.text if verbose else clean(flip.text, 60), short(flip.a), short(flip.b)]
            for who, flips in ((pair.b, pair.better), (pair.a, pair.worse))
            for flip in flips
        ]
        left = pair.wins + pair.losses - len(rows)
        below = f"{left:,} more: -v shows all." if left and not verbose else f"{left:,} more." if left else ""
        yield Table(
            f"{pair.measure}: {pair.b} better on {pair.wins:,}, {pair.a} on {pair.losses:,}",
            ["better", "question", "text", pair.a, pair.b], rows, 3, below,
        )  # fmt: skip


def _slice_tables(found: Comparison, verbose: bool) -> Iterator[Table]:
    for name in dict.fromkeys(part.slice for part in found.slices):
        for measure in found.measures:
            parts = [part for part in found.slices if (part.slice, part.measure) == (name, measure.name)]
            ordered = parts if verbose else sorted(parts, key=lambda p: (p.adjusted, p.p))[:_SLICES]
            rows = [
                [part.value, part.b, part.a, signed(part.difference), ends(part.low, part.high) or NONE, chance(part.p),
                 chance(part.adjusted), f"{part.wins}/{part.ties}/{part.losses}", str(part.n)]
                for part in ordered
            ]  # fmt: skip
            left = len(parts) - len(ordered)
            below = f"Permutation test, corrected over all {found.slice_tests:,} differences within slices."
            below += f" {left:,} more: -v shows all." if left else ""
            below = f"{below} {without_interval(ordered)}".rstrip()
            titles = [name, "b", "a", "b - a", "95% interval", "p", "adjusted", "wins/ties/losses", "n"]
            yield Table(f"{measure.name} by {name}", titles, rows, 3, below)
