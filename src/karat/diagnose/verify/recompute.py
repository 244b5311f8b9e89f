"""Recompute: what the rankings and gold of rows give for every measure, and what mistakes would give instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.verify._digits import cut_of
from karat.diagnose.verify.aggregates import Values
from karat.diagnose.verify.names import BARE, measure_of, spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Judged, Repeats
    from karat.core.measure import Measure
    from karat.diagnose.verify.rows import Rows
    from karat.match import Matched

    Floats = NDArray[np.float64]

Lists = Sequence[tuple[str, ...]]


def scores_of(judged: Judged, measures: Sequence[Measure]) -> dict[str, Floats]:
    """Measure -> its values, systems x questions in one row; a question without gold scores 0."""
    from karat.measures.compute import compute

    scores = compute(measures, judged.systems, judged.questions, judged=judged, no_gold_is_zero=True)
    return {m.name: scores.values[:, :, i].reshape(-1) for i, m in enumerate(scores.measures)}


def from_lists(rows: Rows, repeats: Repeats = "once") -> dict[str, Values]:
    """Values of each printed column, worked out from the lists of its rows; empty where rows hold no such lists."""
    retrieved, gold = rows.retrieved_column, rows.gold_column
    if retrieved is None or gold is None:
        return {}
    hits, units = rows.table.lists(retrieved), rows.table.lists(gold)
    found = [tuple(unit_of(one) for one in items or ()) for items in hits]
    wanted = [tuple(dict.fromkeys(unit_of(one) for one in items or () if one)) for items in units]
    texts = rows.texts(gold)
    made: dict[str, Values] = {}
    for column in rows.numbers:
        cuts = _cuts(rows, column)
        if cuts is None or (rows.k is None and spelled(column) in BARE):
            continue
        own = np.full(len(rows), np.nan)
        for measure, places in cuts:
            own[places] = _values([found[i] for i in places], [wanted[i] for i in places], measure, repeats)
        made[column] = Values(own, partial(_supposed, found, wanted, texts, cuts, repeats))
    return made


def _supposed(
    found: Lists, wanted: Lists, texts: Sequence[str], cuts: Sequence[tuple[Measure, list[int]]], repeats: Repeats
) -> dict[str, Floats]:
    """The values that mistakes would give, by cause."""
    made: dict[str, Floats] = {}
    for measure, places in cuts:
        hits, units, said = [found[i] for i in places], [wanted[i] for i in places], [texts[i] for i in places]
        for cause, some in _variants(hits, units, said, measure, repeats):
            made.setdefault(cause, np.full(len(found), np.nan))[places] = some
    return made


def unit_of(text: str) -> str:
    """An id in the one form that is compared."""
    from karat.match import address_of, is_url

    return (address_of(text) or text) if is_url(text) else text.strip()


def _cuts(rows: Rows, column: str) -> list[tuple[Measure, list[int]]] | None:
    """The retrieval measure that a column holds, by the cut-off of its rows; None where it is no such measure."""
    cut = rows.names.get("k") or rows.names.get("top_k")
    groups: dict[int | None, list[int]] = {}
    for i, text in enumerate(rows.texts(cut) if cut is not None else [""] * len(rows)):
        groups.setdefault(cut_of(text) or rows.k, []).append(i)
    found = []
    for k, places in groups.items():
        measure = measure_of(column, k)
        if measure is None or measure.spec.stage != "retrieval" or measure.spec.name in ("AQWV", "Judged", "bpref"):
            return None
        found.append((measure, places))
    return found


def _variants(
    found: Lists, wanted: Lists, texts: Sequence[str], measure: Measure, repeats: Repeats
) -> Iterator[tuple[str, Floats]]:
    """The measure as each mistake has it, by its cause (#2: another way of it); under `once` without repeats."""
    from karat.core.language import parse

    once, count = _values(found, wanted, measure, "once"), _values(found, wanted, measure, "count")
    sizes = np.array([max(1, len(units)) for units in wanted], np.float64)
    if measure.spec.name == "Recall":
        hit = parse(f"Hit@{measure.k}") if measure.k else parse("AnyGold")
        yield "hit rate", _values(found, wanted, hit, "once")
        depth = measure.k or max(map(len, found), default=1) or 1
        yield "repeats counted", _values(found, wanted, parse(f"Precision@{depth}"), "count") * depth / sizes
    elif repeats != "count":
        yield "repeats counted", count
    if measure.spec.name == "F1" and measure.k:
        precision = _values(found, wanted, parse(f"Precision@{measure.k}"), "count")
        summed = precision + precision * measure.k / sizes
        yield "repeats counted#2", 2 * precision**2 * measure.k / sizes / np.where(summed > 0, summed, 1.0)
    yield "once", once
    if any("" in hits for hits in found):
        lost = np.array(["" in hits for hits in found])
        yield "missing scored 0", np.where(lost, 0.0, once)
    several = np.array([len(units) > 1 for units in wanted])
    if several.any():
        yield "gold as text", np.where(several, 0.0, once)
    listed = np.array([text.startswith(("[", "(")) for text in texts])
    inside = [tuple(dict.fromkeys(h for h in hits if h and h in text)) for hits, text in zip(found, texts, strict=True)]
    if listed.any():
        if measure.spec.name in ("MRR", "Hit", "Precision"):
            yield "gold as text#2", _values(found, inside, measure, repeats)
        yield "gold as text#3", np.where(listed, 0.0, once)
    parts = [_contained(hits, units) for hits, units in zip(found, wanted, strict=True)]
    yield "substring", _values(parts, wanted, measure, repeats)
    for shift in (1, -1):
        moved = [_shifted(hits, shift) for hits in found]
        yield f"off by one page#{shift}", _values(moved, wanted, measure, repeats)
    if measure.spec.name == "nDCG":
        yield (
            "ideal of the retrieved",
            _values(found, wanted, parse(f"nDCG(ideal=retrieved)@{measure.k or 1000}"), "count"),
        )


def _contained(hits: tuple[str, ...], units: tuple[str, ...]) -> tuple[str, ...]:
    """Hits as the gold that is a part of their name."""
    return tuple(next((unit for unit in units if unit in hit), hit) for hit in hits)


def _shifted(hits: tuple[str, ...], shift: int) -> tuple[str, ...]:
    return tuple(str(int(hit) + shift) if hit.isdecimal() else hit for hit in hits)


def _values(found: Lists, wanted: Lists, measure: Measure, repeats: Repeats) -> Floats:
    """A measure of lists of hits and gold, one value a row: each row is a question of its own."""
    from karat.match import JudgingSettings, judge

    ids = [str(i) for i in range(len(found))]
    testset = TestSet(
        [Question(i, gold=tuple(Gold(id=u) for u in units)) for i, units in zip(ids, wanted, strict=True)]
    )
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(hits) for hits in found]))).astype(np.int64)
    run = Run("rows", ids, offsets, [hit or "\0" for hits in found for hit in hits])
    try:
        return scores_of(judge(testset, [run], settings=JudgingSettings(repeats=repeats)), [measure])[measure.name]
    except KaratError:
        return np.full(len(found), np.nan)


