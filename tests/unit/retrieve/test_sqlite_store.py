"""The store `sqlite`: full-text tables of the standard library's SQLite."""

import math
import sqlite3

import pytest

from karat.core.errors import InputError, KaratError, UsageError
from karat.retrieve.stores.sqlite import SqliteStore

TEXTS = {
    "a": "the night watch begins at dusk",
    "b": "report a generator fault to the watch",
    "c": "bread is baked at night, and night after night",
    "d": "nothing of interest",
    "e": "say 'or' and \"and\", never NEAR(x)",
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.db"
    with sqlite3.connect(path) as made:
        made.execute(
            "CREATE VIRTUAL TABLE chunks USING fts5(chunk_id UNINDEXED, content, source UNINDEXED, page UNINDEXED)"
        )
        rows = [(name, text, f"{name}.pdf", 3) for name, text in TEXTS.items()]
        made.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", rows)
        made.execute('CREATE VIRTUAL TABLE "odd ""name" USING fts5(body)')
        made.execute('INSERT INTO "odd ""name" VALUES (\'night\')')
        made.execute("CREATE VIRTUAL TABLE bare USING fts5(text)")
        made.execute("CREATE TABLE plain (text)")
    made.close()
    return path


def hits(store, query, depth=100):
    ranked = store.search([query], depth)
    return [(store.chunks[row].id, score) for row, score in zip(*ranked.of(0), strict=True)]


def bm25(words, k1=1.2, b=0.75):
    """Okapi BM25 as the documentation of SQLite gives it, with its floor for the weight of frequent words."""
    split = {name: [word.strip("\"'().,").lower() for word in text.split()] for name, text in TEXTS.items()}
    split["e"] = ["say", "or", "and", "and", "never", "near", "x"]
    mean = sum(map(len, split.values())) / len(split)
    scores = {}
    for word in words:
        holding = sum(word in terms for terms in split.values())
        weight = max(math.log((len(split) - holding + 0.5) / (holding + 0.5)), 1e-6)
        for name, terms in split.items():
            if count := terms.count(word):
                length = k1 * (1 - b + b * len(terms) / mean)
                scores[name] = scores.get(name, 0) + weight * count * (k1 + 1) / (count + length)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def test_scores_are_bm25_with_the_better_higher(file):
    store = SqliteStore.open(f"{file}#chunks", None)
    assert hits(store, "night generator?") == [
        (name, pytest.approx(score, rel=1e-6)) for name, score in bm25(["night", "generator"])
    ]
    assert hits(store, "generator", 1)[0][0] == "b"
    assert "-bm25()" in store.notes[0]


def test_chunks_come_with_their_texts_and_places(file):
    store = SqliteStore.open(f"{file}#chunks", None)
    store.search(["bread", "", "generator"])
    assert [(c.id, c.text, c.doc, c.pages) for c in store.chunks] == [
        (name, TEXTS[name], f"{name}.pdf", (3,)) for name in ("b", "c")
    ]


@pytest.mark.parametrize(
    "query", ['"and" NEAR(x)', "a* OR", "content:night)", '"', "?!", "nul\0l", "-night", "\ud800 x"]
)
def test_a_query_is_words_and_no_syntax(file, query):
    store = SqliteStore.open(f"{file}#chunks", None)
    hits(store, query)
    assert store.failed == {}


def test_names_are_quoted_and_ids_are_row_ids_without_a_column(file):
    store = SqliteStore.open(f'{file}#odd "name', None)
    ((name, _),) = hits(store, "night")
    assert name == "1"
    assert hits(SqliteStore.open(f"{file}#bare", None), "night") == []


def test_columns_can_be_named(file):
    store = SqliteStore.open(f"{file}#chunks?id=source&doc=chunk_id", None)
    ((name, _),) = hits(store, "generator")
    assert (name, store.chunks[0].doc) == ("b.pdf", "b")
    with pytest.raises(UsageError, match=r"no column 'sauce'. Did you mean source\?"):
        SqliteStore.open(f"{file}#chunks?doc=sauce", None)
    with pytest.raises(UsageError, match=r"no option 'identity'"):
        SqliteStore.open(f"{file}#chunks?identity=source", None)


def test_ids_that_name_several_rows_are_refused(file):
    store = SqliteStore.open(f"{file}#chunks?id=page", None)
    with pytest.raises(KaratError, match="the id '3' more than once"):
        store.search(["night"])
    with pytest.raises(KaratError, match="the id '3' more than once"):
        store.search(["dusk", "generator"])  # a row each
    assert len(store.search(["dusk", "begins"]).rows) == 2


def test_an_id_of_0_is_an_id(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE VIRTUAL TABLE chunks USING fts5(id UNINDEXED, text)")
        connection.executemany("INSERT INTO chunks VALUES (?, 'night')", [(0,), (1,), ("",), (None,)])
    connection.close()
    store = SqliteStore.open(f"{tmp_path / 'x.db'}#chunks", None)
    assert {name for name, _ in hits(store, "night")} == {"0", "1", "3", "4"}
    with pytest.raises(KaratError, match="the sqlite store #chunks returned a record without an id"):
        SqliteStore.open(f"{tmp_path / 'x.db'}#chunks?id=id", None).search(["night"])


def test_what_is_no_full_text_table(file, tmp_path):
    with pytest.raises(UsageError, match=r"holds no FTS5 table 'plain'. There are bare, chunks, odd"):
        SqliteStore.open(f"{file}#plain", None)
    with pytest.raises(UsageError, match="holds 3 FTS5 tables"):
        SqliteStore.open(str(file), None)
    with pytest.raises(InputError, match="there is no such file"):
        SqliteStore.open(str(tmp_path / "none.db"), None)
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "no.db").write_bytes(b"no database at all, but long enough to be read as one" * 40)
    with pytest.raises(KaratError, match="SQLite failed at"):
        SqliteStore.open(str(tmp_path / "no.db"), None)


def test_a_query_that_fails_is_a_failed_query_alone(file, monkeypatch):
    store = SqliteStore.open(f"{file}#chunks", None)
    monkeypatch.setattr("karat.retrieve.stores.sqlite.SECONDS", -1.0)
    store._connection.set_progress_handler(lambda: True, 1)
    ranked = store.search(["night", "", "bread"])
    assert len(ranked) == 3
    assert set(store.failed) == {0, 2}
    assert store.failed[0].startswith("SQLite failed at")
    store._connection.set_progress_handler(None, 0)
    assert len(store.search(["night"]).rows) == 2
    assert store.failed == {}


def test_a_store_that_fails_several_times_in_a_row_is_not_asked_on(file):
    store = SqliteStore.open(f"{file}#chunks", None)
    store._connection.close()
    store.search(["night"] * 7)
    assert [reason.startswith("not asked, since 5 queries in a row failed") for reason in store.failed.values()] == [
        *[False] * 5, *[True] * 2,
    ]  # fmt: skip


def test_a_table_without_rows_is_told(file):
    store = SqliteStore.open(f"{file}#bare", None)
    assert store.notes[0] == f"{file}#bare is empty: nothing can be found there."
    assert hits(store, "night") == []
