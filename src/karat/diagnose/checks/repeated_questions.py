"""repeated_questions: questions that ask the same, word for word or nearly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text import normalise
from karat.core.text.detect import ALIKE, repeats
from karat.core.text.words import excerpt, plural
from karat.diagnose._words import counted
from karat.diagnose.check import Case, Check
from karat.models.terms import terms
from karat.results.checkup import Finding

if TYPE_CHECKING:
    from karat.core.types import Question


def _find(case: Case) -> Iterator[Finding]:
    groups: dict[str, list[Question]] = {}
    for question in case.questions:
        words = normalise(question.text, "words")
        if words:
            groups.setdefault(words, []).append(question)
    repeated = [group for group in groups.values() if len(group) > 1]
    if repeated:
        apart = sum(1 for group in repeated if len({frozenset(_units(q)) for q in group}) > 1)
        yield Finding(
            "repeated_questions",
            "warning",
            f"{counted(len(repeated), 'question', 'is', 'are')} asked more than once",
            "Each counts again in every mean."
            + (f" {apart:,} of them {'has' if apart == 1 else 'have'} other gold each time." if apart else ""),
            {"questions": len(repeated), "other_gold": apart},
            tuple(q.id for group in repeated for q in group),
            tuple(f'{", ".join(q.id for q in g[:4])}: "{excerpt(g[0].text, 80)}"' for g in repeated[:5]),
            "Keep one of each, with the gold of all.",
        )
    near = list(_near([group[0] for group in groups.values()]))
    if near:
        yield Finding(
            "repeated_questions",
            "info",
            f"{plural(len(near), 'pair')} of questions ask nearly the same",
            "",
            {"pairs": len(near)},
            tuple(dict.fromkeys(q.id for pair in near for q in pair)),
            tuple(f'{a.id}: "{excerpt(a.text, 60)}" and {b.id}: "{excerpt(b.text, 60)}"' for a, b in near[:5]),
            "Check that both are wanted and have the same gold.",
        )


def _units(question: Question) -> list[str]:
    return [gold.label for gold in question.gold]


def _near(questions: list[Question]) -> Iterator[tuple[Question, Question]]:
    """Pairs whose content words are nearly the same set; only pairs that share one of their rarer words are looked at.

    Two sets of at most m words that differ in less than 15% share one of the m * .15 + 1 rarest of either.
    """
    sets = [terms(q.text) for q in questions]
    counts = Counter(word for words in sets for word in words)
    by_word: dict[str, list[int]] = {}
    for i, words in enumerate(sets):
        rare = sorted(words, key=lambda w: (counts[w], w))[: int(len(words) * (1 - ALIKE)) + 1]
        seen = {j for word in rare for j in by_word.get(word, ())}
        for j in sorted(seen):
            if repeats(questions[i].text, questions[j].text, words, sets[j]):
                yield questions[j], questions[i]
        for word in rare:
            by_word.setdefault(word, []).append(i)


check = Check("repeated_questions", "questions that ask the same, word for word or nearly", _find, 31)
