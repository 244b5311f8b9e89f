"""Implied: what the values of one row say of each other, where rows keep no whole ranking.

A reciprocal rank is 0 or 1/rank, and 1 exactly when the first hit is gold. Recall times the number of gold units is a
whole number. Precision times k is. F1 follows from precision and recall; EM, BLEU, ROUGE and F1 of answers from the
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose._tables import UNKNOWN_K, harmonic, parts_of_f1
from karat.diagnose.verify._causes import because
from karat.diagnose.verify.names import measure_of
from karat.diagnose.verify.rows import FIRST_HITS
from karat.results.verification import Figure, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.diagnose.verify._digits import Number
    from karat.diagnose.verify.rows import Rows

    Floats = NDArray[np.float64]

BY_TEXT = ("EM", "TokenF1", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF")
RANKS = 1000
FEW_LISTS = 10  # rows with several gold units before whole recalls say anything

Bad = list[tuple[int, float | None]]  # row, and what it should be where that is known


def check_implied(rows: Rows, checked: Sequence[str] = ()) -> list[Figure]:
    """A figure for each column that its own rows say something about; `checked` columns were recomputed already."""
    found: list[Figure] = []
    cut = rows.k or UNKNOWN_K
    columns = {c: m for c in rows.numbers if c not in checked and (m := measure_of(c, cut)) is not None}
    gold = _gold(rows)
    for column, measure in columns.items():
        checks = _breaches(rows, column, measure, columns, gold)
        found.extend(_once(f for cause, kind, bad in checks for f in _figures(rows, column, cause, kind, bad)))
        if measure.spec.name == "Recall" and gold is not None:
            found.extend(_whole_recalls(rows, column, gold))
    return found


def _once(figures: Iterable[Figure]) -> Iterator[Figure]:
    """The figures of one column, so that no value counts twice: of a system all that is wrong, or one that is right."""
    kept: dict[str, list[Figure]] = {}
    for figure in figures:
        kept.setdefault(figure.where, []).append(figure)
    for some in kept.values():
        wrong = [figure for figure in some if figure.broken]
        yield from wrong or [replace(some[0], why="; ".join(figure.why.removesuffix(".") for figure in some) + ".")]


def _whole_recalls(rows: Rows, column: str, gold: list[tuple[str, ...]]) -> Iterator[Figure]:
    """Recall that is never a fraction though many questions have several gold units."""
    several = [
        n.value for n, units in zip(rows.numbers[column], gold, strict=True) if n is not None and len(set(units)) > 1
    ]
    found = [value for value in several if value > 0]
    if len(found) >= FEW_LISTS and set(found) == {1.0}:
        more = f"all {len(found)} rows that find any of several gold units print 1"
        yield Figure("", column, "rows", "suspect", cause="hit rate", why=because("hit rate", more), cells=len(several))


def _gold(rows: Rows) -> list[tuple[str, ...]] | None:
    from karat.diagnose.verify.recompute import unit_of

    column = rows.gold_column
    if column is None:
        return None
    return [tuple(unit_of(one) for one in items or () if one) for items in rows.table.lists(column)]


def _figures(rows: Rows, column: str, cause: str, kind: str, bad: Bad) -> Iterator[Figure]:
    """One figure a system: ok, or how many of its rows break the rule."""
    numbers = rows.numbers[column]
    by_row = dict(bad)
    for system in dict.fromkeys(rows.systems):
        places = [i for i, own in enumerate(rows.systems) if own == system and numbers[i] is not None]
        wrong = [i for i in places if i in by_row]
        if not wrong:
            yield Figure(system, column, "rows", "ok", cells=len(places), why=f"{kind}.")
            continue
        i = wrong[0]
        number = numbers[i]
        assert number is not None
        verdict: Verdict = "suspect" if cause == "other tokens" else "impossible" if by_row[i] is None else "mismatch"
        yield Figure(
            system, column, "rows", verdict, number.value, by_row[i], cause,
            because(cause, f"in {len(wrong)} of {len(places)} rows"), len(places), len(wrong), rows.ids[i],
        )  # fmt: skip


def _breaches(
    rows: Rows, column: str, measure: Measure, columns: dict[str, Measure], gold: list[tuple[str, ...]] | None
) -> Iterator[tuple[str, str, Bad]]:
    numbers = rows.numbers[column]
    name = measure.spec.name
    low, high = measure.bounds
    if name in BY_TEXT and None not in rows.answer_columns:
        yield from _answers(rows, numbers, measure)
    elif name == "MRR":
        yield "not 1/rank", "each is 0 or 1/rank", _where(numbers, _no_reciprocal)
        yield from _first_hits(rows, numbers, gold)
    elif name in ("Hit", "EM", "AnyGold", "AllGold"):
        yield "range", "each is 0 or 1", _where(numbers, lambda n: n.value not in (0.0, 1.0))
    elif name == "Precision" and measure.k and measure.k != UNKNOWN_K:
        cut = measure.k
        yield "not a share of k over n", f"times {cut} each is whole", _where(numbers, lambda n: not _whole(n, cut))
    elif name == "Recall" and gold is not None:
        sizes = [len(set(units)) for units in gold]
        bad: Bad = [(i, None) for i, n in enumerate(numbers) if n is not None and sizes[i] and not _whole(n, sizes[i])]
        yield "not a share of the gold", "recall × number of gold items is whole in every row", bad
    elif name == "F1":
        yield from _f1(rows, column, measure, columns)
    elif np.isfinite(low + high) and name not in ("Faithfulness", "Relevance"):
        kind = f"each is in [{low:g}, {high:g}]"
        yield "range", kind, _where(numbers, lambda n: not low - n.half <= n.value <= high + n.half)


def _where(numbers: Sequence[Number | None], breaks: Callable[[Number], bool]) -> Bad:
    return [(i, None) for i, number in enumerate(numbers) if number is not None and breaks(number)]


def _no_reciprocal(number: Number) -> bool:
    if number.value == 0:
        return False
    if number.value < 1 / (RANKS + 1) or number.value > 1 + number.half:
        return True
    rank = round(1 / number.value)
    return not any(number.agrees(1 / r) for r in (rank - 1, rank, rank + 1) if r > 0)


def _whole(number: Number, parts: int) -> bool:
    return (
        abs(number.value * parts - round(number.value * parts)) <= parts * number.half and number.value >= -number.half
    )


def _first_hits(
    rows: Rows, numbers: Sequence[Number | None], gold: list[tuple[str, ...]] | None
) -> Iterator[tuple[str, str, Bad]]:
    """mrr is 1 exactly when the first hit is gold."""
    from karat.diagnose.verify.recompute import unit_of

    top = next((rows.names[name] for name in FIRST_HITS if name in rows.names), None)
    if top is None or gold is None or rows.gold_column is None:
        return
    texts = rows.texts(top)
    first = [unit_of(text) in units if text else False for text, units in zip(texts, gold, strict=True)]
    bad: Bad = []
    for i, number in enumerate(numbers):
        if number is not None and first[i] != (number.value == 1):
            bad.append((i, 1.0 if first[i] else None))
    cause = "first hit"
    written = rows.texts(rows.gold_column)
    missed = [i for i, expected in bad if expected == 1.0]
    if missed and len(missed) == len(bad):
        if _as_text(missed, first, numbers, written, gold):
            cause = "gold as text"
        elif all(texts[i] not in written[i] for i in missed):
            cause = "URL spelling"
    elif bad and all(texts[i] and texts[i] in written[i] for i, _ in bad):
        cause = "gold as text" if all(written[i].startswith(("[", "(")) for i, _ in bad) else "substring"
    yield cause, "each is 1 exactly when the first hit is gold", bad


def _as_text(
    missed: list[int], first: list[bool], numbers: Sequence[Number | None], written: list[str],
    gold: list[tuple[str, ...]],
) -> bool:  # fmt: skip
    """Whether the rows that miss their first hit are those whose gold is a list, all of them, and find nothing."""
    listed = [
        i for i, number in enumerate(numbers) if first[i] and number is not None and written[i].startswith(("[", "("))
    ]
    several = [i for i in listed if len(set(gold[i])) > 1]
    return missed in (listed, several) and all(number.value == 0 for i in missed if (number := numbers[i]) is not None)


def _f1(rows: Rows, column: str, measure: Measure, columns: dict[str, Measure]) -> Iterator[tuple[str, str, Bad]]:
    """F1 is the harmonic mean of the precision and recall beside it."""
    parts = parts_of_f1(columns.values(), measure)
    if parts is None:
        return
    precisions, recalls = (rows.numbers[next(c for c, m in columns.items() if m == part)] for part in parts)
    bad: Bad = []
    for i, (number, p, r) in enumerate(zip(rows.numbers[column], precisions, recalls, strict=True)):
        if number is None or p is None or r is None:
            continue
        low, high = (harmonic(max(0.0, p.value + s * p.half), max(0.0, r.value + s * r.half)) for s in (-1, 1))
        if not low - number.half <= number.value <= high + number.half:
            bad.append((i, harmonic(p.value, r.value)))
    yield "order", "each follows from precision and recall", bad


def _answers(rows: Rows, numbers: Sequence[Number | None], measure: Measure) -> Iterator[tuple[str, str, Bad]]:
    """A measure of answers under each way of counting words; right when one gives all values, or all in percent."""
    from karat.core.answered import Answered
    from karat.core.language import parse

    answers, references = (rows.texts(column) for column in rows.answer_columns if column is not None)
    ids, none, there = tuple(map(str, range(len(rows)))), [""] * len(rows), [True] * len(rows)
    several = [(text,) if text else () for text in references]
    answered = Answered(("rows",), ids, none, answers, several, [None] * len(rows), there)
    ways = product(*([f"{p.name}={c}" for c in p.choices] for p in measure.spec.params if p.name in ("norm", "bag")))
    percent = max((n.value for n in numbers if n is not None), default=0.0) > 1
    best: tuple[str, Bad] | None = None
    for way in map(", ".join, ways):
        values = _computed(parse(f"{measure.spec.name}({way})" if way else measure.spec.name).of(answered))
        bad: Bad = [
            (i, float(values[i] * (100 if percent else 1))) for i, n in enumerate(numbers)
            if n is not None and np.isfinite(values[i]) and not (n.scaled(0.01) if percent else n).agrees(values[i])
        ]  # fmt: skip
        if best is None or len(bad) < len(best[1]):
            best = (f"{measure.spec.name} of the answers{f' ({way})' if way else ''}", bad)
    if best is not None:
        telling = sum(n is not None and n.value not in (0, 1) for n in numbers)
        foreign = measure.spec.name not in ("EM", "TokenF1") and 2 * len(best[1]) > telling
        same = "answer F1" if measure.spec.name == "TokenF1" else "answer text"
        yield "other tokens" if foreign and best[1] else same, *best


def _computed(outcome: object) -> Floats:
    return np.asarray(getattr(outcome, "values", outcome), np.float64)
