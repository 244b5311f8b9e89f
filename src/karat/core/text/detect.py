"""Whether a question leaks (leans on a passage, holds its answer), repeats another, or is nonsense."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from karat.core.text.normalise import tokenise
from karat.core.text.numbers import figures

_TEXT = (
    r"(?:text|passage|paragraph|document|article|excerpt|context|section|snippet|page|chapter|extract|fragment|chunk"
    r"|quote|material|table|figure)"
)
_SURE = r"(?:passage|paragraph|excerpt|snippet|extract|fragment|chunk)"
_TEXT_RU = (
    r"(?:текст\w*|отрыв\w*|абзац\w*|документ\w*|стать\w*|фрагмент\w*|контекст\w*|цитат\w*|материал\w*|раздел\w*"
    r"|страниц\w*|глав[аеуы]\w*|таблиц\w*|рисун\w*)"
)
_SURE_RU = r"(?:текст[еау]|контекст[еау]|цитат[еы])"
_THIS_RU = r"(?:эт(?:от|ом|ого|ому|а|ой|у|и|их|им)|данн\w+|привед[её]нн\w+|представленн\w+|предложенн\w+|указанн\w+)"
# Above or below what: "the passage above the engine room" is a place, "in the passage above" is a text.
_THERE = r"(?:above|below)\b(?! (?:the|an?|its|their|deck|ground|zero|freezing|sea|water|\d))"
# What follows a text that is named in full; after anything else it is part of a name, as in "in the text editor".
_ENDS = (
    r"(?=\W*$|[^\w\s-]| (?:above|below|here|itself|the|an?|and|or|is|are|was|were|be|does|do|did|has|have|can|could"
    r"|should|must|will|would|to|that|how|what|which|who|whom|whose|when|where|why|as|by|it|they|he|she|we|you|I|there"
    r"|if|say|says|state|states|mention|mentions|mentioned|described|given|provided|shown|discussed|quoted|cited)\b)"
)
_ENDS_RU = r"(?=\s*(?:[?.,;:!)»]|$)|\s+(?:выше|ниже|здесь)\b)"
_UNNAMED = r"(?! (?:of|on|for|about|in|by|called|titled|named)\b| [\"'«“0-9])"
_GIVEN = r"(?:the|this|these|that) (?:above |given |provided |following )?"
_SAYS = r"(?:says?|states?|mentions?|describes?|discuss(?:es)?|explains?|suggests?|tells?|refers?)"
_POINTING = re.compile(
    "|".join(
        (
            rf"\b(?:this|these|the (?:above|given|provided|following|preceding|previous|present|said)) {_TEXT}s?\b",
            rf"\b(?:given|provided|following|preceding) {_TEXT}s?\b{_ENDS}",
            rf"\b(?:according to|based on|judging by|as per|as (?:stated|described|mentioned|discussed|shown|given) in"
            rf"|mentioned in|described in) {_GIVEN}{_TEXT}s?\b{_UNNAMED}",
            rf"\b(?:in|from|within) {_GIVEN}{_SURE}s?\b{_UNNAMED}",
            rf"\b(?:in|from|within|by) {_GIVEN}{_TEXT}s?\b{_ENDS}",
            rf"\b(?:does|do|did|can) (?:the|this) {_TEXT}s? {_SAYS}\b",
            rf"\bthe {_TEXT}s? (?:\w+ly )?{_SAYS}\b",
            rf"\b{_TEXT}s? {_THERE}",
            r"\bfragment \d\b",
            r"\b(?:the|this) (?:author|writer|narrator|speaker)s? (?:say|state|mention|argue|describe|claim|suggest"
            rf"|discuss|write|believe|recommend|list|of (?:this|the) {_TEXT}{_ENDS})",
            r"\b(?:does|do|did) the (?:author|writer|narrator|speaker)s?\b",
            rf"\b(?:mentioned|described|stated|listed|given|shown|discussed|outlined|quoted) "
            rf"(?:{_THERE}|(?:here|earlier|previously)\b)",
            r"\b(?:above-mentioned|aforementioned|abovementioned)\b",
            rf"\b{_THIS_RU} {_TEXT_RU}",
            rf"\b(?:согласно|судя по|исходя из) {_TEXT_RU}\b(?! (?:(?:об?|по|от|для)\b|[«\"№\d]))",
            r"\b(?:в|из) (?:отрывк|абзац|фрагмент)[еа]\b",
            rf"\b(?:в|из|по) {_SURE_RU}{_ENDS_RU}",
            rf"\b{_TEXT_RU} (?:выше|ниже)\b",
            r"\b(?:упомян|описан|привед[её]н|указан|перечислен)\w* (?:выше|ниже|здесь)\b",
            r"\b(?:выше|ниже) ?(?:привед[её]нн|описанн|упомянут|указанн|перечисленн)\w+",
            r"\bавтор\w* (?:текст\w*|стать\w*|отрыв\w*|говор\w+|утвержда\w+|упомина\w+|пиш\w+|счита\w+|отмеча\w+"
            r"|рекоменду\w+)",
            r"\b(?:laut|gemäß|nach) (?:dem|diesem) (?:Text|Abschnitt|Auszug)",
            r"\bim (?:obigen|folgenden) (?:Text|Abschnitt)",
            r"\b(?:selon|d'après) (?:le|ce) (?:texte|passage|document)",
            r"\b(?:según|de acuerdo con) (?:el|este) (?:texto|pasaje)",
            r"(?:उपरोक्त|निम्नलिखित|दिए गए|इस) (?:पाठ|गद्यांश|अनुच्छेद|दस्तावेज़|दस्तावेज|लेख)",
        )
    ),
    re.IGNORECASE,
)
_VERDICTS = """yes no true false correct incorrect да нет верно верн неверно неверн хорошо хорош हाँ हां नहीं ja nein oui
non si sí"""
VERDICTS = frozenset(_VERDICTS.split())
"""Words that answer without saying anything, and their stems."""
_CHOICE = re.compile(r"\b(?:or|either|versus|vs|или|либо|oder|ou|या)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|верно ли|правда ли|может ли"
    r"|можно ли|является ли|есть ли)\b|\b(?:ли|is it true|верно|правда)\b",
    re.IGNORECASE,
)
_NEARLY_ALL = 0.9  # of the words of a longer answer that stand in the question
_DENYING = "not no never without nobody nothing except не нет ни без нельзя кроме никто ничего nicht kein pas sans"
_NOT = frozenset(_DENYING.split())
_WANTED = {
    "who": "who whom whose кто кого кому кем чей чья чьё чьи wer qui quién",
    "when": "when когда wann quand cuándo",
    "where": "where где куда откуда wo où dónde",
    "why": "why почему зачем отчего warum pourquoi",
    "count": "many much сколько wieviel combien",
}
_WANTED_BY = {word: name for name, words in _WANTED.items() for word in words.split()}
_CUT = re.compile(
    r"\b(?:the|an?|and|or|but|nor|than|because|its|their|my|your|our|every|и|или|но|в|на|с|к|о|об|от|для|по|из|при|без"
    r"|под)\s*[?.!]*$|(?:\.\.\.|…)\s*[?.!]?$",
    re.IGNORECASE,
)
_CONTINUED = re.compile(r"(?:and|or|but|nor|и|или|но)\s")
_NUMBER_BLANK = re.compile(r"^\W*+_{2,}+\s*+[.)]|__\)|__\.\s++[a-zа-яё]")
ALIKE = 0.85
"""Share of the content words of two questions that both hold, from which they may ask the same."""


def passage_reference(text: str) -> str | None:
    """The words by which a text leans on a passage that only its author has before the eyes, or None.

    >>> passage_reference("What does the passage above say?"), passage_reference("Who wrote the report on ice?")
    ('passage above', None)
    """
    match = _POINTING.search(text)
    return match[0].strip() if match else None


def nonsense(question: str) -> str | None:
    """Why a text is no question that anybody could have asked: a cut sentence, a blank over a list number; or None.

    >>> nonsense("How much does the tank of the?"), nonsense("How much does the tank hold?")
    ('its sentence is cut', None)
    """
    text = question.strip()
    if _NUMBER_BLANK.search(text):
        return "its blank stands over a list number"
    if _CUT.search(text) or _CONTINUED.match(text) or text.count("(") > text.count(")"):
        return "its sentence is cut"
    return None


def holds_answer(question: str, answer: str, question_words: Sequence[str], answer_words: Sequence[str]) -> bool:
    """Whether a question holds its answer. The words are the content words of both in order, as stems or not.

    One or two words of an answer count if they stand side by side, of more nearly all, and every figure of it must be
    there. A choice ("... or ...") names its answers by right; so does a question that wants yes or no and then some.
    """
    telling = tuple(word for word in answer_words if word not in VERDICTS)
    if not telling or _CHOICE.search(question) or (len(telling) < len(answer_words) and _DOUBT.search(question)):
        return False
    if len(telling) <= 2:
        size = len(telling)
        if all(tuple(question_words[i : i + size]) != telling for i in range(len(question_words))):
            return False
    elif sum(word in question_words for word in telling) < _NEARLY_ALL * len(telling):
        return False
    there = figures(question)
    return all(any(not figure.isdisjoint(other) for other in there) for figure in figures(answer))


def same_form(question: str, other: str) -> bool:
    """Whether two questions deny and name the same numbers: what differs in either does not ask the same."""
    ours, theirs = (tokenise(text, "words") for text in (question, other))
    return _denied(ours) == _denied(theirs) and _coded(ours) == _coded(theirs)


def repeats(question: str, other: str, words: Collection[str], other_words: Collection[str]) -> bool:
    """Whether a question asks what another does in the same words, or nearly. The words are the content words of both.

    >>> [repeats("Who pays?", other, {"pay"}, {"pay"}) for other in ("When is it paid?", "And who pays?")]
    [False, True]
    """
    ours, theirs = frozenset(words), frozenset(other_words)
    if len(ours & theirs) < ALIKE * len(ours | theirs):
        return False
    if not same_form(question, other) or _wanted(question) != _wanted(other):
        return False
    return bool(ours) or tokenise(question, "words") == tokenise(other, "words")


def _wanted(question: str) -> frozenset[str]:
    return frozenset(_WANTED_BY[word] for word in tokenise(question, "words") if word in _WANTED_BY)


def _denied(words: list[str]) -> bool:
    return sum(word in _NOT for word in words) % 2 == 1


def _coded(words: list[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdigit() for character in word))
