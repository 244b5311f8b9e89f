"""Documents that a question excludes: out of every list before ranks are counted, however it was made."""

import json

import pytest

import karat
from karat.core.errors import InputError, UsageError
from karat.core.types import Gold, Question, TestSet
from karat.experiment.sweep import sweep
from karat.experiment.sweep.grid import Grid
from karat.files import as_testset, convert, read_testset

DOCS = {f"d{i}": f"The old bridge of stone number {i} stands in the valley." for i in range(6)}
ASKED = "Where does the old bridge of stone number 3 stand?"


def questions(*excluded, gold="d3"):
    return TestSet(
        [Question("q1", ASKED, gold=(Gold(id=gold),), excluded=excluded), Question("q2", ASKED, gold=(Gold(id=gold),))]
    )


def notes_of(report):
    return [note.text for note in report.evaluation.notes]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("excluded")
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps({"id": i, "text": t}) for i, t in DOCS.items()))
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole", engines=["bm25"])


def test_hits_are_taken_out_of_results_before_ranks_are_counted():
    hits = ["d0", "d1", "d3", "d4"]
    report = karat.score(questions("d0", "d1"), {"a": {"q1": hits, "q2": hits}}, measures="MRR,Recall@1")
    assert report.per_query["MRR"].to_list() == [1, pytest.approx(1 / 3)]
    assert "a: 2 hits that their questions exclude were taken out before ranks were counted." in notes_of(report)
    plain = karat.score(questions(), {"a": {"q1": hits, "q2": hits}}, measures="MRR")
    assert not [text for text in notes_of(plain) if "exclude" in text]


def test_a_hit_is_excluded_by_its_id_or_its_document():
    rows = [
        {
            "id": "q1",
            "retrieved": [
                {"id": "c1", "doc": "a.pdf"},
                {"id": "b.pdf::chunk-3"},
                {"id": "c9"},
                {"id": "d3", "doc": "x"},
            ],
        },
        {"id": "q2", "retrieved": [{"id": "d3"}]},
    ]
    report = karat.score(questions("a.pdf", "b.pdf", "c9"), rows, measures="MRR", matching="exact")
    assert report.per_query["MRR"].to_list() == [1, 1]
    scored = {"q1": {"d0": 3.0, "d3": 2.0, "d4": 1.0}, "q2": {"d3": 1.0}}
    assert karat.score(questions("d0"), scored, measures="MRR").mean("MRR") == 1


def test_a_search_goes_past_what_is_excluded(index):
    found = karat.evaluate(questions("d0", "d1", "d2"), {"mine": index}, k=3, measures="Recall@3")
    first, second = found.evaluation.ranked["mine"]
    assert (len(first), len(second)) == (3, 3)
    assert set(first) == {"d3", "d4", "d5"}
    assert found.mean("Recall@3") == 1


def test_a_sweep_excludes_too(index):
    swept = sweep(questions("d0", "d1", "d2", "d4", "d5"), index, Grid.of(alpha="0", k="1"), measures="Hit@1", length=2)
    run = swept.run("bm25")
    assert [run.doc_list[run.offsets[i] : run.offsets[i + 1]] for i in range(2)] == [["d3"], run.doc_list[1:3]]
    assert len(run.doc_list) == 3
    assert "1 question excludes documents: 5 chunks of the index cannot be found for them." in [
        note.text for note in swept.notes
    ]


SEARCH = """
def search(question, k):
    return [f"d{i}" for i in range(6)][:k]
"""


def test_a_run_excludes_for_every_system_alike(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"id": i, "text": t}) for i, t in DOCS.items())
    )
    rows = [
        {"id": "q1", "question": ASKED, "gold": [{"chunk": "d3"}], "excluded_ids": ["d0", "d1", "d2"]},
        {"id": "q2", "question": ASKED, "gold": [{"chunk": "d3"}], "excluded_ids": ["N/A"]},
    ]
    (tmp_path / "qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "mine.py").write_text(SEARCH)
    (tmp_path / "karat.yaml").write_text(
        "name: excluded\ncorpus: docs\nchunk: whole\ntestset: qa.jsonl\nmeasures: [Recall@3, MRR]\nk: 3\n"
        "systems: [{name: bm25, engine: bm25}, {name: own, call: mine.py:search}]\noutputs: [csv]\n"
    )
    finished = karat.run(tmp_path / "karat.yaml", runs_dir=tmp_path / "runs")
    ranked = finished.study.evaluation.ranked
    assert set(ranked["bm25"][0]) == {"d3", "d4", "d5"}
    assert len(ranked["bm25"][1]) >= 3
    assert ranked["own"][0][0] == "d3"
    texts = [note.text for note in finished.study.evaluation.notes]
    assert "1 question excludes documents: 3 chunks of the index cannot be found for them." in texts
    assert "own: 3 hits that their questions exclude were taken out before ranks were counted." in texts


def test_excluded_ids_of_a_test_set(tmp_path):
    path = tmp_path / "bright.jsonl"
    row = {"id": 0, "query": ASKED, "gold_ids": ["d3"], "excluded_ids": ["d0", 7, "d0"], "gold_answer": "In the valley"}
    path.write_text("\n".join(map(json.dumps, [row, {**row, "id": 1, "excluded_ids": ["N/A"]}])))
    testset, info = read_testset(path)
    assert [question.excluded for question in testset] == [("d0", "7"), ()]
    assert "1 question of 2 exclude documents, which do not count as hits" in info.notes
    _, _, lost = convert(path, tmp_path / "again.jsonl")
    again, _ = read_testset(tmp_path / "again.jsonl")
    assert (lost, again.digest) == ([], testset.digest)
    _, _, lost = convert(path, tmp_path / "q.qrels", format="trec-qrels")
    assert "excluded documents" in lost


def test_gold_that_is_excluded_is_an_error(index):
    rows = [{"id": "1", "question": "a?", "gold": [{"doc": "a.pdf", "page": "3"}], "excluded": ["a.pdf"]}]
    with pytest.raises(InputError, match=r'record 1 .*"a\.pdf" is gold and excluded'):
        as_testset(rows)
    with pytest.raises(UsageError, match="question 'q1' excludes 'd3', which is its gold"):
        karat.score(questions("d3"), {"a": {"q1": ["d3"]}})
    with pytest.raises(UsageError, match="which is its gold"):
        sweep(questions("d3"), index, Grid.of(alpha="0", k="1"))


def test_answers_keep_the_contexts_that_they_cite_by_their_places():
    hits = [{"id": "d0", "text": DOCS["d0"]}, {"id": "d3", "text": DOCS["d3"]}]
    answer = "The old bridge of stone number 3 stands in the valley [2]."
    rows = [{"id": qid, "retrieved": hits, "answer": answer} for qid in ("q1", "q2")]
    report = karat.score(questions("d0"), rows, measures="MRR,CitationPrecision,ContextSufficient")
    assert report.per_query["MRR"].to_list() == [1, 0.5]
    assert report.per_query["CitationPrecision"].to_list() == [1, 1]
    assert report.per_query["ContextSufficient"].to_list() == [1, 1]
