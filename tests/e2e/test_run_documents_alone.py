"""karat run DOCS: from documents to a report, offline and by a chat server; reuse, modes, samples, frozen sets."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import karat as package
from karat.core.text import sentences
from karat.experiment.store import runs_in
from karat.results.serial import load_study
from karat.testing import FakeLLM, Fault
from karat.testset._kind import KINDS

DEMO = Path(package.__file__).parent / "experiment" / "_demo" / "docs"
FENCED = re.compile(r"<<<fragment(?: \d)? \| (\w+)>>>\n(.*?)\n<<<end of fragment(?: \d)? \| \1>>>", re.S)
OPENINGS = {
    "literal": "What should newcomers bear in mind concerning",
    "paraphrase": "Which habit do experienced folks follow around",
    "scenario": "My cousin arrives tomorrow and worries: which advice helps him with",
}


@pytest.fixture(autouse=True)
def light(monkeypatch):
    """No page is drawn, and no proxy or key of this machine is used."""
    monkeypatch.setattr("karat.experiment.run_documents.OUTPUTS", ("csv",))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return tmp_path_factory.mktemp("built") / "indexes"


@pytest.fixture(autouse=True)
def indexes(folder, built):
    """The index of the demo's documents, as the first of these tests built it."""
    indexes = folder / "runs" / "indexes"
    if built.exists():
        shutil.copytree(built, indexes)
    yield
    if not built.exists() and len(list(indexes.glob("*.index"))) == 1:
        shutil.copytree(indexes, built)


