"""The store `lancedb` over tables that LanceDB itself writes."""

import exact
import lancedb
import pytest
from exact import EMBEDDER, LONG, NAMES, OTHER, RECORDS, VECTORS

from karat.core.errors import InputError, KaratError, UsageError
from karat.retrieve.stores.lancedb import LancedbStore


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("lance")
    database = lancedb.connect(made)

    def table(name, vectors):
        rows = [
            {"id": r["id"], "text": r["text"], "metadata": {n: r[n] for n in ("source", "page_number")}, "vector": v}
            for r, v in zip(RECORDS, vectors, strict=True)
        ]
        return database.create_table(name, rows)

    rows = [{"id": None if n == 7 else str(n), "vector": VECTORS[n]} for n in range(20)]
    database.create_table("unnamed", rows[::-1])
    bare = table("plain", VECTORS).schema
    table("long", LONG)
    for metric in ("cosine", "dot", "l2"):
        table(f"by_{metric}", LONG).create_index(metric=metric, index_type="IVF_FLAT", num_partitions=20)
    database.create_table("bare", schema=bare)
    return made


def opened(folder, rest, embedder=EMBEDDER):
    return LancedbStore.open(f"{folder}#{rest}", embedder)


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_the_ranking_is_that_of_exact_search(folder, metric):
    exact.check_ranking(opened(folder, f"long?metric={metric}"), metric, LONG)
    store = opened(folder, "plain")
    exact.check_ranking(store, "cosine", VECTORS)
    exact.check_chunk(store)


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
def test_an_index_says_how_it_measures_and_what_it_finds(folder, metric):
    store = opened(folder, f"by_{metric}")
    (note,) = [note for note in store.notes if "approximate" in note]
    measured = float(note.split("finds ")[1].split()[0])
    found = exact.check_ranking(store, {"dot": "ip"}.get(metric, metric), LONG, depth=10, recall=0.3)
    print("IVF_FLAT", metric, measured, found)
    assert measured <= 1


def test_what_cannot_be_searched(folder, tmp_path):
    with pytest.raises(UsageError, match=r"holds no table 'plane'. Did you mean plain\?"):
        opened(folder, "plane")
    with pytest.raises(UsageError, match="holds 7 tables"):
        opened(folder, "")
    with pytest.raises(InputError, match="there is no such folder"):
        opened(tmp_path / "none", "x")
    with pytest.raises(UsageError, match="no column 'body'"):
        opened(folder, "plain?text=body")
    with pytest.raises(UsageError, match=r"no column of vectors 'text'\. There are vector"):
        opened(folder, "plain?vector=text")
    with pytest.raises(KaratError, match="holds vectors of 32 numbers, the embedder other makes vectors of 3"):
        opened(folder, "plain", OTHER).search(["any"])
    (tmp_path / "broken.lance").mkdir()
    with pytest.raises(KaratError, match="LanceDB failed at"):
        opened(tmp_path, "broken")
    assert len(opened(folder, "bare").search(NAMES).rows) == 0
    with pytest.raises(KaratError, match="the lancedb store #unnamed returned a record without an id"):
        opened(folder, "unnamed").search(NAMES, 20)
