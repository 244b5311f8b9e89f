"""The tables of the audit: kinds, languages, and what so many questions can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text import guess_language
from karat.results.audit import ALL, Detectable, KindRow, LanguageRow, Quartiles
from karat.stats.power import WORST, detectable, needed
from karat.testset.audit._overlap import is_literal
from karat.testset.audit._reached import NO_KIND
from karat.testset.audit._view import SEMANTIC

if TYPE_CHECKING:
    from karat.core.judged import Floats
    from karat.testset.audit._view import View

AIM = 0.03  # a difference worth telling
CUT = 5
MEASURE = f"Recall@{CUT}"


def quartiles(values: Sequence[float]) -> Quartiles | None:
    """How some numbers lie; None where there are none."""
    if not len(values):
        return None
    least, low, median, high, most = (float(v) for v in np.percentile(np.asarray(values, float), (0, 25, 50, 75, 100)))
    return Quartiles(len(values), least, low, median, high, most)


def kind_rows(view: View) -> tuple[KindRow, ...]:
    """A row for all questions and one for each kind, in the order in which kinds appear."""
    kinds: dict[str, list[int]] = {ALL: list(range(len(view.questions)))}
    for q, question in enumerate(view.questions):
        kinds.setdefault(question.kind or NO_KIND, []).append(q)
    if len(kinds) == 2 and NO_KIND in kinds:
        del kinds[NO_KIND]
    return tuple(_kind_row(view, kind, members) for kind, members in kinds.items())


def _kind_row(view: View, kind: str, members: Sequence[int]) -> KindRow:
    questions = [view.questions[q] for q in members]
    known = [found for q in members if (found := view.overlaps[q]) is not None]
    return KindRow(
        kind,
        len(members),
        sum(1 for q in questions if not q.answerable),
        sum(1 for q in questions if q.answerable and not any(a.strip() for a in q.answers)),
        quartiles([len(q.text.split()) for q in questions]),
        quartiles([len(q.answers[0].split()) for q in questions if q.answers]),
        quartiles([found.share for found in known]),
        quartiles([found.run for found in known]),
        sum(map(is_literal, known)) if kind in SEMANTIC and known else None,
    )


def language_rows(view: View) -> tuple[LanguageRow, ...]:
    """Questions by the language they are asked in, most first, and how many have gold in another."""
    from karat.testset.audit.checks.other_language import differs

    counts: dict[str, list[int]] = {}
    for q, question in enumerate(view.questions):
        row = counts.setdefault(guess_language(question.text) or "other", [0, 0])
        row[0] += 1
        row[1] += differs(view, q)
    ordered = sorted(counts.items(), key=lambda item: (-item[1][0], item[0]))
    return tuple(LanguageRow(language, *row) for language, row in ordered)


def detectable_by(view: View) -> tuple[Detectable, ...]:
    """What can be told apart: by how retrievals differ on this very test set, and at worst."""
    made: list[Detectable | None] = []
    columns = {name: found.recall[CUT] for name, found in view.found.items()} if view.has_corpus else {}
    if len(columns) == 2:
        bm25, dense = columns["bm25"], columns["dense"]
        made.append(_row(bm25 - dense, "BM25 against dense retrieval on these questions"))
        better = bm25 if np.nansum(bm25) >= np.nansum(dense) else dense
        made.append(_row(view.hybrid.recall[CUT] - better, "a hybrid of both (rrf) against the better of them"))
    counted = [int(np.isfinite(column).sum()) for column in columns.values()]
    asked = counted[0] if counted else sum(1 for q in view.questions if q.answerable)
    made.append(_made(asked, WORST, "the worst case, where scores are all 0 or 1 and half of them differ each way"))
    return tuple(row for row in made if row is not None)


def _row(differences: Floats, basis: str) -> Detectable | None:
    known = differences[np.isfinite(differences)]
    spread = float(known.std(ddof=1)) if len(known) > 1 else 0.0
    return _made(len(known), spread, basis) if spread > 0 else None


def _made(questions: int, spread: float, basis: str) -> Detectable | None:
    if questions < 2:
        return None
    return Detectable(MEASURE, questions, basis, spread, detectable(spread, questions), AIM, needed(spread, AIM))
