"""What every public function returns is one short line at a prompt and one small, escaped table in a notebook."""

import contextlib
import json
import re

import pytest

import karat

HOSTILE = '<script>alert("x")</script>'
MANY = 60
SPEC = """\
corpus: docs.jsonl
testset: qa.jsonl
chunk: whole
systems: [pure_sparse, pure_dense]
main: MRR
gate: ["MRR >= .1"]
outputs: [csv]
"""


def asked(n):
    text = f"Where is {HOSTILE} thing number {n} kept?"
    return {"id": f"q{n}", "question": text, "gold": [{"doc": f"d{n}{HOSTILE}"}], "kind": HOSTILE, "answers": [HOSTILE]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with an experiment of many questions, whose texts and names are hostile."""
    folder = tmp_path_factory.mktemp("shown")
    docs = [{"id": f"d{n}{HOSTILE}", "text": f"{HOSTILE} Thing number {n} is kept here. " * 5} for n in range(MANY)]
    for name, rows in (("qa.jsonl", [asked(n) for n in range(MANY)]), ("docs.jsonl", docs)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "karat.yaml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def returned(place):
    """What each public function returned."""
    with contextlib.chdir(place):
        return call_all()


@pytest.fixture(autouse=True)
def _there(place, monkeypatch):
    monkeypatch.chdir(place)


def call_all():
    results = [{"id": f"q{n}", "retrieved": [f"d{n}{HOSTILE}"], "answer": HOSTILE * 9} for n in range(MANY)]
    index = karat.index("docs.jsonl", "my.index", chunk="whole")
    finished = karat.run(runs_dir="runs")
    swept = karat.sweep("qa.jsonl", index, {"alpha": "0:1:0.1"})
    report = karat.score("qa.jsonl", {HOSTILE: results, "other": results}, measures=["MRR", "EM"])
    return {
        "index": index,
        "hits": index.search(f"thing {HOSTILE}", k=20, engine="bm25"),
        "run": finished,
        "study": finished.study,
        "folder": finished.folder,
        "gate": finished.gate(),
        "sweep": swept,
        "choice": swept.choice(),
        "scores": swept.scores,
        "report": report,
        "evaluation": report.evaluation,
        "compare": karat.compare(report),
        "compare runs": karat.compare(finished, measures="MRR"),
        "verify": karat.verify(finished.folder.path),
        "check": karat.check("qa.jsonl", index),
        "generate": (made := karat.generate(index, samples=2, offline=True)),
        "generated": made.generated,
        "testset": (testset := karat.load_testset("qa.jsonl")),
        "part": testset[:50],
        "results": karat.load_results({HOSTILE: results})[0],
    }


def test_a_short_line_and_a_small_table_that_trusts_nothing(returned):
    for name, thing in returned.items():
        line, table = repr(thing), thing._repr_html_()
        assert len(line) < 500, name
        assert line.isprintable(), name
        assert line.startswith(f"{type(thing).__name__}("), name
        assert table.count("<table>") == 1, name
        assert "<td>" in table or name in ("generate", "generated"), name
        assert len(table) < 20_000, name
        assert set(re.findall(r"</?(\w+)", table)) <= {"p", "table", "thead", "tbody", "tr", "th", "td"}, name


def test_a_run_found_by_name_says_what_it_found(returned):
    run = returned["run"]
    assert repr(run).startswith("FinishedRun('experiment', 2 systems; 60 questions; best of 2: pure_sparse, MRR 1.0000")
    assert str(run.folder.path) in repr(run)
    assert re.findall(r"<tr><td>(\w+)</td>", run._repr_html_())[0] == run.best


def test_searching_an_index_is_what_karat_search_does(returned, place, karat, monkeypatch):
    monkeypatch.chdir(place)
    index, question = returned["index"], "Where is thing number 7 kept?"
    for engine, k in (("bm25", 3), ("hybrid", 5)):
        told = json.loads(karat("search", "my.index", question, "--engine", engine, "-k", k, "--json").out)
        hits = index.search(question, k=k, engine=engine)
        assert [(score, chunk.id) for score, chunk in hits] == [(hit["score"], hit["id"]) for hit in told["hits"]]
        assert len(hits) == k
    assert len(index.search(question)) == 10
    assert index.search(question).about["system"] == "hybrid alpha=0.3"
    assert index.search(question, alpha=1.0).about["system"] == "hybrid alpha=1"


def test_an_index_without_the_legs_of_a_hybrid_is_searched_by_what_it_has(returned):
    alone = karat.index("docs.jsonl", "bm25.index", chunk="whole", engines="bm25")
    assert alone.search("thing number 7", k=1).about["system"] == "bm25"
    with pytest.raises(karat.KaratError, match="no engine 'dense'"):
        alone.search("thing", engine="dense")
    with pytest.raises(karat.KaratError, match="the query is empty"):
        alone.search("  ")
    with pytest.raises(karat.KaratError, match="k=0"):
        alone.search("thing", k=0)
