"""Systems over stores of other tools: fused with engines of an index, and failing by row."""

import json
import sqlite3

import numpy as np
import pytest

import karat
from karat.core.errors import InputError
from karat.experiment.spec import load_spec
from karat.retrieve._stored import StoreError
from karat.retrieve.stores.sqlite import SqliteStore
from karat.systems.settings import SystemSettings
from karat.systems.system import System

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours of the night.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
}
QUESTIONS = {"q1": ("How long is the night watch?", "watch"), "q2": ("electricity?", "power"), "q3": ("fuel?", "fuel")}
SECRET = "hunter2-is-secret"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("stores")
    (made / "docs").mkdir()
    lines = [json.dumps({"id": name, "text": text}) for name, text in PASSAGES.items()]
    (made / "docs" / "corpus.jsonl").write_text("\n".join(lines))
    karat.index(made / "docs", made / "i", chunk="whole")
    with sqlite3.connect(made / "texts.db") as database:
        database.execute("CREATE VIRTUAL TABLE chunks USING fts5(id UNINDEXED, text)")
        database.executemany("INSERT INTO chunks VALUES (?, ?)", PASSAGES.items())
    database.close()
    rows = [json.dumps({"id": id_, "question": q, "gold": [{"id": gold}]}) for id_, (q, gold) in QUESTIONS.items()]
    (made / "questions.jsonl").write_text("\n".join(rows))
    return made


def ids(retrieved, ranked, number):
    return [retrieved.chunks[row].id for row in ranked.of(number)[0]]


def test_a_leg_of_a_store_is_fused_with_an_engine_of_an_index_by_ids(folder):
    store = f"sqlite:{folder / 'texts.db'}#chunks"
    settings = SystemSettings("hybrid", legs=("dense", store), fusion="rrf")
    retrieved = System(settings, karat.Index.open(folder / "i")).search(["night watch electricity"], 4)
    legs = {leg: ids(retrieved, ranked, 0) for leg, ranked in retrieved.legs.items()}
    assert len(legs["dense"]) == 4
    assert set(legs[store]) == {"watch", "radio", "power"}
    wanted = {id_: sum(1 / (61 + leg.index(id_)) for leg in legs.values() if id_ in leg) for id_ in PASSAGES}
    assert {
        retrieved.chunks[row].id: score for row, score in zip(*retrieved.ranked.of(0), strict=True)
    } == pytest.approx(wanted)
    assert not any("embedded by" in note for note in retrieved.notes)


def test_legs_whose_ids_never_meet_are_told_with_an_example_of_each(folder, tmp_path, monkeypatch):
    with sqlite3.connect(tmp_path / "own.db") as database:
        database.execute("CREATE VIRTUAL TABLE chunks USING fts5(id UNINDEXED, same UNINDEXED, text)")
        database.executemany("INSERT INTO chunks VALUES (?, ?, ?)", [(f"{i}-0", i, t) for i, t in PASSAGES.items()])
    database.close()
    monkeypatch.chdir(tmp_path)
    store, index = "sqlite:own.db#chunks", karat.Index.open(folder / "i")
    questions = ["unheard", "night watch"]

    def notes(*legs):
        system = System(SystemSettings("hybrid", legs=legs, fusion="rrf"), index)
        return [note for note in system.search(questions, 4).notes if "stands twice" in note]

    (note,) = notes("bm25", store)
    assert note == (
        f"no hit of bm25 has the id of a hit of {store} (such as 'watch' and 'watch-0'): if both hold the same "
        "passages, each stands twice with the score of one leg. Name the column of the store that holds the ids of the "
        "other: #NAME?id=COLUMN."
    )
    assert len(notes("dense", "bm25", store)) == 2
    assert not notes("bm25", f"{store}?id=same")
    questions[:] = ["generators electricity", "unheard"]
    assert not notes("dense", "bm25")
    questions[:] = ["unheard"]
    assert not notes("dense", store)  # which has nothing for it

    (tmp_path / "karat.yaml").write_text(
        f"testset: {folder}/questions.jsonl\ncorpus: {folder}/docs\nmeasures: ['MRR@3']\noutputs: []\nsystems:\n"
        f"  - {{name: mixed, engine: hybrid, fusion: rrf, legs: [dense, '{store}']}}\n"
    )
    (warning,) = [note for note in karat.run("karat.yaml").evaluation.notes if "stands twice" in note.text]
    assert warning.text.startswith("mixed: no hit of dense")


def test_questions_with_one_and_with_several_phrasings_share_the_chunks_of_a_store(folder):
    (folder / "phrasings.jsonl").write_text(json.dumps({"question": "fuel?", "phrasings": ["tank?", "litres?"]}) + "\n")
    store = f"sqlite:{folder / 'texts.db'}#chunks"
    system = System(SystemSettings(store, rewrite=(f"phrasings:{folder / 'phrasings.jsonl'}",)))
    retrieved = system.search(["fuel?", "night watch", "electricity"], 1)
    assert [ids(retrieved, retrieved.ranked, number) for number in range(3)] == [["fuel"], ["watch"], ["power"]]


@pytest.fixture
def failing(monkeypatch):
    """Queries with these words fail; `asked` has all that were asked."""
    matching, words, asked = SqliteStore.matching, set(), []

    def match(store, query, depth):
        asked.append(query)
        if words & set(query.split()):
            raise StoreError("the store is down.")
        return matching(store, query, depth)

    monkeypatch.setattr(SqliteStore, "matching", match)
    return words, asked


