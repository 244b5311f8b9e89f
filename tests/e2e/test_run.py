"""karat run: an experiment from its file, killed and resumed, and all that can be wrong with it."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import time

import pytest

from karat.experiment.store import runs_in

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
    "water": "Snow is melted for drinking; a wash may take three minutes.",
    "galley": "Hot meals are served at seven, at noon and at half past six.",
}
QUESTIONS = [
    ("How long is the night watch?", "watch", "numerical"),
    ("How much fuel does a tank hold?", "fuel", "numerical"),
    ("What is the call name of the radio room?", "radio", "factual"),
    ("Which generators are there?", "power", "listing"),
    ("How long may I wash myself?", "water", "numerical"),
    ("When is dinner?", "galley", "factual"),
]
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [pure_dense, balanced, pure_sparse, rrf]
k: [1, 3]
main: MRR
by: [kind]
outputs: [csv]
"""
SLOW = """
import time
def search(question, k):
    time.sleep(0.03)
    return [["watch", 2.0], ["fuel", 1.0]]
"""
COUNTING = """
def search(question, k):
    with open("asked.txt", "a") as asked:
        asked.write("x")
    return ["watch"]
"""
RAISING = """
def search(question, k):
    if "fuel" in question:
        raise ValueError("no fuel")
    return ["watch"]
"""


@pytest.fixture
def station(put):
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    rows = [{"id": f"q{n}", "question": q, "gold": [{"doc": d}], "kind": k} for n, (q, d, k) in enumerate(QUESTIONS)]
    put("qa.jsonl", rows)
    put("karat.yaml", SPEC)


def last(folder, runs="runs"):
    return runs_in(folder / runs)[-1].path


def test_a_run_is_listed_shown_and_reported(station, karat, folder):
    told = karat("run")
    assert (told.code, told.err) == (0, "")
    assert "What was found" in told.out
    assert "4 systems over 6 questions" in told.out
    manifest = json.loads((last(folder) / "manifest.json").read_text())
    assert manifest["status"] == "done"
    assert manifest["command"] == ["karat", "run"]
    assert manifest["spec"]["main"] == "MRR"
    assert manifest["inputs"]["testset"]["questions"] == 6
    listed = karat("list")
    assert "station" in listed.out
    assert "done" in listed.out
    assert json.loads(karat("list", "--json").out)[0]["name"] == "station"
    assert "What was found" in karat("show", "LAST").out
    assert "Recall" in karat("show", "station", "--scores").out
    assert json.loads(karat("show", "--json").out)["main"] == "MRR"
    for name in ("report.html", "paper.tex", "table.csv"):
        assert karat("report", "LAST", "-o", name).code == 0
        assert (folder / name).stat().st_size > 100
    assert karat("report", "LAST", "-o", "report.odt").code == 2


@pytest.mark.parametrize(("also", "cuts"), [("", {None}), (", k: [1, 2]", {1, 2, 3})])
def test_cut_offs_are_compared_only_where_they_are_swept(station, put, karat, folder, also, cuts):
    from karat.experiment.stored import load_study

    put("karat.yaml", SPEC.replace("outputs:", f"sweep: {{alpha: [0.5]{also}}}\noutputs:"))
    assert karat("run").code == 0
    assert {cell.k for cell in load_study(last(folder)).choice.cells} == cuts


def test_two_runs_of_the_same_have_the_same_rows(station, karat, folder):
    karat("run")
    first = (last(folder) / "rows.parquet").read_bytes()
    karat("run", "--fresh", "--runs-dir", "other")
    assert (last(folder, "other") / "rows.parquet").read_bytes() == first


