"""What answering adds to retrieval on the demo, and how good the offline answerers are on its test half.

Speed: all questions of the demo, top 5 chunks of the default hybrid, then the same with `extractive` answers: questions
per second of both, in turn. Once as a first run has it, nothing read or embedded before, and once with 2,000 questions
over the same chunks, as a sweep has it.

Goodness: TokenF1 of `extractive` and `reciter` on both halves, their difference with its 95% interval, and how well
refusals meet the unanswerable questions. The threshold was chosen on the dev half, so only the test half counts.
`extractive` quotes whole sentences, which holds TokenF1 down however well it chooses: the goal is to be better than
`reciter`. Refusals have no goal and are printed as they are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._race import race

if TYPE_CHECKING:
    from karat.core.asked import AnswerRequest
    from karat.core.models import Models
    from karat.core.types import Answer, TestSet
    from karat.systems.retrieved import Retrieved
    from karat.systems.system import System

CONTEXTS = 5
MANY = 2000


def asked_of(testset: TestSet, found: Retrieved) -> list[AnswerRequest]:
    from karat.core.asked import AnswerRequest, Context

    return [
        AnswerRequest(
            question.id,
            question.text,
            tuple(Context(chunk.id, chunk.text, chunk.title or "", score=score) for score, chunk in found.hits(i)),
        )
        for i, question in enumerate(testset)
    ]


def answers(name: str, asked: Sequence[AnswerRequest], models: Models) -> list[Answer]:
    from karat.answer import AnswererSettings, answerer_named

    made: dict[str, Answer] = {}
    answerer_named(AnswererSettings(name, contexts=CONTEXTS), models).answer(
        asked, lambda one, answer: made.__setitem__(one.id, answer)
    )
    return [made[one.id] for one in asked]


def speed(label: str, system: System, testset: TestSet, models: Models, rounds: int) -> None:
    texts = [question.text for question in testset]

    def retrieve() -> Retrieved:
        return system.search(texts, CONTEXTS)

    def answer() -> list[Answer]:
        return answers("extractive", asked_of(testset, retrieve()), models)

    seconds = race({"retrieval": retrieve, "with answers": answer}, rounds=rounds)
    rates = {name: len(texts) / spent for name, spent in seconds.items()}
    added = 1000 * (seconds["with answers"] - seconds["retrieval"]) / len(texts)
    print(
        f"{label}: retrieval {rates['retrieval']:.0f} questions a second, with extractive answers "
        f"{rates['with answers']:.0f}; {added:.1f} ms more a question, "
        f"{seconds['with answers'] / seconds['retrieval']:.1f}x the time"
    )


def goodness(half: str, testset: TestSet, asked: Sequence[AnswerRequest], models: Models) -> None:
    from karat.core.answered import AnswerTable
    from karat.core.language import parse
    from karat.core.text.refusals import declines
    from karat.measures.compute import compute
    from karat.stats.compare import pairs

    names = ("reciter", "extractive")
    texts = {name: [answer.text for answer in answers(name, asked, models)] for name in names}
    questions = list(testset)
    answered = AnswerTable(
        names,
        tuple(question.id for question in questions),
        texts=[question.text for question in questions] * 2,
        answers=[*texts["reciter"], *texts["extractive"]],
        references=[question.answers for question in questions] * 2,
        contexts=[None] * len(questions) * 2,
        answerable=[question.answerable for question in questions] * 2,
    )
    values = compute([parse("TokenF1")], names, answered.questions, answered=answered).values[:, :, 0]
    reciter, extractive = np.nanmean(values, axis=1)
    (pair,) = pairs("TokenF1", names, values)
    low, high = pair.low or 0.0, pair.high or 0.0
    mark = "ok  " if low > 0 else "MISS"
    print(
        f"{mark} {half} half, TokenF1: extractive {extractive:.3f}, reciter {reciter:.3f}; difference "
        f"{pair.difference:+.3f}, 95% interval {low:+.3f} to {high:+.3f} (goal: above 0), n = {pair.n}"
    )
    refused = np.array([declines(text or "") for text in texts["extractive"]])
    vain = np.array([not question.answerable for question in questions])
    right = int((refused & vain).sum())
    precision, recall = right / max(int(refused.sum()), 1), right / max(int(vain.sum()), 1)
    f1 = 2 * right / max(int(refused.sum() + vain.sum()), 1)
    print(
        f"     {half} half, refusals: precision {precision:.2f}, recall {recall:.2f}, F1 {f1:.2f}; "
        f"{right} of {int(vain.sum())} unanswerable, {int(refused.sum())} refused of {len(questions)}"
    )


def main() -> None:
    from karat import load_testset
    from karat.core.models import Models
    from karat.core.types import Question, TestSet
    from karat.experiment.demo import demo_files, half_of
    from karat.models import EmbedderSettings, embedder_named
    from karat.systems.index import index
    from karat.systems.settings import SystemSettings
    from karat.systems.system import System

    embedder = embedder_named(EmbedderSettings())
    models = Models(embedder=lambda: embedder, embedder_label="wordllama")
    with tempfile.TemporaryDirectory() as place, demo_files() as folder:
        system = System(SystemSettings(), index(folder / "docs", Path(place) / "demo.index"))
        testset = load_testset(folder / "questions.jsonl")
        speed("the demo's 160 questions", system, testset, models, rounds=5)
        repeated = [testset.questions[i % len(testset)] for i in range(MANY)]
        many = TestSet([Question(f"{i}", f"{question.text} {i}") for i, question in enumerate(repeated)])
        speed(f"{MANY:,} questions on the same chunks", system, many, models, rounds=1)
        for half in ("dev", "test"):
            questions = half_of(testset, half)
            found = system.search([question.text for question in questions], CONTEXTS)
            goodness(half, questions, asked_of(questions, found), models)