def test_a_question_on_which_a_store_fails_has_failed_alone_or_fused(folder, failing):
    failing[0].add("electricity?")
    store = f"sqlite:{folder / 'texts.db'}#chunks"
    for settings in (SystemSettings(store), SystemSettings("hybrid", legs=("bm25", store), fusion="rrf")):
        retrieved = System(settings, karat.Index.open(folder / "i")).search([q for q, _ in QUESTIONS.values()], 3)
        assert retrieved.failed == {1: "the store is down."}
        run = retrieved.run("store", list(QUESTIONS))
        assert (list(run.question_ids), run.failed) == (["q1", "q3"], {"q2": "the store is down."})
        assert np.diff(run.offsets).min() > 0


def test_a_retry_asks_a_store_for_what_failed_and_for_nothing_else(folder, failing, tmp_path, monkeypatch):
    words, asked = failing
    words.add("electricity?")
    spec = tmp_path / "karat.yaml"
    spec.write_text(
        f"name: store\ntestset: {folder}/questions.jsonl\nmeasures: ['MRR@3']\noutputs: []\n"
        f"systems: [{{name: text, engine: 'sqlite:{folder}/texts.db#chunks'}}]\n"
    )
    monkeypatch.chdir(tmp_path)
    karat.run(spec)
    assert sorted(asked) == sorted(q for q, _ in QUESTIONS.values())
    (run,) = (tmp_path / "runs").glob("*-store-*")
    failed = [
        json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines() if "the store is down" in line
    ]
    assert [record["row"]["id"] for record in failed] == ["q2"]
    words.clear()
    asked.clear()
    done = karat.run(spec, retry_errors=True)
    assert asked == ["electricity?"]
    assert done.mean("MRR@3", system="text") == 1.0


def test_what_is_said_of_a_store_is_said_when_it_is_not_asked_again(folder, tmp_path, monkeypatch):
    matching, broken = SqliteStore.matching, [True]

    def match(store, query, depth):
        if broken and store._target.options:
            raise StoreError("the store is down.")
        return matching(store, query, depth)

    monkeypatch.setattr(SqliteStore, "matching", match)
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:{folder}/texts.db#chunks"
    (tmp_path / "karat.yaml").write_text(
        f"testset: {folder}/questions.jsonl\nmeasures: ['MRR@3']\noutputs: []\nallow_zero_overlap: true\nsystems:\n"
        f"  - {{name: text, engine: '{store}'}}\n  - {{name: other, engine: '{store}?doc=id'}}\n"
    )

    def notes(**options):
        return [note.text for note in karat.run("karat.yaml", **options).evaluation.notes if "-bm25()" in note.text]

    first = notes()
    broken.clear()
    assert [note.split(":")[0] for note in first] == ["text", "other"]
    assert notes(retry_errors=True) == first


def test_a_store_is_timed_by_question_and_a_retry_remembers(folder, failing, tmp_path, monkeypatch):
    now, matching = [0.0], SqliteStore.matching

    def match(store, query, depth):
        now[0] += {"fuel?": 5.0, "electricity?": 3.0}.get(query, 2.0)
        return matching(store, query, depth)

    monkeypatch.setattr(SqliteStore, "matching", match)
    monkeypatch.setattr("karat.retrieve._stored.perf_counter", lambda: now[0])
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:{folder}/texts.db#chunks"
    (tmp_path / "karat.yaml").write_text(
        f"testset: {folder}/questions.jsonl\ncorpus: {folder}/docs\nmeasures: ['MRR@3']\noutputs: []\nsystems:\n"
        f"  - {{name: text, engine: '{store}'}}\n  - {{name: mixed, engine: hybrid, legs: ['{store}', bm25]}}\n"
    )
    failing[0].add("electricity?")
    spent = karat.run("karat.yaml").evaluation.usage_of("text", "seconds")
    assert (spent.n, spent.min, spent.max) == (2, 2.0, 5.0)
    failing[0].clear()
    done = karat.run("karat.yaml", retry_errors=True)
    spent = done.evaluation.usage_of("text", "seconds")
    assert (spent.n, spent.p50, spent.max) == (3, 3.0, 5.0)
    assert done.evaluation.usage_of("mixed", "seconds") is None  # its other leg is searched for all at once


@pytest.mark.parametrize(
    ("engine", "problem"),
    [
        (
            f"pgvector:postgresql://me:{SECRET}@db.example/kb#t",
            "holds a password: leave it out. Put it into PGPASSWORD",
        ),
        (f"pgtext:host=db.example password={SECRET}#t", "holds a password"),
        (f"pgtext:postgresql://me@db.example/kb?sslpassword={SECRET}#t", "holds a password"),
        (f"pgtext:host=db.example oauth_client_secret={SECRET}#t", "holds a password"),
        (f"pgvector:postgresql://me:a/{SECRET}@db.example/kb#t", "holds a password"),
        (f"qdrant:https://me:{SECRET}@db.example#t", "holds a password"),
        (f"pgvector:postgresql://me:a#{SECRET}@db.example/kb#t", "holds a password"),
        (f"estext:https://db.example#t?key_env=sk-{SECRET}", "key_env must be the name of an environment variable"),
        ("qdrant:folder#t?sauce=1", "no option 'sauce'"),
        ("sqlite:texts.db#t?id=", "the option id is empty"),
        ("pgvector:mysql://db.example#t", "write the address like postgresql://"),
        ("sqlit:texts.db", r"unknown store 'sqlit'. Did you mean sqlite\?"),
    ],
)
def test_a_store_that_cannot_be_is_refused_before_anything_is_asked(tmp_path, engine, problem):
    for system in (f"engine: '{engine}'", f"engine: hybrid, legs: ['{engine}', bm25]"):
        (tmp_path / "karat.yaml").write_text(f"testset: q.jsonl\ncorpus: docs\nsystems: [{{name: a, {system}}}]\n")
        with pytest.raises(InputError, match=problem) as raised:
            load_spec(tmp_path / "karat.yaml")
        assert SECRET not in str(raised.value)
