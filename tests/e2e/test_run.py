"""karat run: an experiment from its file, and all that can be wrong with it."""

import json

import polars as pl
import pytest

RAISING = """
def search(question, k):
    if "fuel" in question:
        raise ValueError("no fuel")
    return ["watch"]
"""


def test_a_run_is_listed_shown_and_reported(station, karat, folder, last):
    told = karat("run")
    assert (told.code, told.err) == (0, "")
    assert "Summary" in told.out
    assert "4 systems over 6 questions" in told.out
    manifest = json.loads((last() / "manifest.json").read_text())
    assert manifest["status"] == "done"
    assert manifest["command"] == ["karat", "run"]
    assert manifest["spec"]["main"] == "MRR"
    assert manifest["inputs"]["testset"]["questions"] == 6
    listed = karat("show")
    assert "station" in listed.out
    assert "done" in listed.out
    assert json.loads(karat("show", "--json").out)[0]["name"] == "station"
    assert "Summary" in karat("show", "LAST").out
    assert "Recall" in karat("show", "station", "--scores").out
    assert json.loads(karat("show", "LAST", "--json").out)["main"] == "MRR"
    for name in ("report.html", "paper.tex", "table.csv"):
        assert karat("show", "LAST", "-o", name).code == 0
        assert (folder / name).stat().st_size > 100
    assert karat("show", "LAST", "-o", "report.odt").code == 2


def test_configurations_are_compared_at_one_cut_off(station, put, karat, folder, last):
    from karat.results.serial import load_study

    spec = station.spec.replace("main: MRR\n", "").replace("outputs:", "sweep: {alpha: [0.5], k: [1, 2]}\noutputs:")
    put("karat.yaml", spec)
    assert karat("run").code == 0
    study = load_study(last())
    assert {cell.measure for cell in study.choice.cells} == {study.main} == {"Recall@1"}


def test_every_long_stage_is_counted_to_its_end(station, put, folder):
    from karat.experiment.run import run

    put("karat.yaml", station.spec.replace("[csv]", "[csv, html, png]"))
    said = []
    run(folder / "karat.yaml", runs_dir=folder / "runs", say=lambda *step: said.append(step))
    for stage in ("tracing failures", "writing tables", "drawing charts", "writing charts"):
        counts = [(done, total) for what, done, total in said if what == stage]
        assert counts, stage
        assert counts[0][0] == 0
        assert counts[-1][0] == counts[-1][1] > 1, stage
    order = list(dict.fromkeys(what for what, _, _ in said))
    assert order[-1] == "writing the report"


def test_two_runs_of_the_same_have_the_same_rows(station, karat, folder, last):
    karat("run")
    first = (last() / "rows.parquet").read_bytes()
    karat("run", "--fresh", "--runs-dir", "other")
    assert (last("other") / "rows.parquet").read_bytes() == first


@pytest.mark.slow
def test_chunks_of_one_name_in_two_chunkings_stay_apart_in_what_is_stored(station, put, karat, folder, last):
    put(
        "karat.yaml",
        station.spec.replace("chunk: whole", "chunk: ['tokens:4:0', 'tokens:8:0']").replace("[csv]", "[html]"),
    )
    assert karat("run").code == 0
    assert karat("show", "LAST", "-o", "again.html").code == 0
    assert (folder / "again.html").read_bytes() == (last() / "report.html").read_bytes()


