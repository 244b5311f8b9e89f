"""chrF."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._sacrebleu import best_sentence, metrics


@measure(
    name="chrF",
    aliases=("chrf", "chrf2"),
    needs_gold=False,
    needs_reference=True,
    formula="5 P R / (4 P + R), P and R the mean precision and recall of character 1- to 6-grams",
    defined_by="Popović (2015), chrF2 as sacrebleu computes it",
    best_for="inflected languages and spelling variants, where whole words rarely match",
    prefer="TokenF1 or EM when an answer must have the very words",
)
def chrf(answered: AnswerTable) -> MeasureResult:
    """Sentence chrF2 by sacrebleu, on 0 to 1 (sacrebleu prints 0 to 100), the best of several references.

    F-score of character 1- to 6-grams, recall weighing twice; case kept.
    """
    scorer = metrics("chrF").CHRF()
    return best_sentence(answered, lambda answer, reference: scorer.sentence_score(answer, [reference]).score)
