"""BM25 over shards: the same bytes as over one piece, whatever the plan."""

import shutil
from collections import Counter

import numpy as np
import pytest

from karat.core.errors import InputError, UsageError
from karat.retrieve._bm25 import counts, postings
from karat.retrieve._bm25.variants import VARIANTS
from karat.retrieve._engine import EarlierJoin, merged
from karat.retrieve.engines.bm25 import BM25Engine

PLANS = (1, 2, 7)


def silent(*_):
    pass


def sharded(texts, place, shards, *, seed=0, **settings):
    """The engine over rows that stand in shards at random."""
    completed = BM25Engine.completed({"terms": "plain", **settings}, Counter(en=1))
    owner = np.random.default_rng(seed).integers(0, shards, len(texts))
    orders = [np.flatnonzero(owner == shard) for shard in range(shards)]
    folders = []
    for number, order in enumerate(orders):
        folder = place / f"shard{shards}-{number}"
        folder.mkdir(parents=True)
        BM25Engine.build_shard([texts[row] for row in order], completed, folder, silent)
        folders.append(folder)
    joined = place / f"joined{shards}"
    joined.mkdir()
    facts = BM25Engine.join(folders, completed, joined, silent)
    engine = BM25Engine.load_shards(joined, folders, orders)
    assert facts["settings"] == dict(engine.settings)
    engine.some = lambda only: BM25Engine.load_shards(joined, folders, orders, only)
    return engine


@pytest.fixture
def _small(monkeypatch):
    """Columns for frequent terms, and several blocks, even in a small corpus."""
    monkeypatch.setattr(postings, "FEW_ROWS", 1)
    monkeypatch.setattr(postings, "FREQUENT", 5)
    monkeypatch.setattr(postings, "_BLOCK", 500)
    monkeypatch.setattr(counts, "_TOGETHER", 97)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 91) ** 1.2
    words = np.array([f"w{i:02}" for i in range(90)])
    texts = [" ".join(rng.choice(words, rng.integers(0, 25), p=share / share.sum())) for _ in range(900)]
    texts += texts[:300]  # ties, in whatever shards they come to stand
    texts += ["rare " * 300, "w00 " * 70_000, "only here"]
    queries = [" ".join(rng.choice(words, rng.integers(1, 9), p=share / share.sum())) for _ in range(40)]
    return texts, [*queries, "rare w00 w01", "only rare", "unknown", "", "w03 w03 w03 w50"]


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_the_same_bytes_under_any_plan(corpus, variant, tmp_path):
    texts, queries = corpus
    whole = BM25Engine.build(texts, {"terms": "plain", "variant": variant}, silent)
    engines = [sharded(texts, tmp_path, shards, variant=variant) for shards in PLANS]
    rows = np.array([7, 301, 850, 1100])
    for engine in engines:
        assert engine.settings == whole.settings
        assert len(engine) == len(whole)
        assert engine.vocabulary == whole.vocabulary
        assert engine.holders.tolist() == whole.holders.tolist()
        assert engine.unknown_terms("w00 unknown only") == ["unknown"]
        for depth in (1, 10, 100, 5000):
            ours, theirs = engine.search(queries, depth), whole.search(queries, depth)
            assert ours.offsets.tolist() == theirs.offsets.tolist()
            assert ours.rows.tolist() == theirs.rows.tolist()
            assert ours.scores.tobytes() == theirs.scores.tobytes()
        every = [rows] * len(queries)
        assert engine.ranks_of(queries, every).tolist() == whole.ranks_of(queries, every).tolist()
        for query in queries[::5]:
            for row in (0, 500, len(texts) - 1):
                assert engine.explain(query, row) == whole.explain(query, row)


def test_one_shard_saves_the_folder_of_one_piece(corpus, tmp_path):
    texts, _ = corpus
    engine = sharded(texts, tmp_path, 1)
    folders = [tmp_path / "ours", tmp_path / "theirs"]
    for folder, one in zip(folders, (engine, BM25Engine.build(texts, {"terms": "plain"}, silent)), strict=True):
        folder.mkdir()
        one.save(folder)
    ours, theirs = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert ours == theirs


def test_counts_take_as_few_bytes_as_they_can(tmp_path):
    for most, kind in ((255, np.uint8), (256, np.uint16), (70_000, np.int32)):
        sharded(["a " * most, "b"], tmp_path / str(most), 1)
        assert np.load(tmp_path / str(most) / "shard1-0" / "counts.npy").dtype == kind


def test_the_language_to_stem_by_is_settled_before_anything_is_built():
    assert BM25Engine.completed({}, Counter(de=5, en=3, ru=9))["stems"] == "de"
    assert BM25Engine.completed({}, Counter(ru=9))["stems"] == "en"
    assert BM25Engine.completed({"language": "fr"}, Counter(de=5))["stems"] == "fr"
    assert BM25Engine.completed({"terms": "words"}, Counter(de=5))["language"] == "auto"
    with pytest.raises(UsageError, match="unknown setting 'stems'"):
        BM25Engine.completed({"stems": "en"}, Counter())


def test_a_shard_without_rows_is_no_trouble_unless_all_are(tmp_path):
    engine = sharded(["a b", "a"], tmp_path, 7)
    assert engine.search(["a"]).rows.tolist() == [1, 0]
    with pytest.raises(UsageError, match="no texts"):
        sharded([], tmp_path / "none", 2)