def test_a_store_is_scored_by_its_own_chunks_with_an_index_and_without(station, put, karat, folder, last):
    import faiss
    import numpy as np

    from karat.models import EmbedderSettings, embedder_named

    held = ["water", "radio", "galley"]  # fewer than the index has, in an order of their own
    vectors = embedder_named(EmbedderSettings()).embed([station.passages[name] for name in held], "passage")
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(np.ascontiguousarray(vectors))
    (folder / "store").mkdir()
    faiss.write_index(flat, str(folder / "store/my.faiss"))
    put("store/ids.txt", "".join(f"{name}\n" for name in held))
    theirs = "[{name: theirs, engine: 'faiss:store/my.faiss'}"
    legs = "{name: fused, engine: hybrid, fusion: rrf, legs: ['faiss:store/my.faiss', bm25]}"
    put("karat.yaml", station.spec.replace("[pure_dense, ", f"{theirs}, {legs}, "))
    told = karat("run")
    assert told.code == 0, told.err
    assert "theirs: queries to" in told.out
    rows = pl.read_parquet(last() / "rows.parquet").select("system", "question_id", "ranked").rows()
    ranked = {(system, question): ids for system, question, ids in rows}
    assert {frozenset(ids) for (system, _), ids in ranked.items() if system == "theirs"} == {frozenset(held)}
    assert ranked["theirs", "q2"][0] == ranked["fused", "q2"][0] == "radio"
    put("karat.yaml", station.spec.replace("corpus: corpus.jsonl\n", "").replace("chunk: whole\n", "")
        .replace("[pure_dense, balanced, pure_sparse, rrf", theirs))  # fmt: skip
    told = karat("run")
    assert told.code == 0, told.err
    assert "1 system" in told.out


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (("k: [1, 3]", "k: [0]"), ["karat.yaml", "k", "0"]),
        (("main: MRR", "main: MRX"), ["karat.yaml", "MRX", "MRR"]),
        (("main: MRR", "main: EM"), ["EM"]),
        (("systems:", "sistems:"), ["sistems", "Did you mean systems"]),
        (("pure_dense", "pure_dens"), ["pure_dens", "pure_dense"]),
        (("[pure_dense,", "[{engine: hybrid, alpha: 1.5},"), ["alpha", "1.5"]),
        (("corpus: corpus.jsonl", "corpus: corpse.jsonl"), ["corpse.jsonl", "corpus.jsonl"]),
        (("testset: qa.jsonl", "testset: nowhere.jsonl"), ["nowhere.jsonl"]),
        (("by: [kind]", "by: [kinds]"), ["kinds", "kind"]),
        (("chunk: whole", "chunk: tokens:5:9"), ["overlap"]),
        (("outputs: [csv]", "sweep: {alpha: '1:0:0.1'}"), ["alpha"]),
        (("pure_dense,", "pure_dense, {name: rrf, engine: bm25},"), ["rrf"]),
        (("outputs: [csv]", "sweep: {legs: ['faiss:x', bm25]}"), ["faiss:x"]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_file_is_said_in_one_sentence(station, put, karat, folder, change, parts):
    put("karat.yaml", station.spec.replace(*change))
    told = karat("run")
    assert told.code == 2
    assert "Traceback" not in told.err
    assert "internal error" not in told.err
    for part in parts:
        assert part in told.err
    assert not (folder / "runs").exists() or not any(
        (p / "manifest.json").exists() for p in (folder / "runs").iterdir()
    )


def test_a_sweep_takes_what_the_file_says(station, put, karat):
    put("karat.yaml", station.spec + "sweep: {alpha: [0, 0.5, 1]}\n")
    told = karat("sweep", "--json")
    assert (told.code, told.err) == (0, "")
    assert "alpha=0.5" in told.out
    put("karat.yaml", station.spec.replace("chunk: whole", "chunk: [whole, page]"))
    assert "2 ways of indexing" in karat("sweep").sentence


def test_a_cut_beyond_the_corpus_is_allowed(station, put, karat):
    put("karat.yaml", station.spec.replace("k: [1, 3]", "k: [1, 50]"))
    assert karat("run").code == 0


def test_an_empty_test_set_and_a_missing_file_are_named(station, put, karat):
    put("qa.jsonl", "")
    assert "qa.jsonl" in karat("run").sentence
    assert "nowhere.yaml" in karat("run", "nowhere.yaml").sentence
    assert "there are no runs" in karat("show", "LAST").sentence


def test_failures_of_results_count_every_slot_as_the_scores_do(station, put, karat, folder, last):
    from karat.results.serial import load_study

    ids = [{"id": name} for name in ("watch", " fuel", "fuel", "radio")]
    put("hits.jsonl", [{"id": f"q{n}", "retrieved": ids} for n in range(len(station.questions))])
    spec = station.spec.replace("[pure_dense, balanced, pure_sparse, rrf", "[pure_dense, {results: hits.jsonl}")
    put("karat.yaml", spec.replace("main: MRR", "main: F1@3"))
    assert karat("run").code == 0
    study = load_study(last())
    lost = sum(count.gain for count in study.failure_counts if count.system == "hits")
    summaries = study.evaluation.summaries
    recall = next(s.mean for s in summaries if (s.system, s.measure, s.slice) == ("hits", "Recall@3", None))
    assert recall == pytest.approx(2 / 6)
    assert lost == pytest.approx(4 / 6)
    assert study.hits["hits"]["q1"][1].holds == ("fuel",)


@pytest.mark.slow
def test_embedders_that_differ_in_their_prefixes_alone_are_told_apart(station, put, karat):
    both = "embedder: [wordllama, {name: wordllama, query_prefix: 'query: '}]\n"
    put("karat.yaml", station.spec.replace("[pure_dense, balanced, pure_sparse, rrf", "[pure_dense") + both)
    told = karat("run")
    assert told.code == 0, told.err
    assert "pure_dense [wordllama]" in told.out
    assert "pure_dense [wordllama #2]" in told.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "main"),
    [
        ("rel: 2\nmain: F1@3\n", "F1(rel=2)@3"),
        ("rel: 2\nsweep: {alpha: [0.2], k: [1, 3]}\n", "Recall(rel=2)@1"),
        ("dialect: rag-benchmark\nmatch: doc\nmain: Recall@3\n", "Hit@3"),
    ],
)
def test_the_choice_is_by_the_main_measure_as_it_is_scored(station, put, karat, more, main):
    put("qa.jsonl", [{"id": "q", "question": "How long is the night watch?", "gold": [{"doc": "watch", "grade": 2}]}])
    put("karat.yaml", station.spec.replace("main: MRR\n", "").replace("by: [kind]\n", "") + more)
    told = json.loads(karat("run", "--json").out)
    assert told["choice"]["measure"] == main
    assert told["choice"]["best"]["mean"] > 0
    assert told["error_classes"] == {}


