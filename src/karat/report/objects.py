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
    from karat.results.calibration import Calibration
    from karat.results.comparison import Comparison, Power
    from karat.results.drafts import Generated
    from karat.results.explanation import Explanation
    from karat.results.gating import Gate, RuleResult
    from karat.results.study import Choice, FactorAnalysis, Study, SweepView


def _ascii(document: Any) -> str:
    return json.dumps(document, indent=2, allow_nan=False)


def _unicode(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)


def power(found: Power) -> str:
    """What a test set can tell, with its sentences."""
    from karat.report.build import power as power_words

    return _ascii({**plain(found), "sentences": power_words.sentences(found)})


def factors(factored: FactorAnalysis) -> str:
    """All effects and levels."""
    return _ascii(plain(factored))


def comparison(found: Comparison) -> str:
    """Every figure and sentence."""
    from karat.report.build import comparison as comparison_words
    from karat.results.decisions import better

    document: dict[str, Any] = plain(found)
    words = comparison_words
    document["sentences"] = [*words.sentences(found), *words.loss_sentences(found), *words.noise_sentences(found)]
    for row, pair in zip(document["pairs"], found.pairs, strict=True):
        row["told_apart"], row["better_system"] = found.is_told_apart(pair), better(found, pair)
    return _ascii(document)


def calibration(found: Calibration) -> str:
    """Every figure and sentence."""
    from karat.report.build import calibration as calibration_words

    document: dict[str, Any] = plain(found)
    words = calibration_words
    for row, one in zip(document["measures"], found.measures, strict=True):
        row["sentences"] = [*words.agreement_sentences(one), *(words.mean_sentence(one, s) for s in one.systems)]
    for row, said in zip(document["reliability"], found.reliability, strict=True):
        row["sentence"] = words.confidence_sentence(said)
    return _ascii(document)


def examined(found: Any) -> str:
    """A checked test set or a verification."""
    return _ascii(found.plain())


def gate(found: Gate, exit_code: int) -> str:
    """Every rule with its value, bound and outcome."""
    from karat.report.build.gate import sentence

    baseline = None if found.baseline_run is None else {"name": found.baseline, "run": found.baseline_run}
    document = {
        "run": found.run, "outcome": found.outcome, "exit_code": exit_code, "sentence": sentence(found),
        "baseline": baseline, "rules": [_rule(verdict) for verdict in found.verdicts], "incomplete": found.incomplete,
        "allow_incomplete": found.allows_incomplete,
        "guards": [{"guard": note.guard, "text": note.text} for note in found.guards], "notes": found.notes,
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


def study(found: Study, place: str = "") -> str:
    """The choice, every cell, failures by label, the next steps, and where the files are."""
    from karat.report.build.next_steps import next_steps

    document = {
        "name": found.name,
        "folder": place or None,
        "main": found.main,
        "systems": [{"name": c.name, "settings": dict(c.settings)} for c in found.configurations],
        "questions": len(found.evaluation.testset),
        "choice": found.choice,
        "failures": found.failure_counts,
        "answers": _answers(found),
        "error_classes": found.error_classes,
        "next": next_steps(found, place),
        "warnings": [note.text for note in found.evaluation.notes if note.level == "warning"],
    }
    return _unicode(plain(document))


def _answers(found: Study) -> list[dict[str, Any]]:
    """Of each system that answers: the number of answers, refusals, the worst with what they miss, and the bill."""
    from karat.report.answers import Answers
    from karat.report.build.answers import WORST

    answers = Answers(found.evaluation, found.answers)
    quality = answers.quality.name if answers.quality is not None else None
    return [
        {
            "system": system,
            **answers.counts(system),
            "refusals": found.evaluation.refusals.get(system),
            "measure": quality,
            "worst": [
                {"question": answers.scores.questions[q], "value": value, "missing": answers.missing(system, q)}
                for q, value in answers.worst(system, WORST)
            ],
            "took": answers.bill(system, found.seconds.get(system, ())),
        }
        for system in answers.systems
    ]


def generated(
    made: Generated, chunks: Chunks, testset: TestSet, *, spent: Mapping[str, Any] | None, output: str | None
) -> str:
    """Counts, the sample, every rejected draft and every chunk left out, each with its reason."""
    from karat.report.build.generated import accepted, rejected, tried

    sampled = made.sampled
    document = {
        "output": output,
        "questions": len(testset),
        "new": len(made.questions),
        "digest": testset.digest,
        "wanted": dict(made.wanted),
        "accepted": accepted(made),
        "tried": tried(made),
        "rejected": rejected(made),
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
            for one in made.rejected
        ],
        "model": None if spent is None else dict(spent),
        "notes": list(made.notes),
    }
    return _unicode(document)


def question(found: Study, *, question: str, systems: Sequence[str] = ()) -> str:
    """One question of a run: its gold, and what each system found, scored and answered."""
    from karat.report.build.question import QuestionView

    view = QuestionView(found, question)
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


def frozen(found: DataclassInstance, path: str, note: str, *, stood: bool) -> str:
    """The version with its digest and counts, and the files."""
    return _unicode({"testset": path, "written": None if stood else note, **asdict(found)}) + "\n"


def index(about: Mapping[str, Any], place: str) -> str:
    """The index, its corpus, settings and problems."""
    names = ("karat", "settings", "corpus", "taken", "problems", "generation")
    return _unicode({"index": place, **{name: about[name] for name in names}})


def hits(about: Mapping[str, Any], found: Sequence[tuple[float, Chunk]]) -> str:
    """How it was searched, and the hits with all that is known of them."""
    rows = [{"rank": rank, "score": score, **_chunk(chunk)} for rank, (score, chunk) in enumerate(found, 1)]
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
            name: [{"rank": h.rank, "id": h.chunk, "score": h.score, "made_of": dict(h.made_of)} for h in found]
            for name, found in e.legs
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