@pytest.mark.parametrize("damage", ["shards", "order", "numbers", "weights", "rows", "holders", "counts"])
def test_damaged_shards_are_named(corpus, damage, tmp_path):
    texts, _ = corpus
    engine = sharded(texts, tmp_path, 2)
    folders, joined = [tmp_path / "shard2-0", tmp_path / "shard2-1"], tmp_path / "joined2"
    orders = [shard.order for shard in engine._shards]
    files = {
        "numbers": joined / "1/numbers.npy",
        "weights": joined / "1/weights.npy",
        "holders": joined / "holders.npy",
        "rows": folders[1] / "rows.npy",
        "counts": folders[1] / "counts.npy",
    }
    if damage == "shards":
        folders, orders = folders[:1], orders[:1]
    elif damage == "order":
        orders = [orders[0], orders[1][::-1]]
    else:
        array = np.load(files[damage])
        np.save(files[damage], array[:-1])
    if damage == "counts":
        with pytest.raises(InputError, match="is damaged: it has more rows than counts"):
            BM25Engine.join(folders, BM25Engine.completed({"terms": "plain"}, Counter()), tmp_path, silent)
    else:
        with pytest.raises(InputError, match="is damaged"):
            BM25Engine.load_shards(joined, folders, orders)


def test_postings_that_name_rows_which_do_not_exist_are_damaged(corpus, tmp_path):
    texts, queries = corpus
    engine = sharded(texts, tmp_path, 2)
    rows = np.load(tmp_path / "shard2-1" / "rows.npy")
    np.save(tmp_path / "shard2-1" / "rows.npy", rows + 5000)
    orders = [shard.order for shard in engine._shards]
    again = BM25Engine.load_shards(tmp_path / "joined2", [tmp_path / "shard2-0", tmp_path / "shard2-1"], orders)
    for use in (
        lambda: again.search(queries),
        lambda: again.ranks_of(queries[:1], [np.array([1])]),
        lambda: again.explain(queries[0], int(orders[1][0])),
    ):
        with pytest.raises(InputError, match="names rows that do not exist"):
            use()


@pytest.mark.parametrize("forged", [None, "outside", "shorter", "descending"])
def test_a_join_from_an_earlier_one_writes_the_same_bytes(corpus, tmp_path, forged):
    texts, _ = corpus
    sharded(texts, tmp_path, 7)
    completed = BM25Engine.completed({"terms": "plain"}, Counter(en=1))
    folders = [tmp_path / f"shard7-{number}" for number in range(7)]
    other = tmp_path / "other"
    other.mkdir()
    BM25Engine.build_shard(["w00 w01 another one", "aa w02"], completed, other, silent)
    place = tmp_path / "joined7" / "3" / "numbers.npy"
    numbers = np.load(place)
    if forged is not None:
        changed = {"outside": numbers + 90, "shorter": numbers[1:], "descending": numbers[::-1].copy()}
        np.save(place, changed[forged])
    shards = [folders[5], other, *folders[:4]]  # without the terms that the shards 4 and 6 alone have
    written = []
    for name, earlier in (("again", EarlierJoin(tmp_path / "joined7", folders)), ("fresh", None)):
        (tmp_path / name).mkdir()
        BM25Engine.join(shards, completed, tmp_path / name, silent, earlier=earlier)
        written.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")})
    assert written[0] == written[1]
    assert len(written[0]) == 5 * len(shards) + 6


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("variant", ["lucene", "okapi", "bm25plus"])
def test_groups_of_shards_find_together_what_the_whole_finds(corpus, variant, tmp_path):
    texts, queries = corpus
    whole = sharded(texts, tmp_path, 7, variant=variant)
    rows = [np.unique(np.random.default_rng(n).integers(0, len(texts), 1 + n % 4)) for n in range(len(queries))]
    for groups in (1, 2, 3, 7):
        engines = [whole.some(group.tolist()) for group in np.array_split(np.arange(7), groups)]
        assert [len(engine) for engine in engines] == [len(texts)] * groups  # what all have in common stays
        for depth in (1, 10, 100, 5000):
            ours, theirs = (
                merged([engine.search(queries, depth) for engine in engines], depth),
                whole.search(queries, depth),
            )
            assert ours.offsets.tolist() == theirs.offsets.tolist()
            assert ours.rows.tolist() == theirs.rows.tolist()
            assert ours.scores.tobytes() == theirs.scores.tobytes()
        best = merged([engine.best_of(queries, rows) for engine in engines], 1)
        counts = sum(engine.above(queries, best) for engine in engines)
        ranks = np.where(np.diff(best.offsets) > 0, counts + 1, 0)
        assert ranks.tolist() == whole.ranks_of(queries, rows).tolist()
        assert 0 in ranks
        assert ranks.max() > 100


def test_some_shards_are_opened_without_the_others(corpus, tmp_path):
    texts, queries = corpus
    whole = sharded(texts[:40], tmp_path, 3)
    for name in ("shard3-0", "joined3/2"):
        shutil.rmtree(tmp_path / name)
    assert len(whole.some([1]).search(queries, 50)) == len(queries)
