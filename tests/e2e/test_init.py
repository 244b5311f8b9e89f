"""karat init: from documents and questions to an experiment that runs."""

import json

import pytest

from karat.experiment.spec import load_spec, spec_of
from karat.experiment.spec.presets import PRESETS

HEALTHCARE = [
    {"query": "How long is the night watch?", "relevant_docs": ["1"], "query_type": "factual"},
    {"query": "Why is fuel kept?", "relevant_docs": ["2"], "query_type": "reasoning"},
]


@pytest.fixture
def docs(put):
    put("docs/watch.md", "# The night watch\n\nThe night watch lasts four hours.\n")
    put("docs/fuel.txt", "Each tank holds 42,000 litres of fuel.\n")
    put("qa.json", json.dumps(HEALTHCARE))


def test_a_commented_experiment_is_written_and_can_be_read(docs, karat, folder):
    told = karat("init", "docs", "qa.json")
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines() == [
        "qa.json: read as healthcare: 2 questions, 2 kinds",
        "  relevant_docs are page numbers",
        "  no ids: questions are numbered from 0 in the order of the file",
        "docs: 2 documents",
        "wrote karat.yaml",
        "Next: read it, change what you like, then: karat run",
    ]
    text = (folder / "karat.yaml").read_text()
    spec = load_spec().resolved()
    assert [s.name for s in spec.systems()] == list(PRESETS)
    assert (spec.keys.name, spec.keys.corpus, spec.keys.testset) == ("qa", ["docs"], "qa.json")
    assert (spec.cutoffs, spec.main, spec.keys.by) == ((1, 3, 5, 10), "Recall@5", ["kind"])
    assert text.count("#") >= 15
    assert "# dialect: healthcare" in text
    for line in (
        "  # - engine: hybrid",
        "  #   alpha: 0.6",
        "  # - call: my_search:search",
        "# sweep: {alpha: 0:1:0.1}",
    ):
        assert line in text
    spec_of(text.replace("  # - ", "  - ").replace("  #   ", "    ").replace("# sweep", "sweep"))


def test_nothing_is_overwritten_unasked(docs, karat, folder, put):
    put("karat.yaml", "mine")
    told = karat("init", "docs", "qa.json")
    assert told.code == 2
    assert told.sentence == "karat.yaml exists. Name another file with -o, or replace it with --force."
    assert (folder / "karat.yaml").read_text() == "mine"
    assert karat("init", "docs", "qa.json", "--force", "-q").out == "wrote karat.yaml\n"
    assert load_spec().keys.testset == "qa.json"


def test_paths_count_from_where_it_is_written(docs, karat, folder):
    told = karat("init", "docs", "qa.json", "-o", "exp/one.yaml")
    assert told.code == 0
    assert told.out.endswith("then: karat run exp/one.yaml\n")
    spec = load_spec("exp/one.yaml").resolved()
    assert (spec.keys.corpus, spec.keys.testset) == (["../docs"], "../qa.json")
    assert karat("init", "docs", "qa.json", "-o", "exp").code == 0
    assert (folder / "exp" / "karat.yaml").is_file()


def test_names_that_yaml_could_mistake(put, karat):
    put("a: b #1/${X}/d.md", "# Text\n\nWords.\n")
    put("true", json.dumps(HEALTHCARE))
    assert karat("init", "a: b #1", "true").code == 0
    spec = load_spec().resolved()
    assert (spec.keys.corpus, spec.keys.testset, spec.keys.name) == (["a: b #1"], "true", "true")
    assert karat("init", "a: b #1/${X}", "true", "--force").code == 0
    assert load_spec().resolved().keys.corpus == ["a: b #1/${X}"]


def test_an_index_that_stands_is_taken_as_it_is(docs, karat):
    assert karat("index", "docs", "-o", "my.index", "--engine", "bm25").code == 0
    told = karat("init", "my.index", "qa.json")
    assert (told.code, told.err) == (0, "")
    assert "my.index: an index of 2 documents, 2 chunks" in told.out
    keys = load_spec().resolved().keys
    assert (keys.index, keys.corpus) == ("my.index", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "qa.json"), "nowhere"),
        (("docs", "nowhere.json"), "nowhere.json"),
        (("qa.json", "docs"), "docs: is a folder"),
        (("docs", "empty.json"), "empty.json"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(docs, karat, folder, put, words, said):
    put("empty.json", "[]")
    told = karat("init", *words)
    assert told.code == 2
    assert said in told.sentence
    assert not (folder / "karat.yaml").exists()


def test_a_read_only_folder(docs, karat, folder, put):
    put("file", "")
    told = karat("init", "docs", "qa.json", "-o", "file/karat.yaml")
    assert told.code == 2
    assert "cannot be written" in told.sentence


def test_unreadable_documents_are_named(docs, karat, put):
    put("docs/broken.pdf", b"%PDF-1.4 nothing")
    told = karat("init", "docs", "qa.json")
    assert told.code == 0
    assert "broken.pdf" in told.out


def test_the_schema_is_printed_and_written(karat, folder):
    told = karat("init", "--schema")
    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out)["title"] == "karat.yaml"
    assert karat("init", "--schema", "-o", "s.json").out == ""
    assert (folder / "s.json").read_text() == told.out
