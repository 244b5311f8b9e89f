"""leftovers: numbering, labels, quotes and marks that a model or a spreadsheet left around a question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

_LABEL = r"(?:questions?|query|q|вопросы?|в|frage|pregunta|prueba|प्रश्न)"
_PATTERNS = {
    "numbering": re.compile(r"\s*(?:[(\[]\s*)?(?:\d{1,3}|[a-zа-я]|[ivx]{1,4})\s*[)\]]\s*\S|\s*\d{1,3}\s*[.:]\s+\D"
                            r"|\s*№\s*\d+|\s*#\s*\d+\b", re.I),
    "a list mark": re.compile(r"\s*[-–—*•·]\s+\S"),
    "a label": re.compile(rf"\W*{_LABEL}\s*(?:№|#|no\.?|nr\.?)?\s*\d*\s*[:.)\]–—-]+\s*\S|\W*{_LABEL}\s*(?:№|#)?\s*\d+\b"
                          r"|\s*\W*(?:literal|paraphrased?|scenario|comparative|multi[-_ ]hop|inferential|парафраз\w*"
                          r"|сценарий|буквальн\w+)(?: question)?\W*[:–—]\s", re.I),
    "an announcement": re.compile(r"\W*(?:here(?:'s| is| are)|sure[,!]|certainly[,!]|of course[,!]|вот (?:ваш\w* )?вопрос"
                                  r"|конечно[,!]|пожалуйста[,:])[^?]{0,80}[:!\n]", re.I),
    "the answer after it": re.compile(r"\S.*[\s*]*(?:\b(?:answer|ответ|antwort|réponse|respuesta)\b\s*\W{0,3}:|\bA:)\s*\S",
                                      re.I | re.S),
    "marks": re.compile(r"\s*(?:\*\*|__|`|#{1,6}\s|>\s)|.*\*\*\s*$|.*```", re.S),
    "a field of JSON": re.compile(r"\s*[{\[]?\s*\"\w+\"\s*:", re.S),
}  # fmt: skip
_QUOTES = ('""', "''", "«»", "“”", "„“", "‘’", "``")


def leftover_of(text: str) -> str | None:
    """What was left around a question, or None.

    >>> leftover_of("1) Who winters?"), leftover_of("Вопрос 3: Кто зимует?"), leftover_of("Who winters?")
    ('numbering', 'a label', None)
    """
    bare = text.strip()
    for opened, closed in _QUOTES:
        inside = bare[1:-1]
        if len(bare) > 2 and bare[0] == opened and bare[-1] == closed and opened not in inside and closed not in inside:
            return "quotes around it"
    return next((name for name, pattern in _PATTERNS.items() if pattern.match(text)), None)


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
