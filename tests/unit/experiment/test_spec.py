"""karat.yaml: what its keys mean once it is read."""

import json
from pathlib import Path

import pytest

from karat.core.errors import InputError
from karat.core.types import Question, TestSet
from karat.experiment.spec import chat_settings, load_spec, spec_of
from karat.models import EmbedderSettings
from karat.systems.outside import CallSettings, HttpSettings
from karat.systems.settings import SystemSettings
from karat.systems.source import ResultsFile

BASE = "corpus: docs\ntestset: qa.json\n"
WHOLE = """
name: handbook
corpus: [docs, more/notes.md]
testset: qa.json
where: {half: test, level: 3, kind: [fact, steps]}
chunk: [tokens:200:40, page]
embedder:
  - wordllama
  - {name: openai:small, query_prefix: 'query: ', base_url: http://localhost:1/v1, key_env: MY_KEY}
engines: [bm25, dense]
settings: {bm25: {k1: 1.2}}
titles: false
systems:
  - Dense_Heavy_Hybrid
  - preset: rrf
    name: by rank
    rrf_k: 10
  - engine: hybrid
    alpha: 0.6
    normalise: zscore
    rewrite: [spell, expand:words.csv]
  - engine: faiss:store
    name: theirs
    embedder: wordllama
  - results: old/run.v2.jsonl
  - call: mine:search
    description: mine
    timeout_seconds: 5
  - name: remote
    http:
      url: http://localhost:8000/search
      headers: {X-Api-Key: "${KEY}"}
      body: {q: "{question}", n: "{k}"}
      ids: $.hits[*].id
sweep: {alpha: 0:1:0.5, k: [3, 5], fusion: [weighted, rrf], rrf_k: [10, 60]}
k: [5, 10]
measures: [Recall@k, MRR]
main: recall_at_5
by: kind
match: doc
pages: printed
page_offset: -1
rel: 2
repeats: collapse
allow_zero_overlap: true
seed: 7
budgets: {timeout_seconds: 20, jobs: 3, max_failures: 9}
runs_dir: out
outputs: [html, trec]
"""


@pytest.fixture
def whole(tmp_path):
    return spec_of(WHOLE, tmp_path)


def test_little_is_needed_and_the_rest_has_defaults():
    spec = spec_of(BASE + "systems: [balanced]\n")
    plain = spec.plain()
    assert plain == {
        "name": "experiment", "corpus": ["docs"], "testset": "qa.json", "where": {}, "chunk": ["tokens:200:40"],
        "titles": True, "engines": ["bm25", "dense"], "settings": {},
        "systems": ["balanced"], "by": [], "dialect": "karat", "pages": "physical", "page_offset": 0, "rel": 1,
        "judge_repeat": 1, "bands": False,
        "allow_zero_overlap": False, "seed": 0, "budgets": {"timeout_seconds": 60.0}, "runs_dir": "runs",
        "outputs": ["html", "markdown", "text", "csv", "json", "png", "svg"],
    }  # fmt: skip
    assert (spec.main, spec.cutoffs, spec.measures, spec.grid) == ("Recall@5", (1, 3, 5, 10, 20), (), None)
    assert json.loads(json.dumps(plain)) == plain


def test_systems_are_typed_and_named(whole, tmp_path):
    systems = {s.name: s for s in whole.systems()}
    assert list(systems) == [
        "dense_heavy", "by rank", "hybrid alpha=0.6 zscore+spell+expand", "theirs", "run", "mine:search", "remote",
    ]  # fmt: skip
    assert systems["dense_heavy"].source == SystemSettings(alpha=0.7)
    assert systems["by rank"].source == SystemSettings(fusion="rrf", rrf_k=10.0)
    assert systems["by rank"].configuration.settings["rrf_k"] == 10
    third = systems["hybrid alpha=0.6 zscore+spell+expand"]
    assert third.source.rewrite == ("spell", f"expand:{tmp_path / 'words.csv'}")
    assert third.configuration.settings["rewrite"] == ["spell", "expand:words.csv"]
    assert systems["theirs"].source.engine == f"faiss:{tmp_path / 'store'}"
    assert systems["theirs"].configuration.settings["engine"] == "faiss:store"
    assert systems["theirs"].source.embedder == EmbedderSettings("wordllama")
    assert systems["run"].source == ResultsFile(tmp_path / "old/run.v2.jsonl")
    assert systems["mine:search"].source == CallSettings("mine:search", tmp_path, 5.0, 3)
    assert systems["mine:search"].configuration.description == "mine"
    assert systems["remote"].source == HttpSettings(
        "http://localhost:8000/search",
        method="POST",
        headers={"X-Api-Key": "${KEY}"},
        body={"q": "{question}", "n": "{k}"},
        paths={"ids": "$.hits[*].id"},
        timeout_seconds=20.0,
        jobs=3,
        retries=3,
    )
    assert [s.is_own for s in whole.systems()] == [True] * 4 + [False] * 3