@pytest.mark.slow
def test_killed_at_random_moments_a_run_ends_as_if_undisturbed(station, put, folder):
    put("slow.py", SLOW)
    put("karat.yaml", SPEC.replace("systems: [", "systems: [{call: 'slow:search'}, "))
    command = [sys.executable, "-c", "from karat.cli.main import main; main()", "run", "-q", "--runs-dir"]

    def go(runs, seconds=None):
        with subprocess.Popen(
            [*command, runs], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                _, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                return False
        assert process.returncode == 0, err
        return True

    started = time.monotonic()
    assert go("calm")
    whole = time.monotonic() - started
    draw, kills = random.Random(0), 0
    while kills < 20:
        if go("killed", draw.uniform(0.3, 1.05) * whole):
            (last(folder, "killed") / "manifest.json").unlink()  # a new run for the kills that are left
        else:
            kills += 1
    assert go("killed")
    digests = {
        hashlib.sha256((last(folder, runs) / "rows.parquet").read_bytes()).hexdigest() for runs in ("calm", "killed")
    }
    assert len(digests) == 1


def test_what_a_journal_holds_is_not_asked_again(station, put, karat, folder):
    put("counting.py", COUNTING)
    put("karat.yaml", SPEC.replace("systems: [", "systems: [{call: 'counting:search'}, "))
    assert karat("run").code == 0
    assert (folder / "asked.txt").read_text() == "x" * 6
    journal = stopped(folder) / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"system"' not in line] + [line for line in lines if '"system"' in line][:4]
    journal.write_text("".join(kept))
    assert karat("run").code == 0
    assert (folder / "asked.txt").read_text() == "x" * 8


def stopped(folder, kept=None):
    """Make the last run look as if it was killed when the journal had so many records."""
    manifest = last(folder) / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"done"', '"running"'))
    journal = last(folder) / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:kept]))
    return last(folder)


@pytest.mark.parametrize("changed", ["mine.py", "words.txt", "hits.jsonl"])
def test_what_was_changed_after_a_run_was_stopped_makes_it_another_run(station, put, karat, folder, changed):
    files = {
        "mine.py": "def search(question, k):\n    return ['watch']\n",
        "words.txt": "fuel => tank\n",
        "hits.jsonl": [{"id": "q0", "retrieved": [{"id": "watch"}]}],
    }
    for name, content in files.items():
        put(name, content)
    named = "{name: mine, call: 'mine:search'}, {preset: pure_sparse, name: more, rewrite: ['expand:words.txt']}"
    put("karat.yaml", SPEC.replace("[pure_dense, ", f"[{named}, {{name: theirs, results: hits.jsonl}}, "))
    assert karat("run").code == 0
    first = stopped(folder, 3)
    put(changed, "\n" + (folder / changed).read_text())
    assert karat("run").code == 0
    assert last(folder) != first


def test_rewritten_questions_are_found_again_by_what_rewrote_them(station, put, karat, folder):
    put("a.txt", "night => radio Lantern\n")
    put("b.txt", "night => generators Asta\n")
    named = [f"{{preset: pure_sparse, name: {n}, rewrite: ['expand:{n}.txt']}}" for n in "ab"]
    put("karat.yaml", SPEC.replace("[pure_dense, ", f"[{', '.join(named)}, "))
    assert karat("run").code == 0
    rows = (last(folder) / "rows.parquet").read_bytes()
    path = stopped(folder)
    assert karat("run").code == 0
    assert last(folder) == path
    assert (path / "rows.parquet").read_bytes() == rows


def test_chunks_of_one_name_in_two_chunkings_stay_apart_in_what_is_stored(station, put, karat, folder):
    put("karat.yaml", SPEC.replace("chunk: whole", "chunk: ['tokens:4:0', 'tokens:8:0']").replace("[csv]", "[html]"))
    assert karat("run").code == 0
    assert karat("report", "LAST", "-o", "again.html").code == 0
    assert (folder / "again.html").read_bytes() == (last(folder) / "report.html").read_bytes()


def test_a_function_that_raises_fails_its_rows_and_no_others(station, put, karat, folder):
    put("mine.py", RAISING)
    put("karat.yaml", SPEC.replace("systems: [", "systems: [{name: mine, call: 'mine:search'}, "))
    told = karat("run")
    assert told.code == 5
    rows = (last(folder) / "rows.csv").read_text()
    assert "ValueError: no fuel" in rows
    first = last(folder)
    assert karat("run", "--retry-errors").code == 5
    assert last(folder) == first
    journal = [json.loads(line) for line in (first / "journal.jsonl").read_text().splitlines()]
    assert [r["row"]["id"] for r in journal if r.get("system") == "mine"] == ["q0", "q1", "q2", "q3", "q4", "q5", "q1"]
    assert karat("run").code == 5
    assert last(folder) != first


