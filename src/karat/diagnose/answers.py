"""Failure attribution of answers: what became of gold that was found, one label a question.

| label           | the answer                                                                                     |
|-----------------|------------------------------------------------------------------------------------------------|
| `cut_by_budget` | is bad, and a relevant unit of the first k hits is in no context that the answerer was given     |
| `refused`       | declines (or says nothing), though the gold is in the contexts                                 |
| `unsupported`   | says what the contexts do not hold, or answers a question that the documents do not answer       |
| `wrong_answer`  | keeps to the contexts, which hold the gold, and its score is below GOOD_ANSWER                   |

They are looked for in this order, in questions that retrieval did not lose: a question keeps the label of retrieval
that it has. `unsupported` comes before `wrong_answer` because it says why: an answer that left its contexts is mended
by keeping to them, whatever its score; one that kept to them and is wrong read the wrong thing. An answer is bad when
it declines, is unsupported or scores below GOOD_ANSWER. A right refusal of a question without an answer is a success.
An answer that failed to be made has no label: it is a failed row, and counted as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from karat.diagnose.failures import GOOD_ANSWER, ORDER, Attribution, unit_ranks
from karat.results.decisions import QUALITY, SUPPORT
from karat.results.study import Failure, FailureCount

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.ranked import Ranked
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.match import Resolution
    from karat.results.study import FailureLabel, StudyAnswer

AnswerLabel = Literal["cut_by_budget", "refused", "unsupported", "wrong_answer"]
LABELS: tuple[str, ...] = get_args(AnswerLabel)
SUPPORTED = 0.5
"""The share of what an answer says, in claims, sentences or words, that its contexts must hold."""
UNSCORED = "answers"
"""What there would be to gain in where no measure says how good answers are."""


@dataclass(frozen=True)
class AnswerScores:
    """How good the answers of a system are and how far their contexts support them, a value a question or None.

    Support is on 0 to 1 whatever the range of its measure. An empty name: there is no such measure.
    """

    measure: str = ""
    values: Sequence[float | None] = ()
    support_measure: str = ""
    support: Sequence[float | None] = ()

    def value(self, question: int) -> float | None:
        return self.values[question] if question < len(self.values) else None

    def supported(self, question: int) -> float | None:
        return self.support[question] if question < len(self.support) else None


def answer_scores(scores: Scores, system: str, names: Sequence[str] = QUALITY) -> AnswerScores:
    """The scores that say how good a system's answers are: of `names` the first that has a value, and of support."""
    s = scores.systems.index(system)
    name, values = _first(scores, s, names)
    support_name, support = _first(scores, s, SUPPORT)
    return AnswerScores(name, values, support_name, support)


def _first(scores: Scores, s: int, names: Sequence[str]) -> tuple[str, tuple[float | None, ...]]:
    for name in names:
        for m, measure in enumerate(scores.measures):
            if measure.spec.name == name:
                values = [_share(measure, scores.value(s, q, m)) for q in range(len(scores.questions))]
                if any(value is not None for value in values):
                    return measure.name, tuple(values)
    return "", ()


def _share(measure: Measure, value: float | None) -> float | None:
    """A value on 0 to 1."""
    low, high = measure.bounds
    return (value - low) / (high - low) if value is not None and 0 < high - low < np.inf else value


def gold_given(resolution: Resolution, ranked: Ranked, k: int, answers: Mapping[str, StudyAnswer]) -> dict[str, str]:
    """Of each question that has relevant gold and an answer: what of its first k hits the answerer was not given.

    The text is empty where all of it was given. It is all that labels of answers need to know of retrieval.
    """
    not_given: dict[str, str] = {}
    units = np.flatnonzero(resolution.relevant)
    rank_of = dict(zip(units.tolist(), unit_ranks(resolution, units, ranked).tolist(), strict=True))
    for number, qid in enumerate(resolution.testset.ids):
        wanted = [unit for unit in resolution.of_question(number) if unit in rank_of]
        if not wanted or qid not in answers:
            continue
        answer = answers[qid]
        cut = [unit for unit in wanted if 0 < rank_of[unit] <= k and not _given(resolution, unit, answer)]
        not_given[qid] = _cut(rank_of[cut[0]], answer) if cut else ""
    return not_given


