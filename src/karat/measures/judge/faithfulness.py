"""Faithfulness."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from karat.core.measure import measure
from karat.core.scores import EMPTY_ANSWER
from karat.core.text import drop_blocks
from karat.core.text.refusals import declines
from karat.measures.answer._support import BLANK_CONTEXTS, NO_CONTEXTS
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._asking import Asking, By, Round, Sheet, by_question
from karat.measures.judge._claims import Checked, check_all, split_all
from karat.measures.judge._heuristics import supported_sentences

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.means import Prompt
    from karat.core.scores import Outcome

Scale = Literal["unit", "liverag"]
NO_CLAIMS = "the answer claims nothing that could be checked"
DECLINES = "the answer declines, so it claims nothing"


def _bounds(scale: Scale = "unit", **_: object) -> tuple[float, float]:
    return (-1.0, 1.0) if scale == "liverag" else (0.0, 1.0)


@measure(
    name="Faithfulness",
    aliases=("groundedness", "faithfulness_score"),
    bounds=_bounds,
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    best_for="whether what an answer claims stands in its contexts, claim by claim, whatever the wording",
    prefer="SupportCoverage and NumberSupport, which cost nothing, where answers keep to the words of their contexts",
    variants=("Faithfulness(scale=liverag)", "Faithfulness(by=heuristic)"),
)
def faithfulness(answered: Answered, *, scale: Scale = "unit", by: By = "model") -> Outcome:
    """Share of the answer's claims that its contexts support, by a language model.

    One call splits the answer into claims, one gives each a verdict (supported, contradicted, not_found) with the
    contexts that decide it. `scale=liverag`: 1 if all are supported, 0 if some are, -1 if none is. An answer that is
    empty, declines or claims nothing is undefined, and contexts known to be none support nothing. `by=heuristic` asks
    no model: the mean over the sentences of the share of content words and figures that the contexts hold, 0 for one
    with a figure that they do not. For `scale=liverag` one is supported from half of them on.
    """
    sheet = Sheet(answered, prompts.FAITHFULNESS, by)
    lowest = _bounds(scale)[0]
    rows: dict[int, tuple[str, list[str]]] = {}
    for pair, (answer, contexts) in enumerate(zip(answered.answers, answered.contexts, strict=True)):
        said = drop_blocks(answer or "").strip()
        if contexts is None:
            sheet.undefined[pair] = NO_CONTEXTS
        elif not said:
            sheet.undefined[pair] = EMPTY_ANSWER
        elif declines(said):
            sheet.undefined[pair] = DECLINES
        elif not contexts:
            sheet.settled[pair] = lowest, "there are no contexts, so nothing supports the answer"
        elif not any(text.strip() for text in contexts):
            sheet.undefined[pair] = BLANK_CONTEXTS
        else:
            rows[pair] = said, list(contexts)
    if by == "heuristic":
        checked = {pair: [supported_sentences(said, held)] for pair, (said, held) in rows.items()}
    else:
        for pair, (said, held) in rows.items():
            (text,), cut = prompts.within([said], prompts.TEXT_CHARS, "answer")
            shown, left_out = prompts.within(held, prompts.CONTEXT_CHARS, "context")
            rows[pair], sheet.cut[pair] = (text, shown), cut + left_out
        asking = Asking(answered, "Faithfulness")
        checked = answered.once(
            ("judge", "Faithfulness"), partial(_check, asking, answered, by_question(answered, rows))
        )
    for pair, found in checked.items():
        sheet.rounds[pair] = [_round(one, scale) for one in found]
    return sheet.outcome()


def _check(asking: Asking, answered: Answered, rows: dict[int, tuple[str, list[str]]]) -> dict[int, list[Checked]]:
    from karat.measures.judge._schemas import Verdicts

    def split(pair: int, sample: int) -> Prompt:
        question = answered.texts[pair][: prompts.QUESTION_CHARS]
        return prompts.split(question, rows[pair][0], asking.purpose("claims"), sample)

    def verify(number: int, claims: tuple[str, ...]) -> Prompt:
        pair, sample = asked[number]
        return prompts.verify(claims, rows[pair][1], asking.purpose("verdicts"), sample)

    asked = [(pair, sample) for pair in rows for sample in asking.samples]
    splits = split_all(asking, [split(pair, sample) for pair, sample in asked])
    found = check_all(asking, splits, verify, Verdicts, lambda number: len(rows[asked[number][0]][1]))
    made: dict[int, list[Checked]] = {pair: [] for pair in rows}
    for (pair, _), one in zip(asked, found, strict=True):
        made[pair].append(one)
    return made


def _round(checked: Checked, scale: Scale) -> Round:
    if checked.error is not None:
        return Round(error=checked.error, replies=checked.replies)
    if not checked.claims:
        return Round(unsaid=NO_CLAIMS, replies=checked.replies)
    share = checked.share("supported")
    graded = [claim["support"] for claim in checked.claims if "support" in claim]
    unit = sum(graded) / len(graded) if graded else share
    value = unit if scale == "unit" else 1.0 if share == 1 else -1.0 if share == 0 else 0.0
    shown = {"reason": checked.reason("supported"), "claims": list(checked.claims)}
    return Round(value, shown=shown, replies=checked.replies)
