"""incomplete: questions that cannot be scored as they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from karat.diagnose._words import counted
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding, Severity

if TYPE_CHECKING:
    from karat.core.types import Question


_LOOKS: tuple[tuple[Severity, str, Callable[[Question], bool], str], ...] = (
    (
        "warning",
        "no gold and {is} not marked unanswerable",
        lambda q: q.answerable and not q.gold,
        'Add "gold", or mark the question "answerable": false. It is left out of every mean of retrieval.',
    ),
    (
        "warning",
        "gold that is graded 0 or less only",
        lambda q: bool(q.gold) and all(g.grade < 1 for g in q.gold),
        "Give what answers the question a grade of 1 or more. It is left out of every mean of retrieval.",
    ),
    (
        "warning",
        "gold though {is} marked unanswerable",
        lambda q: not q.answerable and any(g.grade >= 1 for g in q.gold),
        'Take the gold away, or drop "answerable": false.',
    ),
)


def _find(case: Case) -> Iterator[Finding]:
    for severity, what, holds, remedy in _LOOKS:
        found = tuple(q.id for q in case.questions if holds(q))
        if found:
            is_ = "is" if len(found) == 1 else "are"
            title = f"{counted(len(found), 'question', 'has', 'have')} {what.replace('{is}', is_)}"
            yield _finding(severity, title, found, remedy)
    if not case.testset.is_plain:
        blank = tuple(q.id for q in case.questions if not q.text.strip())
        if blank:
            said = f"{counted(len(blank), 'question', 'is', 'are')} empty"
            yield _finding("broken", said, blank, "Write the question, or take it out.")
    nameless = [u for u in case.resolution.unresolved if u.gold.grade >= 1 and u.reason == "names no unit"]
    if nameless:
        ids = tuple(dict.fromkeys(u.question for u in nameless))
        said = f"{counted(len(nameless), 'gold unit', 'names', 'name')} nothing that can be looked for"
        why = tuple(f"{u.question}: {u.why}" for u in nameless[:5])
        remedy = 'Give each a "doc", "page", "url", "quote", "chunk" or "id", or choose what is compared with --match.'
        numbers = {"entries": len(nameless), "questions": len(ids)}
        yield Finding("incomplete", "broken", said, "", numbers, ids, why, remedy)
    twice = tuple(id_ for id_, count in Counter(case.testset.ids).items() if count > 1)
    if twice:
        said = f"{counted(len(twice), 'question id', 'stands', 'stand')} twice or more"
        yield _finding("broken", said, twice, "Give every question an id of its own.")


def _finding(severity: Severity, title: str, ids: tuple[str, ...], remedy: str) -> Finding:
    return Finding("incomplete", severity, title, "", {"questions": len(ids)}, ids, ids[:5], remedy)


check = Check("incomplete", "questions that cannot be scored as they stand", _find, 15)
