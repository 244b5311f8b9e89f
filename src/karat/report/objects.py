"""Objects: each noun as one JSON object for programs. Keys and figures are promises; a missing number is null."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from karat.results.serial import plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from karat.core.docs import Chunk, Chunks
    from karat.core.types import TestSet
    from karat.results.calibration import AppliedCalibration, Calibration
    from karat.results.comparison import Comparison, Power
    from karat.results.drafts import Generated
    from karat.results.explanation import Explanation
    from karat.results.gating import Gate, RuleResult
    from karat.results.study import Choice, FactorAnalysis, Study, SweepView

CALIBRATION = "karat calibration 1"
"""The first field of a calibration's file, by which it is told from a table of labels."""


def _ascii(document: Any) -> str:
    return json.dumps(document, indent=2, allow_nan=False)


def _unicode(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)


def power(result: Power) -> str:
    """What a test set can tell, with its sentences."""
    from karat.report.build import power as power_words

    return _ascii({**plain(result), "sentences": power_words.sentences(result)})


def factors(factored: FactorAnalysis) -> str:
    """All effects and levels."""
    return _ascii(plain(factored))


def comparison(result: Comparison) -> str:
    """Every figure and sentence."""
    from karat.report.build import comparison as words
    from karat.report.tables import TESTS
    from karat.results.decisions import better

    document: dict[str, Any] = plain(result)
    document["sentences"] = [*words.sentences(result), *words.loss_sentences(result), *words.noise_sentences(result)]
    for row, pair in zip(document["pairs"], result.pairs, strict=True):
        row["told_apart"], row["better_system"] = result.is_told_apart(pair), better(result, pair)
        row |= dict.fromkeys(() if pair.n else TESTS)
    return _ascii(document)


def calibration(result: Calibration) -> str:
    """Every figure and sentence."""
    from karat.report.build import calibration as words
    from karat.report.build.outcomes import selective_sentence

    document: dict[str, Any] = {"format": CALIBRATION, **plain(result)}
    for row, one in zip(document["measures"], result.measures, strict=True):
        row["sentences"] = [*words.agreement_sentences(one), *(words.mean_sentence(one, s) for s in one.systems)]
    for row, reliability in zip(document["reliability"], result.reliability, strict=True):
        row["sentence"] = words.confidence_sentence(reliability)
    for row, curve in zip(document["selective"], result.selective, strict=True):
        row["coverage"], row["sentence"] = curve.coverage, selective_sentence(curve)
    return _ascii(document)


def applied(result: AppliedCalibration) -> str:
    """Every corrected mean with its sentence."""
    from karat.report.build.applied import applied_sentence

    document: dict[str, Any] = plain(result)
    for row, one in zip(document["measures"], result.measures, strict=True):
        row["sentences"] = [applied_sentence(one, system) for system in one.systems]
    return _ascii(document)


def examined(result: Any) -> str:
    """A checked test set or a verification."""
    return _ascii(result.plain())


def gate(result: Gate, exit_code: int) -> str:
    """Every rule with its value, bound and outcome."""
    from karat.report.build.gate import sentence

    baseline = None if result.baseline_run is None else {"name": result.baseline, "run": result.baseline_run}
    document = {
        "run": result.run, "outcome": result.outcome, "exit_code": exit_code, "sentence": sentence(result),
        "baseline": baseline, "rules": [_rule(verdict) for verdict in result.verdicts], "incomplete": result.incomplete,
        "allow_incomplete": result.allows_incomplete,
        "guards": [{"guard": note.guard, "text": note.text} for note in result.guards], "notes": result.notes,
    }  # fmt: skip
    return _ascii(plain(document))


def _rule(v: RuleResult) -> dict[str, Any]:
    return {
        "rule": v.rule.text, "outcome": v.outcome, "system": v.system, "subject": v.subject, "value": v.value,
        "sign": v.rule.sign, "bound": v.bound, "n": v.n, "low": v.low, "high": v.high, "level": v.level,
        "interval_of": None if v.low is None else "difference" if v.rule.needs_baseline else "value",
        "baseline": v.baseline, "baseline_system": v.baseline_system, "reason": v.reason,
        "broken": v.broken, "n_broken": v.n_broken, "n_failed": v.n_failed,
    }  # fmt: skip


def sweep(view: SweepView) -> str:
    """The choice at each cut-off with all its pairs, the configurations and what should be known."""
    document = {
        "choices": [_choice(choice) for choice in view.choices],
        "slice": view.slice,
        "configurations": [{"name": c.name, "settings": dict(c.settings)} for c in view.configurations],
        "inputs": view.taken,
        "notes": view.notes,
    }
    return _ascii(plain(document))


def _choice(choice: Choice) -> dict[str, Any]:
    equal = {pair.a for pair in choice.equals}
    cells = [{**plain(c), "best": c == choice.best, "equal": c.system in equal} for c in choice.cells]
    return {**plain(choice), "cells": cells}


def study(result: Study, place: str = "") -> str:
    """The choice, every cell, failures by label, the next steps, and where the files are."""
    from karat.report.build.next_steps import next_steps

    document = {
        "name": result.name,
        "folder": place or None,
        "main": result.main,
        "systems": [{"name": c.name, "settings": dict(c.settings)} for c in result.configurations],
        "questions": len(result.evaluation.testset),
        "choice": result.choice,
        "failures": result.failure_counts,
        "answers": _answers(result),
        "outcomes": result.evaluation.outcomes,
        "selective": result.evaluation.selective,
        "pareto": result.evaluation.pareto,
        "error_classes": result.error_classes,
        "next": next_steps(result, place),
        "warnings": [note.text for note in result.evaluation.notes if note.level == "warning"],
    }
    return _unicode(plain(document))


