"""What becomes of an answer: right, abstained or wrong. The rule by which it is right stands here once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.text.refusals import abstains, declines

if TYPE_CHECKING:
    from karat.core.judged import Bools, Floats

RIGHT, ABSTAINED, WRONG = 1.0, 0.0, -1.0
REACHED = 0.5  # the score from which an answer is right, where nothing else is said
_RULE = re.compile(r"(?P<measure>[^<>]++)(?P<sign>>=|<=|>|<)\s*+(?P<value>-?(?:\d++(?:\.\d++)?|\.\d++))\s*+")
_HOLDS = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}


@dataclass(frozen=True)
class RightRule:
    """What makes an answer right: a measure, and what it must reach."""

    measure: str
    sign: str = ">="
    value: float = REACHED

    @classmethod
    def parse(cls, text: str, option: str) -> RightRule:
        """From `TokenF1>=0.5`; `option` is where the user wrote it."""
        shape = _RULE.fullmatch(text)
        if shape is None:
            raise UsageError(f"{option} {text!r}: write a measure and what it must reach, as in {BY_WORDS}.")
        return cls(shape["measure"].strip(), shape["sign"], float(shape["value"]))

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.value:g}"

    def right(self, values: Floats) -> Floats:
        """1 for each right answer, 0 for any other, NaN where there is no score.

        >>> RightRule("TokenF1").right(np.array([0.5, 0.49, np.nan])).tolist()
        [1.0, 0.0, nan]
        """
        held = _HOLDS[self.sign](values, self.value).astype(np.float64)
        is_right: Floats = np.where(np.isnan(values), np.nan, held)
        return is_right


def check_share(measure: str, name: str, value: float) -> None:
    """Refuse a threshold that no share can reach, or that every one does."""
    if not 0 <= value <= 1:
        raise UsageError(f"{measure}: {name}={value:g} is a share that scores must reach. Write one from 0 to 1.")


BY_WORDS = RightRule("TokenF1")
BY_MODEL = RightRule("Correctness")


def silent(answers: Sequence[str | None], right: Floats) -> Bools:
    """Which answers abstain: they decline or say nothing. One that only looks like citations and is right does not."""
    abstaining = np.fromiter(map(abstains, answers), bool, len(answers))
    for row in np.flatnonzero(abstaining & (right > 0)).tolist():
        abstaining[row] = declines(answers[row] or "")
    return abstaining


def outcomes(
    answers: Sequence[str | None], right: Floats, answerable: Sequence[bool], *, declined: float = RIGHT
) -> Floats:
    """The outcome of each answer: RIGHT, ABSTAINED or WRONG; NaN where nothing says whether it is right.

    `right` is 1, 0 or NaN: not known. To decline a question that has no answer is right, or what `declined` says; to
    answer it is wrong, unless `right` says otherwise, and an empty answer abstains from it as from any other.
    """
    has_answer = np.array(answerable, bool)
    outcome = np.where(right > 0, RIGHT, WRONG)
    outcome[silent(answers, right)] = ABSTAINED
    outcome[np.isnan(right) & has_answer] = np.nan
    for row in np.flatnonzero(~has_answer).tolist():
        if declines(answers[row] or ""):
            outcome[row] = declined
    return outcome
