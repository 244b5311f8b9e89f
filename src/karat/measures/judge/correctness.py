"""Correctness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.scores import EMPTY_ANSWER
from karat.core.text import drop_blocks, tokenise
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._asking import BLANK_REFERENCE, NO_REFERENCE, Asking, By, Round, Sheet, best, by_question
from karat.measures.judge._claims import Checked, check_all, split_all
from karat.measures.judge._heuristics import covered_sentences

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.means import Prompt
    from karat.core.scores import Outcome

NO_CLAIMS = "the reference answer claims nothing that could be checked"


@measure(
    name="Correctness",
    aliases=("answer_correctness",),
    needs=("chat",),
    needs_gold=False,
    best_for="whether an answer says what the reference says, whatever the wording",
    prefer="TokenF1 for answers of a few words, which costs nothing",
    variants=("Correctness(by=heuristic)",),
)
def correctness(answered: Answered, *, by: By = "model") -> Outcome:
    """Share of the reference's claims that the answer covers, by a language model; the best of several references.

    One call splits a reference into claims, the same for all systems; one gives each a verdict on the answer (covered,
    contradicted, missing). `missing` in the details names the claims that are not covered. What an answer says beyond
    the reference does not count. An empty answer scores 0. `by=heuristic` asks no model: it is the share of the
    reference's content words and figures that the answer holds.
    """
    sheet = Sheet(answered, prompts.CORRECTNESS, by)
    rows: dict[int, tuple[str, list[str]]] = {}
    for pair, (answer, given) in enumerate(zip(answered.answers, answered.references, strict=True)):
        said = drop_blocks(answer or "").strip()
        references = [text for text in dict.fromkeys(given) if tokenise(text)]
        if not given:
            sheet.undefined[pair] = NO_REFERENCE
        elif not references:
            sheet.undefined[pair] = BLANK_REFERENCE
        elif not said:
            sheet.settled[pair] = 0.0, EMPTY_ANSWER
        else:
            rows[pair] = said, references
    if by == "heuristic":
        for pair, (said, references) in rows.items():
            found = [_by_words(said, text) for text in references]
            sheet.rounds[pair] = [best(found)]
    else:
        asking = Asking(answered, "Correctness")
        for pair, (said, references) in rows.items():
            (said,), cut = prompts.within([said], prompts.TEXT_CHARS, "answer")
            shown = [prompts.within([text], prompts.TEXT_CHARS, "reference") for text in references]
            rows[pair] = said, [text for (text,), _ in shown]
            sheet.cut[pair] = cut + [note for _, notes in shown for note in notes]
        _judge(asking, sheet, by_question(answered, rows))
    return sheet.outcome()


def _judge(asking: Asking, sheet: Sheet, rows: dict[int, tuple[str, list[str]]]) -> None:
    from karat.measures.judge._schemas import Coverages

    def question(pair: int) -> str:
        return sheet.answered.texts[pair][: prompts.QUESTION_CHARS]

    def cover(number: int, claims: tuple[str, ...]) -> Prompt:
        pair, sample, _ = asked[number]
        return prompts.cover(question(pair), claims, rows[pair][0], asking.purpose("verdicts"), sample)

    asked = [(pair, sample, text) for pair in rows for sample in asking.samples for text in rows[pair][1]]
    splits = split_all(
        asking,
        [prompts.split(question(pair), text, asking.purpose("claims"), sample) for pair, sample, text in asked],
    )
    found = iter(check_all(asking, splits, cover, Coverages))
    for pair, (_, references) in rows.items():
        sheet.rounds[pair] = [best([_round(next(found)) for _ in references]) for _ in asking.samples]


def _round(checked: Checked) -> Round:
    if checked.error is not None:
        return Round(error=checked.error, replies=checked.replies)
    if not checked.claims:
        return Round(unsaid=NO_CLAIMS, replies=checked.replies)
    missing = [claim["claim"] for claim in checked.claims if claim["verdict"] != "covered"]
    shown = {"reason": checked.reason("covered"), "claims": list(checked.claims), "missing": missing}
    return Round(checked.share("covered"), shown=shown, replies=checked.replies)


def _by_words(answer: str, reference: str) -> Round:
    share, missing = covered_sentences(reference, answer)
    reason = f"the answer holds {share:.0%} of the content words and figures of the reference"
    return Round(share, shown={"reason": reason, "missing": missing})