def test_a_store_is_scored_by_its_own_chunks_with_an_index_and_without(station, put, karat, folder):
    import faiss
    import numpy as np
    import polars as pl

    from karat.models import EmbedderSettings, embedder_named

    held = ["water", "radio", "galley"]  # fewer than the index has, in an order of their own
    vectors = embedder_named(EmbedderSettings()).embed([PASSAGES[name] for name in held], "passage")
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(np.ascontiguousarray(vectors))
    (folder / "store").mkdir()
    faiss.write_index(flat, str(folder / "store/my.faiss"))
    put("store/ids.txt", "".join(f"{name}\n" for name in held))
    theirs = "[{name: theirs, engine: 'faiss:store/my.faiss'}"
    legs = "{name: fused, engine: hybrid, fusion: rrf, legs: ['faiss:store/my.faiss', bm25]}"
    put("karat.yaml", SPEC.replace("[pure_dense, ", f"{theirs}, {legs}, "))
    told = karat("run")
    assert told.code == 0, told.err
    assert "theirs: queries to" in told.out
    rows = pl.read_parquet(last(folder) / "rows.parquet").select("system", "question_id", "ranked").rows()
    ranked = {(system, question): ids for system, question, ids in rows}
    assert {frozenset(ids) for (system, _), ids in ranked.items() if system == "theirs"} == {frozenset(held)}
    assert ranked["theirs", "q2"][0] == ranked["fused", "q2"][0] == "radio"
    put("karat.yaml", SPEC.replace("corpus: corpus.jsonl\n", "").replace("chunk: whole\n", "")
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
    put("karat.yaml", SPEC.replace(*change))
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
    put("karat.yaml", SPEC + "sweep: {alpha: [0, 0.5, 1]}\n")
    told = karat("sweep", "--json")
    assert (told.code, told.err) == (0, "")
    assert "alpha=0.5" in told.out
    put("karat.yaml", SPEC.replace("chunk: whole", "chunk: [whole, page]"))
    assert "2 ways of indexing" in karat("sweep").sentence


def test_a_cut_beyond_the_corpus_is_allowed(station, put, karat):
    put("karat.yaml", SPEC.replace("k: [1, 3]", "k: [1, 50]"))
    assert karat("run").code == 0


def test_an_empty_test_set_and_a_missing_file_are_named(station, put, karat):
    put("qa.jsonl", "")
    assert "qa.jsonl" in karat("run").sentence
    assert "nowhere.yaml" in karat("run", "nowhere.yaml").sentence
    assert "there are no runs" in karat("show").sentence


def test_failures_of_results_count_every_slot_as_the_scores_do(station, put, karat, folder):
    from karat.experiment.stored import load_study

    ids = [{"id": name} for name in ("watch", " fuel", "fuel", "radio")]
    put("hits.jsonl", [{"id": f"q{n}", "retrieved": ids} for n in range(len(QUESTIONS))])
    spec = SPEC.replace("[pure_dense, balanced, pure_sparse, rrf", "[pure_dense, {results: hits.jsonl}")
    put("karat.yaml", spec.replace("main: MRR", "main: F1@3"))
    assert karat("run").code == 0
    study = load_study(last(folder))
    lost = sum(count.gain for count in study.failure_counts if count.system == "hits")
    summaries = study.evaluation.summaries
    recall = next(s.mean for s in summaries if (s.system, s.measure, s.slice) == ("hits", "Recall@3", None))
    assert recall == pytest.approx(2 / 6)
    assert lost == pytest.approx(4 / 6)
    assert study.hits["hits"]["q1"][1].holds == ("fuel",)


def test_embedders_that_differ_in_their_prefixes_alone_are_told_apart(station, put, karat):
    both = "embedder: [wordllama, {name: wordllama, query_prefix: 'query: '}]\n"
    put("karat.yaml", SPEC.replace("[pure_dense, balanced, pure_sparse, rrf", "[pure_dense") + both)
    told = karat("run")
    assert told.code == 0, told.err
    assert "pure_dense [wordllama]" in told.out
    assert "pure_dense [wordllama #2]" in told.out


@pytest.mark.parametrize(
    ("more", "main"),
    [
        ("rel: 2\nmain: F1@3\n", "F1(rel=2)@3"),
        ("rel: 2\nsweep: {alpha: [0.2], k: [1, 3]}\n", "F1"),
        ("dialect: rag-benchmark\nmatch: doc\nmain: Recall@3\n", "Hit@3"),
    ],
)
def test_the_choice_is_by_the_main_measure_as_it_is_scored(station, put, karat, more, main):
    put("qa.jsonl", [{"id": "q", "question": "How long is the night watch?", "gold": [{"doc": "watch", "grade": 2}]}])
    put("karat.yaml", SPEC.replace("main: MRR\n", "").replace("by: [kind]\n", "") + more)
    told = json.loads(karat("run", "--json").out)
    assert told["choice"]["measure"] == main
    assert told["choice"]["best"]["mean"] > 0
    assert sum(told["error_classes"].get("pure_dense", {}).values()) == (0 if "dialect" in more else 1)


def test_a_measure_of_ones_own_is_shown_again(station, put, karat, folder):
    put("mine.py", "def polite(answer: str) -> float:\n    return 1.0\n")
    put("karat.yaml", SPEC + "measures: ['mine:polite', Recall@3]\n")
    assert karat("run").code == 0
    (folder / "mine.py").unlink()
    assert "polite" in karat("show", "--scores", "-v").out
    assert karat("report", "-o", "again.html").code == 0


@pytest.mark.parametrize("measure", ["Recall@9000t", "Recall@40"])
def test_lists_are_long_enough_for_every_measure(put, karat, folder, measure):
    import polars as pl

    put("corpus.jsonl", [{"id": f"d{n:02}", "text": "fuel " * (n + 1)} for n in range(40)])
    put("qa.jsonl", [{"id": "q", "question": "fuel", "gold": [{"doc": f"d{n:02}"} for n in range(40)]}])
    spec = "corpus: corpus.jsonl\ntestset: qa.jsonl\nchunk: whole\nsystems: [pure_sparse]\noutputs: []\n"
    put("karat.yaml", f"{spec}measures: [{measure}, Recall@5]\nmain: Recall@5\n")
    assert karat("run").code == 0
    assert pl.read_parquet(last(folder) / "rows.parquet")[measure].to_list() == [1.0]


def test_questions_without_a_text_are_not_searched_for(station, put, karat):
    put("qa.jsonl", [{"id": "q0", "question": "watch", "gold": ["watch"]}, {"id": "q1", "gold": ["fuel"]}])
    put("karat.yaml", SPEC.replace("by: [kind]\n", ""))
    assert "qa.jsonl: question 'q1' has no text to search for (1 has none)" in karat("run").sentence
    put("hits.jsonl", [{"id": "q0", "retrieved": [{"id": "watch"}]}])
    put("karat.yaml", "testset: qa.jsonl\nsystems: [{results: hits.jsonl}]\noutputs: []\n")
    assert karat("run").code == 0


def test_a_run_that_nobody_is_at_is_listed_as_stopped(station, put, karat, folder):
    from karat.experiment.store import open_run

    put("karat.yaml", SPEC.replace("corpus.jsonl", "lost.jsonl"))
    put("lost.jsonl", [{"id": "x", "text": "Nothing of use."}])
    told = karat("run")
    assert told.code == 3
    assert "allow_zero_overlap: true in karat.yaml" in told.err
    assert "stopped" in karat("list").out
    with open_run(last(folder)).held():
        assert json.loads(karat("list", "--json").out)[0]["status"] == "running"


def test_a_place_that_cannot_be_written_and_a_run_that_is_held_are_named(station, put, karat, folder):
    put("file", "x")
    assert "file" in karat("run", "--runs-dir", "file").sentence
    karat("run")
    from karat.experiment.store import open_run

    path = stopped(folder)
    with open_run(path).held():
        assert karat("run").code == 0  # another process is at the stopped one: this is a new run
    assert last(folder) != path


def test_a_system_of_others_changes_no_score_of_karats_own(station, put, karat, folder):
    rows = [json.loads(line) for line in (folder / "qa.jsonl").read_text().splitlines()]
    quotes = {name: " ".join(text.split()[2:9]) for name, text in PASSAGES.items()}
    put("qa.jsonl", [{**row, "gold": [{"doc": (d := row["gold"][0]["doc"]), "quote": quotes[d]}]} for row in rows])
    put(
        "mine.py",
        RAISING.replace(
            '["watch"]', '[{"id": "my-1", "text": "The night watch lasts four hours and is kept by two."}]'
        ),
    )
    cut = SPEC.replace("chunk: whole", "chunk: tokens:5:0").replace("k: [1, 3]", "k: [1, 3]\nmeasures: [Recall@3]")
    put("karat.yaml", cut)
    karat("run")
    alone = (last(folder) / "summary.csv").read_text().splitlines()
    put("karat.yaml", cut.replace("systems: [", "systems: [{name: mine, call: 'mine:search'}, "))
    assert karat("run").code == 5
    beside = (last(folder) / "summary.csv").read_text().splitlines()
    assert set(alone) - set(beside) == set()
    assert any(line.startswith("mine,Recall@3") for line in beside)
