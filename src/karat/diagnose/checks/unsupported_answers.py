"""unsupported_answers: reference answers of which the gold says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.diagnose._words import counted, percent, short
from karat.diagnose.check import Case, Check

_VERDICTS = frozenset(
    ("yes", "no", "true", "false", "да", "нет", "верно", "неверно", "हाँ", "हां", "नहीं", "ja", "nein", "oui", "non", "si")
)


def _find(case: Case) -> Iterator[Finding]:
    looked, bare, shares = 0, [], []
    for question, rows in zip(case.questions, case.gold_rows, strict=True):
        if not len(rows) or not question.answers or not question.answerable:
            continue
        wanted = [case.terms_like(answer, int(rows[0])) - _VERDICTS for answer in question.answers]
        wanted = [words for words in wanted if words]
        if not wanted:
            continue
        looked += 1
        held: set[str] = set()
        for row in rows.tolist():
            held |= case.row_terms(row)
            if any(words <= held for words in wanted):
                break
        best = max(len(words & held) / len(words) for words in wanted)
        shares.append(best)
        if best == 0:
            bare.append(question)
    if bare:
        share = len(bare) / looked
        yield Finding(
            "unsupported_answers",
            "info",
            f"{counted(len(bare), 'reference answer', 'shares', 'share')} no content word with the gold",
            f"{percent(share)} of the {looked:,} answers whose gold was found; on average the gold holds "
            f"{percent(sum(shares) / looked)} of an answer's content words. Calculated answers are one cause, wrong "
            "gold is another.",
            {"questions": len(bare), "looked_at": looked, "share": share, "words_held": sum(shares) / looked},
            tuple(q.id for q in bare),
            tuple(f'{q.id}: "{short(q.answers[0], 90)}"' for q in bare[:5]),
            "Check the gold of these questions.",
        )


check = Check("unsupported_answers", "reference answers of which the gold says nothing", _find, 41)
