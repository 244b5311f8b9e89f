"""leakage: the question leans on a passage that nobody but its author sees."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.core.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings

_EN = r"(?:passage|text|paragraph|excerpt|fragment|extract|snippet|context|document|article|section|chunk|material)"
_RU = r"(?:отрыв(?:ок|ка|ке|ком)|текст(?:а|е|у|ом)?|абзац(?:а|е|у|ем)?|фрагмент(?:а|е|у|ом)?|контекст(?:а|е|у|ом)?)"
_RU_MORE = rf"(?:{_RU}|документ(?:а|е|у|ом)?|стать(?:я|е|и|ёй|ей)|раздел(?:а|е|у|ом)?|материал(?:а|е|у|ом)?)"
_SAYS = r"(?:says?|states?|mentions?|describes?|discuss(?:es)?|explains?|suggests?|tells?|lists?|provides?|refers?)"
# A text that is named ("in the document on ice", "the section called Tools") can be asked about by anybody, and so can
# what is called after one ("the document store"). One with nothing after it, or a word that points, is nameless.
_HERE = r"above|below|here|itself|provided|given|shown|presented|quoted|cited"
_ASKS = r"what|which|who|whom|when|where|why|how|is|are|was|were|do|does|did|can|must|should"
_END = r"\s*(?:[?.,;:!)]|$)"
_NAMELESS = rf"(?={_END}|\s+(?:{_HERE})\b)"
_NAMELESS_RU = rf"(?={_END}|\s+(?:выше|ниже|здесь)\b)"
_POINTS = re.compile(
    rf"\b(?:this|above|following|provided|given|preceding|present) {_EN}s?\b"
    rf"|\b(?:according to|based on|as per|judging by) (?:the|this|that|these) {_EN}s?\b"
    rf"(?={_END}|\s+(?:{_HERE}|{_ASKS})\b)"
    rf"|\b(?:from|in|within|by) (?:the|this|that|these) {_EN}s?\b{_NAMELESS}"
    rf"|\b(?:the|this|that) {_EN}s? (?:\w+ly )?{_SAYS}\b"
    rf"|\b(?:does|do|did|is|are|was|were|has|have) (?:the|this|that) {_EN}s?\b{_NAMELESS}"
    rf"|\b(?:the|this) (?:author|writer|narrator|speaker)s?\b(?! of (?!(?:the|this) {_EN}))"
    r"|\b(?:mentioned|described|listed|stated|discussed|provided|shown|given|quoted) (?:above|below|here|earlier)\b"
    r"|\b(?:above-mentioned|aforementioned|abovementioned)\b"
    rf"|\b(?:in|from|according to) fragments? (?:\d|one|two)"
    rf"|\bfragment \d\b"
    rf"|\b(?:в|из|согласно|по|судя по) (?:(?:этом|этого|этому|данном|данного|данному|приведённ\w+|приведенн\w+"
    rf"|указанн\w+|предложенн\w+|представленн\w+) )?{_RU}\b{_NAMELESS_RU}"
    rf"|\b(?:эт|данн|приведённ|приведенн|предложенн|представленн)\w+ {_RU_MORE}\b"
    rf"|\bсогласно {_RU_MORE}\b(?!\s+(?:(?:о|об|от|для)\b|«|\"))"
    r"|\b(?:вышеупомянут|вышеуказанн|нижеприведённ|нижеприведенн)\w+"
    r"|\b(?:упомянут|указанн|описанн|перечисленн|приведённ|приведенн)\w+ (?:выше|ниже|здесь)\b"
    r"|\bавтор\w* (?:текста|отрывка|статьи|пишет|говорит|утверждает|упоминает|считает)",
    re.IGNORECASE,
)


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        found = _POINTS.search(text)
        if found:
            return f'The {what} leans on a passage that the asker does not see: "{found[0]}".'
    return None


filter = Filter("leakage", "the question or its answer leans on a passage that the asker does not see", _find, 15)
