import math

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.retrieve import ENGINES
from karat.retrieve._bm25.variants import VARIANTS
from karat.retrieve.engines.bm25 import BM25Engine


def build(texts, **settings):
    return BM25Engine.build(texts, {"terms": "plain", **settings}, lambda *_: None)


def found(engine, query, depth=100):
    rows, scores = engine.search([query], depth).of(0)
    return list(zip(rows.tolist(), scores.tolist(), strict=True))


def test_lucene_by_hand():
    engine = build(["a b", "a a c", "c", "d d"])
    # "a": 2 of 4 rows hold it, so idf = ln(1 + 2.5 / 2.5); lengths 2, 3, 1, 2 average 2
    idf = math.log(2)
    first = idf * 1 / (1 + 1.5 * (0.25 + 0.75 * 2 / 2))
    second = idf * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2))
    assert found(engine, "a") == [(1, pytest.approx(second)), (0, pytest.approx(first))]
    assert engine.settings == {"variant": "lucene", "k1": 1.5, "b": 0.75, "terms": "plain", "language": "auto"}


def test_okapi_floor_by_hand():
    engine = build(["a b", "a c", "a d"], variant="okapi", epsilon=0.5)
    # "a" stands in all three: idf ln(.5/3.5) < 0 becomes half the average idf; b, c, d have ln(2.5/1.5)
    rare, common = math.log(2.5 / 1.5), math.log(0.5 / 3.5)
    floor = 0.5 * (3 * rare + common) / 4
    assert floor < 0
    assert found(engine, "a") == [(row, pytest.approx(floor)) for row in (2, 1, 0)]
    assert found(engine, "a b") == [
        (0, pytest.approx(floor + rare)),
        (2, pytest.approx(floor)),
        (1, pytest.approx(floor)),
    ]


def test_a_term_counts_as_often_as_the_query_has_it():
    engine = build(["a b", "b c", "c"])
    once, twice = dict(found(engine, "a b")), dict(found(engine, "a b a"))
    alone = dict(found(engine, "a"))
    assert twice[0] == pytest.approx(once[0] + alone[0])
    assert twice[1] == pytest.approx(once[1])


def test_a_row_without_a_term_of_the_query_is_not_found_in_any_variant():
    for variant in VARIANTS:
        engine = build(["a b", "c", "", "b"], variant=variant)
        assert {row for row, _ in found(engine, "a b")} == {0, 3}
        assert found(engine, "unknown") == []
        assert found(engine, "") == []


def test_a_row_that_scores_zero_is_found():
    engine = build(["a", "a b"], variant="robertson")
    assert found(engine, "a") == [(1, 0.0), (0, 0.0)]


def test_absent_terms_have_their_share_in_bm25plus():
    engine = build(["a", "b", "c"], variant="bm25plus", b=0)
    # every idf is ln(4); a row with one of two terms has 1 + 2.5/2.5 for it and 1 for the other
    assert found(engine, "a b") == [(1, pytest.approx(3 * math.log(4))), (0, pytest.approx(3 * math.log(4)))]


def test_a_tie_at_the_cut_keeps_the_higher_rows():
    engine = build(["a x"] * 3 + ["a"] + ["a x"] * 3)
    assert [row for row, _ in found(engine, "a", 3)] == [3, 6, 5]
    assert [row for row, _ in found(engine, "a")] == [3, 6, 5, 4, 2, 1, 0]


@pytest.fixture
def _small(monkeypatch):
    """Columns for frequent terms even in a small corpus, and every way of going through it."""
    from karat.retrieve._bm25 import postings

    monkeypatch.setattr(postings, "FEW_ROWS", 1)
    monkeypatch.setattr(postings, "FREQUENT", 5)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(3))