def said(request):
    """What a sound model says: a question about a sentence of the fragment, or an answer."""
    asked = request.messages[1]["content"]
    kind = next((kind.name for kind in KINDS if kind.task in asked), None)
    if kind is None:
        return "The water plant is inspected every Monday."
    (_, text), *_ = FENCED.findall(asked)
    whole = [one for one in sentences(text) if one.endswith(".") and 8 <= len(one.split()) <= 30] or sentences(text)
    quote = whole[len(whole) // 2]
    words = sorted(dict.fromkeys(re.findall(r"\w+", quote)), key=lambda word: (-len(word), word))
    about = " ".join(words[: 4 if kind == "literal" else 2])
    answer = " ".join(quote.split()[3:])
    return json.dumps({"question": f"{OPENINGS[kind]} {about}?", "answer": answer, "quote": quote})


def by_chat(llm, *more):
    return ("--model", "fake", "--base-url", llm.base_url, *more)


def last_run(folder):
    return runs_in(folder / "runs")[-1].path


def rows(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_offline_and_then_the_same_test_set_again(karat, folder, monkeypatch):
    told = karat("run", DEMO, "--samples", 6, "--answer-limit", 4)
    assert told.code == 0, told.err
    qa = folder / "runs" / "benchmark" / "docs" / "qa.jsonl"
    bytes_, made, (first,) = qa.read_bytes(), rows(qa), runs_in(folder / "runs")
    shown = " ".join(told.out.split())
    assert f"the test set was made from 6 chunks: {len(made)} of" in shown
    assert "no question of the test set is semantic" in shown
    assert "the index has" not in shown
    assert {row["kind"] for row in made} == {"literal"}
    assert len(list((folder / "runs" / "indexes").glob("*.index"))) == 1

    def never(*args, **more):
        raise AssertionError("the generator was asked again")

    monkeypatch.setattr("karat.experiment.run_documents.generate", never)
    told = karat("run", DEMO, "--samples", 9, "--answer-limit", 4)
    assert told.code == 0, told.err
    assert "using the existing test set; --regenerate rebuilds it." in told.out
    assert qa.read_bytes() == bytes_
    assert len(runs_in(folder / "runs")) == 2
    assert (last_run(folder) / "rows.parquet").read_bytes() == (first.path / "rows.parquet").read_bytes()
    assert karat("show").code == 0


@pytest.mark.slow
def test_it_shows_what_a_run_shows(karat, folder):
    told = karat("run", DEMO, "--samples", 6, "--answer-limit", 4, "--json")
    assert told.code == 0, told.err
    assert json.loads(told.out) == json.loads(karat("show", "LAST", "--json").out)
    again = karat("run", DEMO, "--answer-limit", 4, "-q").out
    assert karat("show", "LAST", "-q").out == again


@pytest.mark.slow
def test_kinds_cuts_and_calls_by_a_model(karat, folder):
    with FakeLLM(said) as llm:
        told = karat("run", DEMO, "--samples", 8, "--answer-limit", 7, *by_chat(llm), "--json", "--seed", 2)
        asked = llm.count
    assert told.code == 0, told.err
    study = load_study(last_run(folder))
    assert {one.value for one in study.evaluation.summaries if one.slice == "kind"} == set(OPENINGS)
    names = {measure.name for measure in study.evaluation.scores.measures}
    assert names >= {f"{name}@{k}" for name in ("Recall", "Hit", "MRR", "nDCG") for k in (1, 3, 5, 10, 20)}
    assert {len(answers) for answers in study.answers.values()} == {7}
    drafts = int(re.search(r"of (\d+) drafts accepted", " ".join(n.text for n in study.evaluation.notes))[1])
    (answering,) = runs_in(folder / "runs")[-1].manifest["models"]
    assert drafts + answering["calls"] == asked


@pytest.mark.slow
def test_answers_are_a_sample_over_distinct_gold_chunks(karat, folder):
    with FakeLLM(said) as llm:
        told = karat("run", DEMO, "--samples", 8, "--answer-limit", 6, *by_chat(llm), "--system", "balanced", "-q")
    assert told.code == 0, told.err
    qa = rows(folder / "runs" / "benchmark" / "docs" / "qa.jsonl")
    answered = [row["id"] for row in rows(runs_in(folder / "runs")[-1].path / "answers.jsonl")]
    assert len(answered) == 6
    assert answered != [row["id"] for row in qa[:6]]
    chosen = [row for row in qa if row["id"] in answered]
    assert len({row["gold"][0]["chunk"] for row in chosen}) == 6
    assert set(Counter(row["kind"] for row in chosen).values()) == {2}


@pytest.mark.slow
def test_one_mode_asks_its_questions_alone(karat, folder):
    def kinds():
        return {question.kind for question in load_study(last_run(folder)).evaluation.testset}

    with FakeLLM(said) as llm:
        words = ("run", DEMO, "--samples", 4, "--skip-answers", "-q", *by_chat(llm))
        assert karat(*words, "--eval-mode", "semantic").code == 0
        assert kinds() == {"paraphrase", "scenario"}
        assert karat(*words, "--testset", "three.jsonl").code == 0
    told = karat("run", DEMO, "--skip-answers", "--eval-mode", "literal", "--testset", "three.jsonl", "-q")
    assert told.code == 0, told.err
    assert kinds() == {"literal"}


@pytest.mark.slow
def test_a_test_set_is_made_anew_only_when_told_and_never_when_frozen(karat, folder):
    words = ("run", DEMO, "--samples", 4, "--skip-answers", "--testset", "qa.jsonl", "-q")
    assert karat(*words).code == 0
    first = Path("qa.jsonl").read_bytes()
    assert karat(*words, "--seed", 5).code == 0
    assert Path("qa.jsonl").read_bytes() == first
    assert karat(*words, "--seed", 5, "--regenerate").code == 0
    assert Path("qa.jsonl").read_bytes() != first
    assert Path("qa.jsonl.original").read_bytes() == first
    assert karat("testset", "freeze", "qa.jsonl", "--version", "1.0").code == 0
    assert "not made again" in karat(*words, "--regenerate").sentence
    assert "frozen as version 1.0" in " ".join(karat(*words[:-1]).out.split())
    Path("qa.jsonl").write_text("".join(Path("qa.jsonl").read_text().splitlines(keepends=True)[1:]))
    assert "frozen" in karat(*words).sentence
    told = karat(*words, "--changed-testset")
    assert told.code == 0
    assert "changed since" in " ".join(told.out.split())


@pytest.mark.slow
def test_an_index_that_one_list_holds_whole_is_warned_of(karat, put):
    put("docs/a.md", "# Tanks\n\nThe tank called <b>Asta</b> holds 42,000 litres of fuel and is dipped every Monday by "
        "the mechanic of the station, who writes the level into the fuel book.\n")  # fmt: skip
    put("qa.jsonl", [{"id": "q|1", "question": "How much does Asta hold?", "answers": ["42,000 litres"],
                      "kind": "<script>", "gold": [{"doc": "a.md", "quote": "holds 42,000 litres"}]}])  # fmt: skip
    told = karat("run", "docs", "--testset", "qa.jsonl", "--json")
    assert told.code == 0, told.err
    assert "the index has 1 chunk: a list of 20 hits holds all of them." in json.loads(told.out)["warnings"]


@pytest.mark.slow
def test_the_other_dialect_has_hits_and_no_recall(karat, folder):
    told = karat("run", DEMO, "--samples", 4, "--skip-answers", "--dialect", "rag-benchmark", "-q")
    assert told.code == 0, told.err
    names = {measure.name for measure in load_study(last_run(folder)).evaluation.scores.measures}
    assert "Hit@20" in names
    assert "Recall@20" not in names


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--eval-mode", "semantc"), "Did you mean semantic?"),
        (("--eval-mode", "semantic"), "written by a chat model, and none is named"),
        (("--samples", "0"), "at least one chunk"),
        (("--answer-limit", "0"), "--skip-answers"),
        (("--repeat", "2"), "--repeat is for judges"),
        (("--max-calls", "3"), "none is named"),
        (("--system", "balancd"), "balancd"),
    ],
)
def test_what_cannot_be_is_refused(karat, put, words, said):
    put("docs/a.md", "# Tanks\n\nThe tank called Asta holds 42,000 litres of fuel and is dipped every Monday by the "
        "mechanic of the station, who writes the level into the fuel book every single time it is done.\n")  # fmt: skip
    assert said in karat("run", "docs", *words).sentence
    assert "nowhere does not exist" in karat("run", "nowhere").sentence


