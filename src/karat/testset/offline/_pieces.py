"""Sentences parted into clauses that can each be asked, and questions that could not stand alone told apart."""

from __future__ import annotations

import re

from karat.core.text import stop_words
from karat.testset.offline._clause import NUMBER_WORDS, PRONOUNS
from karat.testset.offline._verbs import AUXILIARIES, forms

# What follows such an opening holds on its condition only.
_CONDITIONAL = re.compile(r"(?:if|when|whenever|unless|until|once|while|as soon|as long|in that|before that)\b", re.I)
_NEW_CLAUSE = re.compile(r", (?:and|but|so) (?=(?:the|an?|each|every|no|all|[A-Z]\w+|two|three|one) )")
_OPENER = (
    r"and|but|which|who|whose|where|because|since|so|unless|except|never|in|on|with|for|at|from|by|when|if|or|as|not"
    r"|however|even|also|then|to|after|before|until|though|although|while|without|including|such|rather|each|one|whether"
)
_CUT = re.compile(rf"(?:, (?:{_OPENER})\b|; | - | – | — |: ).*$")
_JOINED = re.compile(r"(?:,| and| but| or) (?:then |so |also |not |never |thus )*([a-z]+)\b")
_UNMET = re.compile(
    r"\b(?:it|they|them|he|she|him|this|these|those|here|itself|themselves|such|the same|the latter|the former"
    r"|the other|others|another|both|there too|we|us|our|i|my|the following|ones|as above|so"
    r"|beforehand|afterwards|(?:before|after) that|(?:if|when|that) one"
    r"|that (?:day|time|case|place|moment|way|point|night))\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:its|their|his|her|that)\b", re.IGNORECASE)
_VERBS = "|".join(sorted(AUXILIARIES | set(forms()[0])))
_BEFORE_NOUN_WORDS = """
the a an each every no any of in on at by for from to with two three four five six its their
"""
_BEFORE_NOUN = frozenset(_BEFORE_NOUN_WORDS.split())
_COMMON_MASS_WORDS = """
access advice air all baggage beer blood bread cheese clean clothing coal coffee cold concrete copper data dry each
education entry equipment every eye face fire fish flour fog food free fresh frost fuel gas glass gold hand
hazardous health hearing heat hot ice indoor information insurance iron laundry light luggage mail many meat medical
membership metal milk money most new news no oil old outdoor paper parking payment personal plastic police post
power private public radio rain rent research rice routine safety salt sand science security silver skin smoke snow
some soup staff steam steel stone strong sugar summer tea time traffic training transport travel waste water weather
wet wind wine winter wood work
"""
_COMMON_ENDINGS = ("ing", "tion", "ment", "ness", "ity", "ed", "ly", "ery", "ture", "ance", "ence", "al")
_COMMON_MASS = frozenset(_COMMON_MASS_WORDS.split())


def clauses(sentence: str) -> list[str]:
    """The main clauses of a sentence that hold whatever happens, each with a capital and a full stop."""
    told = [part for part in sentence.rstrip(" .!").split("; ") if not _CONDITIONAL.match(part)]
    parts = [part.strip() for one in told for part in _NEW_CLAUSE.split(one)]
    return [f"{part[:1].upper()}{part[1:]}." for part in parts if len(part.split()) >= 3]


def main_part(rest: str) -> str:
    """What follows a verb, up to where another clause or an aside begins.

    >>> main_part("52 metres high and carries the aerial"), main_part("kept in the shed, where it is dry")
    ('52 metres high', 'kept in the shed')
    """
    told = _CUT.sub("", rest)
    thirds, pasts, bases = forms()
    for found in _JOINED.finditer(told):
        word = found[1]
        if word in thirds or word in AUXILIARIES or (found[0][0] == "," and word in pasts and word not in bases):
            return told[: found.start()].rstrip(" ,")
    for found in re.finditer(r",? (?:and|but|or) ", told):
        if _has_verb(told[found.end() :]):
            return told[: found.start()].rstrip(" ,")
    return re.sub(r" (?:and|or|but)$", "", told.rstrip(" ,."))


def _has_verb(text: str) -> bool:
    """Whether words hold a verb of their own, so that they are a clause and no member of a list."""
    thirds = forms()[0]
    before = ""
    for word in text.split():
        if word in ("that", "which", "who", "where", "when"):
            return False
        if word in AUXILIARIES or word == "need" or (word in thirds and before and before not in _BEFORE_NOUN):
            return True
        before = word
    return False


def object_part(rest: str) -> str:
    """The same for an object, which may be a list: its last member after ", and" belongs to it.

    >>> object_part("a stove, a tent, and food"), object_part("the key, and from then on we are guests")
    ('a stove, a tent, and food', 'the key')
    """
    told = re.sub(
        r"(?:; |: | - | – | — |, (?:but|so|which|who|whose|where|because|since|when|if|unless|while|as|though)\b).*$",
        "",
        rest,
    )
    for found in re.finditer(r",? (?:and|but|or) |, ", told):
        if _has_verb(told[found.end() :].split(",")[0]):
            return told[: found.start()]
    return told.rstrip(" ,.")


def stands_alone(question: str) -> bool:
    """Whether a question says itself what it is about."""
    if _UNMET.search(question):
        return False
    own = _OWN.search(question)
    if own and own.start() < 18:
        return False
    words = question.rstrip("?").split()
    return 4 <= len(words) <= 30 and not re.search(r"\b(\w{3,}) \1\b", question) and ",," not in question


def names_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words that are written with a capital for their own sake, and those of which it cannot be told.

    Names have a capital in the middle of sentences, or before another. A first word that is seen nowhere else may be a
    name or not ("Asta is started", "Petrol is stored").
    """
    joined = re.sub(r"(?<=[^\n]{45})\n(?=\S)", " ", text)
    inner = set(re.findall(r"(?<=[a-z,;] )([A-Z][\w'-]+)", joined)) | set(
        re.findall(r"\b([A-Z][a-z'-]+) (?=[A-Z][a-z])", joined)
    )
    plain = set(re.findall(r"\b[a-z][\w'-]+", text))
    # A first word before a small one that is no verb describes it ("Hot meals"): only one that stands alone is a name.
    first = set(re.findall(rf"(?:^|[.!?:;] |\n)([A-Z][a-z'-]+)(?=\s(?:{_VERBS}|and [A-Z]))", text))
    doubtful = set()
    for word in first - inner:
        lower = word.lower()
        common = (
            lower in plain
            or lower in _COMMON_MASS
            or lower in PRONOUNS
            or lower.endswith(_COMMON_ENDINGS)
            or (lower.endswith("s") and not lower.endswith("ss"))
        )
        if not common:
            doubtful.add(word)
    stops = stop_words("en", "plain") | NUMBER_WORDS | {"one"}
    names, open_ = (frozenset(word for word in words if word.lower() not in stops) for words in (inner, doubtful))
    return names, open_
