"""Several questions: more than one question in one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.core.text.words import excerpt
from karat.testset.check._check import Draft, Surroundings, draft_filter
from karat.testset.lexicon import one_line

_SITUATIONS = ("scenario", "comparative", "multi_hop", "ambiguous", "false_premise")  # they may tell a story first
_END = re.compile(r"[?？](?=\s|$)")
_JOINED = re.compile(
    r"[,;]? (?:and|or|as well as) (?:also )?(?:(?:in|on|at|by|for|from|to|with|under) )?"
    r"(?:what|which|who|whom|whose|when|where|why|how)\b(?= (?:\w+ )?(?:is|are|was|were|do|does|did|can|could|may|must"
    r"|should|will|would|has|have|had|many|much|long|often|far)\b)"
    r"|[,;]? (?:и|а также|или) (?:(?:в|на|по|до|с|из|для) )?"
    r"(?:сколько|когда|где|куда|откуда|почему|зачем|кто|кому|как(?:ой|ая|ое|ие|ую|их)?|что)\b",
    re.IGNORECASE,
)


@draft_filter(14)
def several_questions(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """More than one question in one."""
    text = one_line(draft.text)
    marks = len(_END.findall(text))
    if marks > 1:
        return f'It asks {marks} questions: "{excerpt(text, 80)}".'
    joined = _JOINED.search(text)
    if joined and draft.kind not in _SITUATIONS:
        return f'It asks two things at once: "{joined[0].strip()}".'
    return None
