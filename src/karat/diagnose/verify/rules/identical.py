"""Identical: measures, systems or questions that stand twice, and systems over unequal numbers of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from karat.core.measure import Measure
from karat.diagnose.verify.causes import because
from karat.diagnose.verify.lines import Line, SummaryTable
from karat.diagnose.verify.rows import MeasureValues, QuestionRows
from karat.results.verification import Figure

FEWEST = 3  # systems or measures before two that are the same say anything
SHOWN = 6  # systems that are named with their number of questions
AT_FIRST_HIT = frozenset({"Precision", "Hit", "MRR", "nDCG", "Recall", "MAP"})  # may well be the same at k 1


def check(table: SummaryTable) -> Iterator[Figure]:
    """What is worth a look in a whole table."""
    yield from _unequal_n(table.systems)
    yield from _identical_columns(table.systems, table.one_gold)
    yield from _identical_rows(table.systems)


def check_rows(rows: QuestionRows, computed: Mapping[str, MeasureValues]) -> Iterator[Figure]:
    """Questions that stand twice for one configuration."""
    counts = Counter(zip(rows.ids, *rows.labels.values(), strict=True))
    twice = [key for key, count in counts.items() if count > 1]
    if rows.id_column is not None and twice:
        detail = f"{len(twice)} of them, such as {twice[0][0]!r}"
        yield rows.figure(rows.id_column, "suspect", detail, cause="repeated rows", cells=1, apart=len(twice))


def _unequal_n(lines: Sequence[Line]) -> Iterator[Figure]:
    """Systems that are compared over different numbers of questions."""
    sizes = {line.where: line.n for line in lines if line.n is not None and line.statistics}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{where} {n}" for where, n in list(sizes.items())[:SHOWN])
        why = because("unequal n", shown)
        yield Figure(where="", name="n", what="n", verdict="suspect", cause="unequal n", why=why)


def _identical_columns(lines: Sequence[Line], one_gold: bool) -> Iterator[Figure]:
    """Each measure that repeats an earlier one it should differ from."""
    first_of: dict[tuple[float, ...], dict[tuple[str, bool], Measure]] = {}  # by the values, then by what is alike
    for b in dict.fromkeys(m for line in lines for m in line.means):
        values = tuple(number.value for line in lines if (number := line.mean(b)) is not None)
        if len(values) < len(lines) or len(set(values)) < FEWEST:
            continue
        earlier = first_of.setdefault(values, {})
        a = next((a for a in earlier.values() if not _alike(a, b, one_gold)), None)
        earlier.setdefault((b.spec.name, b.k == 1), b)
        if a is None:
            continue
        is_hit_rate = {a.spec.name, b.spec.name} == {"Recall", "Hit"}
        hint = (
            f"each question has one gold unit, or {'Recall is a hit rate' if is_hit_rate else 'one column was copied'}"
        )
        why = because("identical columns", f"{a.name} and {b.name} are the same in all {len(lines)} rows; {hint}")
        cause = "hit rate" if is_hit_rate else "identical columns"
        yield Figure(where="", name=b.name, what="mean", verdict="suspect", cause=cause, why=why, cells=len(lines))


def _alike(a: Measure, b: Measure, one_gold: bool) -> bool:
    """Whether two measures may well be the same: at the first hit, with one gold unit, or at two cuts."""
    pair = {a.spec.name, b.spec.name}
    first = a.k == b.k == 1 and pair <= AT_FIRST_HIT
    return len(pair) == 1 or first or (one_gold and pair in ({"Recall", "Hit"}, {"MAP", "MRR"}))


def _identical_rows(lines: Sequence[Line]) -> Iterator[Figure]:
    """Each system that repeats an earlier one in all its measures."""
    first_of: dict[frozenset[tuple[Measure, float]], Line] = {}
    for line in lines:
        means = frozenset((measure, one.value) for measure, one in line.means.items())
        first = first_of.setdefault(means, line)
        if first is not line and len(means) >= FEWEST and not {value for _, value in means} <= {0.0, 1.0}:
            why = because("identical rows", f"{first.where} and {line.where}, in {len(means)} measures")
            yield Figure(where=line.where, name="", what="mean", verdict="suspect", cause="identical rows", why=why)
