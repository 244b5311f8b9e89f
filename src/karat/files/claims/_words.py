"""Words of claims tables: how files spell verdicts, sides, premises and importance."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from karat.core.claims import SIDES, UNJUDGED, VERDICTS, PremiseKind
from karat.io.cells import CellError, quoted

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

PASSAGES_SIDE = "passages"
"""The side of a row that says, in place of a claim's number, how many passages an answer has."""
FAILED = "failed"
"""The verdict of a row that says why a relation could not be judged."""
MOST_PASSAGES = 1_000
"""The highest number that a passage may have: no answer is given more, and a wrong number would take all memory."""

VERDICT_WORDS = {
    **VERDICTS, "entailment": 2, "entails": 2, "support": 2, "supported": 2, "full_support": 2, "fully_supported": 2,
    "partial_support": 1, "partially_supported": 1, "neutral": 0, "not_support": 0, "not_supported": 0,
    "no_support": 0, "unsupported": 0, "not_entailed": 0, "contradiction": -1, "contradicts": -1,
}  # fmt: skip
_SIDES: dict[str, str] = {
    **{side: side for side in SIDES}, "response": "answer", "gt_answer": "reference", "ground_truth": "reference",
    "gold": "reference", PASSAGES_SIDE: PASSAGES_SIDE,
}  # fmt: skip
_PREMISES: dict[str, PremiseKind] = {
    "reference": "reference", "gt_answer": "reference", "ground_truth": "reference", "gold": "reference",
    "answer": "answer", "response": "answer", "question": "question", "query": "question",
}  # fmt: skip
_IMPORTANCE = {"vital": True, "true": True, "yes": True, "okay": False, "ok": False, "false": False, "no": False}
_RELATED = ("passage", "passages", "cited")  # by what a relation that failed may be, besides
_NUMBERS = re.compile(r"[0-9]{1,9}(?:[,;|\s]++[0-9]{1,9})*+")

Premise = tuple[PremiseKind | str, tuple[int, ...]]


def word(text: str) -> str:
    """A word as the tables above spell it.

    >>> word(" Partial-Support")
    'partial_support'
    """
    return re.sub(r"[\s_-]+", "_", text.strip().lower())


def verdict_of(text: str) -> int | str:
    """The code of a verdict; FAILED where the row says so."""
    name = word(text)
    if name == FAILED:
        return FAILED
    if name not in VERDICT_WORDS:
        remedy = f"Write {', '.join(VERDICTS)}, or Entailment, Neutral, Contradiction; empty where nobody judged."
        raise CellError(f"the verdict {quoted(text)} is not known", remedy)
    return VERDICT_WORDS[name]


def side_of(text: str) -> str:
    """A side, or PASSAGES_SIDE."""
    if word(text) not in _SIDES:
        raise CellError(f"the side {quoted(text)} is not known", f"Sides: {', '.join(SIDES)}.")
    return _SIDES[word(text)]


def premise_of(text: str) -> Premise:
    """A premise: its kind and the numbers of its passages. The last part of a relation has no numbers."""
    name = word(text)
    if name in _PREMISES:
        return _PREMISES[name], ()
    if name in _RELATED:
        return name, ()
    numbers = tuple(sorted(set(passage_numbers(text))))
    return ("passage" if len(numbers) == 1 else "passages"), numbers


def passage_numbers(text: str) -> tuple[int, ...]:
    """The passages of "1" or "1,3", in that order."""
    bare = text.strip().strip("[]()")
    if not _NUMBERS.fullmatch(bare):
        remedy = 'Write reference, answer, question, or numbers of passages: "1", "1,3".'
        raise CellError(f"{quoted(text)} names no premise", remedy)
    numbers = tuple(map(int, re.findall(r"[0-9]+", bare)))
    if min(numbers) < 1 or max(numbers) > MOST_PASSAGES:
        raise CellError(f"{quoted(text)} is no passage", f"Passages are numbered from 1, up to {MOST_PASSAGES:,}.")
    return numbers


def importance_of(text: str) -> bool:
    """Whether a nugget is vital."""
    if word(text) not in _IMPORTANCE:
        raise CellError(f"the importance {quoted(text)} is not known", "Write vital or okay.")
    return _IMPORTANCE[word(text)]


def each(column: pl.Series, convert: Callable[[str], T]) -> tuple[dict[str, T], dict[str, CellError]]:
    """What each distinct text of a column stands for, and what is wrong with those that stand for nothing."""
    meanings: dict[str, T] = {}
    wrong: dict[str, CellError] = {}
    for text in column.drop_nulls().unique(maintain_order=True).to_list():
        try:
            meanings[text] = convert(text)
        except CellError as error:
            wrong[text] = error
    return meanings, wrong


def verdict_word(code: int) -> str | None:
    """How a verdict is written; None for one that is missing."""
    return None if code == UNJUDGED else WORD_OF[code]


WORD_OF: Mapping[int, str] = {code: name for name, code in VERDICTS.items()}
