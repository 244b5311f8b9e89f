import json

import numpy as np
import pytest

import karat
from karat.core.errors import UsageError
from karat.experiment.explain import explain
from karat.experiment.search import search_all
from karat.report import objects
from karat.report.build.explanation import document, hits_document
from karat.report.render import console
from karat.systems.engines import Engines
from karat.systems.hits import search_one
from karat.systems.retrieval import Retrieval
from karat.systems.settings import SystemSettings
from karat.systems.system import System

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
    "water": "Snow is melted for drinking; a wash may take three minutes.",
}
QUESTIONS = ["How long is the night watch?", "Which engines make the electric power?"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    lines = [json.dumps({"id": name, "text": text}) for name, text in PASSAGES.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole")


def lists(found):
    return [[chunk.id for _, chunk in found.hits(i)] for i in range(len(found.ranked))]


@pytest.mark.parametrize(("alpha", "leg"), [(1.0, "dense"), (0.0, "bm25")])
def test_at_its_ends_a_hybrid_is_the_leg_and_the_other_is_not_consulted(index, alpha, leg, monkeypatch):
    alone = System(SystemSettings(leg), index).search(QUESTIONS, 5)
    other = {"dense": "bm25", "bm25": "dense"}[leg]
    monkeypatch.setattr(type(index.engine(other)), "search", lambda *args: pytest.fail("the other leg was asked"))
    hybrid = System(SystemSettings(alpha=alpha), index).search(QUESTIONS, 5)
    assert lists(hybrid) == lists(alone)
    assert np.array_equal(hybrid.ranked.scores, alone.ranked.scores)
    assert list(hybrid.legs) == [leg]


def test_a_weighted_hybrid_is_the_weighted_sum_of_its_normalised_legs(index):
    result = System(SystemSettings(alpha=0.7, normalise="minmax"), index).search(QUESTIONS[:1], 5)
    dense, bm25 = (
        {result.chunks[r].id: s for r, s in zip(*map(np.ndarray.tolist, result.legs[leg].of(0)), strict=True)}
        for leg in ("dense", "bm25")
    )

    def minmax(scores):
        low, high = min(scores.values()), max(scores.values())
        return {i: 0.5 if high == low else (s - low) / (high - low) for i, s in scores.items()}

    dense, bm25 = minmax(dense), minmax(bm25)
    expected = {i: 0.7 * dense.get(i, 0) + 0.3 * bm25.get(i, 0) for i in dense | bm25}
    assert {chunk.id: score for score, chunk in result.hits(0)} == pytest.approx(expected, abs=1e-6)


def test_k_cuts_the_list_and_never_the_candidates(index):
    assert lists(System(SystemSettings(), index).search(QUESTIONS, 2)) == [
        names[:2] for names in lists(System(SystemSettings(), index).search(QUESTIONS, 5))
    ]


def test_a_question_is_rewritten_before_it_is_searched(index, tmp_path):
    plain = System(SystemSettings("bm25"), index).search(["electricty"], 5)
    assert lists(plain) == [[]]
    mended = System(SystemSettings("bm25", rewrite=("spell",)), index).search(["electricty"], 5)
    assert lists(mended) == [["power"]]
    (tmp_path / "list.txt").write_text("call sign => call name\nthe radio\n")
    expand = System(SystemSettings("bm25", rewrite=(f"expand:{tmp_path / 'list.txt'}",)), index)
    hits = search_one(expand, "What is the call sign?", 1)
    about = hits.about
    assert [chunk.id for _, chunk in hits] == ["radio"]
    assert about["queries"] == ["What is the call sign? call name", "the radio What is the call sign? call name"]
    assert any("call sign → call name" in change for change in about["changes"])
    (tmp_path / "list.txt").write_text("call sign => call name\n")
    expand = System(SystemSettings("bm25", rewrite=(f"expand:{tmp_path / 'list.txt'}",)), index)
    assert search_one(expand, "What is fuel?", 1).about["notes"] == ["--rewrite changed nothing in the query."]
    (tmp_path / "qa.jsonl").write_text('{"id": 1, "question": "Whose call sign?"}\n{"id": 2, "question": "Fuel?"}\n')
    said, failed = search_all(expand, tmp_path / "qa.jsonl", tmp_path / "hits.jsonl", k=3, pages="physical")
    assert failed == 0
    assert "--rewrite changed 1 of 2 questions." in said


def test_names_tell_systems_apart():
    assert SystemSettings().name == "hybrid alpha=0.3"
    assert SystemSettings(alpha=0.7, normalise="zscore").name == "hybrid alpha=0.7 zscore"
    assert SystemSettings(fusion="rrf", rewrite=("spell",)).name == "rrf+spell"
    assert SystemSettings("bm25", rerank="folder").name == "bm25+rerank"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"fusion": "rff"}, "unknown fusion 'rff'. Did you mean rrf"),
        ({"alpha": 1.5}, "alpha=1.5 is not between 0"),
        ({"alpha": float("nan")}, "alpha=nan is not between 0"),
        ({"depth": 0}, "each engine gives 1 hit or more"),
        ({"legs": ("dense",)}, "two engines or more"),
        ({"legs": ("dense", "dense")}, "each once"),
        ({"legs": ("dense", "bm25", "other")}, "alpha weighs two legs"),
        ({"normalise": "maks"}, "There are max, minmax, zscore, none"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_searched(index, settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        System(SystemSettings(**settings), index)


def test_an_engine_needs_an_index_and_one_that_it_has(index):
    with pytest.raises(UsageError, match="needs an index"):
        System(SystemSettings("bm25")).search(["x"])
    with pytest.raises(UsageError, match=r"no engine 'bm52'. Did you mean bm25"):
        System(SystemSettings("bm52"), index).search(["x"])
    with pytest.raises(UsageError, match="k=0"):
        System(SystemSettings("bm25"), index).search(["x"], 0)


def test_a_file_of_questions_becomes_a_results_file_that_scores(index, tmp_path):
    questions = tmp_path / "qa.jsonl"
    questions.write_text(
        "\n".join(
            json.dumps({"id": f"q{i}", "question": text, "gold": [{"doc": gold}]})
            for i, (text, gold) in enumerate(zip(QUESTIONS, ("watch", "power"), strict=True))
        )
    )
    said, failed = search_all(
        System(SystemSettings(), index), questions, tmp_path / "hits.jsonl", k=3, pages="physical"
    )
    assert failed == 0
    assert said[1] == f"wrote 6 hits to {tmp_path / 'hits.jsonl'}"
    assert karat.score(questions, tmp_path / "hits.jsonl", measures="Hit@1").mean("Hit@1") == 1.0
    search_all(System(SystemSettings(), index), questions, tmp_path / "hits.run", k=3, pages="physical")
    report = karat.score(questions, tmp_path / "hits.run", measures="Hit@1", index=index.path)
    assert report.mean("Hit@1") == 1.0
    assert not report.notes


def test_a_store_that_holds_ids_alone_takes_the_rest_from_the_index(index, tmp_path):
    import faiss

    vectors = np.ascontiguousarray(index.engine("dense").embedder.embed(index.chunks.texts, "passage"))
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    faiss.write_index(flat, str(tmp_path / "my.faiss"))
    (tmp_path / "ids.txt").write_text("".join(f"{chunk.id}\n" for chunk in index.chunks))
    store = f"faiss:{tmp_path / 'my.faiss'}"
    for settings in (SystemSettings(store), SystemSettings(legs=(store, "bm25"))):
        found = System(settings, index).search(QUESTIONS[:1], 3)
        (_, best), *_ = found.hits(0)
        assert (best.id, best.text) == ("watch", PASSAGES["watch"])
        assert [note.partition(",")[0] for note in found.notes] == [f"queries to {store} are embedded by wordllama"]
    asked = [{"id": "q", "question": QUESTIONS[0], "gold": [{"doc": "power"}]}]
    e = explain(asked, System(SystemSettings(store, depth=1), index), "q", k=1)
    assert e.units[0].why == "no chunk that was found holds it: a larger --depth may find it"
    assert any("what else the store holds is not known" in note for note in e.notes)
    with pytest.raises(UsageError, match="reranking reads texts, and the hit 'watch' has none"):
        System(SystemSettings(store, rerank=str(tmp_path))).search(QUESTIONS[:1], 3)


def test_a_rewritten_leg_finds_the_same_whatever_else_is_asked(index, tmp_path):
    ways = [{"question": q, "phrasings": ["fuel tank litres watch", "fuel night watch"]} for q in QUESTIONS]
    (tmp_path / "ways.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ways))
    shallow, deep = (SystemSettings("bm25", depth=d, rewrite=(f"phrasings:{tmp_path / 'ways.jsonl'}",)) for d in (1, 3))
    retrieval = Retrieval(Engines(index), QUESTIONS, timed=True)
    retrieval.plan([deep, shallow], 1)
    retrieval.of(deep, 1)
    beside, alone = retrieval.of(shallow, 1).ranked, System(shallow, index).search(QUESTIONS, 1, whole=True).ranked
    assert (beside.rows.tolist(), beside.scores.tolist()) == (alone.rows.tolist(), alone.scores.tolist())


def test_a_question_with_one_phrasing_has_the_same_scores_beside_one_with_several(index, tmp_path):
    (tmp_path / "ways.jsonl").write_text(json.dumps({"question": QUESTIONS[0], "phrasings": ["fuel", "night watch"]}))
    system = System(SystemSettings("bm25", rewrite=(f"phrasings:{tmp_path / 'ways.jsonl'}",)), index)
    together = system.search(QUESTIONS, 3).ranked
    for number, question in enumerate(QUESTIONS):
        alone = system.search([question], 3).ranked
        assert together.of(number)[1].tolist() == alone.scores.tolist()


def test_gold_that_the_index_does_not_hold_is_counted_and_said(index):
    gold = [
        {"id": "q0", "question": QUESTIONS[0], "gold": [{"doc": "watch"}]},
        {"id": "q1", "question": QUESTIONS[1], "gold": [{"doc": "powre"}, {"doc": "nowhere", "grade": 0}]},
    ]
    hits = {"q0": ["watch"], "q1": ["power"]}
    report = karat.score(gold, hits, measures="Hit@1", index=index.path)
    assert report.mean("Hit@1") == 0.5
    (note,) = report.notes
    assert "no chunk of the index holds 1 of 2 gold units" in note


def test_a_chunk_of_the_gold_is_never_loosened_into_its_document(index):
    gold = [{"id": "q0", "question": QUESTIONS[0], "gold": [{"doc": "watch", "chunk": "watch#77"}]}]
    with pytest.raises(karat.KaratError, match="none of the gold is among the hits"):
        karat.score(gold, {"q0": ["watch"]}, measures="Hit@1", index=index.path)
    report = karat.score(gold, {"q0": ["watch"]}, measures="Hit@1", index=index.path, matching="doc")
    assert report.mean("Hit@1") == 1.0


def test_hits_that_the_index_does_not_hold_are_counted_and_said(index):
    gold = [{"id": f"q{i}", "question": text, "gold": [{"doc": "watch"}]} for i, text in enumerate(QUESTIONS)]
    report = karat.score(gold, {"q0": ["watch"], "q1": ["w_atch", " radio "]}, measures="Hit@1", index=index.path)
    (note,) = report.notes
    assert "1 of 3 hits is no chunk of the index (such as 'w_atch')" in note


def test_an_explanation_shows_every_step_and_adds_up(index, tmp_path):
    testset = [
        {"id": "q1", "question": QUESTIONS[0], "gold": [{"doc": "watch"}, {"doc": "atlantis"}], "kind": "factual"},
        {"id": "q2", "question": "nobody asked", "answerable": False},
    ]
    system = System(SystemSettings(alpha=0.6), index)
    e = explain(testset, system, "q1", k=3)
    assert e.hits[0].chunk.id == "watch"
    assert (e.hits[0].new, e.hits[1].new) == (("watch",), ())
    for hit in e.fused:
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score)
    for leg in e.legs[1][1]:
        assert sum(weight for _, weight in leg.made_of) == pytest.approx(leg.score, abs=1e-5)
    watch, atlantis = e.units
    assert (watch.rank, watch.chunks, watch.why) == (1, 1, None)
    assert (atlantis.rank, atlantis.chunks) == (None, 0)
    assert "atlantis" in atlantis.why
    assert {line.measure: line.value for line in e.measures}["Recall@3"] == 0.5
    text = console.render(document(e))
    for part in ("✓ 1.  watch", "✗ 2.", "Fusion by weighted", "Recall@3     .5000", "atlantis"):
        assert part in text
    whole = json.loads(objects.explanation(e))
    assert whole["gold"][1]["rank"] is None
    assert whole["hits"][0]["holds"] == ["watch"]
    none = console.render(document(explain(testset, system, "q2")))
    assert "The question has no gold, and is marked unanswerable" in none
    assert "undefined" in none
    with pytest.raises(UsageError, match=r"has no question 'q3'. It has 2: q1, q2."):
        explain(testset, system, "q3")


def test_hits_are_shown_without_what_a_terminal_would_obey(tmp_path):
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "evil\x1b[2J", "text": "red \x1b[31m alert \x07 text"}))
    index = karat.index(tmp_path / "c.jsonl", tmp_path / "i", engines="bm25")
    hits = search_one(System(SystemSettings("bm25"), index), "alert", 5)
    assert "\x1b" not in console.render(hits_document(hits))
    assert "alert" in console.render(hits_document(hits))
    assert json.loads(objects.hits({"query": "alert"}, hits))["hits"][0]["rank"] == 1
