"""Measures of steps, by hand: gold a and b; a search, a tool, the same search again, a search that completes it."""

import gzip
import json

import polars as pl
import pytest
from tests.builders import traces as made
from tests.builders.traces import ONE, TRACES, another, lines, with_spans, writer

import karat
from karat.core.errors import InputError, UsageError
from karat.core.steps import repeated_calls
from karat.experiment.finished import FinishedRun
from karat.files import as_runs
from karat.report.build.question import question_document
from karat.report.document import Detail
from karat.report.render import console
from karat.results.serial import load_study

NAMES = ["Steps", "UnionRecall", "UnionRecall(steps=1)", "UnionRecall(steps=2)", "RecallGain", "RepeatedCalls",
         "UselessCalls", "TokensToGold"]  # fmt: skip
GOLD = [
    {"id": "q1", "question": "Who built it, and when?", "gold": ["a", "b"]},
    {"id": "q2", "question": "How high is it?", "gold": ["c"]},
    {"id": "q3", "question": "Is it gold?", "answerable": False},
    {"id": "q4", "question": "What does it weigh?", "gold": ["e"]},
    {"id": "q5", "question": "Where is it?", "gold": ["f"]},
]
STEPS = [
    {"query": "builder", "tool": "search", "seconds": 0.5,
     "retrieved": [{"id": "n", "text": "one two three"}, {"id": "a", "text": "four five"}]},
    {"query": "1889-1850", "tool": "calculator"},
    {"query": "Builder?", "tool": "search", "retrieved": [{"id": "a", "text": "four five"}]},
    {"query": "year", "tool": "search", "retrieved": [{"id": "b", "tokens": 7}]},
]  # fmt: skip
ROWS = [
    {"id": "q1", "answer": "X", "steps": STEPS},
    {"id": "q2", "answer": "Y", "steps": [{"query": "height", "retrieved": ["x", "c"]}]},
    {"id": "q3", "answer": "no", "steps": []},
    {"id": "q4", "answer": "Z", "retrieved": ["e"]},
    {"id": "q5", "answer": "W", "retrieved": ["f"], "steps": [{"query": "place", "retrieved": ["y"]}]},
]
NO_GOLD, NO_STEPS = "no relevant gold", "no steps in the results"


def scored(rows=ROWS, measures=NAMES, **options):
    return karat.score(GOLD, {"agent": rows}, measures=measures, **options)


def values(report, question):
    scores = report.evaluation.scores
    q = scores.questions.index(question)
    return {m.name: scores.reason(0, q, i) or scores.value(0, q, i) for i, m in enumerate(scores.measures)}


def test_a_question_that_is_missing_counts_nothing_found():
    report = scored([ROWS[0], ROWS[4]])
    assert values(report, "q2") == {
        **dict.fromkeys(NAMES, NO_STEPS), "UnionRecall": 0, "UnionRecall(steps=1)": 0, "UnionRecall(steps=2)": 0,
    }  # fmt: skip
    assert report.mean("UnionRecall") == 0.25  # of q1, q2, q4, q5
    assert values(report, "q3")["UnionRecall"] == NO_GOLD


def test_every_measure_by_hand():
    report = scored()
    assert values(report, "q1") == {
        "Steps": 3, "UnionRecall": 1, "UnionRecall(steps=1)": 0.5, "UnionRecall(steps=2)": 0.5, "RecallGain": 0.25,
        "RepeatedCalls": 0.25, "UselessCalls": 1 / 3, "TokensToGold": 5,
    }  # fmt: skip
    assert values(report, "q2") == {
        "Steps": 1, "UnionRecall": 1, "UnionRecall(steps=1)": 1, "UnionRecall(steps=2)": 1,
        "RecallGain": "no retrieval call after the first", "RepeatedCalls": 0, "UselessCalls": 0,
        "TokensToGold": "hits down to the first gold have neither texts nor tokens",
    }  # fmt: skip
    assert values(report, "q3") == {
        **dict.fromkeys(NAMES, NO_GOLD), "Steps": 0, "RepeatedCalls": "no call with a query",
        "RecallGain": NO_GOLD, "UselessCalls": NO_GOLD,
    }  # fmt: skip
    assert values(report, "q4") == {
        **dict.fromkeys(NAMES, NO_STEPS),
    }
    assert values(report, "q5") | {"TokensToGold": None} == {
        "Steps": 1, "UnionRecall": 0, "UnionRecall(steps=1)": 0, "UnionRecall(steps=2)": 0,
        "RecallGain": "no retrieval call after the first", "RepeatedCalls": 0, "UselessCalls": 1, "TokensToGold": None,
    }  # fmt: skip
    assert values(report, "q5")["TokensToGold"] == "no step found any gold"


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        ("Builder of the tower", "builder, of the  tower?", True),
        ("(Who built it?)", "who built it", True),
        ("塔は?", "塔は？", True),
        ("!!!", "!!!", True),
        ("café", "cafe\u0301", True),
        ("2*3", "2+3", False),
        ("1889 - 1850", "1889 + 1850", False),
        ("sort in C#", "sort in C++", False),
        ("host 10.0.0.1", "host 100.0.1", False),
        ("x > 3", "x < 3", False),
    ],
)
def test_a_call_is_repeated_where_it_asks_the_same(first, second, repeated):
    steps = [{"tool": "calculator", "query": query} for query in (first, second)]
    assert repeated_calls(steps) == [False, repeated]


