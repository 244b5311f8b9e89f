"""several_questions: more than one question in one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import one_line, shortened

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


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    text = one_line(draft.text)
    marks = len(_END.findall(text))
    if marks > 1:
        return f'It asks {marks} questions: "{shortened(text)}".'
    joined = _JOINED.search(text)
    if joined and draft.kind not in _SITUATIONS:
        return f'It asks two things at once: "{joined[0].strip()}".'
    return None


filter = Filter("several_questions", "more than one question in one", _find, 14)
