"""Sentences with a gap: what is left where no rule makes a question of a sentence that holds a number or a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from karat.testset.offline._asking import Asking
from karat.testset.offline._reading import Read
from karat.testset.offline._verbs import forms

GAP = "___"
_ASKED = {"en": 'What is missing in "{}"?', "ru": "Что пропущено: «{}»?"}
_FEWEST, _MOST = 7, 26  # words of the sentence
_FIGURE = re.compile(r"(?<![\w.,:/-])(?:\d{1,3}(?:[ \u00a0,]\d{3})+|\d+[.,]\d+|\d{1,2}:\d{2}|\d+)(?![\w:/-])(?![.,]\d)")
_NAME = re.compile(r"(?<![\w'-])[A-ZА-ЯЁ][\w-]+(?: [A-ZА-ЯЁ][\w-]+)*(?= [a-zа-яё]|[,.])")
_REFERENCE = re.compile(r"\(\d|\b\d+\.\d+(?= of | appl|\.?$)|\b(?:Dr|Mr|Mrs|Ms|St)\b|:")
# Sentences that lean on what stood before them.
_LEANS = re.compile(
    r"^(?:No|Yes|Нет|Да|[A-Z][a-z]+ed|It|They|He|She|This|These|That|Those|There|Then|Here|But|And|Or|So|Such|Both|Its"
    r"|Their|His|Her|We|You|I|One|Some|Others?|The other|Each has|Если|Он|Она|Оно|Они|Это|Эт\w+|Там|Тогда|Здесь|Но|И|А"
    r"|Его|Её|Их|Также|Поэтому|Однако|Кроме)\b"
    r"|\b(?:both|(?:before|after|than|of) that|the other|one is|them|it|they|this|these|those|him|her|их|им|них"
    r"|него|неё|нему|этот|эта|это|эти|этого|above|below|see|following|chapter|section|page|выше|ниже|см|раздел\w*|глав\w*"
    r"|страниц\w*|рис|табл)\b"
)


def clozes(read: Read, language: str, asked: Collection[int]) -> Iterator[Asking]:
    """A gap for each sentence that stands alone and begins at none of the places that are asked about already."""
    for told in read.told:
        words = told.text.split()
        if told.start in asked or told.item or not _FEWEST <= len(words) <= _MOST or _LEANS.search(told.text):
            continue
        if words[0].lower() in forms()[0] or '"' in told.text or "«" in told.text or "?" in told.text:
            continue
        if _REFERENCE.search(told.text):
            continue
        found = _FIGURE.findall(told.text) or [one[0] for one in _NAME.finditer(told.text) if one.start()]
        if len(found) != 1 or told.text.count(found[0]) != 1:
            continue
        sentence = told.text.rstrip(".!").replace(found[0], GAP)
        yield Asking(_ASKED[language].format(sentence), found[0], "cloze", told.start, told.end)
