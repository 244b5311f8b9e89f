"""Writing a run: processor seconds of each output for 1,000 and 4,000 questions, and how they grow.

The study is made of synthetic runs with answers, contexts and failures, so nothing is searched. The exponent is that of
seconds = c * questions ** exponent: 1 is linear, 2 is quadratic. Processor time, so that other work on the machine
disturbs little.
"""

from __future__ import annotations

import gc
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from karat.core.run import Run
from karat.core.types import Answer, Gold, Question, TestSet
from karat.experiment import outputs
from karat.experiment.answering import rows_of
from karat.experiment.rendering import _by_ending, export_to
from karat.experiment.settings import Choices, MatchSettings
from karat.experiment.study import Plan, StudySystem, study_of
from karat.report import results, tables
from karat.report.build import evaluation as evaluation_report
from karat.report.build import study as study_report
from karat.report.charts import draw
from karat.report.render import console
from karat.report.render.html import render
from karat.results.serial import load_study, save_study
from karat.results.study import Configuration, Failure, Study

QUESTIONS = (1_000, 4_000)
SYSTEMS, DEPTH, GIVEN = 6, 10, 3
ROUNDS = 3
GOAL = 1.1
KINDS = ("factual", "scenario", "paraphrase")


def system(number: int, testset: TestSet, of: int = SYSTEMS, *, answered: bool = True) -> StudySystem:
    """A system that finds the gold of a question among its neighbours, and answers every other question right."""
    rng = np.random.default_rng(number)
    n = len(testset)
    places = (np.arange(n)[:, None] + np.argsort(rng.random((n, 2 * DEPTH)), axis=1)[:, :DEPTH]) % n
    ids = [f"d{place}" for place in places.ravel()]
    texts = [f"This is document {id_}. It says that the answer is {id_[1:]}." for id_ in ids]
    answers = {}
    for q, qid in enumerate(testset.ids if answered else ()):
        given = slice(q * DEPTH, q * DEPTH + GIVEN)
        said = f"The answer is {q + rng.integers(2)}."
        answers[qid] = Answer(
            qid,
            said,
            contexts=tuple(texts[given]),
            model="model",
            seconds={"retrieve": 0.01, "answer": 0.2},
            tokens=100,
            cost_usd=0.001,
            used=tuple(ids[given]),
        )
    offsets = np.arange(0, n * DEPTH + 1, DEPTH, dtype=np.int64)
    scores = np.tile(np.linspace(1, 0.1, DEPTH), n)
    run = Run(
        f"system {number}",
        question_ids=testset.ids,
        offsets=offsets,
        _docs=ids,
        _scores=scores,
        fields={"text": texts},
        answers=answers,
    )
    settings = {"alpha": number / (of - 1)}
    return StudySystem(
        configuration=Configuration(run.name, settings, "a synthetic system"), run=run, seconds=[0.01] * n
    )


def systems_of(n: int, count: int = SYSTEMS, *, answered: bool = True) -> tuple[TestSet, list[StudySystem]]:
    questions = [
        Question(
            f"q{i}",
            f"What is the answer to {i}?",
            answers=(f"The answer is {i}",),
            gold=(Gold(id=f"d{i}"),),
            kind=KINDS[i % 3],
            tags={"area": f"area {i % 40}"},
        )
        for i in range(n)
    ]
    testset = TestSet(questions, name="synthetic")
    return testset, [system(number, testset, count, answered=answered) for number in range(count)]


def study(testset: TestSet, systems: list[StudySystem]) -> Study:
    manifest = {"karat": "", "spec": {}, "inputs": [], "seed": 0}
    found = study_of(
        "writing",
        testset,
        systems,
        Plan(Choices(matching=MatchSettings(match="exact"), by=("kind",))),
        manifest=manifest,
    )
    failures = tuple(
        Failure(c.name, qid, "below_k", detail="The gold stands at rank 9.", rank=9)
        for c in systems
        for qid in testset.ids[::3]
    )
    return replace(found, failures=failures)


def processor_seconds(write: Callable[[], object]) -> float:
    """The least of several rounds: what else the machine does only adds."""
    rounds = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        write()
        rounds.append(time.process_time() - start)
    return min(rounds)


def writers(made: Study, runs: list[Run], folder: Path) -> dict[str, Callable[[], object]]:
    """Every output of a run, by the name of its file."""
    found: dict[str, Callable[[], object]] = {}
    for ending, output in _by_ending().items():
        if ending != ".json":  # a run's results.json is another
            found |= {
                name: lambda write=write: write(made.evaluation)  # type: ignore[misc]
                for name, write in output.files.items()
            }
    return found | {
        "results.json": lambda: results.render(made),
        "comparisons.csv": lambda: tables.pairs(made.pairs),
        "times.parquet": lambda: outputs._times(made),
        "answers.jsonl": lambda: outputs._lines(rows_of(runs, made.evaluation.testset)),
        "judgements.jsonl": lambda: outputs._lines(outputs._judgements(made)),
        "charts": lambda: draw(made),
        "report.html": lambda: render(study_report.document(made)),
        "study.json.gz": lambda: save_study(made, folder),
        "study.json.gz, read": lambda: load_study(folder),
        "console": lambda: console.render(evaluation_report.document(made.evaluation)),
        "console of a run": lambda: console.render(study_report.document(made)),
        "--export liverag": lambda: export_to("liverag", made.evaluation, runs, folder),
        "--export trec": lambda: export_to("trec", made.evaluation, runs, folder),
    }


def measured(n: int) -> dict[str, float]:
    testset, systems = systems_of(n)
    made = study(testset, systems)
    with tempfile.TemporaryDirectory() as folder:
        several = writers(made, [c.run for c in systems], Path(folder))
        return {name: processor_seconds(write) for name, write in several.items()}


def main(sizes: tuple[int, int] = QUESTIONS) -> None:
    few, many = sizes
    measured(20)  # imports and first calls are no part of it
    short, long = measured(few), measured(many)
    print(f"{'':4} {'output':<24} {few:>9,} q {many:>9,} q  exponent  (goal at most {GOAL:g})")
    for name, seconds in long.items():
        exponent = math.log(seconds / max(short[name], 1e-6)) / math.log(many / few)
        mark = "ok" if exponent <= GOAL + 0.005 else "MISS"
        print(f"{mark:4} {name:<24} {short[name]:9.3f} s {seconds:9.3f} s  {exponent:8.2f}")