def from_testset(
    matched: Matched, runs: Sequence[Run], names: Sequence[str], k: int | None = None
) -> dict[str, Values]:
    """Values of each retrieval measure named, of all runs in one row, by a test set of one's own."""
    from karat.core.language import parse
    from karat.match import judge

    wanted: dict[str, Measure] = {}
    for name in names:
        measure = measure_of(name, k)
        if measure is not None and measure.spec.stage == "retrieval":
            wanted[measure.name] = measure
    if not wanted:
        return {}
    measures = list(wanted.values())
    judged = matched.judged
    own = scores_of(judged, measures)
    counted = judge(matched.join.testset, runs, matched.join, replace(matched.settings, repeats="count"))
    others: dict[str, Mapping[str, Floats]] = {"repeats counted": scores_of(counted, measures)}
    if (judged.gold_grade < 1).any():
        lifted = replace(judged, gold_grade=np.maximum(judged.gold_grade, 1), views={})
        others["irrelevant counted"] = scores_of(lifted, measures)
    recalls = {m.name: parse(f"Hit@{m.k}") for m in measures if m.spec.name == "Recall" and m.k}
    hits = scores_of(judged, list(recalls.values())) if recalls else {}
    made = {}
    for name in wanted:
        found = {cause: got[name] for cause, got in others.items()}
        if name in recalls:
            with suppress(KeyError):
                found = {"hit rate": hits[recalls[name].name], **found}
        made[name] = Values(own[name], partial(dict, found))
    return made
