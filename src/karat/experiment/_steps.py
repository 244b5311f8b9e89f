"""Steps of an evaluation: what each call returned, which gold it brought, and the slice by their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.core.steps import HITS, JudgedSteps, repeated_calls
from karat.core.text.words import plural
from karat.results.evaluation import Note, StepHit, StepRecord

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.scores import Scores

StepsOf = Mapping[str, Mapping[str, Sequence[StepRecord]]]
"""As an evaluation has them: system -> question -> calls."""
SLICE = "steps"  # its name


def step_records(runs: Sequence[Run], steps: JudgedSteps, rel: int) -> dict[str, dict[str, tuple[StepRecord, ...]]]:
    """The calls of each question of each system that has any; hits that the question excludes are left out."""
    view = steps.judged.at(rel=rel)
    number = {qid: q for q, qid in enumerate(view.questions)}
    holds: dict[tuple[int, int], list[tuple[str, bool]]] = {}
    for pair, rank, unit, new, grade in zip(
        view.pair.tolist(), view.rank.tolist(), view.unit.tolist(), view.new.tolist(), view.grade.tolist(), strict=True
    ):
        if grade >= rel:
            holds.setdefault((pair, rank), []).append((steps.labels[unit], new))
    records: dict[str, dict[str, tuple[StepRecord, ...]]] = {}
    for s, (run, listed) in enumerate(zip(runs, steps.runs, strict=True)):
        of_step = listed.fields.get("step", ())
        for place, qid in enumerate(listed.question_ids):
            if qid not in number or qid in run.failed:
                continue
            pair, begin = s * len(view.questions) + number[qid], int(listed.offsets[place])
            relevant = 0 if pair in steps.unmatchable else int(view.relevant[pair])
            rows: list[StepRecord] = []
            rank, brought = 0, 0
            end = int(listed.offsets[place + 1]) - begin
            for at, (step, repeated) in enumerate(zip(run.steps[qid], repeated_calls(run.steps[qid]), strict=True)):
                hits: list[StepHit] = []
                before = brought
                while rank < end and of_step[begin + rank] == at:
                    rank += 1
                    held = holds.get((pair, rank), [])
                    brought += sum(new for _, new in held)
                    names, new = tuple(label for label, _ in held), any(is_new for _, is_new in held)
                    hits.append(StepHit(id=listed.doc_list[begin + rank - 1], holds=names, new=new))
                retrieves = HITS in step
                rows.append(
                    StepRecord(
                        query=step.get("query"),
                        tool=step.get("tool"),
                        hits=tuple(hits) if retrieves else None,
                        recall=brought / relevant if relevant and retrieves else None,
                        gained=(brought - before) / relevant if relevant and retrieves else None,
                        repeated=repeated,
                        seconds=step.get("seconds"),
                        tokens=step.get("tokens"),
                    )
                )
            records.setdefault(run.name, {})[qid] = tuple(rows)
    return records


def counted_steps(questions: Sequence[str], steps: StepsOf) -> dict[str, list[str | None]]:
    """How many retrieval calls each system made for each question, as a slice; None where that is not known."""
    counts = {
        system: {question: str(sum(row.hits is not None for row in rows)) for question, rows in of.items()}
        for system, of in steps.items()
    }
    return {system: [of.get(question) for question in questions] for system, of in counts.items()}


def step_notes(runs: Sequence[Run], scores: Scores, steps: StepsOf) -> Iterator[Note]:
    """Which measures are of steps, of whose, and how many rows have none."""
    measures = [measure.name for measure in scores.measures if measure.spec.needs_steps]
    having = {name: len(of) for name, of in steps.items() if any(of.values())}
    if not measures or not having:
        return
    rows = ", ".join(f"{name} ({plural(count, 'question')})" for name, count in having.items())
    yield Note("info", f"Results with steps: {rows}; measured by {', '.join(measures)}.")
    asked = set(scores.questions)
    for run in runs:
        lacking = asked.intersection(run.question_ids) - run.failed.keys() - steps.get(run.name, {}).keys()
        if run.name in having and lacking:
            rows = plural(len(lacking), "row")
            yield Note("info", f"{run.name}: {rows} without steps: measures of steps have no value there.")
