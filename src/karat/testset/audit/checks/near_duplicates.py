"""near_duplicates: questions that ask the same as another, in the same words or nearly."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt, plural
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import SHOWN, percent
from karat.testset.audit.check import Check


def _find(view: View) -> Iterator[Finding]:
    pairs = view.pairs
    if not pairs:
        return
    repeated = list(dict.fromkeys(other for _, other, _ in pairs))
    total = len(view.questions)
    kinds = sum(1 for one, other, _ in pairs if view.questions[one].kind != view.questions[other].kind)
    yield Finding(
        "near_duplicates",
        "warning",
        f"{plural(len(repeated), 'question')} {'repeats' if len(repeated) == 1 else 'repeat'} another",
        f"{percent(len(repeated) / total)} of the {total:,}. Each counts again in every mean, and the test set tells "
        "less than its size says." + (f" {plural(kinds, 'pair')} of {len(pairs):,} are of two kinds." if kinds else ""),
        {"questions": len(repeated), "pairs": len(pairs), "across_kinds": kinds, "share": len(repeated) / total},
        tuple(view.questions[q].id for q in sorted({q for one, other, _ in pairs for q in (one, other)})),
        tuple(
            f'{view.questions[one].id}: "{excerpt(view.questions[one].text, 60)}" and {view.questions[other].id}: '
            f'"{excerpt(view.questions[other].text, 60)}" ({percent(likeness)} alike)'
            for one, other, likeness in pairs[:SHOWN]
        ),
        "Keep one of each, with the gold of all.",
    )


check = Check("near_duplicates", "questions that ask the same as another", _find, 27)
