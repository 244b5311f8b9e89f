"""missing_gold: questions whose gold no chunk of the index holds, and questions without any."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check


def _find(view: View) -> Iterator[Finding]:
    answerable = [(q, question) for q, question in enumerate(view.questions) if question.answerable]
    none = [(question, "") for _, question in answerable if not any(gold.grade >= 1 for gold in question.gold)]
    if none:
        yield about(
            "missing_gold", "warning", none, len(answerable), "has no gold and is not marked unanswerable",
            "have no gold and are not marked unanswerable", "No measure of retrieval counts them.",
            'Give them gold, or mark them "answerable": false.',
        )  # fmt: skip
    if not view.has_corpus:
        return
    lost = [
        (question, f"gold: {excerpt(question.gold[0].label, 60)}")
        for q, question in answerable
        if any(gold.grade >= 1 for gold in question.gold) and not len(view.gold[q])
    ]
    if lost:
        yield about(
            "missing_gold", "broken", lost, len(answerable), "has gold that no chunk of this index holds",
            "have gold that no chunk of this index holds", "Every system scores 0 there.",
            "Run `karat check`, which says why.",
        )  # fmt: skip


check = Check("missing_gold", "questions whose gold no chunk holds", _find, 1)
