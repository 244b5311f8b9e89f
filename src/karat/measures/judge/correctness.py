"""Correctness."""

from __future__ import annotations

from karat.core.measure import EMPTY_ANSWER, AnswerTable, MeasureResult, measure
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._claims import CheckedClaims, check_claims
from karat.measures.judge._heuristics import covered_sentences
from karat.measures.judge._runner import (
    ANSWER,
    BLANK_REFERENCE,
    EACH_REFERENCE,
    NO_REFERENCE,
    By,
    Judge,
    JudgedAnswer,
    JudgeModel,
    Requests,
    Sample,
    best_reference,
)

NO_CLAIMS = "the reference answer claims nothing that could be checked"


@measure(
    name="Correctness",
    aliases=("answer_correctness",),
    needs=("chat",),
    needs_gold=False,
    needs_reference=True,
    formula="reference claims that the answer covers / reference claims",
    defined_by="karat; RAGChecker calls the like claim recall",
    best_for="whether an answer says what the reference says, whatever the wording",
    prefer="TokenF1 for answers of a few words, which costs nothing",
    variants=("Correctness(by=heuristic)",),
)
def correctness(answered: AnswerTable, *, by: By = "model") -> MeasureResult:
    """Share of the reference's claims that the answer covers, by a language model; the best of several references.

    One call splits a reference into claims, the same for all systems; one gives each a verdict on the answer (covered,
    contradicted, missing). `missing` in the details names the claims that are not covered. What an answer says beyond
    the reference does not count. An empty answer scores 0. `by=heuristic` asks no model: it is the share of the
    reference's content words and figures that the answer holds.
    """
    return _JUDGE.run(answered, by)


def _settle(case: JudgedAnswer, by: By) -> str | tuple[float, str] | None:
    if not case.has_references:
        return NO_REFERENCE
    if not case.references:
        return BLANK_REFERENCE
    return None if case.answer else (0.0, EMPTY_ANSWER)


def _ask(model: JudgeModel, asked: Requests) -> list[CheckedClaims]:
    from karat.measures.judge._schemas import Coverages

    purpose = model.purpose("verdicts")
    return check_claims(
        model,
        asked,
        Coverages,
        lambda case, claims, sample: prompts.cover(case.asked, claims, case.answer, purpose, sample),
    )


def _weigh(checked: CheckedClaims) -> Sample:
    missing = [claim["claim"] for claim in checked.claims if claim["verdict"] != "covered"]
    return checked.round("covered", None, NO_CLAIMS, missing=missing)


def _by_words(case: JudgedAnswer, reference: str) -> Sample:
    share, missing = covered_sentences(reference, case.answer)
    reason = f"the answer holds {share:.0%} of the content words and figures of the reference"
    return Sample(share, shown={"reason": reason, "missing": missing})


_JUDGE = Judge(
    name="Correctness",
    prompt=prompts.CORRECTNESS,
    settle=_settle,
    items=lambda case: case.references,
    limits=(ANSWER, EACH_REFERENCE),
    ask=_ask,
    weigh=_weigh,
    heuristic=_by_words,
    combine=best_reference,
)
