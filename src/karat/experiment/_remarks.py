"""What is to be said beside the scores: usage, refusals, what chance gives, a dialect's meanings, what models took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.core.answered import AnswerTable
    from karat.core.models import Models
    from karat.core.run import Run
    from karat.core.scores import Scores
    from karat.core.types import TestSet
    from karat.measures.dialects import Dialect
    from karat.results.evaluation import Refusals, Usage

NEAR = 0.05
"""How little above chance a mean similarity may be before it is warned of."""


def dialect_notes(dialect: Dialect, models: Models) -> list[Note]:
    """What a dialect does differently, and which of its measures are left out for want of a model."""
    notes = [Note("info", f"dialect {dialect.name}: {text}") for text in dialect.differs]
    left_out = dialect.left_out(models.able)
    if left_out:
        names = ", ".join(left_out)
        notes.append(Note("info", f"dialect {dialect.name}: left out, because they need a model: {names}."))
    return notes


def floor_notes(scores: Scores, models: Models) -> list[Note]:
    """What chance gives, beside the mean over the same answers, which is to be read against it."""
    notes = []
    for (s, m), floor in sorted(scores.floors.items(), key=lambda item: (item[0][1], item[0][0])):
        system, measure = scores.systems[s], scores.measures[m].name
        assert floor.own is not None  # of scores that were just computed
        by = f" ({models.embedder_label})" if models.embedder_label else ""
        text = (
            f"{measure} of {system}: {floor.own:.3f} over {floor.n:,} answers is to be read against "
            f"{floor.chance:.3f}, the mean over the same answers and the references of other questions{by}."
        )
        near = floor.own - floor.chance < NEAR
        if near:
            text += " Its answers are hardly nearer to their own references than to any other."
        notes.append(Note("warning" if near else "info", text))
    return notes


def usage_of(runs: Sequence[Run]) -> Iterable[Usage]:
    """Seconds, tokens and cost of each system, where they are known."""
    from karat.stats.summary import usage

    for run in runs:
        answers = run.answers.values()
        steps = dict.fromkeys(step for a in answers for step in a.seconds)
        columns: dict[str, list[float | None]] = {
            f"seconds {s}".strip(): [a.seconds.get(s) for a in answers] for s in steps
        }
        columns["tokens"] = [a.tokens for a in answers]
        columns["cost_usd"] = [a.cost_usd for a in answers]
        for what, values in columns.items():
            found = usage(run.name, what, values)
            if found is not None:
                yield found


def refusals_of(testset: TestSet, runs: Sequence[Run], answered: AnswerTable | None) -> dict[str, Refusals]:
    """How each system declines, where any question is unanswerable or any answer declines; failed rows are left out."""
    if answered is None:
        return {}
    from karat.core.text.blocks import drop_blocks
    from karat.core.text.refusals import declines
    from karat.experiment._answered import missing_of, unanswered
    from karat.stats.summary import refusals

    width, found = len(testset), {}
    for s, run in enumerate(runs):
        if not run.has_answers:
            continue
        lost = {*run.failed, *run.unasked, *unanswered(run), *missing_of(testset, run)}
        rows = [s * width + q for q, qid in enumerate(testset.ids) if qid not in lost]
        said = [drop_blocks(answered.answers[i] or "").strip() for i in rows]
        found[run.name] = refusals(
            run.name,
            [declines(text) if text else None for text in said],
            [answered.answerable[i] for i in rows],
        )
    some = any(counts.unanswerable or counts.declined for counts in found.values())
    return found if some else {}
