"""What holds for every registered engine, whatever is indexed."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.errors import InputError, UsageError
from karat.models import EMBEDDERS
from karat.retrieve import ENGINES, Engine

# Nouns that share no stem and that no list of stop words holds.
WORDS = ["harbor", "violin", "copper", "desert", "pepper", "glacier", "pillow", "falcon", "marble", "walnut", "saddle"]
CASES = [*((engine.name, {}) for engine in ENGINES), ("dense", {"ann": "hnsw"})]

a_text = st.lists(st.sampled_from([*WORDS, ".", "\n"]), max_size=6).map(" ".join)
some_texts = st.lists(a_text, min_size=1, max_size=14)
# Texts of as many words, none of them twice, so that no other text has as much of a text as it has itself.
even_texts = st.integers(1, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from(WORDS), min_size=size, max_size=size, unique=True),
        min_size=1,
        max_size=14,
        unique_by=frozenset,
    ).map(lambda texts: [" ".join(words) for words in texts])
)

every_engine = pytest.mark.parametrize(("name", "chosen"), CASES, ids=["-".join((n, *c.values())) for n, c in CASES])


@pytest.fixture(autouse=True, scope="module")
def one_embedder():
    """The default embedder, loaded once for all the engines that are built here."""
    make = EMBEDDERS.get("wordllama")
    EMBEDDERS._loaded["wordllama"] = cache(make)
    yield
    EMBEDDERS._loaded["wordllama"] = make


def build(name, chosen, texts):
    return ENGINES.get(name).build(texts, chosen, lambda *_: None)


def same(a, b):
    assert np.array_equal(a.offsets, b.offsets)
    assert np.array_equal(a.rows, b.rows)
    assert a.scores == pytest.approx(b.scores, abs=1e-6)


@every_engine
@given(texts=some_texts, queries=some_texts, depth=st.integers(1, 20))
def test_order_depth_and_rows(name, chosen, texts, queries, depth):
    found = build(name, chosen, texts).search(queries, depth)
    assert len(found) == len(queries)
    for rows, scores in found:
        assert len(rows) <= min(depth, len(texts))
        assert len(set(rows.tolist())) == len(rows)
        assert all(0 <= row < len(texts) for row in rows)
        assert np.isfinite(scores).all()
        pairs = list(zip((-scores).astype(np.float32).tolist(), (-rows).tolist(), strict=True))
        assert pairs == sorted(pairs)


@every_engine
@given(texts=even_texts)
def test_a_text_finds_itself_first_and_a_higher_score_is_better(name, chosen, texts):
    found = build(name, chosen, texts).search(texts, len(texts))
    for own, (rows, scores) in enumerate(found):
        assert rows[0] == own
        assert (scores[1:] < scores[0]).all()


@every_engine
@given(texts=even_texts, copies=st.integers(2, 30), depth=st.integers(1, 30))
def test_of_copies_the_last_rows_come_first_also_at_the_cut(name, chosen, texts, copies, depth):
    found = build(name, chosen, [*[texts[0]] * copies, *texts[1:]]).search(texts[:1], depth)
    assert found.rows[:copies].tolist() == list(range(copies - 1, -1, -1))[:depth]
    assert len(set(found.scores[:copies].tolist())) == 1


@every_engine
@given(texts=some_texts, queries=some_texts)
def test_a_batch_is_its_queries_one_by_one(name, chosen, texts, queries):
    engine = build(name, chosen, texts)
    together = engine.search(queries, 5)
    for i, query in enumerate(queries):
        same(engine.search([query], 5), together.take(np.array([i])))


@every_engine
@given(texts=some_texts, queries=some_texts, depth=st.integers(1, 8))
def test_a_shallow_search_is_the_top_of_a_deep_one(name, chosen, texts, queries, depth):
    engine = build(name, chosen, texts)
    same(engine.search(queries, depth), engine.search(queries, 100).top(depth))


@every_engine
@given(texts=some_texts, queries=some_texts)
def test_saved_and_loaded_it_finds_the_same_and_writes_the_same(name, chosen, texts, queries):
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / part for part in ("first", "second", "again")]
        for folder in folders:
            folder.mkdir()
        engine = build(name, chosen, texts)
        engine.save(folders[0])
        build(name, chosen, texts).save(folders[1])
        loaded = ENGINES.get(name).load(folders[0])
        loaded.save(folders[2])
        same(engine.search(queries), loaded.search(queries))
        assert loaded.settings == engine.settings
        written = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders]
        assert written[0] == written[1] == written[2]


@every_engine
@given(texts=some_texts, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))
def test_what_explains_a_score_sums_to_it(name, chosen, texts, query):
    engine = build(name, chosen, texts)
    if not hasattr(engine, "explain"):
        return
    for row, score in zip(*engine.search([query]).of(0), strict=True):
        assert sum(weight for _, weight in engine.explain(query, int(row))) == pytest.approx(score, abs=1e-5)


@every_engine
def test_nothing_to_search_for_and_nothing_to_search_in(name, chosen):
    for texts in ([""], ["", " \n"]):
        assert build(name, chosen, texts).search(["harbor", ""]).offsets.tolist() == [0, 0, 0]
    engine = build(name, chosen, WORDS)
    assert engine.search(["", " "]).offsets.tolist() == [0, 0, 0]
    assert engine.search([]).offsets.tolist() == [0]
    assert isinstance(engine, Engine)


@every_engine
def test_what_cannot_be_is_refused(name, chosen, tmp_path):
    with pytest.raises(UsageError, match="unknown setting 'nonsense'"):
        build(name, {"nonsense": 1}, WORDS)
    with pytest.raises(UsageError, match="1 or more, found 0"):
        build(name, chosen, WORDS).search(["harbor"], 0)
    with pytest.raises(InputError, match=str(tmp_path)):
        ENGINES.get(name).load(tmp_path)
