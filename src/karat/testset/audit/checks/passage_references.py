"""passage_references: questions that lean on a passage which only their author had before the eyes."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.detect import passage_reference
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check


def _find(view: View) -> Iterator[Finding]:
    found = [(q, words) for q in view.questions if (words := passage_reference(q.text)) is not None]
    if found:
        yield about(
            "passage_references", "warning", found, len(view.questions), "leans on a passage",
            "lean on a passage",
            "Nobody who searches has it before the eyes, and no retriever knows which is meant.",
            "Rewrite them so that they stand on their own.",
        )  # fmt: skip


check = Check("passage_references", "questions that lean on a passage which only their author saw", _find, 21)
