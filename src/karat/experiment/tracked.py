"""Tracked: a run as it is sent to a tracker, without the text of any question, document or answer unless asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from karat.experiment._costs import study_costs
from karat.io.writing import Content
from karat.report import TRACKERS, TrackedRun, TrackedSystem, results
from karat.results.serial import plain

if TYPE_CHECKING:
    from karat.results.evaluation import Evaluation
    from karat.results.study import Study


def send(study: Study, tracker: str, *, run: str = "", place: str | None = None, with_texts: bool = False) -> str:
    """Send a study to a tracker; what was done, in a sentence. `run` is its id: one in no folder has its digest."""
    return TRACKERS.get(tracker).send(tracked(study, run=run, with_texts=with_texts), place)


def tracked(study: Study, *, run: str = "", with_texts: bool = False) -> TrackedRun:
    """A study as it is sent. `with_texts` adds rows.csv, report.html and results.json, and texts to rows."""
    from importlib.metadata import version

    evaluation = study.evaluation
    settings = {one.name: one.settings for one in study.configurations}
    whole = [summary for summary in evaluation.summaries if summary.slice is None]
    facts = {
        "dialect": evaluation.dialect,
        "testset": evaluation.testset.name,
        "testset_digest": evaluation.testset.digest,
        "version": str(study.manifest.get("karat") or version("karat")),
        "verdict": study.choice.sentences[0] if study.choice is not None and study.choice.sentences else "",
    }
    return TrackedRun(
        id=run or f"{study.name}-{_digest(evaluation)[:12]}",
        name=study.name,
        systems=[
            TrackedSystem(
                name=name,
                settings=settings.get(name, {}),
                means=[mean for mean in whole if mean.system == name],
                usage=[usage for usage in evaluation.usage if usage.system == name],
                verdict=evaluation.verdicts.get(name, ""),
            )
            for name in evaluation.scores.systems
        ],
        facts=facts,
        made=lambda: {name: _bytes(content) for name, content in _files(study, with_texts)},
        rows=lambda: _rows(study, with_texts),
    )


def _files(study: Study, with_texts: bool) -> Iterator[tuple[str, Content]]:
    """What is sent as files, by name."""
    from karat.experiment.outputs import html
    from karat.report.build.aggregates import document
    from karat.report.outputs import csv
    from karat.report.render import markdown

    yield "summary.csv", csv.summary(study.evaluation)
    yield "report.md", markdown.render(document(study))
    if with_texts:
        yield "rows.csv", csv.parts(study.evaluation)
        yield "report.html", html(study)
        yield "results.json", results.parts(study)


def _bytes(content: Content) -> bytes:
    parts: Iterable[str | bytes] = (content,) if isinstance(content, str | bytes) else content
    return b"".join(part.encode() if isinstance(part, str) else part for part in parts)


def _rows(study: Study, with_texts: bool) -> Iterator[Mapping[str, Any]]:
    """A dict for each system and question: ids, scores, seconds of the whole and of its parts, tokens and cost."""
    from karat.report.outputs.json import question_rows

    evaluation = study.evaluation
    number = {question: place for place, question in enumerate(evaluation.scores.questions)}
    texts = {question.id: question.text for question in evaluation.testset}
    costs = study_costs(study)
    unnamed = {system for system in evaluation.ranked if not with_texts and _has_texts_for_ids(study, system)}
    for row in question_rows(evaluation):
        system, question = row["system"], row["question"]
        place, seconds = number[question], study.seconds.get(system)
        answer = study.answers.get(system, {}).get(question)
        usage = {cost: values[place] for cost, values in costs[system].items()}
        usage["seconds_retrieve"] = seconds[place] if seconds else None
        usage["seconds_answer"] = None if answer is None else answer.seconds
        if with_texts:
            row["text"] = texts.get(question)
        else:
            row.pop("answer", None)
            row.pop("steps", None)
            if question == texts.get(question):
                row["question"] = _sign(question)
            if system in unnamed:
                row["ranked"] = list(map(_sign, row["ranked"]))
            for score in row["scores"].values():
                score.pop("details", None)
        yield plain({**row, "usage": {name: value for name, value in usage.items() if value is not None}})


def _has_texts_for_ids(study: Study, system: str) -> bool:
    """Whether hits of a system have no ids; studies of an earlier version say it by the hits that they show alone."""
    shown = study.hits.get(system, {}).values()
    return system in study.texts_for_ids or any(hit.chunk.id == hit.chunk.text for hits in shown for hit in hits)


def _sign(text: str) -> str:
    """What stands for a text that serves as an id: the same for the same text."""
    return f"text:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _digest(evaluation: Evaluation) -> str:
    """Of a scoring in no folder: of its test set and every score."""
    scores = evaluation.scores
    names = [scores.systems, scores.questions, [m.name for m in scores.measures], evaluation.testset.digest]
    content = hashlib.sha256(json.dumps(plain(names)).encode())
    content.update(scores.status.tobytes())
    content.update(scores.values.tobytes())
    return content.hexdigest()
