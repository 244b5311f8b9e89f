"""BM25 against rank_bm25 and bm25s: the same tokens, the same scores of every document."""

import logging

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from karat.retrieve.engines.bm25 import BM25Engine

WORDS = [f"w{i}" for i in range(9)]
DOCS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=40).filter(any)
QUERY = st.lists(st.sampled_from([*WORDS, "unknown"]), min_size=1, max_size=7)
# with b = 1 the peers divide 0 by 0 for an empty document
CONSTANTS = st.tuples(st.floats(0.1, 3), st.floats(0, 0.95), st.floats(0.1, 2))
RANK_BM25 = {"okapi": BM25Okapi, "rank_bm25l": BM25L, "bm25plus": BM25Plus}
BM25S = {"lucene": "lucene", "robertson": "robertson", "atire": "atire", "bm25l": "bm25l", "bm25plus": "bm25+"}


@pytest.fixture(autouse=True, scope="module")
def _quiet():
    logging.getLogger("bm25s").setLevel(logging.WARNING)


def compare(docs, query, theirs, **asked):
    """Every document that holds a term of the query is found with the peer's score, in order; no other is found."""
    engine = BM25Engine.build([" ".join(doc) for doc in docs], {"terms": "plain", **asked}, lambda *_: None)
    rows, scores = engine.search([" ".join(query)], depth=len(docs)).of(0)
    assert sorted(rows.tolist()) == [i for i, doc in enumerate(docs) if set(doc) & set(query)]
    np.testing.assert_allclose(scores, theirs[rows], rtol=1e-6, atol=1e-6)
    exact = scores.astype(np.float32)
    assert np.lexsort((-rows, -exact)).tolist() == list(range(len(rows)))
    for row in {0, len(docs) - 1}:
        assert sum(weight for _, weight in engine.explain(" ".join(query), row)) == pytest.approx(theirs[row], abs=1e-6)


@pytest.mark.parametrize("variant", RANK_BM25)
@given(docs=DOCS, query=QUERY, constants=CONSTANTS)
def test_scores_of_rank_bm25(variant, docs, query, constants):
    k1, b, extra = constants
    name = "epsilon" if variant == "okapi" else "delta"
    peer = RANK_BM25[variant](docs, k1=k1, b=b, **{name: extra})
    compare(docs, query, peer.get_scores(query), variant=variant, k1=k1, b=b, **{name: extra})


@pytest.mark.parametrize("variant", BM25S)
@given(docs=DOCS, query=QUERY, constants=CONSTANTS)
def test_scores_of_bm25s(variant, docs, query, constants):
    k1, b, delta = constants
    peer = bm25s.BM25(k1=k1, b=b, delta=delta, method=BM25S[variant], dtype="float64")
    peer.index(docs, show_progress=False)
    extra = {"delta": delta} if variant in ("bm25l", "bm25plus") else {}
    compare(docs, query, peer.get_scores(query), variant=variant, k1=k1, b=b, **extra)


@pytest.mark.parametrize("variant", RANK_BM25 | BM25S)
def test_default_constants_are_the_peers(variant):
    docs = [["night", "watch", "watch"], ["night"], [], ["watch", "bell", "bell", "bell"], ["bell"]]
    query = ["watch", "bell", "bell"]
    if variant in RANK_BM25:
        theirs = RANK_BM25[variant](docs).get_scores(query)
    else:
        peer = bm25s.BM25(method=BM25S[variant], dtype="float64")
        peer.index(docs, show_progress=False)
        theirs = peer.get_scores(query)
    compare(docs, query, theirs, variant=variant)


def test_a_term_in_every_document_and_a_term_in_most():
    docs = [["the", "a"], ["the", "a", "b"], ["the", "a"], ["the"]]
    for variant, peer in RANK_BM25.items():
        compare(docs, ["the", "a", "b", "the"], peer(docs).get_scores(["the", "a", "b", "the"]), variant=variant)
    assert BM25Okapi(docs).idf["the"] < 0
