"""leaks: questions that point at a passage nobody but their author sees."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.detect import passage_reference
from karat.core.text.words import excerpt
from karat.diagnose._words import counted, percent
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding


def _find(case: Case) -> Iterator[Finding]:
    found = [(q, words) for q in case.questions if (words := passage_reference(q.text)) is not None]
    if found:
        share = len(found) / len(case.questions)
        yield Finding(
            "leaks",
            "warning",
            f"{counted(len(found), 'question', 'points', 'point')} at a text that the asker has before the eyes",
            f"{percent(share)} of the questions. Nobody who searches asks so, and no retriever can know which text is "
            "meant.",
            {"questions": len(found), "share": share},
            tuple(q.id for q, _ in found),
            tuple(f'{q.id}: "{excerpt(q.text, 90)}" ({words})' for q, words in found[:5]),
            "Rewrite them so that they stand on their own.",
        )


check = Check("leaks", "questions that point at a passage nobody but their author sees", _find, 32)
