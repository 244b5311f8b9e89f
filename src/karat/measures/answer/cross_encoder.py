"""CrossEncoder."""

from __future__ import annotations

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.core.text.citations import spoken
from karat.measures.answer._compared import best_of, referred


@measure(
    name="CrossEncoder",
    aliases=("cross_encoder_score", "cross_encoder_similarity"),
    needs_gold=False,
    needs_reference=True,
    needs=("cross_encoder",),
    formula="1 / (1 + e^-s), s the cross-encoder's number for (answer, reference)",
    defined_by="whoever trained the model; karat adds the sigmoid",
    best_for="answers beside their references where a model trained on such pairs is at hand",
    prefer="SemanticSimilarity where none is",
)
def cross_encoder(answered: AnswerTable) -> MeasureResult:
    """What a cross-encoder makes of (answer, reference), through a sigmoid: 0 to 1.

    The model is the user's own (`--cross-encoder FOLDER`), and so is what its numbers mean: one that was trained to
    tell whether a passage answers a query is no judge of whether two answers agree. Thoughts and citation
    marks are not read. An empty answer scores 0.
    """
    assert answered.models.cross_encoder is not None
    beside = referred(answered, "unicode")
    answers = [spoken(answer).strip() for answer in answered.answers]
    references = [spoken(text).strip() for text in beside.texts]
    pairs = [(answers[owner], text) for owner, text in zip(beside.owners.tolist(), references, strict=True)]
    distinct = [pair for pair in dict.fromkeys(pairs) if pair[0]]
    known: dict[tuple[str, str], float] = {}
    if distinct:
        logits = np.asarray(answered.models.cross_encoder().score(distinct), np.float64)
        known = dict(zip(distinct, (0.5 * (1.0 + np.tanh(logits / 2.0))).tolist(), strict=True))
    values = np.array([known.get(pair, 0.0) for pair in pairs], np.float64)
    return best_of(values, beside.owners, len(answered), beside.undefined)
