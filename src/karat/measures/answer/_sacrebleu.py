"""Sentence scores of sacrebleu, which is optional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from karat.core.errors import KaratError
from karat.core.measure import AnswerTable, MeasureResult
from karat.core.text.citations import spoken


def metrics(measure: str) -> Any:
    """The metrics of sacrebleu, or an error that says how to install it."""
    try:
        import sacrebleu.metrics
    except ImportError as error:
        raise KaratError(
            f"{measure} needs sacrebleu, which is not installed. Run: pip install 'karat[bleu]'"
        ) from error
    return sacrebleu.metrics


def best_sentence(answered: AnswerTable, score: Callable[[str, str], float]) -> MeasureResult:
    """The best score (0 to 100, returned as 0 to 1) of each answer over its references; an empty answer scores 0."""
    values = np.full(len(answered), np.nan)
    undefined: dict[int, str] = {}
    for pair, (answer, references) in enumerate(zip(answered.answers, answered.references, strict=True)):
        answer_text = spoken(answer).strip()
        usable = [text for text in (spoken(reference).strip() for reference in references) if text]
        if usable:
            best = max(score(answer_text, reference) for reference in usable) if answer_text else 0.0
            values[pair] = min(max(best / 100.0, 0.0), 1.0)
        else:
            undefined[pair] = "the reference answer is empty" if references else "no reference answer"
    return MeasureResult(values, undefined)
