"""Attained: recall of engines beside what is reachable, by kind; kinds and languages; what the questions can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.core.judged import Floats
from karat.core.ranked import Ranked
from karat.core.text import guess_language
from karat.core.types import NO_VALUE, Question
from karat.diagnose.ceilings import ceilings_by_question, mean_of
from karat.fuse.rrf import fusion
from karat.match import Resolution
from karat.results.testset_check import ALL, DetectableDifference, EngineRecall, KindRow, LanguageRow, Quartiles
from karat.stats.arrays import Ints, grouped
from karat.stats.power import detectable, effective_spread, needed, worst_spread
from karat.testset.check._context import SEMANTIC, CheckContext
from karat.testset.check.literal_wording import overlaps
from karat.testset.check.other_language import differs
from karat.testset.once import once

CUTS = (1, 5, 20)
AIM = 0.03  # a difference worth telling
CUT = 5
MEASURE = f"Recall@{CUT}"


def recall_of(ranked: Ranked, resolution: Resolution) -> dict[int, Floats]:
    """Recall of each question at each of the cuts; NaN without relevant gold."""
    count = len(ranked)
    recall = {k: np.full(count, np.nan) for k in CUTS}
    for q in range(count):
        units = [u for u in resolution.of_question(q) if resolution.relevant[u]]
        if not units:
            continue
        rank = {row: place for place, row in enumerate(ranked.of(q)[0].tolist(), 1)}
        at = [min((rank[row] for row in resolution.holders[u].tolist() if row in rank), default=0) for u in units]
        for k in CUTS:
            recall[k][q] = sum(1 for place in at if 0 < place <= k) / len(units)
    return recall


def _by_kind(questions: Sequence[Question], chosen: Sequence[int]) -> dict[str, list[int]]:
    """Places of questions: all of them, then by kind in the order in which kinds appear."""
    kinds: dict[str, list[int]] = {ALL: list(chosen)}
    for q in chosen:
        kinds.setdefault(questions[q].kind or NO_VALUE, []).append(q)
    if len(kinds) == 2 and NO_VALUE in kinds:
        del kinds[NO_VALUE]
    return kinds


@once
def _recalls(context: CheckContext) -> dict[str, dict[int, Floats]]:
    """Recall of each engine; none without a corpus."""
    return {name: recall_of(ranked, context.resolution) for name, ranked in context.ranked.items()}


@once
def attained(context: CheckContext) -> tuple[EngineRecall, ...]:
    """Recall at each cut by kind beside what any ranking could reach, all kinds together first."""
    if not context.has_corpus:
        return ()
    best = ceilings_by_question(context.resolution, CUTS)
    rows = []
    for kind, members in _by_kind(context.questions, sorted(best)).items():
        for k in CUTS if members else ():
            columns = {name: one[k][members] for name, one in _recalls(context).items()}
            means = {name: float(column.mean()) for name, column in columns.items()}
            better = float(np.max(list(columns.values()), axis=0).mean()) if columns else None
            ceiling, exact = mean_of([best[q]["Recall", k] for q in members])
            rows.append(
                EngineRecall(
                    kind=kind, questions=len(members), k=k, bm25=means.get("bm25"), dense=means.get("dense"),
                    better=better, ceiling=ceiling, exact=exact,
                )
            )  # fmt: skip
    return tuple(rows)


def quartiles(values: Sequence[float]) -> Quartiles | None:
    """How some numbers lie; None where there are none."""
    if not len(values):
        return None
    least, low, median, high, most = (float(v) for v in np.percentile(np.asarray(values, float), (0, 25, 50, 75, 100)))
    return Quartiles(n=len(values), least=least, low=low, median=median, high=high, most=most)


def kind_rows(context: CheckContext) -> tuple[KindRow, ...]:
    """A row for all questions and one for each kind, in the order in which kinds appear."""
    kinds = _by_kind(context.questions, range(len(context.questions)))
    return tuple(_kind_row(context, kind, members) for kind, members in kinds.items())


def _kind_row(context: CheckContext, kind: str, members: Sequence[int]) -> KindRow:
    questions = [context.questions[q] for q in members]
    every = overlaps(context)
    known = [overlap for q in members if (overlap := every[q]) is not None]
    return KindRow(
        kind=kind,
        questions=len(members),
        unanswerable=sum(1 for q in questions if not q.answerable),
        without_answer=sum(1 for q in questions if q.answerable and not any(a.strip() for a in q.answers)),
        question_words=quartiles([len(q.text.split()) for q in questions]),
        answer_words=quartiles([len(q.answers[0].split()) for q in questions if q.answers]),
        overlap=quartiles([overlap.share for overlap in known]),
        run=quartiles([overlap.run for overlap in known]),
        literal=sum(overlap.is_literal for overlap in known) if kind in SEMANTIC and known else None,
    )


def language_rows(context: CheckContext) -> tuple[LanguageRow, ...]:
    """Questions by the language they are asked in, most first, and how many have gold in another."""
    counts: dict[str, list[int]] = {}
    for q, question in enumerate(context.questions):
        row = counts.setdefault(guess_language(question.text) or "other", [0, 0])
        row[0] += 1
        row[1] += differs(context, q)
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return tuple(LanguageRow(language, *row) for language, row in ordered)


@once
def detectable_by(context: CheckContext) -> tuple[DetectableDifference, ...]:
    """What can be told apart: by how retrievals differ on this very test set, and at worst."""
    rows: list[DetectableDifference | None] = []
    groups = grouped(context.testset.conversations)
    columns = {name: one[CUT] for name, one in _recalls(context).items()}
    if len(columns) == 2:
        bm25, dense = columns["bm25"], columns["dense"]
        rows.append(_row(bm25 - dense, "BM25 against dense retrieval on these questions", groups))
        better = bm25 if np.nansum(bm25) >= np.nansum(dense) else dense
        hybrid = recall_of(fusion.fuse([context.ranked["bm25"], context.ranked["dense"]]), context.resolution)
        rows.append(_row(hybrid[CUT] - better, "a hybrid of both (rrf) against the better of them", groups))
    counts = np.isfinite(next(iter(columns.values()), [0.0 if q.answerable else np.nan for q in context.questions]))
    worst = worst_spread(None if groups is None else groups[counts])
    basis = "the worst case, where scores are all 0 or 1 and half of them differ each way"
    basis += "" if groups is None else ", all turns of a conversation alike"
    rows.append(_made(int(counts.sum()), worst, basis))
    return tuple(row for row in rows if row is not None)


def _row(differences: Floats, basis: str, groups: Ints | None) -> DetectableDifference | None:
    known = differences[np.isfinite(differences)]
    spread = effective_spread(differences, groups) or 0.0
    return _made(len(known), spread, basis) if spread > 0 else None


def _made(questions: int, spread: float, basis: str) -> DetectableDifference | None:
    if questions < 2:
        return None
    return DetectableDifference(
        measure=MEASURE,
        questions=questions,
        basis=basis,
        spread=spread,
        difference=detectable(spread, questions),
        aim=AIM,
        needed=needed(spread, AIM),
    )
