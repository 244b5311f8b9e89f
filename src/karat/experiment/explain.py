"""Explain: one question through a system, every step kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.core.text.words import names
from karat.core.types import Question, TestSet
from karat.experiment._shown_hits import unit_label
from karat.match import JudgingSettings, Pages, Resolution, judge, resolve
from karat.results.explanation import (
    EngineContribution,
    Explanation,
    FusedHit,
    GoldUnitTrace,
    JudgedHit,
    LegHit,
    MeasureLine,
)

if TYPE_CHECKING:
    from karat.core.judged import Judged
    from karat.core.ranked import Ints, Ranked
    from karat.systems.retrieved import Retrieved
    from karat.systems.system import System

AMONG_FOUND = "the gold is looked up among the chunks that were found: what else the store holds is not known here."
WITH_CUT, WITHOUT = ("Precision", "Recall", "F1", "Hit", "nDCG"), ("MRR", "MAP")


def explain(
    testset: Any,
    system: System,
    question: str,
    *,
    k: int = 5,
    measures: Sequence[str] = (),
    match: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    columns: Mapping[str, str] | None = None,
) -> Explanation:
    """How a question came to its hits and its scores: legs, fusion, matches and the scores."""
    from karat.files import as_testset

    questions, _ = as_testset(testset, columns=columns)
    asked = _asked(questions, question)
    number = questions.ids.index(asked.id)
    first = system.search([asked.text], k)  # what is loaded at the first search is not this question's time
    if first.failed:
        raise KaratError(f"question {asked.id!r}: {first.failed[0]}")
    retrieved = system.search([asked.text], k, whole=True)
    docs = system.index.docs if system.index is not None else None
    whole = system.index is not None and retrieved.chunks is system.index.chunks
    resolution = resolve(questions, retrieved.chunks, docs, by=match, page_offset=page_offset, pages=pages)
    run = retrieved.run(system.settings.name, [asked.id], pages)
    judged = judge(TestSet([asked]), [run], resolution, JudgingSettings(tokens=True))
    (rewritten,) = retrieved.rewritten
    return Explanation(
        question=asked,
        system=system.settings.name,
        k=k,
        queries=rewritten.queries,
        changes=tuple(map(str, rewritten.changes)),
        legs=tuple((name, _leg_hits(system, retrieved, name, rewritten.queries, k)) for name in retrieved.legs),
        fusion=system.settings.fusion if retrieved.parts is not None else None,
        fused=_fused(retrieved, k),
        hits=_hits(retrieved, number, resolution, k),
        units=_fates(retrieved, number, resolution, whole),
        measures=_lines(judged, measures, k),
        notes=(
            *retrieved.notes,
            *(() if questions.changed is None else (f"{questions.name} is {questions.changed}.",)),
            *(() if whole else (AMONG_FOUND,)),
            *_unknown(system, retrieved, rewritten.queries),
            *resolution.notes,
        ),
        seconds=tuple((step, float(spent[0])) for step, spent in retrieved.seconds.items()),
    )


def explain_query(system: System, query: str, k: int = 5) -> Explanation:
    """How any query came to its hits: what `explain` shows of a question, without gold and scores."""
    retrieved = system.search([query], k, whole=True)
    if retrieved.failed:
        raise KaratError(retrieved.failed[0])
    (rewritten,) = retrieved.rewritten
    return Explanation(
        question=Question("query", query),
        system=system.settings.name,
        k=k,
        queries=rewritten.queries,
        changes=tuple(map(str, rewritten.changes)),
        legs=tuple((name, _leg_hits(system, retrieved, name, rewritten.queries, k)) for name in retrieved.legs),
        fusion=system.settings.fusion if retrieved.parts is not None else None,
        fused=_fused(retrieved, k),
        hits=(),
        units=(),
        measures=(),
        notes=(*retrieved.notes, *_unknown(system, retrieved, rewritten.queries)),
    )


def _asked(testset: TestSet, question: str) -> Question:
    for one in testset:
        if one.id == question:
            if not one.text.strip():
                raise UsageError(f"{testset.name}: question {question!r} has no text to search for.")
            return one
    near = did_you_mean(question, testset.ids)
    some = names(testset.ids, 5, width=None)
    raise UsageError(f"{testset.name} has no question {question!r}.{near} It has {len(testset)}: {some}.")


def _leg_hits(system: System, retrieved: Retrieved, name: str, queries: Sequence[str], k: int) -> tuple[LegHit, ...]:
    """The first hits of an engine; what a score is made of is told where one query was searched."""
    rows, scores = retrieved.legs[name].of(0)
    terms = getattr(system.engines.get(name), "explain", None) if len(queries) == 1 else None
    return tuple(
        LegHit(rank, retrieved.chunks[row].id, score, tuple(terms(queries[0], row)) if terms else ())
        for rank, (row, score) in enumerate(zip(rows[:k].tolist(), scores[:k].tolist(), strict=True), 1)
    )


def _unknown(system: System, retrieved: Retrieved, queries: Sequence[str]) -> list[str]:
    """Which terms of the queries an engine has never seen, where it can say."""
    notes = []
    for name in retrieved.legs:
        terms_of = getattr(system.engines.get(name), "unknown_terms", None)
        terms = list(dict.fromkeys(term for query in queries for term in terms_of(query))) if terms_of else []
        if terms:
            named = f"the term{'s' if len(terms) > 1 else ''} {', '.join(map(repr, terms))}"
            notes.append(f"{name}: no chunk of the index has {named}.")
    return notes


def _fused(retrieved: Retrieved, k: int) -> tuple[FusedHit, ...]:
    if retrieved.parts is None:
        return ()
    parts = retrieved.parts
    rows, scores = parts.ranked.of(0)
    hits = []
    for i, (row, score) in enumerate(zip(rows[:k].tolist(), scores[:k].tolist(), strict=True)):
        legs = tuple(
            EngineContribution(
                int(parts.rank[leg, i]) or None,
                None if np.isnan(parts.score[leg, i]) else float(parts.score[leg, i]),
                float(parts.normalised[leg, i]),
                float(parts.contribution[leg, i]),
            )
            for leg in range(len(parts.rank))
        )
        hits.append(FusedHit(i + 1, retrieved.chunks[row].id, score, legs))
    return tuple(hits)


def _hits(retrieved: Retrieved, number: int, resolution: Resolution, k: int) -> tuple[JudgedHit, ...]:
    """The first k hits with the relevant units that each holds."""
    held: dict[int, list[int]] = {}
    for unit in resolution.of_question(number):
        if resolution.relevant[unit]:
            for row in resolution.holders[unit].tolist():
                held.setdefault(row, []).append(unit)
    rows, scores = retrieved.ranked.of(0)
    seen: set[int] = set()
    hits = []
    for rank, (row, score) in enumerate(zip(rows[:k].tolist(), scores[:k].tolist(), strict=True), 1):
        units = held.get(row, [])
        new = tuple(unit_label(resolution, u) for u in units if u not in seen)
        again = tuple(unit_label(resolution, u) for u in units if u in seen)
        seen.update(units)
        hits.append(JudgedHit(rank=rank, score=score, chunk=retrieved.chunks[row], new=new, again=again))
    return tuple(hits)


def _fates(retrieved: Retrieved, number: int, resolution: Resolution, whole: bool) -> tuple[GoldUnitTrace, ...]:
    """Where each gold unit stands in every leg and in the result."""
    reasons = {(u.question, u.gold): u.why for u in resolution.unresolved}
    question = resolution.testset.ids[number]
    fates = []
    for unit in resolution.of_question(number):
        gold, holders = resolution.units.gold[unit], resolution.holders[unit]
        ranks = tuple((name, _first(ranked, holders)) for name, ranked in retrieved.legs.items())
        rank = _first(retrieved.ranked, holders)
        why = None
        if not len(holders) and not whole:
            why = "no chunk that was found holds it: a larger --depth may find it"
        elif not len(holders):
            why = reasons.get((question, gold), "no chunk of the index holds it")
        elif rank is None:
            deep = max(len(ranked.of(0)[0]) for ranked in retrieved.legs.values())
            why = f"no engine has it among its first {deep:,} hits: a larger --depth may find it"
        grade = int(resolution.units.grade[unit])
        fates.append(
            GoldUnitTrace(
                label=unit_label(resolution, unit), grade=grade, chunks=len(holders), ranks=ranks, rank=rank, why=why
            )
        )
    return tuple(fates)


def _first(ranked: Ranked, rows: Ints) -> int | None:
    places = np.flatnonzero(np.isin(ranked.of(0)[0], rows))
    return int(places[0]) + 1 if len(places) else None


def _lines(judged: Judged, texts: Sequence[str], k: int) -> tuple[MeasureLine, ...]:
    """Each measure with its value, or why it has none."""
    from karat.core.language import parse_all
    from karat.measures.compute import compute

    chosen = tuple(texts) or (*(f"{name}@{k}" for name in WITH_CUT), *WITHOUT)
    measures = parse_all(chosen, k=k, load_code=True)
    for measure in measures:
        if measure.spec.stage != "retrieval":
            raise UsageError(f"{measure.name} measures answers; explain shows how retrieval is scored.")
    scores = compute(measures, judged.systems, judged.questions, judged=judged)
    lines = []
    for i, measure in enumerate(measures):
        if scores.status[0, 0, i]:
            lines.append(MeasureLine(measure.name, None, reason=scores.reasons[0, 0, i]))
        else:
            lines.append(MeasureLine(measure.name, float(scores.values[0, 0, i])))
    return tuple(lines)
