"""nonsense: questions that are cut sentences, or have a blank over a list number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from karat.core.text.detect import nonsense
from karat.core.text.words import plural
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

UNUSABLE = 0.2
"""Share of nonsense from which a test set is unusable: differences between systems are smaller than that."""


def _find(view: View) -> Iterator[Finding]:
    total = len(view.questions)
    found = [(question, why) for question in view.questions if (why := nonsense(question.text)) is not None]
    if not found:
        return
    finding = about(
        "nonsense", "warning", found, total, "is a cut sentence or has a blank over a list number",
        "are cut sentences or have a blank over a list number", "Nobody could answer them, and whatever is found for "
        "them says nothing about retrieval.", "Take them out, or write them anew.",
    )  # fmt: skip
    if len(found) >= UNUSABLE * total:
        title = f"this test set is unusable: {len(found):,} of {plural(total, 'question')} are nonsense"
        finding = replace(finding, severity="broken", title=title)
    yield finding


check = Check("nonsense", "questions that are cut sentences, or have a blank over a list number", _find, 11)
