"""Ranked lists that are empty, the same for two systems, or in reverse.

A hybrid ranks its dense leg in reverse where a distance is fused as if it were a similarity. Three things betray it. A
dense ranking and the hybrid that gives it most weight order the same units the other way round. Beside a sparse
ranking, whatever the weight, those units do that it lacks: the dense leg alone places them. And of one configuration at
two cut-offs, the shorter list is how the longer one ends, not how it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

from karat.diagnose.verify.rows import MeasureValues, QuestionRows
from karat.results.verification import Figure

EMPTY = 0.5  # share of a system's lists
SAME = 3  # lists before those of two systems that are the same say anything
FEWEST = 20  # pairs of units, or lists, before anything is said
REVERSED = 0.8  # share of them that stand the other way round
_DENSE = re.compile(r"dense|faiss|embedding|semantic|vector", re.IGNORECASE)
_SPARSE = re.compile(r"bm25|sparse|tf-?idf|keyword|lexical|splade", re.IGNORECASE)
_HYBRID = re.compile(r"hybrid|fus|rrf|heavy|weighted|balanced", re.IGNORECASE)
_NOT_DENSE = re.compile(rf"{_HYBRID.pattern}|sparse|bm25", re.IGNORECASE)

Lists = Mapping[str, tuple[str, ...]]  # question -> units, each once


def check(rows: QuestionRows, computed: Mapping[str, MeasureValues]) -> Iterator[Figure]:
    """A figure for each configuration whose lists give it away."""
    column, gold = rows.retrieved_column, rows.gold_column
    if column is None or gold is None:
        return
    by_system: dict[str, dict[str, tuple[str, ...]]] = {}
    for system, qid, units in zip(rows.systems, rows.ids, rows.table.lists(column), strict=True):
        by_system.setdefault(system, {})[qid] = tuple(dict.fromkeys(unit for unit in units or () if unit))
    if not any(rows.table.lists(gold)):
        size = len(rows)
        yield rows.figure(gold, "suspect", f"all {size} lists are empty", cause="no gold", what="order", cells=size)
    alphas = _settings(rows, "alpha")
    for system, lists in by_system.items():
        size = len(lists)
        empty = sum(not units for units in lists.values())
        if empty and empty >= EMPTY * size:
            detail = f"{empty} of {size} lists are empty"
            yield rows.figure(column, "suspect", detail, cause="no hits", what="order", where=system, cells=size)
    for (first, mine), (second, theirs) in combinations(by_system.items(), 2):
        if len(mine) >= SAME and mine == theirs and any(mine.values()):
            detail = f"{first} and {second}, {len(mine)} lists"
            yield rows.figure(
                column, "suspect", detail, cause="identical lists", what="order", where=second, cells=len(mine)
            )  # fmt: skip
    for where, detail, cells, apart in (
        *_against_dense(by_system, alphas), *_across_cuts(by_system, _settings(rows, "k"), alphas),
    ):  # fmt: skip
        yield rows.figure(
            column, "mismatch", detail, cause="dense leg reversed", what="order", where=where, cells=cells, apart=apart
        )  # fmt: skip


def _settings(rows: QuestionRows, name: str) -> dict[str, float]:
    """A setting of each system, by the column that holds it."""
    numbers = rows.numbers.get(rows.names.get(name, ""), ())
    return {s: number.value for s, number in zip(rows.systems, numbers, strict=False) if number is not None}


def _against_dense(by_system: Mapping[str, Lists], alphas: Mapping[str, float]) -> Iterator[tuple[str, str, int, int]]:
    """Hybrids that order the units of a dense ranking the other way round."""
    dense = [s for s in by_system if _DENSE.search(s) and not _NOT_DENSE.search(s)]
    sparse = [s for s in by_system if _SPARSE.search(s) and not _DENSE.search(s) and not _HYBRID.search(s)]
    for system, own in by_system.items():
        if system in dense or system in sparse:
            continue
        mixed = bool(sparse) and (0 < alphas[system] < 1 if system in alphas else bool(_HYBRID.search(system)))
        compared = [(own, "")] if alphas.get(system, 0.0) >= 0.5 else []
        if mixed:
            compared.append((_without(own, [by_system[s] for s in sparse]), f" and {sparse[0]} lacks"))
        for alone, (lists, but) in product(dense, compared):
            same, reverse = _concordance(by_system[alone], lists)
            if same + reverse >= FEWEST and reverse >= REVERSED * (same + reverse):
                pairs = f"of {same + reverse} pairs of units that {alone} and it both hold{but}"
                yield system, f"{pairs}, {reverse} stand the other way round", len(own), len(own)
                break


def _without(lists: Lists, others: Sequence[Lists]) -> Lists:
    """Rankings less the units that others hold for the same question."""
    held = {qid: {unit for other in others for unit in other.get(qid, ())} for qid in lists}
    return {qid: tuple(unit for unit in units if unit not in held[qid]) for qid, units in lists.items()}


def _concordance(first: Lists, second: Lists) -> tuple[int, int]:
    """Pairs of units that two rankings of the same questions order alike, and the other way round."""
    same = reverse = 0
    for qid in first.keys() & second.keys():
        rank = {unit: i for i, unit in enumerate(second[qid])}
        common = [rank[unit] for unit in first[qid] if unit in rank]
        for a, b in combinations(common, 2):
            same, reverse = same + (a < b), reverse + (a > b)
    return same, reverse


def _across_cuts(
    by_system: Mapping[str, Lists], cuts: Mapping[str, float], alphas: Mapping[str, float]
) -> Iterator[tuple[str, str, int, int]]:
    """Configurations whose list at a smaller k is how the list at a larger one ends."""
    families: dict[str, list[str]] = {}
    for system, k in cuts.items():
        families.setdefault(re.sub(rf",? ?k {k:g}$", "", system), []).append(system)
    for family, members in families.items():
        for short, long in pairwise(sorted(members, key=lambda s: cuts[s])):
            if cuts[short] == cuts[long] or alphas.get(long, 1.0) < 0.5:
                continue
            shared = by_system[short].keys() & by_system[long].keys()
            pairs = [(by_system[short][qid], by_system[long][qid]) for qid in shared]
            pairs = [(mine, theirs) for mine, theirs in pairs if 1 < len(mine) < len(theirs)]
            begins = sum(theirs[: len(mine)] == mine for mine, theirs in pairs)
            ends = sum(theirs[-len(mine) :] == mine for mine, theirs in pairs)
            if ends >= FEWEST and ends >= REVERSED * (begins + ends):
                detail = f"{ends} lists at k {cuts[short]:g} are how those at k {cuts[long]:g} end, not how they begin"
                yield family, detail, len(by_system[long]), ends
