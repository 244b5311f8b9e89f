"""A small factory of evaluations, for what the renderers make of them."""

import numpy as np
import pytest

from karat.core.language import parse_all
from karat.core.measure import Measure, MeasureSpec
from karat.core.scores import Scores, Status
from karat.core.text.words import BANDS
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.decisions import verdicts
from karat.results.evaluation import Evaluation, InputInfo, Matching, Note
from karat.stats.summary import summarise, targets, usage

CUTS = "@{1,3,5,10,20}"
DEFAULT = ("Precision" + CUTS, "Recall" + CUTS, "F1" + CUTS, "Hit" + CUTS, "MRR" + CUTS, "nDCG" + CUTS, "MAP", "MRR")


def token_f1():
    return Measure(MeasureSpec("TokenF1", lambda answered: answered, stage="answer"))


def make(
    systems=("bm25",),
    n=60,
    measures=DEFAULT,
    *,
    by=(),
    undefined=2,
    failed=0,
    notes=(),
    answers=False,
    kinds=("factual", "scenario", "paraphrase"),
    dialect="karat",
    values=None,
    questions=None,
):
    """An evaluation of made-up scores; `values` (system x question x measure) may be given instead."""
    found = parse_all(measures) + ((token_f1(),) if answers else ())
    questions = questions or [
        Question(f"q{i}", f"question {i}?", answers=("yes",), gold=(Gold(id=f"d{i}"),), kind=kinds[i % len(kinds)])
        for i in range(n)
    ]
    n = len(questions)
    shape = (len(systems), n, len(found))
    status = np.zeros(shape, np.uint8)
    if values is None:
        rng = np.random.default_rng(7)
        skill = rng.random((1, n, 1)) * 0.7 + np.linspace(0, 0.25, len(systems))[:, None, None]
        values = np.clip(skill + rng.normal(0, 0.08, shape), 0, 1)
        for i, measure in enumerate(found):
            if measure.k:
                values[:, :, i] *= 0.5 + measure.k / 40
            if measure.spec.name in ("Hit", "AnyGold", "AllGold"):
                values[:, :, i] = values[:, :, i] > 0.3
            if measure.spec.unit == "count":
                values[:, :, i] = np.round(values[:, :, i] * 10)
    values = np.array(values, float)
    reasons = {}
    for count, kind, why, start in (
        (undefined, Status.undefined, "no relevant gold", 0),
        (failed, Status.failed, "timed out", undefined),
    ):
        for q in range(start, start + count):
            status[:, q], values[:, q] = kind, np.nan
            reasons.update({(s, q, m): why for s in range(shape[0]) for m in range(shape[2])})
    scores = Scores(
        tuple(systems), tuple(q.id for q in questions), found, values=values, status=status, reasons=reasons
    )
    testset = TestSet(questions, name="qa.jsonl")
    slices = {name: [q.slice_value(name) for q in questions] for name in by}
    summaries = summarise(scores, slices=slices, bands=BANDS)
    return Evaluation(
        testset=testset,
        scores=scores,
        summaries=summaries,
        taken=(
            InputInfo("qa.jsonl", "canonical", f"{n} questions, {len(kinds)} kinds"),
            *(InputInfo(f"{s}.run", "trec", f"{s}: {n * 20:,} hits for {n} questions") for s in systems),
        ),
        matching=Matching(
            matcher="doc",
            unit="document",
            why="gold names documents and hits carry a chunk suffix",
            share={s: 0.6 + 0.04 * i for i, s in enumerate(systems)},
            others={"exact": 0.0, "url": 0.0},
        ),
        targets=targets(summaries, {"F1@5": 1 / 3}),
        usage=tuple(filter(None, (usage(s, "seconds", np.linspace(0.01, 0.5, n)) for s in systems))),
        verdicts=verdicts(summaries, found, dialect=dialect),
        notes=tuple(notes),
        dialect=dialect,
        ranked={s: [[f"d{i}", "d0"] for i in range(n)] for s in systems},
        answers={s: ["yes"] * n for s in systems} if answers else {},
    )


@pytest.fixture(scope="session", name="make")
def make_fixture():
    return make


@pytest.fixture
def warning():
    return Note(
        "warning",
        "bm25: 2 of 60 questions have no result in the run; each that has gold scores 0.",
        "questions not in the run",
    )
