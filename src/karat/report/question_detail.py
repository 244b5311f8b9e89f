"""Question detail: all that a run knows of one question as one plain object, for a page to lay out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import clean
from karat.report.build.steps import step_words
from karat.report.explored_answers import answer_entry, plain, wording
from karat.report.labels import LABELS
from karat.results import serial

if TYPE_CHECKING:
    from karat.core.docs import Chunk
    from karat.core.types import Gold
    from karat.report.build.question import QuestionView
    from karat.results.study import StudyHit

LONGEST = 20_000  # characters of a hit, and of an answer
_VERDICT = ("measure", "value", "by", "reason", "repeats", "claims")
_CLAIM = ("claim", "verdict", "contexts", "reason")
_STEP = ("name", "about", "under")
_SENTENCE = ("text", "support", "context", "passage", "supported")


def question_detail(view: QuestionView, systems: Sequence[str] = ()) -> dict[str, Any]:
    """Gold, references and history of a question, and what each of `systems`, or every one, found and answered."""
    asked = view.question
    detail = {
        "id": asked.id,
        "n": view.number,
        "text": plain(asked.text),
        "kind": asked.kind,
        "tags": dict(asked.tags),
        "answerable": asked.answerable,
        "answers": [plain(answer) for answer in asked.answers],
        "gold": [_gold(gold) for gold in asked.gold],
        "history": asked.history,
        "conversation": asked.conversation,
        "turn": asked.turn,
        "k": view.study.k,
        "measures": [measure.name for measure in view.view.measures],
        "systems": [_system(view, system) for system in view.named(systems) or view.systems],
    }
    fields: dict[str, Any] = serial.plain(detail)
    return fields


def failure_words(label: str, detail: str = "") -> dict[str, str]:
    """A failure's label in words; one that is not known stands for itself."""
    words = next((words for name, words in LABELS.items() if name == label), None)
    if words is None:
        return {"label": label, "title": clean(label, 80), "meaning": "", "detail": detail}
    return {"label": label, "title": words.title, "meaning": words.meaning, "next": words.next, "detail": detail}


def hit_entry(rank: int, id_: str, score: float | None, chunk: Chunk | None = None) -> dict[str, Any]:
    """A hit, of which the chunk may not be known."""
    text = plain(chunk.text) if chunk is not None else None
    return {
        "rank": rank,
        "id": id_,
        "doc": chunk.doc if chunk is not None else None,
        "page": ", ".join(map(str, chunk.pages)) or None if chunk is not None else None,
        "printed": ", ".join(map(str, chunk.labels)) or None if chunk is not None else None,
        "title": chunk.title if chunk is not None else None,
        "url": chunk.url if chunk is not None else None,
        "score": score,
        "text": text if text is None else text[:LONGEST],
        "cut": len(text) if text is not None and len(text) > LONGEST else None,
        "holds": [],
        "engines": {},
    }


def _gold(gold: Gold) -> dict[str, Any]:
    return {
        "label": gold.label, "grade": gold.grade, "quote": None if gold.quote is None else plain(gold.quote),
        "doc": gold.doc, "page": gold.page, "chunk": gold.chunk or gold.id, "url": gold.url,
    }  # fmt: skip


def _system(view: QuestionView, system: str) -> dict[str, Any]:
    failure = view.failure(system)
    return {
        "system": system,
        "scores": _scores(view, system),
        "failure": None if failure is None else failure_words(failure.label, failure.detail),
        "knows_gold": view.knows_gold(system),
        "first_gold": view.first_gold(system),
        "hits": [_hit(hit) for hit in view.hits(system)] if system in view.study.hits else None,
        "answer": _answer(view, system),
        "steps": _steps(view, system),
    }


def _steps(view: QuestionView, system: str) -> list[dict[str, Any]] | None:
    """The calls of a system in words; None where they are not known."""
    steps = view.steps(system)
    return None if steps is None else [dict(zip(_STEP, step_words(step), strict=True)) for step in steps]


def _scores(view: QuestionView, system: str) -> dict[str, Any]:
    """Every measure with its value, or why there is none."""
    scores, status = view.study.evaluation.scores, view.view.status
    row, values = scores.systems.index(system), view.scores(system)
    return {
        name: {
            "value": value if value is not None and np.isfinite(value) else None,
            "status": Status(int(status[row, view.number, m])).name,
            "reason": scores.reason(row, view.number, m),
        }
        for m, (name, value) in enumerate(values.items())
    }


def _hit(hit: StudyHit) -> dict[str, Any]:
    engines = {leg: [rank, score] for leg, (rank, score) in hit.legs.items()}
    return {**hit_entry(hit.rank, hit.chunk.id, hit.score, hit.chunk), "holds": hit.holds, "engines": engines}


class _Contexts:
    """The contexts of one answer, once each."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str | None], int] = {}

    def context(self, question: int, id_: str, text: str | None) -> int:
        return self.entries.setdefault((id_, text), len(self.entries))


def _answer(view: QuestionView, system: str) -> dict[str, Any] | None:
    """What a system answered, and all that is known of that."""
    answers = view.view.answers
    answer = answers.of(system, view.question.id) if system in answers.systems else None
    if answer is None:
        return None
    pool = _Contexts()
    entry = answer_entry(answers, system, view.number, pool)
    texts = [{"id": id_, "text": None if text is None else plain(text)[:LONGEST]} for id_, text in pool.entries]
    return {
        "text": wording(answer.text, LONGEST),
        "error": entry.get("error"),
        "declined": answer.declined,
        "about": entry.get("about", ""),
        "contexts": [texts[place] if place is not None else None for place in entry.get("contexts", ())],
        "citations": list(answer.used),
        "sentences": _named(_SENTENCE, entry.get("sentences", ())),
        "verdicts": [
            {**verdict, "claims": _named(_CLAIM, verdict["claims"])}
            for verdict in _named(_VERDICT, entry.get("verdicts", ()))
        ],
        "missing": [claim for claim in entry.get("missing", ()) if isinstance(claim, str)],
    }


def _named(names: Sequence[str], rows: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Rows by name; a number at their end, which counts those left out, is none."""
    return [dict(zip(names, row, strict=True)) for row in rows if isinstance(row, list)]
