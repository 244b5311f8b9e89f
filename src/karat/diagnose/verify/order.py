"""Order: lists that are empty, the same for two systems, or in reverse.

A hybrid ranks its dense leg in reverse where a distance is fused as if it were a similarity. Three things betray it. A
dense ranking and the hybrid that gives it most weight order the same units the other way round. Beside a sparse
ranking, whatever the weight, those units do that it lacks: the dense leg alone places them. And of one configuration at
two cut-offs, the shorter list is how the longer one ends, not how it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from karat.diagnose.verify._causes import because
from karat.results.verification import Figure

if TYPE_CHECKING:
    from karat.diagnose.verify.rows import Rows

EMPTY = 0.5  # share of a system's lists
SAME = 3  # lists before those of two systems that are the same say anything
LEAST = 20  # pairs of units, or lists, before anything is said
REVERSED = 0.8  # share of them that stand the other way round
_DENSE = re.compile(r"dense|faiss|embedding|semantic|vector", re.IGNORECASE)
_OTHER = re.compile(r"hybrid|fus|rrf|heavy|weighted|balanced|sparse|bm25", re.IGNORECASE)
_SPARSE = re.compile(r"bm25|sparse|tf-?idf|keyword|lexical|splade", re.IGNORECASE)
_HYBRID = re.compile(r"hybrid|fus|rrf|heavy|weighted|balanced", re.IGNORECASE)

Lists = Mapping[str, tuple[str, ...]]  # question -> units, each once


def check_order(rows: Rows) -> list[Figure]:
    """A figure for each configuration whose lists give it away."""
    column = rows.retrieved_column
    gold = rows.gold_column
    if column is None or gold is None:
        return []
    lists = rows.table.lists(column)
    grouped: dict[str, dict[str, tuple[str, ...]]] = {}
    for system, qid, units in zip(rows.systems, rows.ids, lists, strict=True):
        grouped.setdefault(system, {})[qid] = tuple(dict.fromkeys(unit for unit in units or () if unit))
    alphas = _of_systems(rows, "alpha")
    empty = not any(rows.table.lists(gold))
    return [
        *([_suspect("", gold, "no gold", f"all {len(rows)} lists are empty", len(rows))] if empty else ()),
        *_without_hits(grouped, column),
        *_identical(grouped, column),
        *_against_dense(grouped, alphas, column),
        *_across_cuts(rows, grouped, alphas, column),
    ]


def _suspect(where: str, column: str, cause: str, more: str, cells: int) -> Figure:
    return Figure(where, column, "order", "suspect", cause=cause, why=because(cause, more), cells=cells)


def _without_hits(grouped: Mapping[str, Lists], column: str) -> Iterator[Figure]:
    for system, lists in grouped.items():
        empty = sum(not units for units in lists.values())
        if empty and empty >= EMPTY * len(lists):
            yield _suspect(system, column, "no hits", f"{empty} of {len(lists)} lists are empty", len(lists))


def _identical(grouped: Mapping[str, Lists], column: str) -> Iterator[Figure]:
    for (first, mine), (second, theirs) in combinations(grouped.items(), 2):
        if len(mine) >= SAME and mine == theirs and any(mine.values()):
            yield _suspect(second, column, "identical lists", f"{first} and {second}, {len(mine)} lists", len(mine))


def _of_systems(rows: Rows, name: str) -> dict[str, float]:
    column = rows.names.get(name)
    if column is None or column not in rows.numbers:
        return {}
    return {s: n.value for s, n in zip(rows.systems, rows.numbers[column], strict=True) if n is not None}


def _against_dense(grouped: Mapping[str, Lists], alphas: Mapping[str, float], column: str) -> Iterator[Figure]:
    dense = [s for s in grouped if _DENSE.search(s) and not _OTHER.search(s)]
    sparse = [s for s in grouped if _SPARSE.search(s) and not _DENSE.search(s) and not _HYBRID.search(s)]
    for system, own in grouped.items():
        if system in dense or system in sparse:
            continue
        heavy = alphas.get(system, 0.0) >= 0.5
        mixed = bool(sparse) and (0 < alphas[system] < 1 if system in alphas else bool(_HYBRID.search(system)))
        lacked = _without(own, [grouped[s] for s in sparse]) if mixed else {}
        for alone in dense:
            counted = [(_concordance(grouped[alone], own), "")] if heavy else []
            counted += [(_concordance(grouped[alone], lacked), f" and {sparse[0]} lacks")] if mixed else []
            told = [
                (same + reverse, reverse, but) for (same, reverse), but in counted
                if same + reverse >= LEAST and reverse >= REVERSED * (same + reverse)
            ]  # fmt: skip
            if told:
                both, reverse, but = told[0]
                more = (
                    f"of {both} pairs of units that {alone} and it both hold{but}, {reverse} stand the other way round"
                )
                yield Figure(
                    system, column, "order", "mismatch", cause="dense leg reversed",
                    why=because("dense leg reversed", more), cells=len(own), apart=len(own),
                )  # fmt: skip
                break


def _without(lists: Lists, others: Sequence[Lists]) -> Lists:
    """Rankings less the units that others hold for the same question."""
    held = {qid: {unit for other in others for unit in other.get(qid, ())} for qid in lists}
    return {qid: tuple(unit for unit in units if unit not in held[qid]) for qid, units in lists.items()}


def _concordance(first: Lists, second: Lists) -> tuple[int, int]:
    """Pairs of units that two rankings of the same questions order alike, and the other way round."""
    same = reverse = 0
    for qid in first.keys() & second.keys():
        place = {unit: i for i, unit in enumerate(second[qid])}
        common = [place[unit] for unit in first[qid] if unit in place]
        for a, b in combinations(common, 2):
            same, reverse = same + (a < b), reverse + (a > b)
    return same, reverse


def _across_cuts(
    rows: Rows, grouped: Mapping[str, Lists], alphas: Mapping[str, float], column: str
) -> Iterator[Figure]:
    cuts = _of_systems(rows, "k")
    families: dict[str, list[str]] = {}
    for system, k in cuts.items():
        families.setdefault(re.sub(rf",? ?k {k:g}$", "", system), []).append(system)
    for family, members in families.items():
        for short, long in pairwise(sorted(members, key=lambda s: cuts[s])):
            if cuts[short] == cuts[long] or alphas.get(long, 1.0) < 0.5:
                continue
            begins = ends = 0
            for qid in grouped[short].keys() & grouped[long].keys():
                mine, theirs = grouped[short][qid], grouped[long][qid]
                if 1 < len(mine) < len(theirs):
                    begins += theirs[: len(mine)] == mine
                    ends += theirs[-len(mine) :] == mine
            if ends >= LEAST and ends >= REVERSED * (begins + ends):
                more = f"{ends} lists at k {cuts[short]:g} are how those at k {cuts[long]:g} end, not how they begin"
                yield Figure(
                    family, column, "order", "mismatch", cause="dense leg reversed",
                    why=because("dense leg reversed", more), cells=len(grouped[long]), apart=ends,
                )  # fmt: skip