def test_jobs_are_one_for_a_function_and_four_for_an_endpoint_unless_given():
    http = "{http: {url: 'http://h/{question}', method: GET, ids: '$[*]'}}"
    call, endpoint = spec_of(f"testset: q\nsystems: [{{call: 'm:f'}}, {http}]\n").systems()
    assert (call.source.jobs, endpoint.source.jobs) == (1, 4)
    assert endpoint.name == "h"


def test_the_grid_the_indexes_and_the_cut_offs(whole):
    assert whole.cutoffs == (3, 5, 10)
    points, _ = whole.grid.points(10)
    assert [p.name for p in points] == ["bm25", "hybrid alpha=0.5", "dense", "rrf rrf_k=10", "rrf rrf_k=60"]
    assert whole.grid.k == (3, 5, 10)
    assert [(i.chunk, i.embedder.label) for i in whole.indexings] == [
        (chunk, embedder) for chunk in ("tokens:200:40", "page") for embedder in ("wordllama", "openai:small")
    ]
    last = whole.indexings[-1]
    assert last.embedder.key_env == "MY_KEY"
    assert last.embedder.query_prefix == "query: "
    keys = whole.keys
    assert (keys.titles, keys.engines, keys.settings) == (False, ["bm25", "dense"], {"bm25": {"k1": 1.2}})


@pytest.mark.parametrize(
    ("sweep", "names"),
    [
        ("alpha: 0.5", ["hybrid alpha=0.5"]),
        ("rrf_k: [1, 2]", ["rrf rrf_k=1", "rrf rrf_k=2"]),
        ("{rrf_k: 60, alpha: '0.2,0.4'}", ["hybrid alpha=0.2", "hybrid alpha=0.4", "rrf"]),
        ("{fusion: [isr, combsum]}", ["isr", "combsum"]),
    ],
)
def test_a_sweep_says_its_fusion_by_what_it_varies(sweep, names):
    spec = spec_of(BASE + f"sweep:\n  {sweep}\n" if sweep[0] != "{" else BASE + f"sweep: {sweep}\n")
    assert [p.name for p in spec.grid.points(5)[0]] == names


def test_how_to_score(whole):
    choices = whole.choices()
    assert choices.measures == ("Recall@{3,5,10}", "MRR")
    matching = choices.matching
    assert (choices.by, matching.match, matching.pages, matching.page_offset) == (("kind",), "doc", "printed", -1)
    assert (matching.rel, matching.repeats, choices.seed) == (2, "collapse", 7)
    assert matching.allow_zero_overlap
    assert whole.main == "Recall@5"


@pytest.mark.parametrize(
    ("more", "main"),
    [
        ("dialect: trec", "Recall@5"),
        ("dialect: squad", "Recall@5"),
        ("dialect: healthcare", "F1@5"),
        ("dialect: hybrid-rag", "MRR"),
        ("dialect: liverag", "Recall"),
        ("dialect: rag-benchmark", "Hit@5"),
        ("dialect: momento", "Precision@5"),
        ("k: [3, 10]", "Recall@3"),
        ("{dialect: hybrid-rag, main: 'nDCG@10'}", "nDCG@10"),
    ],
)
def test_the_main_measure_is_the_dialects(more, main):
    more = more.strip("{}").replace(", main", "\nmain")
    assert spec_of(BASE + f"systems: [rrf]\n{more}\n").main == main


def test_the_digest_is_that_of_the_meaning():
    one = spec_of(BASE + "systems: [rrf]\n")
    same = spec_of("# a comment\nsystems:\n - 'rrf'\ntestset: qa.json\ncorpus: [docs]\nrel: 1\nname: experiment\n", "x")
    other = spec_of(BASE + "systems: [rrf]\nseed: 1\n")
    assert one.digest == same.digest != other.digest
    assert len(one.digest) == 64


def test_a_model_by_its_name_is_the_same_work_as_one_with_other_limits_and_null_is_kept():
    short, whole = (spec_of(BASE + f"systems: [rrf]\nmodel: {text}\n") for text in ("m", "{name: m, jobs: 2}"))
    assert short.digest == whole.digest
    unset = spec_of(BASE + "systems: [rrf]\nmodel: {name: m, temperature: null}\n")
    assert unset.plain()["model"]["temperature"] is None
    assert unset.digest != short.digest


