"""leftovers: numbering, labels, quotes and marks that a model or a spreadsheet left around a question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

_LABEL = r"(?:questions?|query|q|вопросы?|в|frage|pregunta|prueba|प्रश्न)"
_KIND = r"(?:literal|paraphrased?|scenario|comparative|multi[-_ ]hop|inferential|парафраз\w*|сценарий|буквальн\w+)"
_OPENING = (
    r"(?:here(?:'s| is| are)|sure[,!]|certainly[,!]|of course[,!]|вот (?:ваш\w* )?вопрос|конечно[,!]|пожалуйста[,:])"
)
_WRITTEN = {
    "numbering": r"\s*(?:[(\[]\s*)?(?:\d{1,3}|[a-zа-я]|[ivx]{1,4})\s*[)\]]\s*\S|\s*\d{1,3}\s*[.:]\s+\D|\s*[№#]\s*\d+\b",
    "a list mark": r"\s*[-–—*•·]\s+\S",
    "a label": rf"\W*+{_LABEL}\s*+(?:№|#|no\.?|nr\.?)?\s*+\d*+\s*+[:.)\]–—-]++\s*+\S|\W*+{_LABEL}\s*+(?:№|#)?\s*+\d++\b"
    rf"|\W*+{_KIND}(?: question)?\W*[:–—]\s",
    "an announcement": rf"\W*{_OPENING}[^?]{{0,80}}[:!\n]",
    "the answer after it": r"\S.*(?:\b(?:answer|ответ|antwort|réponse|respuesta)\b\s*\W{0,3}:|\bA:)\s*\S",
    "marks": r"\s*(?:\*\*|__|`|#{1,6}\s|>\s)|.*\*\*\s*$|.*```",
    "a field of JSON": r"\s*+[{\[]?\s*+\"\w++\"\s*+:",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE | re.DOTALL) for name, pattern in _WRITTEN.items()}
_QUOTES = (('"', '"'), ("'", "'"), ("«", "»"), ("“", "”"), ("„", "“"), ("‘", "’"), ("`", "`"))


def leftover_of(text: str) -> str | None:
    """What was left around a question, or None.

    >>> leftover_of("1) Who winters?"), leftover_of("Вопрос 3: Кто зимует?"), leftover_of("Who winters?")
    ('numbering', 'a label', None)
    """
    if _is_quoted(text.strip()):
        return "quotes around it"
    return next((name for name, pattern in _PATTERNS.items() if pattern.match(text)), None)


def _is_quoted(text: str) -> bool:
    """Whether quotes open before the first word and close only after the last."""
    for opened, closed in _QUOTES:
        inside = text[1:-1]
        if len(text) < 3 or text[0] != opened or text[-1] != closed:
            continue
        if opened == closed:
            return opened not in inside
        depth = 0
        for character in inside:
            depth += (character == opened) - (character == closed)
            if depth < 0:
                return False
        return depth == 0
    return False


def _find(view: View) -> Iterator[Finding]:
    found = [(q, left) for q in view.questions if (left := leftover_of(q.text)) is not None]
    if found:
        yield about(
            "leftovers", "warning", found, len(view.questions), "has something left around it",
            "have something left around them",
            "Engines search for it as well, and readers take the test set for careless.",
            "Take off what stands before and after the question.",
        )  # fmt: skip


check = Check("leftovers", "numbering, labels and quotes left around a question", _find, 20)
