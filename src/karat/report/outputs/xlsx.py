"""XLSX: a workbook with the means, every question, pairs, failures and what it was all made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from karat.core.scores import Status
from karat.report import frame, tables
from karat.report._output import Output
from karat.report.labels import LABELS
from karat.report.lookups import statuses
from karat.report.render.workbook import Row, Sheet, workbook
from karat.results.pareto import COSTS, STATISTIC

if TYPE_CHECKING:
    import polars as pl

    from karat.results.comparison import Comparison
    from karat.results.evaluation import Evaluation, InputInfo, Note
    from karat.results.study import Study


def render(evaluation: Evaluation) -> bytes:
    """A scoring: there are no pairs."""
    about = _about(evaluation, evaluation.settings)
    return workbook([*_scores(evaluation), _failures(evaluation), Sheet("About", ("what", "value"), about)])


def of_study(study: Study) -> bytes:
    """A run: its pairs too, and why questions fail."""
    evaluation = study.evaluation
    facts = [(name, str(study.manifest[name])) for name in ("name", "karat", "started") if name in study.manifest]
    sentences = [("choice", text) for text in (study.choice.sentences if study.choice is not None else ())]
    settings = {c.name: c.settings for c in study.configurations}
    about = [*sentences, *facts, *_about(evaluation, settings)]
    pairs = tables.rows_of(study.pairs, tables.PAIR)
    return workbook(
        [
            *_scores(evaluation),
            Sheet("Pairs", tables.PAIR, pairs),
            _failures(evaluation, study),
            Sheet("About", ("what", "value"), about),
        ]
    )


def of_comparison(comparison: Comparison) -> bytes:
    """A comparison: means over the common questions, and every pair with its tests."""
    counts = f"{len(comparison.questions):,}"
    about = [("questions that all inputs hold", counts), ("test", comparison.test)]
    about += [("correction", comparison.correction), *_inputs(comparison.taken), *_notes(comparison.notes)]
    spent = {(one.what, one.system): one.typical for one in comparison.costs}
    costs = [cost for cost in COSTS if any(one.what == cost for one in comparison.costs)]
    means = [
        [*row, *(spent.get((cost, row[0])) for cost in costs)] for row in tables.rows_of(comparison.means, tables.MEAN)
    ]
    pairs = tables.rows_of(comparison.pairs, tables.COMPARED)
    pairs += [[getattr(pair, name, None) for name in tables.COMPARED] for pair in comparison.cost_pairs]
    return workbook(
        [
            Sheet("Summary", [*tables.MEAN, *(f"{cost}_{STATISTIC[cost]}" for cost in costs)], means),
            Sheet("Pairs", tables.COMPARED, pairs),
            Sheet("About", ("what", "value"), about),
        ]
    )


def _scores(evaluation: Evaluation) -> Iterator[Sheet]:
    summary = frame.summary(evaluation)
    yield Sheet("Summary", summary.columns, summary.iter_rows())
    groups = frame.row_groups(evaluation, flat=True)
    first: pl.DataFrame = next(groups)
    yield Sheet("Questions", first.columns, chain.from_iterable(g.iter_rows() for g in chain([first], groups)))


def _failures(evaluation: Evaluation, study: Study | None = None) -> Sheet:
    """Why questions fail, where that was traced, and every score that failed."""
    traced: Iterator[Row] = (
        (f.system, f.question, LABELS[f.label].title, None, f.detail) for f in (study.failures if study else ())
    )
    scores = evaluation.scores
    status = statuses(scores)
    broken: Iterator[Row] = (
        (system, question, "score failed", measure.name, scores.reason(s, q, m))
        for s, system in enumerate(scores.systems)
        for q, question in enumerate(scores.questions)
        for m, measure in enumerate(scores.measures)
        if status[s, q, m] == Status.failed
    )
    return Sheet("Failures", ("system", "question_id", "failure", "measure", "why"), chain(traced, broken))


def _about(evaluation: Evaluation, settings: Any) -> list[tuple[str, str]]:
    """What was read and scored, and how."""
    testset, matching = evaluation.testset, evaluation.matching
    facts = [("test set", testset.name), ("its digest", testset.digest)]
    facts += [("its version", str(testset.version))] if testset.version is not None else []
    facts.append(("dialect", evaluation.dialect))
    facts += [("match", f"{matching.matcher} ({matching.unit}): {matching.why}")] if matching is not None else []
    facts += _inputs(evaluation.taken)
    for system, values in settings.items():
        facts += [(f"{system}: {name}", str(value)) for name, value in values.items() if value is not None]
    return [*facts, *_notes(evaluation.notes)]


def _inputs(taken: Sequence[InputInfo]) -> list[tuple[str, str]]:
    return [(one.place, f"{'; '.join((one.read_as, *one.notes))}.") for one in taken]


def _notes(notes: Sequence[Note]) -> list[tuple[str, str]]:
    return [(note.level, note.text) for note in notes]


OUTPUT = Output(".xlsx", render, of_study=of_study)