def test_a_row_without_a_ranking_of_its_own_has_the_union_and_any_other_its_own():
    (run,), _ = as_runs(ROWS)
    by = dict(zip(run.question_ids, [run.doc_list[a:b] for a, b in zip(run.offsets, run.offsets[1:], strict=False)],
                  strict=True))  # fmt: skip
    assert by == {"q1": ["n", "a", "b"], "q2": ["x", "c"], "q3": [], "q4": ["e"], "q5": ["f"]}


def test_an_empty_ranking_is_a_ranking_of_its_own():
    """It scores 0: the union of the steps stood in its place."""
    row = {"id": "q1", "retrieved": [], "steps": [{"query": "x", "retrieved": ["a"]}]}
    report = karat.score({"q1": {"a": 1}, "q2": {"b": 1}}, {"s": [row, {"id": "q2", "retrieved": ["b"]}]},
                         measures=["Recall", "UnionRecall"])  # fmt: skip
    assert report.mean("Recall") == 0.5
    assert report.mean("UnionRecall") == 1.0


def test_steps_are_measured_by_default_and_a_slice():
    report = scored(measures=None, by="steps")
    assert {"Steps", "TokensToGold"} <= set(report.measures)
    assert any(note.text.startswith("Results with steps: agent (4 questions)") for note in report.evaluation.notes)
    (lacking,) = (note.text for note in report.evaluation.notes if "without steps" in note.text)
    assert lacking == "agent: 1 row without steps: measures of steps have no value there."
    asked = [*GOLD, {"id": "q9", "question": "Is it old?", "gold": ["z"]}]
    absent = karat.score(asked, {"agent": ROWS}, measures=["UnionRecall"])
    assert lacking in [note.text for note in absent.evaluation.notes]  # q9 counts 0
    by = report.by("steps").filter(measure="Recall@5")
    assert by["steps"].to_list() == ["0", "1", "3", "(none)"]
    assert by["n"].to_list() == [0, 2, 1, 1]
    without = karat.score(GOLD, {"plain": [{"id": "q1", "retrieved": ["a"]}]})
    assert not any(name.startswith(("Steps", "Union")) for name in without.measures)
    with pytest.raises(UsageError, match="the results have no steps"):
        karat.score(GOLD, {"plain": [{"id": "q1", "retrieved": ["a"]}]}, by="steps")


def test_the_number_of_steps_is_sorted_as_a_number_and_differs_by_system():
    def searching(times):
        return [{"id": "q1", "steps": [{"query": str(i), "retrieved": ["a"]} for i in range(times)]}]

    report = karat.score(GOLD, {"ten": searching(10), "two": searching(2)}, measures=["UnionRecall"], by="steps")
    by = report.by("steps")
    assert [(s, v, n) for s, v, n in by.select("system", "steps", "n").rows() if v != "(none)"] == [
        ("two", "2", 1), ("ten", "10", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (["x"], "step 1: 'x' is no object"),
        ("x", "steps 'x' are no list"),
        ([*STEPS, {"query": "x"}], "step 5: it neither retrieved anything nor names a tool. Write"),
        ([{"query": "x", "results": ["a"]}], "nor names a tool (results: not read)"),
        ([{"tool": ["x"]}], 'step 1, "tool"'),
        ([{"tool": "x", "seconds": "soon"}], 'step 1, "seconds": seconds'),
        ([{"tool": "x", "tokens": -1}], 'step 1, "tokens": tokens -1 is below 0'),
        ([{"retrieved": [{"score": 1}]}], 'step 1, "retrieved": hit 1: the entry names no unit'),
    ],
)
def test_a_step_that_cannot_be_read_is_named(tmp_path, steps, words):
    path = tmp_path / "agent.jsonl"
    path.write_text("\n".join(map(json.dumps, [ROWS[1], {"id": "q1", "steps": steps}])))
    with pytest.raises(InputError) as failed:
        karat.load_results(path)
    assert "agent.jsonl line 2" in str(failed.value)
    assert words.replace("'", '"').replace('"', "") in str(failed.value).replace("'", "").replace('"', "")


def test_gold_that_the_hits_of_steps_cannot_show_is_no_zero():
    gold = [{"id": "q1", "question": "x", "gold": [{"doc": "m.pdf", "page": "3"}]}]
    rows = [{"id": "q1", "retrieved": [{"doc": "m.pdf", "page": "3"}], "steps": [{"query": "x", "retrieved": ["m"]}]}]
    report = karat.score(gold, {"agent": rows}, measures=["Recall", "UnionRecall"])
    assert values(report, "q1")["Recall"] == 1
    assert "cannot be matched" in values(report, "q1")["UnionRecall"]


