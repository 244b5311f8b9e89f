"""passage_references: questions that lean on a passage which only their author had before the eyes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

# What a passage is called, and what points at it without a name.
_NOUN = r"(?:passage|text|excerpt|paragraph|context|snippet|extract|fragment|quote|article|document|section|chunk|page)"
_SURE = r"(?:passage|text|excerpt|paragraph|context|snippet|extract|fragment|chunk)"
_POINT = r"(?:this|that|these|the (?:above|given|provided|following|preceding|present|same|said))"
_VERB = r"(?:is|are|was|does|do|did|say|state|mention|describe|list|give|explain|how|what|who)"
_END = rf"(?=\s*(?:[?.,;:!)\"»]|$|{_VERB}\w*\b))"
_RU = r"(?:текст\w*|отрывк\w*|отрывок|абзац\w*|фрагмент\w*|контекст\w*|цитат\w*)"
_RU_WIDE = r"(?:текст\w*|отрыв\w+|абзац\w*|фрагмент\w*|контекст\w*|стать\w+|документ\w*|раздел\w*|страниц\w*)"
_RU_POINT = (
    r"(?:эт(?:от|ом|ого|ому|а|ой|у|и|их)|данн\w+|приведенн\w+|приведённ\w+|представленн\w+|предложенн\w+|указанн\w+)"
)
_POINTING = re.compile(
    "|".join(
        (
            rf"\b{_POINT} {_NOUN}s?\b",
            rf"\b(?:according to|based on|as per|per|from|in|within|by|of) the {_SURE}s?\b{_END}",
            rf"\b(?:according to|based on|given|using|judging by) the {_NOUN}s?\b(?! (?:of|on|for|about|in|by)\b)",
            rf"\bthe {_NOUN}s? (?:above|below)\b(?! (?:the|a)\b)",
            rf"\bthe {_NOUN}s? (?:says?|states?|mentions?|describes?|suggests?)\b",
            rf"\b(?:does|do|did|can) the {_NOUN}s? (?:say|state|mention|describe|tell|explain|suggest|give)\b",
            r"\b(?:mentioned|described|stated|listed|shown|given|discussed|outlined)"
            r" (?:above|here|earlier|previously)\b",
            r"\b(?:the|this) authors?\b"
            r" (?:say|state|mention|argue|describe|claim|write|suggest|believe|recommend|list)\w*",
            r"\b(?:does|do|did) the (?:author|writer|speaker)s?\b",
            rf"\b{_RU_POINT} {_RU_WIDE}",
            rf"\b(?:в|из|по|согласно|исходя из) {_RU}(?!\w)(?=\s*(?:[?.,;:!)»]|$))",
            rf"\b(?:согласно|судя по) {_RU_WIDE}(?=\s*[?.,;:!)]|$)",
            rf"\bв {_RU_WIDE} (?:выше|ниже)\b",
            rf"\b{_RU_WIDE} (?:говорит\w*|сказано|указан\w*|упомина\w+|описыва\w+)",
            r"\b(?:упомян\w+|описанн\w+|приведенн\w+|приведённ\w+|указанн\w+|перечисленн\w+) (?:выше|ниже|здесь)\b",
            r"\b(?:выше|ниже)(?:указанн|описанн|упомянут|привед[её]нн)\w+",
            r"\bавтор\w* (?:текст\w*|пиш\w+|утвержда\w+|говор\w+|упомина\w+|счита\w+|отмеча\w+|рекоменду\w+)",
            r"\b(?:laut|gemäß|nach) (?:dem|diesem) (?:Text|Abschnitt|Auszug)",
            r"\bim (?:obigen|folgenden) (?:Text|Abschnitt)",
            r"\b(?:selon|d'après) (?:le|ce) (?:texte|passage|document)",
            r"\b(?:según|de acuerdo con) (?:el|este) (?:texto|pasaje)",
            r"(?:उपरोक्त|निम्नलिखित|दिए गए|इस) (?:पाठ|गद्यांश|अनुच्छेद|दस्तावेज़|दस्तावेज|लेख)",
        )
    ),
    re.IGNORECASE,
)  # fmt: skip


def reference_of(text: str) -> str | None:
    """The words by which a question leans on a passage, or None.

    >>> reference_of("What happens, according to the text?"), reference_of("Which text editor is installed?")
    ('according to the text', None)
    """
    found = _POINTING.search(text)
    return found[0].strip() if found else None


def _find(view: View) -> Iterator[Finding]:
    found = [(q, words) for q in view.questions if (words := reference_of(q.text)) is not None]
    if found:
        yield about(
            "passage_references", "warning", found, len(view.questions), "leans on a passage",
            "lean on a passage",
            "Nobody who searches has it before the eyes, and no retriever knows which is meant.",
            "Rewrite them so that they stand on their own.",
        )  # fmt: skip


check = Check("passage_references", "questions that lean on a passage which only their author saw", _find, 21)
