"""Reranking by a chat model: it reads the passages of a query together and grades each from 0 to 10.

Order is by grade; passages of one grade, and those that a reply leaves out, which come last, keep the order they had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.models import ChatModel, Prompt
from karat.models.fences import RULE, fenced
from karat.models.structured import ask_structured

if TYPE_CHECKING:
    from numpy.typing import NDArray

HIGHEST = 10
SYSTEM = f"""You grade how well passages answer a question, each by itself, from 0 (it has nothing to do with the
question) to {HIGHEST} (it answers the question fully). A passage on the same subject that does not answer is 3 or less.
{RULE}
Reply with one JSON object and nothing else: {{"grades": [{{"passage": 1, "grade": 7}}, ...]}}, every passage once."""


@dataclass(frozen=True)
class Scored:
    """A number for each passage of a list, higher is better, or why there are none; and the seconds it took."""

    scores: NDArray[np.float64] | None = None
    error: str | None = None
    seconds: float = 0.0


class ChatReranker:
    """A chat model that grades lists of passages, all lists in one batch.

    The whole part of a score is the grade, or -1 where the reply has none; what follows the point is the place that
    the passage had, so that equal grades keep their order. A passage graded twice, one that is not there or a grade
    out of range makes a reply useless; it is asked for once more, and then the list has an error.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    def score_lists(self, lists: Sequence[tuple[str, Sequence[str]]], /) -> list[Scored]:
        """Scores for each query with its passages, or the error of those that failed."""

        def problem(number: int, value: Any) -> str | None:
            named = [grade.passage for grade in value.grades]
            size = len(lists[number][1])
            strange = [passage for passage in named if not 1 <= passage <= size]
            if strange:
                return f"there is no passage {strange[0]}; they are numbered from 1 to {size}"
            twice = sorted({passage for passage in named if named.count(passage) > 1})
            return f"passage {twice[0]} is graded twice" if twice else None

        replies = ask_structured(self._chat, [_prompt(*one) for one in lists], _schema(), check=problem)
        results = []
        for (_, passages), reply in zip(lists, replies, strict=True):
            seconds = sum(one.seconds or 0.0 for one in reply.said)
            if reply.value is None:
                results.append(Scored(error=f"reranking by chat: {reply.error}", seconds=seconds))
                continue
            grades = np.full(len(passages), -1.0)
            for grade in reply.value.grades:
                grades[grade.passage - 1] = grade.grade
            places = np.arange(len(passages), 0, -1) / (len(passages) + 1)
            results.append(Scored(grades + places, seconds=seconds))
        return results


def _prompt(query: str, passages: Sequence[str]) -> Prompt:
    parts = [("question", query), *((f"passage {number}", text) for number, text in enumerate(passages, 1))]
    task = "Grade every passage by how well it answers the question."
    return Prompt(f"{fenced(parts).text}\n\n{task}", SYSTEM, json=True, purpose="rerank")


@cache
def _schema() -> type[Any]:
    from pydantic import BaseModel, Field

    class Grade(BaseModel):
        passage: int = Field(strict=True)
        grade: int = Field(ge=0, le=HIGHEST)

    class Grades(BaseModel):
        grades: list[Grade] = Field(min_length=1)

    Grades.model_rebuild(_types_namespace={"Grade": Grade, "Field": Field})
    return Grades