def test_documents_that_give_no_question(karat, put):
    put("docs/a.md", "Too short.\n")
    told = karat("run", "docs")
    assert told.code == 3
    assert "no question was made from these documents: 0 drafts rejected, 1 chunk left out." in told.sentence
    assert "left out: short 1." in told.sentence


def test_an_index_is_not_read_as_documents(karat, put):
    put("docs/a.md", "# Tanks\n\nThe tank called Asta holds 42,000 litres of fuel.\n")
    assert karat("index", "docs", "-o", "my.index", "-q").code == 0
    told = karat("run", "my.index")
    assert told.code == 2
    assert told.sentence.startswith("my.index is an index. Make a test set from it with `karat testset make my.index")


def test_a_budget_that_the_test_set_took_whole(karat):
    with FakeLLM(said) as llm:
        words = ("run", DEMO, "--samples", 2, *by_chat(llm))
        assert "took all of --max-calls 6. It is kept" in karat(*words, "--max-calls", 6, "-q").sentence
        made = Path("runs/benchmark/docs/qa.jsonl").read_bytes()
        assert llm.count == 6
        assert karat(*words, "--skip-answers", "-q").code == 0
        assert karat(*words, "--max-calls", 9, "-q", "--answer-limit", 1).code == 0
        assert llm.count <= 9
    assert Path("runs/benchmark/docs/qa.jsonl").read_bytes() == made


def test_a_budget_that_ends_before_the_test_set_is_made(karat):
    with FakeLLM(said) as llm:
        words = ("run", DEMO, "--samples", 2, *by_chat(llm), "-q")
        told = karat(*words, "--max-calls", 4).sentence
        assert "4 of 6 questions" in told
        assert "--regenerate" in told
        assert karat(*words, "--regenerate", "--skip-answers", "--max-calls", 2).code == 0
        assert llm.count == 6
    assert len(rows("runs/benchmark/docs/qa.jsonl")) == 6


def test_a_test_set_of_other_documents_is_not_searched(karat, put):
    put("docs/a.md", "# Ferry\n\n" + "The ferry to Skarn leaves the north pier at 07:40 on every day of the week. " * 5)
    row = {
        "id": "q",
        "question": "Who bakes rye bread?",
        "gold": [{"doc": "oven.md", "quote": "Tolla bakes rye bread"}],
    }
    put("runs/benchmark/docs/qa.jsonl", json.dumps(row) + "\n")
    told = karat("run", "docs", "--skip-answers")
    assert told.code == 2
    assert "was made from other documents: none of the documents of its gold (oven.md) is among these" in told.sentence
    assert "--name" in told.sentence


@pytest.mark.slow
def test_calls_that_fail_are_told_and_asked_again_only_when_told(karat):
    def ailing(request):
        """No scenario gets through."""
        scenario = KINDS.get("scenario").task in request.messages[1]["content"]
        return Fault("bad_request", times=None) if scenario else said(request)

    with FakeLLM(ailing) as llm:
        words = ("run", DEMO, "--samples", 3, "--skip-answers", *by_chat(llm), "--json")
        told = karat(*words)
        assert told.code == 5, told.err
        assert {row["kind"] for row in rows("runs/benchmark/docs/qa.jsonl")} == {"literal", "paraphrase"}
        assert any("calls of the model failed" in warning for warning in json.loads(told.out)["warnings"])
        count = llm.count
        assert karat(*words).code == 0
        assert llm.count == count
