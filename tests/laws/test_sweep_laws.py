"""A sweep gives, for every configuration, the very scores of that system run alone: ties, pages, repeats, budgets."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.core.docs import Chunk, Chunks
from karat.core.ranked import Ranked
from karat.core.types import Gold, Question, TestSet
from karat.experiment.inputs import resolved
from karat.experiment.score import evaluation_of
from karat.experiment.settings import Choices, MatchSettings
from karat.experiment.sweep import sweep
from karat.experiment.sweep.grid import Grid
from karat.systems.index import Index
from karat.systems.system import System

CHUNKS = 14
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0, 1.0, 2.0, -1.0, 3.3333333, 0.1, 1e-9])
MEASURES = (
    *(f"{name}@{{1,2,3,5,9}}" for name in ("Precision", "Recall", "F1", "Hit", "MRR", "nDCG")),
    "MRR", "MAP", "Precision", "Retrieved", "nDCG", "bpref", "Judged@4", "AllGold",
)  # fmt: skip
BUDGETS = ("Recall@30t", "F1@12t", "nDCG@25t")


class Leg:
    """An engine that finds what it is told, the best first."""

    def __init__(self, ranked):
        self._ranked = ranked

    def search(self, queries, depth=100):
        return self._ranked.take(np.array([int(q[1:]) for q in queries])).top(depth)


@st.composite
def legs(draw, questions):
    query, rows, scores = [], [], []
    for q in range(questions):
        found = draw(st.lists(st.integers(0, CHUNKS - 1), unique=True, max_size=CHUNKS))
        query += [q] * len(found)
        rows += found
        scores += draw(st.lists(SCORES, min_size=len(found), max_size=len(found)))
    return Ranked.ordered(questions, np.array(query, np.int64), np.array(rows, np.int64), np.array(scores, np.float64))


@st.composite
def worlds(draw, kind):
    """Chunks on pages (some on two, some sharing one), two legs over them and gold of one kind or several."""
    count = draw(st.integers(1, 4))
    chunks = []
    for i in range(CHUNKS):
        first = draw(st.integers(1, 5))
        pages = (first, first + 1) if draw(st.booleans()) else (first,)
        text = f"text number w{i} of it w{draw(st.integers(0, CHUNKS - 1))} stands here"
        sized = draw(st.sampled_from([None, 1, 5, 8, 20]))
        chunks.append(Chunk(f"d{i % 2}#{i:02}", f"d{i % 2}", text, pages=pages, tokens=sized))
    table = Chunks.ordered(chunks)
    golds = {
        "chunk": st.builds(
            lambda i, g: Gold(chunk=table[i].id, grade=g), st.integers(0, CHUNKS - 1), st.integers(-1, 3)
        ),
        "page": st.builds(
            lambda d, p, g: Gold(doc=f"d{d}", page=str(p), grade=g),
            st.integers(0, 1), st.integers(1, 7), st.integers(0, 2),
        ),
        "doc": st.builds(lambda d, g: Gold(doc=f"d{d}", grade=g), st.integers(0, 2), st.integers(0, 2)),
        "quote": st.builds(lambda i: Gold(quote=f"w{i}"), st.integers(0, CHUNKS)),
    }  # fmt: skip
    one = st.one_of(*golds.values()) if kind == "mixed" else golds[kind]
    held = [draw(st.lists(one, max_size=4)) for _ in range(count)]
    held[0] = [*held[0], Gold(chunk=table[0].id) if kind == "chunk" else draw(one)]
    testset = TestSet([Question(f"id{q}", f"q{q}", gold=tuple(gold)) for q, gold in enumerate(held)], name="made")
    index = Index({"settings": {"engines": {"dense": {}, "bm25": {}}}, "corpus": {"docs": 2, "chunks": CHUNKS}})
    index.built.update(dense=Leg(draw(legs(count))), bm25=Leg(draw(legs(count))))
    index.__dict__.update(chunks=table, docs=())
    return testset, index


GRIDS = [
    Grid.of(
        alpha="0,0.3,0.5,0.7,1", normalise="minmax,zscore,none", fusion="weighted,rrf,isr", rrf_k="0,2,60",
        depth="9,20",
    ),
    Grid.of(alpha="0.2,0.5", fusion="weighted,combsum,combmnz,rrf", depth="9,12", engines="bm25"),
]  # fmt: skip


@pytest.mark.parametrize("repeats", ["once", "count", "collapse"])
@pytest.mark.parametrize("kind", ["chunk", "page", "doc", "quote", "mixed"])
@settings(max_examples=settings.default.max_examples // 3, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_sweep_gives_the_scores_of_each_system_run_alone(kind, repeats, data):
    testset, index = data.draw(worlds(kind))
    grid = data.draw(st.sampled_from(GRIDS))
    measures = MEASURES + data.draw(st.sampled_from([(), BUDGETS]))
    matching = MatchSettings(repeats=repeats, allow_zero_overlap=True)
    swept = sweep(testset, index, grid, measures=measures, main="F1@5", matching=matching)
    choices = Choices(measures=tuple(m.name for m in swept.scores.measures), matching=matching)
    resolution = resolved(testset, index, choices, lambda step: None)
    points = swept.parts[0].points
    texts = [question.text for question in testset]
    runs = [
        System(point.system, index).search(texts, swept.length).run(point.name, testset.ids) for point in points
    ]  # fmt: skip
    alone = evaluation_of(testset, runs, choices, resolution=resolution).scores
    assert swept.scores.systems == alone.systems
    assert swept.scores.measures == alone.measures
    assert np.array_equal(swept.scores.status, alone.status)
    assert swept.scores.reasons == alone.reasons
    assert np.array_equal(swept.scores.values, alone.values, equal_nan=True)
    for point, run in zip(points, runs, strict=True):
        again = swept.run(point.name)
        assert again.doc_list == run.doc_list
        assert np.array_equal(again.scores, run.scores)
        assert again.fields == run.fields


def test_every_configuration_of_these_grids_is_another():
    for grid in GRIDS:
        points, _ = grid.points(9)
        assert len({point.name for point in points}) == len(points) == len({point.system for point in points})
    assert len(GRIDS[0].points(9)[0]) == 2 + 3 * 3 * 2 + 3 * 2 + 2
