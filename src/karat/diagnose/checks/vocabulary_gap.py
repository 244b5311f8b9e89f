"""vocabulary_gap: questions that share no content word with their gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt
from karat.diagnose._words import counted, percent
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding


def _find(case: Case) -> Iterator[Finding]:
    looked, gap = 0, []
    for question, rows in zip(case.questions, case.gold_rows, strict=True):
        if not len(rows) or not case.terms_like(question.text, int(rows[0])):
            continue
        looked += 1
        if all(case.terms_like(question.text, row).isdisjoint(case.row_terms(row)) for row in rows.tolist()):
            gap.append(question)
    if gap:
        share = len(gap) / looked
        yield Finding(
            "vocabulary_gap",
            "info",
            f"{counted(len(gap), 'question', 'shares', 'share')} no content word with the gold",
            f"{percent(share)} of the {looked:,} questions whose gold was found. BM25 cannot find them by their words; "
            "dense retrieval may.",
            {"questions": len(gap), "looked_at": looked, "share": share},
            tuple(q.id for q in gap),
            tuple(f'{q.id}: "{excerpt(q.text, 90)}"' for q in gap[:5]),
            "Nothing, if they are meant so. If not, check their gold.",
        )


check = Check("vocabulary_gap", "questions that share no content word with their gold", _find, 40)
