"""Identities: what the values of one row say of each other, where rows keep no whole ranking.

A reciprocal rank is 0 or 1/rank, and 1 exactly when the first hit is gold. Recall times the number of gold units is a
whole number. Precision times k is. F1 follows from precision and recall; EM, BLEU, ROUGE and F1 of answers from the
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.measure import Measure
from karat.diagnose.contradictions import UNKNOWN_K, harmonic, parts_of_f1
from karat.diagnose.verify.lines import WHOLE, WIDER
from karat.diagnose.verify.names import measure_of
from karat.diagnose.verify.numbers import Number
from karat.diagnose.verify.recompute import unit_of
from karat.diagnose.verify.rows import FIRST_HITS, MeasureValues, QuestionRows
from karat.results.verification import Figure, FigureStatus

BY_TEXT = ("EM", "TokenF1", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF")
OWN_WORDS = ("EM", "TokenF1")  # of these every tool splits words in a way that karat knows
RANKS = 1000
FEW_LISTS = 10  # rows with several gold units before whole recalls say anything

Numbers = Sequence[Number | None]


class Identity(NamedTuple):
    """A rule that every value of a column keeps, and the rows that break it with what they should be, if known."""

    cause: str
    rule: str
    breaches: Mapping[int, float | None]


class MeasuredColumn(NamedTuple):
    """A column of rows, the measure it names, those of all columns, and the gold of each row."""

    rows: QuestionRows
    name: str
    measure: Measure
    measures: Mapping[str, Measure]
    gold: list[tuple[str, ...]] | None

    @property
    def numbers(self) -> Numbers:
        return self.rows.numbers[self.name]


def check(rows: QuestionRows, computed: Mapping[str, MeasureValues]) -> Iterator[Figure]:
    """A figure for each column that its own rows say something about; `computed` columns were checked already."""
    cut = rows.k or UNKNOWN_K
    measures = {c: m for c in rows.numbers if c not in computed and (m := measure_of(c, cut)) is not None}
    gold = None
    if rows.gold_column is not None:
        gold = [tuple(unit_of(one) for one in items or () if one) for items in rows.table.lists(rows.gold_column)]
    for name, measure in measures.items():
        column = MeasuredColumn(rows, name, measure, measures, gold)
        yield from _once(figure for identity in _identities(column) for figure in _figures(column, identity))
        if measure.spec.name == "Recall":
            yield from _whole_recalls(column)


def _once(figures: Iterable[Figure]) -> Iterator[Figure]:
    """The figures of one column, so that no value counts twice: of a system all that is wrong, or one that is right."""
    by_system: dict[str, list[Figure]] = {}
    for figure in figures:
        by_system.setdefault(figure.where, []).append(figure)
    for some in by_system.values():
        wrong = [figure for figure in some if figure.broken]
        yield from wrong or [replace(some[0], why="; ".join(figure.why.removesuffix(".") for figure in some) + ".")]


def _figures(column: MeasuredColumn, identity: Identity) -> Iterator[Figure]:
    """One figure a system: ok, or how many of its rows break the rule."""
    rows, breaches = column.rows, identity.breaches
    for system, places in rows.by_system.items():
        filled = [(i, number) for i in places if (number := column.numbers[i]) is not None]
        wrong = [(i, number) for i, number in filled if i in breaches]
        if not wrong:
            yield rows.figure(column.name, "ok", f"{identity.rule}.", where=system, cells=len(filled))
            continue
        i, number = wrong[0]
        verdict: FigureStatus = "mismatch" if breaches[i] is not None else "impossible"
        yield rows.figure(
            column.name, "suspect" if identity.cause == "other tokens" else verdict,
            f"in {len(wrong)} of {len(filled)} rows", cause=identity.cause, where=system, printed=number.value,
            recomputed=breaches[i], cells=len(filled), apart=len(wrong), question=rows.ids[i],
        )  # fmt: skip


def _identities(column: MeasuredColumn) -> Iterator[Identity]:
    name, cut = column.measure.spec.name, column.measure.k
    low, high = column.measure.bounds
    if name in BY_TEXT and None not in column.rows.answer_columns:
        yield _answers(column)
    elif name == "MRR":
        yield Identity("not 1/rank", "each is 0 or 1/rank", _where(column, lambda _, n: not _is_reciprocal(n)))
        yield from _first_hits(column)
    elif name in WHOLE:
        yield Identity("range", "each is 0 or 1", _where(column, lambda _, n: n.value not in (0.0, 1.0)))
    elif name == "Precision" and cut and cut != UNKNOWN_K:
        breaches = _where(column, lambda _, n: not _is_whole(n, cut))
        yield Identity("not a share of k over n", f"times {cut} each is whole", breaches)
    elif name == "Recall" and column.gold is not None:
        sizes = [len(set(units)) for units in column.gold]
        breaches = _where(column, lambda i, n: sizes[i] > 0 and not _is_whole(n, sizes[i]))
        yield Identity("not a share of the gold", "recall × number of gold items is whole in every row", breaches)
    elif name == "F1":
        yield from _f1(column)
    elif np.isfinite(low + high) and name not in WIDER:
        breaches = _where(column, lambda _, n: not low - n.half <= n.value <= high + n.half)
        yield Identity("range", f"each is in [{low:g}, {high:g}]", breaches)


def _where(column: MeasuredColumn, breaks: Callable[[int, Number], bool]) -> dict[int, float | None]:
    return {i: None for i, number in enumerate(column.numbers) if number is not None and breaks(i, number)}


def _is_reciprocal(number: Number) -> bool:
    if number.value == 0:
        return True
    if number.value < 1 / (RANKS + 1) or number.value > 1 + number.half:
        return False
    rank = round(1 / number.value)
    return any(number.agrees(1 / r) for r in (rank - 1, rank, rank + 1) if r > 0)


def _is_whole(number: Number, parts: int) -> bool:
    product = number.value * parts
    return abs(product - round(product)) <= parts * number.half and number.value >= -number.half


def _whole_recalls(column: MeasuredColumn) -> Iterator[Figure]:
    """Recall that is never a fraction though many questions have several gold units."""
    pairs = zip(column.numbers, column.gold or (), strict=False)
    several = [number.value for number, units in pairs if number is not None and len(set(units)) > 1]
    hits = [value for value in several if value > 0]
    if len(hits) >= FEW_LISTS and set(hits) == {1.0}:
        detail = f"all {len(hits)} rows that find any of several gold units print 1"
        yield column.rows.figure(column.name, "suspect", detail, cause="hit rate", cells=len(several))


def _first_hits(column: MeasuredColumn) -> Iterator[Identity]:
    """MRR is 1 exactly when the first hit is gold."""
    rows, numbers, gold = column.rows, column.numbers, column.gold
    top = next(iter(rows.named(*FIRST_HITS)), None)
    if top is None or gold is None or rows.gold_column is None:
        return
    texts, written = rows.texts(top), rows.texts(rows.gold_column)
    first = [bool(text) and unit_of(text) in units for text, units in zip(texts, gold, strict=True)]
    breaches = {
        i: 1.0 if first[i] else None
        for i, number in enumerate(numbers)
        if number is not None and first[i] != (number.value == 1)
    }
    is_list = [text.startswith(("[", "(")) for text in written]
    cause = "first hit"
    if breaches and None not in breaches.values():  # gold that was missed
        listed = [i for i, number in enumerate(numbers) if first[i] and number is not None and is_list[i]]
        several = [i for i in listed if len(set(gold[i])) > 1]
        zero = all(number.value == 0 for i in breaches if (number := numbers[i]) is not None)
        if zero and list(breaches) in (listed, several):
            cause = "gold as text"
        elif all(texts[i] not in written[i] for i in breaches):
            cause = "URL spelling"
    elif breaches and all(texts[i] and texts[i] in written[i] for i in breaches):
        cause = "gold as text" if all(is_list[i] for i in breaches) else "substring"
    yield Identity(cause, "each is 1 exactly when the first hit is gold", breaches)


def _f1(column: MeasuredColumn) -> Iterator[Identity]:
    """F1 is the harmonic mean of the precision and recall beside it."""
    parts = parts_of_f1(column.measures.values(), column.measure)
    if parts is None:
        return
    precisions, recalls = (
        column.rows.numbers[next(c for c, m in column.measures.items() if m == part)] for part in parts
    )
    breaches: dict[int, float | None] = {}
    for i, (number, p, r) in enumerate(zip(column.numbers, precisions, recalls, strict=True)):
        if number is None or p is None or r is None:
            continue
        low, high = (harmonic(max(0.0, p.value + s * p.half), max(0.0, r.value + s * r.half)) for s in (-1, 1))
        if not low - number.half <= number.value <= high + number.half:
            breaches[i] = harmonic(p.value, r.value)
    yield Identity("order", "each follows from precision and recall", breaches)


def _answers(column: MeasuredColumn) -> Identity:
    """A measure of answers under each way of counting words; right when one gives all values, or all in percent."""
    rows, spec = column.rows, column.measure.spec
    size = len(rows)
    answers, references = (rows.texts(name) for name in rows.answer_columns if name is not None)
    several = [(text,) if text else () for text in references]
    ids = tuple(map(str, range(size)))
    answered = AnswerTable(
        ("rows",),
        ids,
        texts=[""] * size,
        answers=answers,
        references=several,
        contexts=[None] * size,
        answerable=[True] * size,
    )
    numbers = [(i, number) for i, number in enumerate(column.numbers) if number is not None]
    percent = 100 if max((number.value for _, number in numbers), default=0.0) > 1 else 1
    tries: list[Identity] = []
    for ways in product(*([f"{p.name}={c}" for c in p.choices] for p in spec.params if p.name in ("norm", "bag"))):
        words = ", ".join(ways)
        outcome = parse(f"{spec.name}({words})" if words else spec.name).of(answered)
        values = np.asarray(getattr(outcome, "values", outcome), np.float64)
        breaches: dict[int, float | None] = {
            i: float(values[i] * percent) for i, number in numbers
            if np.isfinite(values[i]) and not number.scaled(1 / percent).agrees(values[i])
        }  # fmt: skip
        tries.append(Identity("", f"{spec.name} of the answers{f' ({words})' if words else ''}", breaches))
    best = min(tries, key=lambda identity: len(identity.breaches))
    fractions = sum(number.value not in (0, 1) for _, number in numbers)
    if spec.name not in OWN_WORDS and best.breaches and 2 * len(best.breaches) > fractions:
        return best._replace(cause="other tokens")
    return best._replace(cause="answer F1" if spec.name == "TokenF1" else "answer text")
