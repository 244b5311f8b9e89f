"""No referent: the question speaks of something it does not name ("What does it do?")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.core.text import sentences
from karat.testset.check._check import Draft, Surroundings, draft_filter

_TELLING = ("scenario", "ambiguous")  # a situation may speak of "it" after naming it
_PRONOUN = re.compile(
    r"^(?:(?:in|on|at|by|for|from|to|with|of|after|before|under) )?"
    r"(?:what|which|who|whom|when|where|why|how(?: (?:many|much|long|often|far|\w+))?)?\s*"
    r"(?:(?:is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|has|have|had)(?:n't)? )?"
    r"(?:it|they|he|she|them|him|this|these|those|its|their|his)\b(?! (?:is|was) (?:that|who))"
    r"(?! (?:necessary|possible|allowed|forbidden|permitted|safe|true|important|advisable|better|dangerous"
    r"|(?:takes?|costs?|means?) to|best|rain|rains|snow|snows|time|worth|right|cold|dark|dawn|legal|enough|likely)\b)",
    re.IGNORECASE,
)
# "this", "these" before a noun point too, wherever they stand, unless the noun says when ("this year").
_POINTING = re.compile(
    r"\b(?:this|these|such an?|the said|the latter|the former)\b(?! (?:year|month|week|season|winter|summer|day|morning"
    r"|evening|time|century)s?\b)",
    re.IGNORECASE,
)
_PRONOUN_RU = re.compile(
    r"^(?:(?:в|на|по|с|из|для|о|об|от|до|при|к|у) )?"
    r"(?:что|как\w*|кто|кого|кому|когда|где|куда|почему|зачем|сколько)?\s*"
    r"(?:(?:ли|же|бы|может|могут|должен|должна|должны|нужно|надо|можно|делает|делают) )?"
    r"(?:он|она|оно|они|его|её|ее|их|ему|ей|им|ими|них|него|неё|нее|ней|нём|нем)\b",
    re.IGNORECASE,
)
_POINTING_RU = re.compile(
    r"\b(?:этот|эта|эти|этого|этой|этих|этому|этим|этими|этом|эту)\b"
    r"(?! (?:год\w*|месяц\w*|недел\w*|день|дня|сезон\w*))",
    re.IGNORECASE,
)


@draft_filter(16)
def no_referent(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question speaks of something it does not name."""
    alone = len(sentences(draft.text)) == 1  # else the sentence before may have named it
    for pattern in (_PRONOUN, _PRONOUN_RU):
        match = pattern.search(draft.text.strip())
        if match and alone:
            return f'It does not say what is meant by "{match[0].strip()}".'
    for pattern in (_POINTING, _POINTING_RU):
        match = pattern.search(draft.text)
        if match and draft.kind not in _TELLING:
            return f'It points with "{match[0].strip()}" at what it has not named.'
    return None