def test_variables_are_put_in_when_used_and_never_written(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "qa.json").write_text("[]")
    text = (
        "corpus: ${WHERE}\ntestset: ${WHERE}/qa.json\nname: a$${b}\nchunk: ${CHUNK}\n"
        "systems: ['${BEST}', {preset: '${OTHER}', name: 'the ${OTHER}'}]\n"
    )
    spec = spec_of(text, tmp_path)
    monkeypatch.setenv("WHERE", "data")
    monkeypatch.setenv("CHUNK", "page")
    monkeypatch.setenv("BEST", "rrf")
    with pytest.raises(InputError, match=r"line 5, systems\[1\]\.preset: the environment variable OTHER is not set"):
        spec.resolved()
    used = spec.resolved({"WHERE": "data", "CHUNK": "page", "BEST": "rrf", "OTHER": "balanced"})
    assert (used.keys.testset, used.keys.name, used.keys.chunk) == ("data/qa.json", "a${b}", ["page"])
    assert [s.name for s in used.systems()] == ["rrf", "the balanced"]
    assert used.plain() == spec.plain()
    assert used.digest == spec.digest
    assert spec.plain()["testset"] == "${WHERE}/qa.json"
    assert used.resolved() is used


def test_what_the_environment_holds_is_checked_and_not_told(tmp_path):
    spec = spec_of("corpus: .\ntestset: .\nsystems: [rrf]\nchunk: ${CHUNK}\n", tmp_path)
    with pytest.raises(InputError, match=r"karat.yaml line 4, chunk: unknown chunker '\$\{CHUNK\}'"):
        spec.resolved({"CHUNK": "s3cret-value"})


def test_a_secret_of_an_endpoint_stays_out_of_all_that_is_kept(whole, tmp_path):
    (tmp_path / "docs").mkdir()
    for name in ("qa.json", "more/notes.md", "old/run.v2.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    used = whole.resolved({"KEY": "sk-0123456789"})
    kept = (repr(used), str(used.keys), repr(used.systems()), json.dumps(used.plain()), used.digest, repr(vars(used)))
    assert not [text for text in kept if "sk-0123456789" in text]
    assert used.systems()[-1].source.headers == {"X-Api-Key": "${KEY}"}


def test_paths_count_from_the_file(tmp_path, monkeypatch):
    there = tmp_path / "deep" / "er"
    there.mkdir(parents=True)
    (there / "qa.jsonl").write_text("")
    (there / "karat.yaml").write_text("corpus: ..\ntestset: qa.jsonl\nsystems: [rrf]\n")
    monkeypatch.chdir(tmp_path)
    spec = load_spec("deep/er/karat.yaml").resolved()
    assert spec.path(spec.keys.testset) == Path("deep/er/qa.jsonl")
    assert load_spec("deep/er").digest == spec.digest
    (there / "karat.yaml").write_text("corpus: docks\ntestset: qa.json\nsystems: [{preset: rrf}, {results: r}]\n")
    with pytest.raises(InputError) as caught:
        load_spec(there / "karat.yaml").resolved()
    assert str(caught.value) == (
        "karat.yaml line 1, corpus: 'docks' does not exist. Paths count from the folder of karat.yaml. "
        "Also line 2, testset: 'qa.json' does not exist. Did you mean qa.jsonl? Paths count from the folder of "
        "karat.yaml. Also line 3, systems[1].results: 'r' does not exist. Paths count from the folder of karat.yaml."
    )


QUESTIONS = TestSet(
    [
        Question("1", kind="fact", tags={"half": "test", "level": "3"}),
        Question("2", kind="fact", tags={"half": "dev", "level": "3"}),
        Question("3", kind="steps", tags={"half": "test"}),
        Question("4", kind="why", tags={"half": "test", "level": "3"}),
    ],
    name="qa",
)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("{half: test}", "134"),
        ("{half: test, level: 3}", "14"),
        ("{kind: [fact, steps], half: test}", "13"),
        ("{level: (none)}", "3"),
        ("{}", "1234"),
    ],
)
def test_where_chooses_questions(where, ids):
    chosen = spec_of(BASE + f"systems: [rrf]\nwhere: {where}\n").select(QUESTIONS)
    assert "".join(chosen.ids) == ids


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("{hlf: test}", "line 4, where.hlf: the questions have no such slice. Did you mean half? They have kind, half"),
        ("{half: tset}", "line 4, where.half: no question has the value 'tset'. Did you mean test?"),
        ("{kind: steps, half: dev}", "line 4, where: no question fits all of it."),
    ],
)
def test_where_that_chooses_none_is_an_error(where, said):
    with pytest.raises(InputError) as caught:
        spec_of(BASE + f"systems: [rrf]\nwhere: {where}\n").select(QUESTIONS)
    assert said in str(caught.value)


def test_a_stored_model_that_is_none_is_an_error_with_its_place():
    with pytest.raises(InputError, match=r"manifest.json: names no chat model: name: "):
        chat_settings({"name": 5}, "manifest.json")
    assert chat_settings("m", "manifest.json").model == "m"
