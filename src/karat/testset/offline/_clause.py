"""A plain English clause taken apart, so that it can be asked: what it is about, its verb, and the rest."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from karat.testset.offline._verbs import AUXILIARIES, BE, MODALS, forms, is_participle

_PRONOUNS_WORDS = """
it they he she we i you this these those that them him her us itself themselves here there one both others another
some such everything something nothing all none neither either each most many few several
"""
PRONOUNS = frozenset(_PRONOUNS_WORDS.split())
_DETERMINERS_WORDS = """
the a an each every no any its their his her our your this these those some
"""
_DETERMINERS = frozenset(_DETERMINERS_WORDS.split())
_PREPOSITIONS_WORDS = """
of in on at by for from to with without within under over after before during between through into onto behind
beside near against among about above below along around across per until since than as
"""
_PREPOSITIONS = frozenset(_PREPOSITIONS_WORDS.split())
_SUBORDINATE_WORDS = """
that which who whom whose because if when where while although though unless whether
"""
_VAGUE = ("first", "second", "third", "fourth", "last", "other", "rest", "former", "latter", "same", "latest", "one")
_SUBORDINATE = frozenset(_SUBORDINATE_WORDS.split())
_CONNECTIVES = re.compile(
    r"^(?:However|Therefore|Thus|Also|Moreover|Furthermore|In addition|For example|For instance|Usually|Normally|Then"
    r"|Finally|Instead|Otherwise|Still|Besides|As a rule|In general|Generally|Today|Now|Later|Afterwards|At first"
    r"|In that case|In this case|Of course|In fact|Even so|At present),? ",
)
_LEAD = re.compile(
    r"^((?:In|On|At|During|After|Before|From|By|Under|For|With|Without|Within|Between|Below|Above|Since|Until|Through"
    r"|Outside|Inside|Near|Behind|Against|Every) [^,;:]{2,60}?),? "
    r"(?=(?:the|a|an|each|every|no|all|most|many|[A-Z0-9])\b)"
)
_ADVERBS_WORDS = """
only also always never usually normally often therefore then still just already now mostly generally not therefore
first at once soon typically currently sometimes
"""
_ADVERBS = frozenset(_ADVERBS_WORDS.split())


@dataclass(frozen=True)
class Clause:
    """Subject, auxiliary and the rest. Without an auxiliary `verb` is the verb's base and `helper` do, does or did.

    `lead` is what stood before the subject ("in winter").
    """

    subject: str
    helper: str
    verb: str  # "" where the helper is the auxiliary of the sentence itself
    rest: str
    lead: str = ""
    shown: str = ""  # the verb as the sentence has it, for questions about the subject

    @property
    def words(self) -> list[str]:
        return self.rest.split()

    def asked(self, opening: str, rest: str | None = None) -> str:
        """The clause as a question that begins with `opening`."""
        told = [opening, self.helper, self.subject, self.verb, self.rest if rest is None else rest, self.lead]
        return _question(" ".join(part for part in told if part))

    def of_subject(self, opening: str) -> str:
        """The question for which the subject is the answer."""
        return _question(" ".join(part for part in (opening, self.shown, self.rest, self.lead) if part))

    def within(self, rest: str) -> Clause:
        """The same clause with another rest."""
        return replace(self, rest=rest)


def _question(text: str) -> str:
    told = re.sub(r"\s+([,;:])", r"\1", re.sub(r"\s+", " ", text)).strip(" ,;:.")
    return told[:1].upper() + told[1:] + "?"


def lowered(text: str, names: frozenset[str] = frozenset()) -> str:
    """A text whose first word loses its capital, unless it is a name or an abbreviation."""
    first, space, rest = text.partition(" ")
    plain = first.strip(",.;:'\"").removesuffix("'s")
    if plain in names or (len(plain) > 1 and not plain[1:].islower()) or plain == "I":
        return text
    return first[:1].lower() + first[1:] + space + rest


def clause_of(sentence: str, names: frozenset[str] = frozenset()) -> Clause | None:
    """The clause that a sentence is, or None where it is not plain enough to be sure."""
    told = _CONNECTIVES.sub("", sentence.strip()).rstrip(".!")
    lead = ""
    found = _LEAD.match(told)
    if found and _is_lead(found) and clause_of_plain(told[found.end() :], names) is not None:
        lead, told = lowered(found[1], names), told[found.end() :]
    clause = clause_of_plain(told, names)
    return None if clause is None else replace(clause, lead=lead)


def _is_lead(found: re.Match[str]) -> bool:
    """Whether a phrase before the subject is whole; without a comma only a short one is."""
    words = found[1].split()
    return words[-1] not in _PREPOSITIONS and (found[0].rstrip().endswith(",") or len(words) <= 3)


def clause_of_plain(told: str, names: frozenset[str]) -> Clause | None:
    """The clause of a text that begins with its subject."""
    words = told.split()
    at = _verb_at(words)
    if at is None:
        return None
    subject, word = " ".join(words[:at]), words[at]
    if not is_subject(subject):
        return None
    rest = " ".join(words[at + 1 :])
    subject = lowered(subject, names)
    if word in AUXILIARIES and not (word in ("has", "have", "had") and not _is_perfect(words[at + 1 :])):
        if word in ("do", "does", "did"):
            return None
        if word == "cannot":
            return Clause(subject, "can", "", f"not {rest}", shown=word)
        return Clause(subject, word, "", rest, shown=word)
    thirds, pasts, _ = forms()
    if word in ("has", "have", "had"):
        helper = {"has": "does", "have": "do", "had": "did"}[word]
        return Clause(subject, helper, "have", rest, shown=word)
    if word in thirds:
        return Clause(subject, "does", thirds[word], rest, shown=word)
    if word in pasts and word not in forms()[2]:
        return Clause(subject, "did", pasts[word], rest, shown=word)
    return Clause(subject, "do", word, rest, shown=word)


def _is_perfect(after: list[str]) -> bool:
    """Whether "has" helps a participle ("has been moved") and is no verb of its own ("has two doors")."""
    left = [word for word in after[:3] if word not in _ADVERBS]
    return (
        bool(left)
        and is_participle(left[0])
        and not (len(left) > 1 and left[0].endswith("ed") and left[1].endswith("s"))
    )


def _verb_at(words: list[str]) -> int | None:
    """Where the verb stands, if that is beyond doubt."""
    thirds, pasts, bases = forms()
    for at in range(1, min(len(words), 14)):
        word, before, after = words[at], words[at - 1], words[at + 1] if at + 1 < len(words) else ""
        if before.endswith((",", ";", ":")) or word in _SUBORDINATE:
            return None
        if word in AUXILIARIES:
            return at
        if word != word.lower() or before in _DETERMINERS or before in _PREPOSITIONS or not after:
            continue
        if after in AUXILIARIES or (word in thirds and before in PRONOUNS):
            continue
        if word in thirds and not _is_plural(before) and _follows(after):
            return None if _later_auxiliary(words[at + 1 :]) else at
        if word in pasts and word not in bases and _follows(after) and after not in ("in", "by", "on", "with", "for"):
            return None if _later_auxiliary(words[at + 1 :]) else at
        if word in bases and _is_plural(before) and before not in thirds and _follows(after):
            return None if _later_auxiliary(words[at + 1 :]) else at
    return None


def _follows(after: str) -> bool:
    """Whether a word is likely to stand right after a verb."""
    plain = after.strip(",;:")
    return (
        plain in _DETERMINERS
        or plain in ("that", "place")
        or plain in _PREPOSITIONS
        or plain in _ADVERBS
        or plain
        in ("up", "down", "out", "off", "away", "back", "two", "at", "people", "about", "more", "enough", "not")
        or plain[:1].isdigit()
        or plain in NUMBER_WORDS
        or plain[:1].isupper()
        or plain.endswith(("s", "ing"))
    )


def _later_auxiliary(words: list[str]) -> bool:
    """Whether another verb follows in the same clause, so that the first may have been a noun."""
    for word in words:
        plain = word.strip(",;:")
        if plain in _SUBORDINATE or plain in ("and", "or", "but", "so", "than") or word.endswith((",", ";", ":")):
            return False
        if plain in AUXILIARIES:
            return True
    return False


def _is_plural(word: str) -> bool:
    plain = word.lower().strip(",")
    return plain in ("people", "children", "men", "women") or (
        plain.endswith("s") and not plain.endswith(("ss", "us", "is", "'s")) and len(plain) > 3
    )


def is_subject(subject: str) -> bool:
    """Whether words can be the subject of a question that stands alone."""
    words = subject.split()
    first = words[0].lower()
    if first in PRONOUNS and not (len(words) > 1 and first in ("each", "every", "all", "most", "both", "no", "many")):
        return False
    if (
        words[-1] in ("and", "or", "but", "then", "also", "which", "not")
        or ". " in subject
        or first in ("what", "whoever", "whatever")
    ):
        return False
    if first == "the" and words[1:2] == ["other"]:
        return False
    if first == "the" and len(words) == 2 and words[1] in _VAGUE:
        return False
    if len(words) > 9 or re.search(r"[,;:()\"“”«»?!]", subject) or first in _SUBORDINATE or first in ("nobody", "no"):
        return False
    if first.lower() in _PREPOSITIONS or first in ("and", "but", "or", "so", "yet", "not", "to", "once", "then"):
        return False
    inner = {word.lower() for word in words}
    return not inner & {"it", "they", "this", "these", "those", "them", "its", "their", "his", "who", "which", "that"}


_NUMBER_WORDS_WORDS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
"""
NUMBER_WORDS = frozenset(_NUMBER_WORDS_WORDS.split())
__all__ = ["BE", "MODALS", "NUMBER_WORDS", "PRONOUNS", "Clause", "clause_of", "is_subject", "lowered"]