def _answers(result: Study) -> list[dict[str, Any]]:
    """Of each system that answers: the number of answers, refusals, the worst with what they miss, and the bill."""
    from karat.report.answers import Answers
    from karat.report.build.answers import WORST

    answers = Answers(result.evaluation, result.answers)
    quality = answers.quality.name if answers.quality is not None else None
    return [
        {
            "system": system,
            **answers.counts(system),
            "refusals": result.evaluation.refusals.get(system),
            "measure": quality,
            "worst": [
                {"question": answers.scores.questions[q], "value": value, "missing": answers.missing(system, q)}
                for q, value in answers.worst(system, WORST)
            ],
            "took": answers.bill(system, result.seconds.get(system, ())),
        }
        for system in answers.systems
    ]


def generated(
    result: Generated, chunks: Chunks, testset: TestSet, *, spent: Mapping[str, Any] | None, output: str | None
) -> str:
    """Counts, the sample, every rejected draft and every chunk left out, each with its reason."""
    from karat.report.build.generated import accepted, rejected, tried

    sampled = result.sampled
    document = {
        "output": output,
        "questions": len(testset),
        "new": len(result.questions),
        "digest": testset.digest,
        "wanted": dict(result.wanted),
        "accepted": accepted(result),
        "tried": tried(result),
        "rejected": rejected(result),
        "sample": [chunks[row].id for row in sampled.rows],
        "left_out": [{"chunk": chunks[o.row].id, "reason": o.reason, "detail": o.detail} for o in sampled.left_out],
        "drafts_rejected": [
            {
                "kind": one.kind,
                "reason": one.reason,
                "detail": one.detail,
                "chunks": [chunks[row].id for row in one.rows],
                "question": None if one.draft is None else one.draft.text,
            }
            for one in result.rejected
        ],
        "model": None if spent is None else dict(spent),
        "notes": list(result.notes),
    }
    return _unicode(document)


def question(result: Study, *, question: str, systems: Sequence[str] = ()) -> str:
    """One question of a run: its gold, and what each system found, scored and answered."""
    from karat.report.build.question import QuestionView

    view = QuestionView(result, question)
    asked = view.question
    document = {
        "question": {"id": asked.id, "text": asked.text, "kind": asked.kind, "answers": asked.answers},
        "gold": [gold.label for gold in asked.gold],
        "systems": [
            {
                "system": system,
                "scores": view.scores(system),
                "first_gold": view.first_gold(system),
                "failure": view.failure(system),
                "answer": view.answer(system),
                **({} if (steps := view.steps(system)) is None else {"steps": steps}),
                "hits": [
                    {"rank": hit.rank, "score": hit.score, "holds": hit.holds,
                     "engines": {leg: {"rank": rank, "score": score} for leg, (rank, score) in hit.legs.items()},
                     **_chunk(hit.chunk)}
                    for hit in view.hits(system)
                ],
            }
            for system in view.named(systems) or view.systems
        ],
    }  # fmt: skip
    return _unicode(plain(document))


def frozen(result: DataclassInstance, path: str, note: str, *, stood: bool) -> str:
    """The version with its digest and counts, and the files."""
    return _unicode({"testset": path, "written": None if stood else note, **asdict(result)}) + "\n"


def index(about: Mapping[str, Any], place: str) -> str:
    """The index, its corpus, settings and problems."""
    names = ("karat", "settings", "corpus", "taken", "problems", "generation")
    return _unicode({"index": place, **{name: about[name] for name in names}})


def hits(about: Mapping[str, Any], result: Sequence[tuple[float, Chunk]]) -> str:
    """How it was searched, and the hits with all that is known of them."""
    rows = [{"rank": rank, "score": score, **_chunk(chunk)} for rank, (score, chunk) in enumerate(result, 1)]
    return _unicode({**about, "hits": rows})


def _chunk(chunk: Chunk) -> dict[str, Any]:
    """A chunk as JSON values, without what is not known."""
    values = {
        "id": chunk.id, "doc": chunk.doc, "title": chunk.title, "url": chunk.url, "pages": list(chunk.pages),
        "labels": list(chunk.labels), "span": chunk.span and list(chunk.span), "tokens": chunk.tokens,
        "text": chunk.text,
    }  # fmt: skip
    return {name: value for name, value in values.items() if value not in (None, [])}


def explanation(e: Explanation) -> str:
    """Every step."""
    legs = [name for name, _ in e.legs]
    document = {
        "question": {"id": e.question.id, "text": e.question.text, "kind": e.question.kind},
        "system": e.system,
        "k": e.k,
        "queries": e.queries,
        "changes": e.changes,
        "legs": {
            name: [{"rank": h.rank, "id": h.chunk, "score": h.score, "made_of": dict(h.made_of)} for h in hits]
            for name, hits in e.legs
        },
        "fusion": e.fusion,
        "fused": [
            {"rank": h.rank, "id": h.chunk, "score": h.score,
             "legs": {leg: asdict(part) for leg, part in zip(legs, h.parts, strict=True)}}
            for h in e.fused
        ],
        "hits": [
            {"rank": h.rank, "score": h.score, "holds": h.new, "holds_again": h.again, **_chunk(h.chunk)}
            for h in e.hits
        ],
        "gold": [
            {"unit": u.label, "grade": u.grade, "chunks": u.chunks, "rank": u.rank, "legs": dict(u.ranks), "why": u.why}
            for u in e.units
        ],
        "measures": [asdict(m) for m in e.measures],
        "notes": e.notes,
        "seconds": dict(e.seconds),
    }  # fmt: skip
    return _unicode(document)
