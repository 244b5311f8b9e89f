"""What is said when the contexts hold no answer, in the question's language."""

from __future__ import annotations

from karat.core.text import guess_language

_SAID = {
    "en": "The contexts do not say.",
    "ru": "В контекстах об этом не сказано.",
    "de": "Ich kann das nicht beantworten: dazu gibt es keine Angaben.",
    "fr": "Je ne peux pas répondre : les contextes ne le disent pas.",
    "es": "No puedo responder: los contextos no lo dicen.",
    "hi": "संदर्भ में इसका उल्लेख नहीं है।",
}


def declined(question: str) -> str:
    """The sentence that declines a question; in English where karat does not know its language."""
    return _SAID[guess_language(question) or "en"]