def attribute_answers(
    retrieval: Attribution,
    system: str,
    testset: TestSet,
    answers: Mapping[str, StudyAnswer],
    scores: AnswerScores,
    gold: Mapping[str, str],
) -> Attribution:
    """The attribution of retrieval, with the labels of answers for the questions that it leaves without one.

    `answers` are by question id, `scores` in the order of the test set; `gold` is as `gold_given` gives it.
    """
    lost = {failure.question for failure in retrieval.failures}
    failures = list(retrieval.failures)
    values: dict[AnswerLabel, list[int]] = {}
    for number, question in enumerate(testset.questions):
        answer = answers.get(question.id)
        if question.id in lost or answer is None:
            continue
        if answer.text is None or answer.error is not None:  # missing, or failed
            continue
        if question.answerable:
            label, detail = _label(number, gold.get(question.id), answer, scores)
        else:
            label, detail = _unanswerable(answer)
        if label is not None:
            failures.append(Failure(system, question.id, label, detail=detail))
            values.setdefault(label, []).append(number)
    place = {qid: number for number, qid in enumerate(testset.ids)}
    failures.sort(key=lambda failure: place[failure.question])
    counts = [*retrieval.counts, *(_count(system, testset, label, hit, scores) for label, hit in values.items())]
    return Attribution(tuple(failures), tuple(sorted(counts, key=lambda count: ORDER.index(count.label))))


def _label(number: int, cut: str | None, answer: StudyAnswer, scores: AnswerScores) -> tuple[AnswerLabel | None, str]:
    """The label of an answer; `cut` is what of the gold it was not given, None where there is no gold."""
    silent = answer.declined or not (answer.text or "").strip()
    value, support = scores.value(number), scores.supported(number)
    left = not silent and support is not None and support < SUPPORTED
    wrong = value is not None and value < GOOD_ANSWER
    if not (silent or left or wrong):
        return None, ""
    if cut:
        return "cut_by_budget", cut
    if silent and cut is not None:
        return "refused", "it declines." if answer.declined else "it says nothing."
    if left:
        assert support is not None
        return "unsupported", f"{scores.support_measure} is {support:.2f}, below {SUPPORTED:g}."
    if wrong and cut is not None:
        assert value is not None
        return "wrong_answer", f"{scores.measure} is {value:.2f}, below {GOOD_ANSWER:g}."
    return None, ""


def _unanswerable(answer: StudyAnswer) -> tuple[AnswerLabel | None, str]:
    if answer.declined or not (answer.text or "").strip():
        return None, ""
    return "unsupported", "it answers a question that the documents do not answer."


def _given(resolution: Resolution, unit: int, answer: StudyAnswer) -> bool:
    """Whether a context that the answerer was given holds the unit; taken for granted where that is not known."""
    if answer.given is None:
        return True
    rows = [resolution.chunks.row_of.get(id_.strip()) for id_ in answer.given]
    return bool(np.isin(resolution.holders[unit], [row for row in rows if row is not None]).any())


def _cut(rank: int, answer: StudyAnswer) -> str:
    contexts = len(answer.given or ())
    given = f"{contexts:,} context{'s' * (contexts != 1)}"
    return f"it stands at rank {rank}, and the answerer was given {given} without it."


def _count(
    system: str, testset: TestSet, label: FailureLabel, failed: Sequence[int], scores: AnswerScores
) -> FailureCount:
    """What full scores for these questions would add to the mean over all that have one."""
    n = sum(value is not None for value in scores.values)
    missing = [1 - value for q in failed if (value := scores.value(q)) is not None]
    questions = tuple(testset.ids[q] for q in failed)
    return FailureCount(
        system=system,
        label=label,
        questions=questions,
        gain=float(sum(missing) / n) if n else 0.0,
        measure=scores.measure or UNSCORED,
    )
