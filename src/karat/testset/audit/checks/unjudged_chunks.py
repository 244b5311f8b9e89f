"""unjudged_chunks: chunks that answer a question as its gold does, without being gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.results.checkup import Finding
from karat.testset.audit._lexicon import content_of
from karat.testset.audit._support import answering, candidates, claims_of, held_by, windows
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

ANSWER = 0.95  # share of the answer, by weight, that a few sentences of the chunk must hold
ASKED = 0.7  # share of the question's words that they must hold
TOLD = 0.6  # or of the words of the sentence that answers in the gold
QUOTED = 0.9  # or of the words that the gold quotes, whatever the question says
_LOOKED = 10  # chunks that each search finds first


def unjudged(view: View, q: int) -> list[int]:
    """Rows that hold the answer beside the words of the question, or of the gold's sentence, and are not gold.

    They must name what the question is about: of its words that stand in the gold, the one that tells most. Else the
    same told of another thing would count.
    """
    claims, asked, told = claims_of(view, q), view.asked_sets[q], answering(view)[q]
    if not claims or told is None:
        return []
    share, key = view.weights.share, _subject(view, q)
    quotes = [frozenset(content_of(g.quote, view.languages[q])) for g in view.questions[q].gold if g.quote]

    def tells(held: frozenset[str]) -> bool:
        if any(len(quote) > 3 and share(quote, held) >= QUOTED for quote in quotes):
            return True
        if key is None:
            return share(told.stems, held) >= QUOTED
        return key in held and (share(told.stems, held) >= TOLD or (len(asked) > 1 and share(asked, held) >= ASKED))

    def answers(held: frozenset[str]) -> bool:
        return any(held_by(view, claimed, held) >= ANSWER for claimed in claims)

    return [
        row
        for row in candidates(view, q, _LOOKED)
        if row not in view.gold_sets[q]
        and tells(view.held[row])
        and answers(view.held[row])
        and any(tells(near) and answers(near) for near in windows(view, row))
    ]


def _subject(view: View, q: int) -> str | None:
    """The word of a question that tells most among those that stand in its gold; None where none does."""
    rows = view.gold[q][:_LOOKED].tolist()
    shared = view.asked_sets[q].intersection(frozenset().union(*(view.held[row] for row in rows)))
    return max(shared, key=lambda stem: (view.weights[stem], stem), default=None)


def _find(view: View) -> Iterator[Finding]:
    looked = [q for q, told in enumerate(answering(view)) if told is not None]
    found = [
        (view.questions[q], "also " + ", ".join(view.label(row) for row in rows[:3]))
        for q in looked
        if (rows := unjudged(view, q))
    ]
    if found:
        yield about(
            "unjudged_chunks", "warning", found, len(looked), "is also answered by a chunk that is not gold",
            "are also answered by chunks that are not gold",
            "A few sentences there hold the reference answer beside the words of the question or of the gold. A system "
            "that returns such a chunk is scored as if it had found nothing.",
            "Read these chunks, and add those that answer to the gold.",
        )  # fmt: skip


check = Check("unjudged_chunks", "chunks that answer a question and are not its gold", _find, 24, True)