def test_error_classes_are_counted_where_they_are_asked_for(station, put, karat):
    put("karat.yaml", station.spec + "bands: true\n")
    told = json.loads(karat("run", "--json").out)
    assert sum(told["error_classes"]["pure_dense"].values()) == len(station.questions)


@pytest.mark.slow
def test_a_measure_of_ones_own_is_shown_again(station, put, karat, folder):
    put("mine.py", "def polite(answer: str) -> float:\n    return 1.0\n")
    put("karat.yaml", station.spec + "measures: ['mine:polite', Recall@3]\n")
    assert karat("run").code == 0
    (folder / "mine.py").unlink()
    assert "polite" in karat("show", "LAST", "--scores", "-v").out
    assert karat("show", "LAST", "-o", "again.html").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["Recall@9000t", "Recall@40"])
def test_lists_are_long_enough_for_every_measure(put, karat, folder, measure, last):

    put("corpus.jsonl", [{"id": f"d{n:02}", "text": "fuel " * (n + 1)} for n in range(40)])
    put("qa.jsonl", [{"id": "q", "question": "fuel", "gold": [{"doc": f"d{n:02}"} for n in range(40)]}])
    spec = "corpus: corpus.jsonl\ntestset: qa.jsonl\nchunk: whole\nsystems: [pure_sparse]\noutputs: []\n"
    put("karat.yaml", f"{spec}measures: [{measure}, Recall@5]\nmain: Recall@5\n")
    assert karat("run").code == 0
    assert pl.read_parquet(last() / "rows.parquet")[measure].to_list() == [1.0]


def test_questions_without_a_text_are_not_searched_for(station, put, karat):
    put("qa.jsonl", [{"id": "q0", "question": "watch", "gold": ["watch"]}, {"id": "q1", "gold": ["fuel"]}])
    put("karat.yaml", station.spec.replace("by: [kind]\n", ""))
    assert "qa.jsonl: question 'q1' has no text to search for (1 has none)" in karat("run").sentence
    put("hits.jsonl", [{"id": "q0", "retrieved": [{"id": "watch"}]}])
    put("karat.yaml", "testset: qa.jsonl\nsystems: [{results: hits.jsonl}]\noutputs: []\n")
    assert karat("run").code == 0


@pytest.mark.slow
def test_the_times_of_a_results_file_reach_the_files_of_a_run(put, karat, last):
    put("qa.jsonl", [{"id": f"q{i}", "question": "watch", "gold": ["watch"], "answers": ["four"]} for i in range(3)])
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    row = {"retrieved": ["watch"], "answer": "four", "usage": usage}
    seconds = [{"retrieve": 0.25, "answer": 2}, 1.5, {"total": 3, "answer": 2}]
    put("hits.jsonl", [{"id": f"q{i}", **row, "seconds": one} for i, one in enumerate(seconds)])
    put("karat.yaml", "testset: qa.jsonl\nsystems: [{results: hits.jsonl}]\noutputs: []\n")
    assert karat("run").code == 0
    times = pl.read_parquet(last() / "times.parquet")
    assert times["seconds"].to_list() == [0.25, None, 1.0]  # 1.5 is of retrieving and answering together
    assert times["seconds_total"].to_list() == [2.25, 1.5, 3.0]
    assert times["seconds_answer"].to_list() == [2.0, None, 2.0]
    assert times["tokens"].to_list() == [15, 15, 15]
    scored = json.loads(karat("score", "qa.jsonl", "hits.jsonl", "--json").out)
    found = {u["what"]: (u["mean"], u["n"]) for u in scored["usage"]}
    assert found == {
        "seconds retrieve": (0.25, 1), "seconds answer": (2.0, 2), "seconds total": (2.25, 3), "tokens": (15.0, 3),
    }  # fmt: skip


@pytest.mark.slow
def test_a_system_of_others_changes_no_score_of_karats_own(station, put, karat, folder, last):
    rows = [json.loads(line) for line in (folder / "qa.jsonl").read_text().splitlines()]
    quotes = {name: " ".join(text.split()[2:9]) for name, text in station.passages.items()}
    put("qa.jsonl", [{**row, "gold": [{"doc": (d := row["gold"][0]["doc"]), "quote": quotes[d]}]} for row in rows])
    put(
        "mine.py",
        RAISING.replace(
            '["watch"]', '[{"id": "my-1", "text": "The night watch lasts four hours and is kept by two."}]'
        ),
    )
    cut = station.spec.replace("chunk: whole", "chunk: tokens:5:0").replace(
        "k: [1, 3]", "k: [1, 3]\nmeasures: [Recall@3]"
    )
    put("karat.yaml", cut)
    karat("run")
    alone = (last() / "summary.csv").read_text().splitlines()
    put("karat.yaml", cut.replace("systems: [", "systems: [{name: mine, call: 'mine:search'}, "))
    assert karat("run").code == 5
    beside = (last() / "summary.csv").read_text().splitlines()
    assert set(alone) - set(beside) == set()
    assert any(line.startswith("mine,Recall@3") for line in beside)
