"""unsupported_answers: reference answers that the gold does not support."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.support import Claim, Held
from karat.core.text.words import excerpt
from karat.diagnose._words import counted, percent
from karat.diagnose.check import Case, Check
from karat.models.terms import terms
from karat.results.checkup import Finding

_MOST = 50  # gold chunks that are looked at


def _find(case: Case) -> Iterator[Finding]:
    looked, bare, shares = 0, [], []
    for question, rows in zip(case.questions, case.gold_rows, strict=True):
        if not len(rows) or not question.answers or not question.answerable:
            continue
        language = case.language_of(int(rows[0]))
        claims = [claim for answer in question.answers if len(claim := Claim.of(answer, language, terms))]
        if not claims:
            continue
        looked += 1
        held = Held.together(Held.of(case.chunks.texts[row], language, terms) for row in rows[:_MOST].tolist())
        best = max((claim.against(held) for claim in claims), key=lambda one: (one.enough(), one.share))
        shares.append(best.share)
        if not best.enough():
            bare.append(question)
    if bare:
        share = len(bare) / looked
        yield Finding(
            "unsupported_answers",
            "info",
            f"{counted(len(bare), 'reference answer', 'is', 'are')} not supported by the gold",
            f"{percent(share)} of the {looked:,} answers whose gold was found; on average the gold holds "
            f"{percent(sum(shares) / looked)} of an answer's content words. Calculated answers are one cause, wrong "
            "gold is another.",
            {"questions": len(bare), "looked_at": looked, "share": share, "words_held": sum(shares) / looked},
            tuple(q.id for q in bare),
            tuple(f'{q.id}: "{excerpt(q.answers[0], 90)}"' for q in bare[:5]),
            "Check the gold of these questions.",
        )


check = Check("unsupported_answers", "reference answers that the gold does not support", _find, 41)
