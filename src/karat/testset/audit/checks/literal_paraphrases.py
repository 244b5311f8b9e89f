"""literal_paraphrases: questions marked as paraphrase or scenario that repeat the words of their gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.results.checkup import Finding
from karat.testset.audit._overlap import CLAUSE, LITERAL, RUN, is_literal
from karat.testset.audit._view import SEMANTIC, View
from karat.testset.audit._words import about, percent
from karat.testset.audit.check import Check


def _find(view: View) -> Iterator[Finding]:
    looked = [
        (question, overlap)
        for question, overlap in zip(view.questions, view.overlaps, strict=True)
        if question.kind is not None and question.kind.lower() in SEMANTIC and overlap is not None
    ]
    found = [(q, f"{percent(o.share)} of its words, {o.run} in a row") for q, o in looked if is_literal(o)]
    if found:
        yield about(
            "literal_paraphrases", "warning", found, len(looked), "is marked as semantic and is literal",
            "are marked as semantic and are literal",
            f"The gold holds {percent(LITERAL)} of their content words or more, {percent(CLAUSE)} of a clause's, "
            f"or {RUN} of their words in a row. BM25 "
            "finds them by their words, and a score on this kind does not tell how well meaning is found.",
            "Reword them, or mark them literal.",
        )  # fmt: skip


check = Check("literal_paraphrases", "paraphrases and scenarios that repeat the words of their gold", _find, 25, True)
