"""not_a_question: no question, or not one that can be asked as it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.core.text.detect import nonsense
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import asking_word, one_line, shortened

_FEWEST, _MOST, _LONGEST = 3, 60, 400  # words, words, characters
_LABEL = re.compile(
    r"^\s*(?:[-*•>#]|\(?\d{1,3}[.):](?=\s)|[a-hA-H][.)](?=\s)"
    r"|(?:q|question|query|answer|a|example|output|вопрос|ответ|пример)\s*+(?:№?\s*+\d++)?\s*+[:.)](?=\s|$))",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"```|\*\*|\b__\w+__\b|^#{1,6}\s|</?\w+>|\\n|\\u[0-9a-f]{4}|[{}]|\"\s*:\s*\"|\[[^\[\]]*+\]\([^()]*+\)"
)
_PLACEHOLDER = re.compile(
    r"\[[\w ]*+\]|<[^<>]*+>|\.\.\.\s*\?|…\s*\?"
    r"|\b(?:lorem ipsum|xxx+|todo|tbd|foo bar|your question|the question here"
    r"|insert \w+|n/a)\b|\bваш вопрос\b",
    re.IGNORECASE,
)
_CLOZE = "___"
_CHATTER = re.compile(
    r"^\s*(?:sure|certainly|of course|here (?:is|are)|here's|okay|as an ai|конечно|вот|разумеется)\b"
    r"[^?]*[,!:.]",
    re.IGNORECASE,
)
# What steers a terminal, or turns a line round.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|these|of) )*"
    r"(?:previous|prior|above|earlier|preceding) (?:\w+ )?(?:instructions?|prompts?|rules|orders|messages?)\b"
    r"|\b(?:(?:про)?игнорируй|забудь)(?:те)? (?:все )?(?:предыдущие|прошлые|прежние) (?:инструкции|указания|правила)",
    re.IGNORECASE,
)
_ASKS_SOMEHOW = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had|name|list|describe"
    r"|explain|tell|give|compare|верно|правда|можно|нужно|надо|есть|назовите|перечислите|опишите|объясните|сравните)\b"
    r"|\bли\b",
    re.IGNORECASE,
)


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    text = one_line(draft.text)
    words = text.split()
    if not any(character.isalpha() for character in text):
        return "It is empty." if not text else f'It has no words: "{shortened(text)}".'
    if _UNSEEN.search(draft.text):
        return "It holds characters that steer a terminal or turn a line round."
    if orders := _ORDERS.search(text):
        return f'It gives orders to a model: "{orders[0]}".'
    label, markup = _LABEL.search(draft.text), _MARKUP.search(draft.text)
    if label:
        return f'It begins with a number or a label: "{label[0].strip()}".'
    if markup:
        return f'It holds markup: "{markup[0]}".'
    placeholder = None if _CLOZE in text else _PLACEHOLDER.search(draft.text)
    if placeholder:
        return f'It holds a placeholder: "{placeholder[0]}".'
    if _CHATTER.search(text):
        return f'It begins with chatter: "{shortened(text, 40)}".'
    if why := nonsense(text):
        return f'{why.capitalize()}: "{shortened(text)}".'
    if len(words) < _FEWEST:
        return f"It has {len(words)} words, fewer than {_FEWEST}."
    if len(words) > _MOST or len(text) > _LONGEST:
        return f"It has {len(words)} words and {len(text)} characters, more than {_MOST} or {_LONGEST}."
    ends = text.rstrip("\"'»”)").endswith(("?", "？", "؟"))
    if not ends and _CLOZE not in text and not asking_word(text) and not _ASKS_SOMEHOW.search(text):
        return f'It asks nothing: "{shortened(text)}".'
    return None


filter = Filter(
    "not_a_question", "no question, a cut one, or one with numbering, labels, markup or placeholders in it", _find, 10
)
