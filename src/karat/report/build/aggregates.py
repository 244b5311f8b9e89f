"""Aggregates: what a run found in figures over many questions, and the text of none of them."""

from __future__ import annotations

from karat.report.build.answers import refusals
from karat.report.build.evaluation import bands, leaders, means, reach, slice_table, targets, usage
from karat.report.build.outcomes import outcome_blocks
from karat.report.document import Document, Heading, bullets
from karat.report.lookups import EvaluationView
from karat.results.study import Study


def document(study: Study) -> Document:
    """The choice, the means, slices, targets and usage. Notes are left out: they may name questions."""
    evaluation = study.evaluation
    view = EvaluationView(evaluation)
    lines = study.choice.sentences if study.choice is not None else leaders(view)
    return Document(
        study.name,
        [
            bullets([*lines, *evaluation.verdicts.values()]),
            Heading("Scores"),
            means(view),
            *reach(view),
            *bands(view),
            *targets(evaluation),
            *(slice_table(view, name) for name in view.slices),
            *refusals(evaluation),
            *outcome_blocks(evaluation),
            *usage(evaluation),
        ],
    )