def test_answers_are_held_against_the_texts_of_all_steps():
    rows = [{"id": "q1", "answer": "alpha", "retrieved": [{"id": "b", "text": "beta"}], "steps": [
        {"query": "1", "retrieved": [{"id": "a", "text": "alpha"}]}, {"query": "2", "retrieved": ["b"]}]}]  # fmt: skip
    report = karat.score(GOLD, {"agent": rows}, measures=["SentenceSupport"])
    assert values(report, "q1") == {"SentenceSupport": 1}


@pytest.mark.slow
def test_traces_and_rows_with_the_same_steps_give_the_same_measures(tmp_path):
    more = [TRACES[1]["docs"][0], ONE["docs"][0]]
    run, _ = with_spans(writer(tmp_path), *made.openinference(ONE), another("warranty years", more, 6, (1.6, 1.8)))
    first = [doc["id"] for doc in ONE["docs"]]
    rows = [{"id": "q1", "steps": [
        {"query": ONE["question"], "tool": "retrieve", "retrieved": [
            {"id": doc["id"], "text": doc["text"]} for doc in ONE["docs"]]},
        {"query": "warranty years", "tool": "second", "retrieved": [
            {"id": doc["id"], "text": doc["text"]} for doc in more]},
    ]}]  # fmt: skip
    gold = [{"id": "q1", "question": ONE["question"], "gold": [first[1], more[0]["id"]]}]
    by_trace = karat.score(gold, {"agent": run}, measures=NAMES)
    by_row = karat.score(gold, {"agent": rows}, measures=NAMES)
    assert values(by_trace, "q1") == values(by_row, "q1")
    assert {name: values(by_row, "q1")[name] for name in ("Steps", "UnionRecall", "RecallGain", "UselessCalls")} == {
        "Steps": 2, "UnionRecall": 1, "RecallGain": 0.5, "UselessCalls": 0,
    }  # fmt: skip


@pytest.mark.slow
def test_a_function_that_returns_steps_is_measured_as_its_rows_are():
    def ask(question):
        return {"answer": "X", "steps": STEPS}

    report = karat.evaluate(GOLD[:1], {"agent": ask}, measures=NAMES)
    assert values(report, "q1") == values(scored(ROWS[:1]), "q1")
    endless = karat.evaluate(GOLD[:1], {"agent": lambda question: {"steps": iter(STEPS)}}, measures=["Steps"])
    assert "Return a list of them" in values(endless, "q1")["Steps"]


@pytest.mark.slow
def test_a_row_of_100_000_steps():
    steps = [{"query": f"q{i % 7}", "retrieved": ["a"]} for i in range(100_000)]
    found = values(scored([{"id": "q1", "steps": steps}], ["Steps", "RepeatedCalls", "UselessCalls"]), "q1")
    assert found == {"Steps": 100_000, "RepeatedCalls": 0.99993, "UselessCalls": 0.99999}


@pytest.mark.parametrize("steps", [[{"retrieved": ["a"]}], []])
def test_a_run_keeps_steps_in_its_folder(tmp_path, monkeypatch, steps):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.jsonl").write_text(lines(GOLD))
    rows = [{**row, "steps": row.get("steps") if steps else None} for row in ROWS]
    rows = [{**row, "retrieved": row.get("retrieved", ["a", "c"])} for row in rows] if not steps else rows
    (tmp_path / "agent.py").write_text(
        f"ROWS = {{row['id']: row for row in {rows!r}}}\nTEXTS = {{q['question']: q['id'] for q in {GOLD!r}}}\n\n\n"
        "def ask(question):\n    row = ROWS[TEXTS[question]]\n"
        "    return {name: row[name] for name in ('retrieved', 'answer', 'steps') if row.get(name) is not None}\n"
    )
    by = ", by: [steps]" if steps else ""
    spec = "{name: s, testset: gold.jsonl, systems: [{name: agent, call: 'agent:ask'}], outputs: [csv]"
    spec += f"{by}}}"
    (tmp_path / "karat.yaml").write_text(spec)
    done = karat.run("karat.yaml")
    study = load_study(done.folder.path)
    stored = json.loads(gzip.decompress((done.folder.path / "study.json.gz").read_bytes()))
    assert ("steps" in stored["study"]["evaluation"]) == bool(steps)
    if not steps:
        assert not study.evaluation.steps
        return
    assert values(done, "q1")["UselessCalls"] == 1 / 3
    assert study.evaluation.steps == done.evaluation.steps
    text = console.render(question_document(study, question="q1"), Detail.BRIEF)
    assert "3 retrieval calls, 1 call of other tools" in text
    assert "recall +50.0%, now 100%" in text
    assert "asked before" in text
    rows = pl.read_parquet(done.folder.path / "rows.parquet")
    assert rows["steps"].to_list() == [3, 1, 0, None, 1]
    assert ",Recall@5,steps,3,1," in (done.folder.path / "summary.csv").read_text()
    assert FinishedRun(done.folder, study).by("steps")["steps"].unique(maintain_order=True).to_list()[:2] == ["0", "1"]
