"""Normalisers, tokenisers, stop words and sentences: the one place where text becomes tokens."""

from karat.core.text.blocks import drop_blocks, open_blocks
from karat.core.text.languages import LANGUAGES, NAMES, Language, guess_language, main_language, stop_words
from karat.core.text.normalise import NORMS, Norm, normalise, tokenise
from karat.core.text.sentences import sentences

__all__ = [
    "LANGUAGES",
    "NAMES",
    "NORMS",
    "Language",
    "Norm",
    "drop_blocks",
    "guess_language",
    "main_language",
    "normalise",
    "open_blocks",
    "sentences",
    "stop_words",
    "tokenise",
]