def test_leaving_rows_out_early_changes_nothing(variant, seed):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, 61) ** 1.2
    words = np.array([f"w{i:02}" for i in range(60)])
    texts = [" ".join(rng.choice(words, rng.integers(0, 30), p=share / share.sum())) for _ in range(1500)]
    engine = build(texts, variant=variant)
    assert len(engine._shards[0].postings.frequent) > 5
    queries = [" ".join(rng.choice(words, rng.integers(1, 9), p=share / share.sum())) for _ in range(60)]
    whole = engine.search(queries, depth=10**6)
    for depth in (1, 3, 10, 60, 200, 1000):
        cut, expected = engine.search(queries, depth), whole.top(depth)
        assert np.array_equal(cut.offsets, expected.offsets)
        assert np.array_equal(cut.rows, expected.rows)
        assert np.array_equal(cut.scores, expected.scores)
    one = engine.search(queries[7:8], 10)
    assert np.array_equal(one.scores, whole.of(7)[1][:10])


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("seed", range(3))
def test_leaving_rows_out_early_is_right_with_negative_weights(seed):
    rng = np.random.default_rng(seed)
    common, rare = [f"common{i}" for i in range(12)], [f"rare{i}" for i in range(3)]
    texts = [
        " ".join([w for w in common if rng.random() < 0.8] + [w for w in rare if rng.random() < 0.1] * 2)
        for _ in range(600)
    ]
    engine = build(texts, variant="okapi", epsilon=2)
    weights = engine._shards[0].postings.weights
    assert weights.min() < -1 < 1 < weights.max()
    queries = [" ".join([*rare[:2], *rng.choice(common, n)]) for n in range(9)] + [" ".join(common)]
    whole = engine.search(queries, depth=10**6)
    for depth in (1, 10, 30):
        cut, expected = engine.search(queries, depth), whole.top(depth)
        assert np.array_equal(cut.rows, expected.rows)
        assert np.array_equal(cut.scores, expected.scores)


@pytest.mark.usefixtures("_small")
def test_scores_of_every_row_equal_the_sum_of_the_parts():
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 12))) for _ in range(200)]
    for variant in VARIANTS:
        engine = build(texts, variant=variant)
        for row, score in found(engine, "a b c c zzz", 1000):
            parts = dict(engine.explain("a b c c zzz", row))
            assert parts["zzz"] == 0
            assert sum(parts.values()) == pytest.approx(score, abs=1e-6)


def test_explain_shows_each_term_highest_first():
    engine = build(["a b", "b", "b c"])
    parts = engine.explain("b a b nothing", 0)
    assert [term for term, _ in parts] == ["a", "b", "nothing"]
    assert parts[1][1] == pytest.approx(2 * dict(engine.explain("b", 0))["b"])
    with pytest.raises(UsageError, match="no row 3: rows go from 0 to 2"):
        engine.explain("a", 3)


def test_terms_known_and_unknown():
    engine = BM25Engine.build(["The watch stands.", "Two watches"], {}, lambda *_: None)
    assert engine.terms_of("What are watches and bells?") == ["watch", "bell"]
    assert engine.unknown_terms("bells watches bells") == ["bell"]
    assert engine.vocabulary == ["stand", "two", "watch"]
    assert engine.holders.tolist() == [1, 1, 2]
    assert engine.language == "en"


def test_no_texts_and_texts_without_terms():
    with pytest.raises(UsageError, match="no texts"):
        build([])
    for variant in VARIANTS:
        engine = build(["", "  "], variant=variant)
        assert len(engine) == 2
        assert engine.vocabulary == []
        assert found(engine, "a") == []


def test_a_huge_text_and_many_queries():
    engine = build(["night " * 300_000 + "watch", "watch"])
    assert [row for row, _ in found(engine, "watch")] == [1, 0]
    ranked = engine.search(["watch", "nothing"] * 3000, 1)
    assert len(ranked) == 6000
    assert ranked.rows.tolist() == [1] * 3000
    assert np.diff(ranked.offsets).tolist() == [1, 0] * 3000
    assert len(engine.search([])) == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"variant": "lucen"}, "Did you mean lucene"),
        ({"k": 1}, "unknown setting 'k' .* Did you mean k1"),
        ({"k1": -1}, "k1 .* 0 or more, found -1"),
        ({"k1": True}, "k1 .* found True"),
        ({"b": 1.5}, "b .* from 0 to 1, found 1.5"),
        ({"b": math.nan}, "b .* found nan"),
        ({"delta": 1}, "delta has no meaning for the variant lucene"),
        ({"variant": "bm25l", "epsilon": 1}, "epsilon has no meaning"),
        ({"terms": "stems"}, "Did you mean stem"),
        ({"language": "tlh"}, "'tlh' has no stemmer"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(UsageError, match=said):
        BM25Engine.build(["a"], settings, lambda *_: None)


def test_constants_are_completed_for_the_variant():
    assert build(["a"], variant="bm25l").settings["delta"] == 0.5
    assert build(["a"], variant="bm25plus").settings["delta"] == 1
    assert build(["a"], variant="okapi").settings["epsilon"] == 0.25
    with pytest.raises(UsageError, match="depth"):
        build(["a"]).search(["a"], 0)


def test_progress_is_told_to_the_end():
    told = []
    BM25Engine.build(["night watch", "bell"], {}, lambda *step: told.append(step))
    assert ("finding terms", 2, 2) in told
    assert told[-1] == ("weighing terms", 1, 1)


def test_the_engine_is_found_by_its_name():
    assert ENGINES.get("bm25") is BM25Engine
