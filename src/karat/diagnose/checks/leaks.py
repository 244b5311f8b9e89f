"""leaks: questions that point at a passage nobody but their author sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.diagnose._words import counted, percent, short
from karat.diagnose.check import Case, Check

_TEXT = r"(?:text|passage|paragraph|document|article|excerpt|context|section|snippet|page|chapter|extract|table|figure)"
_TEXT_RU = (
    r"(?:текст\w*|отрыв\w*|абзац\w*|документ\w*|стать\w*|фрагмент\w*|контекст\w*|раздел\w*|страниц\w*|глав[аеуы]\w*"
    r"|таблиц\w*|рисун\w*)"
)
# Above or below what: "the passage above the engine room" is a place, "in the passage above" is a text.
_THERE = r"(?:above|below)\b(?! (?:the|an?|its|their|deck|ground|zero|freezing|sea|water|\d))"
# What follows a text that is named in full; after anything else it is part of a name, as in "in the text editor".
_ENDS = (
    r"(?=\W*$|[^\w\s-]| (?:above|below|the|an?|and|or|is|are|was|were|be|does|do|did|has|have|can|could|should|must"
    r"|will|would|to|that|how|what|which|who|whom|whose|when|where|why|as|by|it|they|he|she|we|you|I|there|if|say|says"
    r"|state|states|mention|mentions|mentioned|described|given|provided|shown|discussed)\b)"
)
_UNNAMED = r"(?! (?:of|on|for|about|called|titled|named)\b| [\"'«“0-9])"
_GIVEN = r"(?:the|this|these|that) (?:above |given |provided |following )?"
_PATTERNS = (
    rf"\b(?:this|the (?:above|given|provided|following|preceding|previous)) {_TEXT}\b",
    rf"\bthe {_TEXT} {_THERE}",
    rf"\b(?:according to|based on|as (?:stated|described|mentioned|discussed|shown|given) in|mentioned in|described in)"
    rf" {_GIVEN}{_TEXT}s?\b{_UNNAMED}",
    rf"\b(?:in|from) {_GIVEN}(?:passage|paragraph|excerpt|snippet|extract)s?\b{_UNNAMED}",
    rf"\b(?:in|from) {_GIVEN}{_TEXT}s?\b{_ENDS}",
    rf"\b(?:does|do|did) (?:the|this) {_TEXT} (?:say|state|mention|describe|discuss|explain|suggest|refer)",
    rf"\b{_TEXT} {_THERE}",
    r"\b(?:the|this) author(?:s)? (?:say|state|mention|argue|describe|claim|suggest|discuss|of (?:this|the))",
    rf"\b(?:mentioned|described|listed|given|shown) (?:{_THERE}|here\b)",
    rf"\b(?:в|из|согласно|по|на) (?:эт\w+|данн\w+|приведённ\w+|приведенн\w+|представленн\w+|указанн\w+) {_TEXT_RU}",
    rf"\bсогласно {_TEXT_RU}\b(?! (?:о|об|по|от|«|\"|№|\d))",
    r"\b(?:в|из) (?:тексте|отрывке|абзаце|фрагменте|контексте)\b",
    r"\b(?:приведённ|приведенн|описанн|упомянут|указанн|перечисленн)\w+ (?:выше|ниже)\b",
    r"\b(?:выше|ниже) (?:приведённ|приведенн|описанн|упомянут|указанн)\w+",
    r"\b(?:автор|авторы) (?:текста|статьи|отрывка|говор\w+|утвержда\w+|упомина\w+|пишет|пишут)",
    r"(?:उपरोक्त|निम्नलिखित|दिए गए|इस) (?:पाठ|गद्यांश|अनुच्छेद|दस्तावेज़|दस्तावेज|लेख)",
)
_LEAK = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)


def leak_of(text: str) -> str | None:
    """The words that point at a passage, or None.

    >>> leak_of("What does the passage above say?"), leak_of("Who wrote the report on ice?")
    ('the passage above', None)
    """
    found = _LEAK.search(text)
    return found[0] if found else None


def _find(case: Case) -> Iterator[Finding]:
    found = [(q, words) for q in case.questions if (words := leak_of(q.text)) is not None]
    if found:
        share = len(found) / len(case.questions)
        yield Finding(
            "leaks",
            "warning",
            f"{counted(len(found), 'question', 'points', 'point')} at a text that the asker has before the eyes",
            f"{percent(share)} of the questions. Nobody who searches asks so, and no retriever can know which text is "
            "meant.",
            {"questions": len(found), "share": share},
            tuple(q.id for q, _ in found),
            tuple(f'{q.id}: "{short(q.text, 90)}" ({words.strip()})' for q, words in found[:5]),
            "Rewrite them so that they stand on their own.",
        )


check = Check("leaks", "questions that point at a passage nobody but their author sees", _find, 32)
