"""The rank of rows by counting what stands above them: the same as in a search of the whole index."""

import numpy as np
import pytest

from karat.retrieve.engines.bm25 import BM25Engine
from karat.retrieve.engines.dense import DenseEngine

SENTENCE = "night watch fuel tank litre pump valve motor radio room ice snow hut crew cook sled dog map"
WORDS = tuple(SENTENCE.split())


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(3)
    made = [" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(400)]
    return [*made, *made[:60], ""]  # equal texts, whose scores tie; one without a term or a vector


@pytest.fixture(scope="module", params=["lucene", "okapi", "bm25plus", "dense"])
def engine(request, texts):
    if request.param == "dense":
        return DenseEngine.build(texts, {}, lambda *said: None)
    return BM25Engine.build(texts, {"variant": request.param}, lambda *said: None)


def test_it_is_the_rank_of_a_whole_search(engine, texts):
    rng = np.random.default_rng(5)
    for query in ("night watch", "fuel fuel tank", "the dog and the sled", texts[7]):
        whole = engine.search([query], len(texts))
        for _ in range(40):
            rows = np.unique(rng.integers(0, len(texts), rng.integers(1, 4)))
            assert engine.ranks_of([query], [rows]) == whole.ranks_of(np.array([0]), [rows])
        for rank, row in enumerate(whole.rows[:5], 1):
            assert engine.ranks_of([query], [np.array([row])]).tolist() == [rank]


def test_many_at_once_are_each_alone(engine, texts):
    rng = np.random.default_rng(6)
    queries = [" ".join(rng.choice(WORDS, 3)) for _ in range(150)] + ["", "zzz"]
    rows = [np.unique(rng.integers(0, len(texts), rng.integers(0, 4))) for _ in queries]
    alone = [engine.ranks_of([query], [some])[0] for query, some in zip(queries, rows, strict=True)]
    assert engine.ranks_of(queries, rows).tolist() == alone


def test_what_is_never_found_has_none(engine, texts):
    assert engine.ranks_of(["night watch", ""], [np.array([len(texts) - 1]), np.array([0])]).tolist() == [0, 0]
