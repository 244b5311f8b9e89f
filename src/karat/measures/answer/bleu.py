"""BLEU."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._sacrebleu import best_sentence, metrics


@measure(
    name="BLEU",
    aliases=("bleu", "sentence_bleu", "sacrebleu"),
    needs_gold=False,
    needs_reference=True,
    formula="brevity penalty x geometric mean of the 1- to 4-gram precisions, smoothed",
    defined_by="Papineni et al. (2002), as sacrebleu computes it for a sentence",
    best_for="comparing with published sentence BLEU",
    prefer="ROUGE-L or TokenF1: BLEU on single short answers is noisy; chrF for inflected languages",
)
def bleu(answered: AnswerTable) -> MeasureResult:
    """Sentence BLEU by sacrebleu, on 0 to 1 (sacrebleu prints 0 to 100), the best of several references.

    sacrebleu's defaults: its 13a tokeniser, case kept, exponential smoothing, effective order. Its own BLEU of several
    references pools their n-grams; here each is scored apart. The mean over questions is not corpus BLEU.
    """
    scorer = metrics("BLEU").BLEU(effective_order=True)
    return best_sentence(answered, lambda answer, reference: scorer.sentence_score(answer, [reference]).score)
