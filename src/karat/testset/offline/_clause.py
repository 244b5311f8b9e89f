"""A plain English clause taken apart, so that it can be asked: what it is about, its verb, and the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from karat.core.text import stop_words
from karat.core.text.names import plain_words
from karat.core.text.support import COUNT_WORDS

BE = ("is", "are", "was", "were")
AUXILIARIES = frozenset((*BE, "can", "may", "must", "should", "will"))
_DETERMINERS = frozenset(("the", "a", "an", "each", "every", "all", "most"))
_PREPOSITION_WORDS = """
of in on at by for from to with without within under over after before during between through into behind beside
near against among about above below along around across per until
"""
_PARTICLES = frozenset(("up", "down", "out", "off"))
COUNTS = (*COUNT_WORDS, "hundred", "dozen")
PREPOSITIONS = frozenset(_PREPOSITION_WORDS.split())
_VERB_WORDS = """
accept apply arrive begin belong burn call carry close contain cost cover cross depart end expire fall finish flow grow
hang hold include join land last lead leave lie live meet need offer open pass pay play produce reach receive rest
return rise run sell send serve sit sleep stand start stay stop supply take use visit weigh work
"""
_MOST_SUBJECT_WORDS = 7
_OPENING = re.compile(r"^(?:for how long|how \w+|\w+) ")
_HARMLESS = frozenset(("do", "does", "have", "and"))
_HANGING = re.compile(r"\b(?:here|ones|following|latter|former|beforehand|afterwards)\b", re.IGNORECASE)


def _third(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_BASES = {_third(verb): verb for verb in _VERB_WORDS.split()} | {"has": "have"}
_PLURALS = frozenset(_BASES.values())


@dataclass(frozen=True)
class PageWords:
    """Words that a page writes without a capital, and those that have one inside a sentence."""

    plain: frozenset[str]
    named: frozenset[str]

    @classmethod
    def of(cls, page: str) -> PageWords:
        return cls(frozenset(plain_words(page)), frozenset(re.findall(r"[a-z,;] ([A-Z][\w'-]*)", page)))


@dataclass(frozen=True)
class Clause:
    """Subject, auxiliary and the rest. Without an auxiliary `verb` is the verb's base and `helper` do or does."""

    subject: str
    helper: str
    verb: str  # "" where the helper is the auxiliary of the sentence itself
    rest: str

    def asked(self, opening: str, rest: str) -> str:
        """The clause as a question that begins with `opening`."""
        parts = (opening, self.helper, self.subject, self.verb, rest.strip(" ,"))
        return f"{' '.join(part for part in parts if part)}?"


def clause_of(sentence: str, page: PageWords) -> Clause | None:
    """The clause that a sentence of a page begins with, or None where it is not plain enough to be sure."""
    words = sentence.split()
    for at in range(1, min(len(words) - 1, _MOST_SUBJECT_WORDS + 1)):
        word, plural = words[at], _is_plural(words[:at])
        verb = "" if word in AUXILIARIES else _BASES.get(word, "") if not plural else word if word in _PLURALS else ""
        if word not in AUXILIARIES and not (verb and _may_follow_a_verb(words[at + 1])):
            continue
        subject = _subject(words[:at], page, several=word in ("are", "were") or (plural and bool(verb)))
        if subject is None or (verb and AUXILIARIES.intersection(words[at + 1 : at + 6])):
            return None
        helper = word if not verb else "do" if plural else "does"
        return Clause(subject, helper, verb, " ".join(words[at + 1 :]).rstrip(".!"))
    return None


def _is_plural(subject: list[str]) -> bool:
    """Whether a subject is of several: by its noun, which stands before any preposition."""
    place = next((i for i, word in enumerate(subject) if word in PREPOSITIONS), len(subject))
    noun = subject[place - 1].lower() if place else ""
    return "and" in subject or noun == "people" or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s")))


def _may_follow_a_verb(word: str) -> bool:
    plain = word.strip(",;:")
    known = plain in PREPOSITIONS or plain in COUNTS or plain in stop_words("en", "plain") - AUXILIARIES
    return known or plain[:1].isdigit()


def _subject(words: list[str], page: PageWords, several: bool) -> str | None:
    """A subject as it stands inside a question, or None where it leans on another sentence or may be no subject.

    Its first word keeps its capital if it is a name: if another capital follows, or it has one inside a sentence. Words
    of `several` things, and those that describe a noun, are none. Where nothing tells, there is no question.
    """
    first, inner = words[0], [word.lower() for word in words]
    if re.search(r"[^\w' -]", " ".join(words)) or inner[-1] in stop_words("en", "plain") or inner[0] in PREPOSITIONS:
        return None
    if ("and" in inner and not (len(words) == 3 and inner[1] == "and")) or set(inner[1:]) & set(COUNTS):
        return None
    if holds_a_clause(words):
        return None
    common = inner[0] in _DETERMINERS or inner[0] in COUNTS or inner[0] in page.plain
    if not common and (words[1:2] != inner[1:2] or first in page.named):
        return " ".join(words)
    if common or several or (len(words) > 1 and inner[1] not in PREPOSITIONS):
        return " ".join([first[:1].lower() + first[1:], *words[1:]])
    return None


def holds_a_clause(words: list[str]) -> bool:
    """Whether a noun follows another without a preposition between, so that a verb does: "the cook boils the soup"."""
    return any(word in _DETERMINERS and words[i] not in PREPOSITIONS for i, word in enumerate(words[1:]))


def stands_alone(question: str) -> bool:
    """Whether a question says itself what it is about: it holds no pronoun and nothing that points elsewhere."""
    words = [word.strip(",") for word in _OPENING.sub("", question.rstrip("?").lower()).split()]
    pointing = stop_words("en", "plain") - AUXILIARIES - _DETERMINERS - PREPOSITIONS - _PARTICLES - _HARMLESS
    return (
        3 <= len(words) <= 20
        and not pointing.intersection(words)
        and words[-1] not in PREPOSITIONS
        and not _HANGING.search(question)
        and not re.search(r"[()\"“”]|\b(\w{3,}) \1\b", question)
    )
