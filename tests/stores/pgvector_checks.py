"""The stores `pgvector` and `pgtext` over a real PostgreSQL with the extension, which the package pgserver brings."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import exact
import pgserver
import psycopg
import pytest
from exact import EMBEDDER, IDS, LONG, NAMES, OTHER, RECORDS, TEXTS, VECTORS

from karat.core.errors import KaratError, UsageError
from karat.retrieve.stores.pgtext import PgtextStore
from karat.retrieve.stores.pgvector import PgvectorStore

BIN = Path(pgserver.__file__).parent / "pginstall" / "bin"
SECRET = "hunter2-is-secret"


class Server:
    """A PostgreSQL on a port of this machine, with a password, that can be killed and started again."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.data, self.process = folder / "data", None
        self.account = {"user": "nobody"} if os.geteuid() == 0 else {}
        if self.account:  # PostgreSQL does not run as root
            shutil.chown(folder, "nobody")
        (folder / "word").write_text(SECRET)
        self.log = (folder / "log").open("ab")
        self._run("initdb", "-D", self.data, "-U", "karat", "-A", "scram-sha-256", f"--pwfile={folder / 'word'}", "-N")

    def _run(self, name, *words):
        done = subprocess.run([BIN / name, *words], capture_output=True, text=True, cwd="/", **self.account)
        assert done.returncode == 0, done.stderr

    def start(self):
        words = ["-D", self.data, "-p", str(self.port), "-h", "127.0.0.1", "-k", self.data, "-F"]
        self.process = None
        for _ in range(300):
            if self.process is None or self.process.poll() is not None:  # what was killed may hold its memory still
                self.process = subprocess.Popen(
                    [BIN / "postgres", *words], stdout=self.log, stderr=self.log, cwd="/",
                    **self.account,
                )  # fmt: skip
            try:
                psycopg.connect(self.dsn, password=SECRET).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise AssertionError(f"PostgreSQL does not start: {Path(self.log.name).read_text()[-2000:]}")

    def kill(self):
        """At once, as a crash would."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(20)

    @property
    def dsn(self):
        return f"postgresql://karat@127.0.0.1:{self.port}/postgres"


def fill(connection, table, vectors, kind="vector(32)"):
    connection.execute(
        f'CREATE TABLE {table} (id text PRIMARY KEY, "text" text, source text, page_number int, embedding {kind})'
    )
    with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
        for record, vector in zip(RECORDS, vectors, strict=True):
            copy.write_row([*record.values(), str(vector.tolist())])


@pytest.fixture(scope="module")
def server():
    folder = Path(tempfile.mkdtemp())  # not in pytest's own, which it keeps from other users
    made = Server(folder)
    made.start()
    with psycopg.connect(made.dsn, password=SECRET, autocommit=True) as connection:
        connection.execute('CREATE SCHEMA "odd.schema"; CREATE EXTENSION vector SCHEMA "odd.schema"')
        connection.execute('ALTER ROLE karat SET search_path = public, "odd.schema"')
    with psycopg.connect(made.dsn, password=SECRET, autocommit=True) as connection:
        fill(connection, "plain", VECTORS)
        fill(connection, "long", LONG)
        for metric in ("cosine", "ip", "l2"):
            fill(connection, f"by_{metric}", LONG)
            connection.execute(f"CREATE INDEX ON by_{metric} USING hnsw (embedding vector_{metric}_ops)")
        fill(connection, "lists", VECTORS)
        connection.execute("CREATE INDEX ON lists USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20)")
        connection.execute('CREATE TABLE "odd ""table; --" (text text)')
        connection.execute("CREATE TABLE bare (id int, embedding vector(32))")
        connection.execute("CREATE TABLE keyless (name text, embedding vector(32))")
        connection.execute(
            "CREATE VIEW named AS SELECT id AS ours, text AS theirs, embedding AS a, embedding AS b FROM plain"
        )
        connection.execute(
            "ALTER TABLE plain ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED"
        )
        connection.execute('CREATE TABLE "50%s" ("%" text, "%s text" text, "as %b" vector(32))')
        row = ["only", "night", str(VECTORS[0].tolist())]
        connection.cursor().execute('INSERT INTO "50%%s" VALUES (%s, %s, %s)', row)
        connection.execute("CREATE TABLE unnamed AS SELECT nullif(id, 'chunk 0000') AS id, text, embedding FROM plain")
        connection.execute("CREATE TABLE passwords (id int, text text, embedding vector(32))")
        connection.execute(f"CREATE ROLE poor LOGIN PASSWORD '{SECRET}'")
        connection.execute("CREATE DATABASE without")
    yield made
    made.kill()
    made.log.close()
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _password(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)


def opened(server, rest, embedder=EMBEDDER):
    return PgvectorStore.open(f"{server.dsn}#{rest}", embedder)


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_the_ranking_is_that_of_exact_search(server, metric):
    exact.check_ranking(opened(server, f"long?metric={metric}"), metric, LONG)
    store = opened(server, "plain")
    exact.check_ranking(store, "cosine", VECTORS)
    exact.check_chunk(store)
    assert store.notes == ("scores are cosines (1 - d of cosine distances d).",)


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_an_index_says_how_it_measures_and_what_it_finds(server, metric):
    store = opened(server, f"by_{metric}")
    print("hnsw", metric, exact.check_ranking(store, metric, LONG, depth=30, recall=0.9), store.notes)
    assert any("the index (hnsw) is approximate: it finds" in note for note in store.notes)
    assert any("hnsw.ef_search is 40" in note for note in store.notes)


def test_an_index_that_misses_much_is_told(server):
    store = opened(server, "lists")
    (note,) = [note for note in store.notes if "approximate" in note]
    measured = float(note.split("finds ")[1].split()[0])
    found = exact.check_ranking(store, "cosine", VECTORS, depth=30, recall=0.05)
    assert measured < 0.8
    assert abs(measured - found) < 0.25
    print("ivfflat", measured, found)


def test_columns_can_be_named_and_a_view_is_searched(server):
    with pytest.raises(UsageError, match="neither a column that is called id nor a primary key"):
        opened(server, "named")
    with pytest.raises(UsageError, match=r"several columns of vectors \(a, b\)"):
        opened(server, "named?id=ours")
    with pytest.raises(UsageError, match=r"no column 'our'. Did you mean ours\?"):
        opened(server, "named?id=our")
    with pytest.raises(UsageError, match="'theirs' holds no vectors, but text"):
        opened(server, "named?id=ours&vector=theirs")
    store = opened(server, "named?id=ours&vector=b&text=theirs")
    exact.check_ranking(store, "cosine", VECTORS, depth=5)
    assert store.chunks[0].text in TEXTS


def test_what_cannot_be_searched(server, monkeypatch):
    with pytest.raises(UsageError, match=r"no table 'plane' that this user sees. There are 50%s, bare, by_cosine"):
        opened(server, "plane")
    with pytest.raises(UsageError, match="name the table after #"):
        opened(server, "")
    with pytest.raises(UsageError, match="neither a column"):
        opened(server, "keyless")
    with pytest.raises(UsageError, match="there is no table"):
        opened(server, 'plain"; DROP TABLE plain; --')
    with pytest.raises(KaratError, match="neither a column"):
        opened(server, 'odd "table; --')
    with pytest.raises(KaratError, match=r"the extension pgvector is not installed .* CREATE EXTENSION vector"):
        PgvectorStore.open(f"{server.dsn.replace('/postgres', '/without')}#pg_catalog.pg_class?id=oid", EMBEDDER)
    store = opened(server, "bare")
    assert len(store.search(NAMES).rows) == 0
    assert "is empty: nothing can be found there" in store.notes[0]
    with pytest.raises(KaratError, match="holds vectors of 32 numbers, the embedder other makes vectors of 3"):
        opened(server, "plain", OTHER).search(["any"])


def test_a_wrong_password_is_one_sentence_without_it(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "wrong-and-secret")
    with pytest.raises(KaratError) as raised:
        opened(server, "plain")
    assert "PostgreSQL refuses the user karat: the password is wrong or missing" in str(raised.value)
    assert "wrong-and-secret" not in str(raised.value)
    for target in (f"postgresql://karat:{SECRET}@127.0.0.1/x#t", f"host=x password={SECRET}#t", f"host {SECRET}#t"):
        with pytest.raises(UsageError) as raised:
            PgvectorStore.open(target, EMBEDDER)
        assert SECRET not in str(raised.value)


def test_percent_signs_in_names_are_names(server):
    rest = "50%s?id=%25&text=%25s%20text&vector=as%20%25b"
    for store in (opened(server, rest), PgtextStore.open(f"{server.dsn}#{rest.partition('&vector')[0]}", None)):
        store.search(["night 0"], 1)
        assert [(chunk.id, chunk.text) for chunk in store.chunks] == [("only", "night")]


def test_a_table_that_may_not_be_read_is_not_taken_for_a_wrong_password(server):
    dsn = server.dsn.replace("karat@", "poor@")
    with pytest.raises(KaratError, match="permission denied for table passwords"):
        PgtextStore.open(f"{dsn}#passwords", None)


def test_statements_can_only_read_and_end(server, monkeypatch):
    store = opened(server, "plain")
    with pytest.raises(KaratError, match="read-only transaction"):
        store._table.rows("DELETE FROM plain RETURNING id")
    assert store._table.rows("SELECT current_setting('statement_timeout')") == [("1min",)]
    assert store._table.count() == len(IDS)


@pytest.mark.parametrize("rank", ["ts_rank", "ts_rank_cd"])
def test_full_text_search_ranks_as_postgresql_does(server, rank):
    query = "Where is the generator's lamp, or a fault\\ of 'it'?"
    with psycopg.connect(server.dsn, password=SECRET) as connection:
        wanted = connection.execute(
            f"SELECT id, {rank}(words, q) FROM plain, to_tsquery('english', 'generator | lamp | fault') q "
            "WHERE words @@ q ORDER BY 2 DESC, 1 DESC"
        ).fetchall()
    for rest in (f"plain?rank={rank}", f"long?rank={rank}&language=english"):
        store = PgtextStore.open(f"{server.dsn}#{rest}&language=english", None)
        rows, values = store.search([query, "", "?"], 100).of(0)
        assert [store.chunks[row].id for row in rows] == [id_ for id_, _ in wanted][:100]
        assert values.tolist() == pytest.approx([score for _, score in wanted][:100])
        assert store.notes[0].startswith(f"scores are {rank} of any word")


def test_full_text_that_cannot_be(server):
    for rest, problem in {
        "plain?rank=bm25": "rank=bm25 is none of",
        "plain?language=klingon": "klingon",
        "bare": "no column that is called text",
        "plain?tsvector=text": "no tsvector",
    }.items():
        with pytest.raises(KaratError, match=problem):
            PgtextStore.open(f"{server.dsn}#{rest}", None)


def test_a_server_that_is_killed_between_queries_fails_these_and_comes_back(server):
    store = opened(server, "plain")
    find, asked = store.nearest, []

    def nearest(queries, depth):
        asked.append(1)
        if len(asked) == 4:
            server.kill()
        return find(queries, depth)

    store.nearest = nearest
    ranked = store.search(NAMES, 10)
    assert [len(ranked.of(number)[0]) for number in range(4)] == [10, 10, 10, 0]
    assert list(store.failed) == list(range(3, len(NAMES)))
    assert "PostgreSQL" in store.failed[3]
    assert store.failed[20].startswith("not asked, since 5 queries in a row failed. The last: pgvector:127.0.0.1")
    assert SECRET not in json.dumps(store.failed)
    server.start()
    exact.check_ranking(store, "cosine", VECTORS)


ANIMALS = {
    "cat": "The cat sleeps on the warm roof.",
    "cow": "A cow gives milk every morning.",
    "bee": "Bees make honey.",
}


def experiment(folder, server, monkeypatch):
    """A karat.yaml over a table of passages, alone and fused with BM25 over the same passages."""
    from karat.models import EmbedderSettings, embedder_named

    vectors = embedder_named(EmbedderSettings()).embed(list(ANIMALS.values()), "document")
    with psycopg.connect(server.dsn, password=SECRET, autocommit=True) as connection:
        connection.execute("CREATE TABLE animals (id text PRIMARY KEY, text text, embedding vector(256))")
        for (name, text), vector in zip(ANIMALS.items(), vectors, strict=True):
            connection.execute("INSERT INTO animals VALUES (%s, %s, %s)", [name, text, str(vector.tolist())])
    (folder / "docs").mkdir()
    passages = [json.dumps({"id": name, "text": text}) for name, text in ANIMALS.items()]
    (folder / "docs" / "animals.jsonl").write_text("\n".join(passages))
    asked = {"q1": ("Where does the cat sleep?", "cat"), "q2": ("Who makes honey?", "bee"), "q3": ("milk?", "cow")}
    rows = [json.dumps({"id": id_, "question": q, "gold": [{"id": gold}]}) for id_, (q, gold) in asked.items()]
    (folder / "questions.jsonl").write_text("\n".join(rows))
    (folder / "karat.yaml").write_text(
        f"name: animals\ncorpus: docs\ntestset: questions.jsonl\nmeasures: ['MRR@3']\nsystems:\n"
        f"  - {{name: store, engine: 'pgvector:{server.dsn}#animals'}}\n"
        f"  - {{name: mixed, engine: hybrid, legs: ['pgvector:{server.dsn}#animals', bm25]}}\n"
    )
    monkeypatch.chdir(folder)


def test_a_run_that_loses_its_server_has_failed_rows_that_a_retry_mends(server, tmp_path, monkeypatch):
    import karat

    experiment(tmp_path, server, monkeypatch)
    find, asked = PgvectorStore.nearest, []

    def nearest(store, queries, depth):
        asked.append(len(queries))
        if len(asked) == 2:
            server.kill()
        return find(store, queries, depth)

    monkeypatch.setattr(PgvectorStore, "nearest", nearest)
    karat.run("karat.yaml")
    assert len(asked) == 3
    assert failed_rows(tmp_path) == {"store": 2, "mixed": 3}  # the second system cannot be opened at all
    server.start()
    done = karat.run("karat.yaml", retry_errors=True)
    assert len(asked) == 3 + 2 + 3  # the first question of the first system is known
    assert done.mean("MRR@3", system="store") == 1.0
    assert done.mean("MRR@3", system="mixed") == 1.0


def failed_rows(folder):
    """How many rows of each system failed, as the journal of the only run has it, with reasons and without secrets."""
    (journal,) = (folder / "runs").glob("*/journal.jsonl")
    assert SECRET not in journal.read_text()
    records = [record for record in map(json.loads, journal.read_text().splitlines()) if "row" in record]
    failed = [record for record in records if record["row"].get("status") == "failed"]
    assert all("PostgreSQL" in record["row"]["error"] for record in failed)
    return dict(Counter(record["system"] for record in failed))


def test_a_row_without_an_id_is_refused(server):
    for store in (opened(server, "unnamed"), PgtextStore.open(f"{server.dsn}#unnamed", None)):
        with pytest.raises(KaratError, match=f"the {store.name} store #unnamed returned a record without an id"):
            store.search(["empty question 0"], 1000)
