"""`karat testset check`, driven from the command line on the demo's dev questions."""

import json
import shutil

import pytest

import karat as package
from karat.experiment.demo import demo_files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the demo's index and its dev questions."""
    folder = tmp_path_factory.mktemp("checked")
    with demo_files() as demo:
        package.index(demo / "docs", folder / "demo.index")
        rows = [json.loads(line) for line in (demo / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    dev = [row for row in rows if row["tags"]["half"] == "dev"]
    (folder / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dev), encoding="utf-8")
    faulty = [*dev, {**dev[0], "id": "empty", "question": ""}, {**dev[1], "id": "numbered", "question": "1) Who?"}]
    (folder / "faulty.jsonl").write_text("".join(json.dumps(row) + "\n" for row in faulty), encoding="utf-8")
    return folder


@pytest.fixture
def here(files, folder):
    for name in ("qa.jsonl", "faulty.jsonl"):
        shutil.copy(files / name, name)
    return str(files / "demo.index")


def test_a_page(karat, here):
    told = karat("testset", "check", "qa.jsonl", here)
    assert told.code == 0, told.err
    assert len(told.out.splitlines()) <= 40
    for part in ("all 112 gold units can be found", "can show differences of about", "Ceilings"):
        assert part in told.out
    assert karat("testset", "check", "qa.jsonl", here).out == told.out
    verbose = karat("testset", "check", "qa.jsonl", here, "-v").out
    for head in ("Kinds", "Recall @1, @5, @20", "Topics", "Documents: 18 of 21", "Differences in Recall@5"):
        assert head in verbose
        assert head not in told.out


def test_something_broken_is_exit_4(karat, here):
    told = karat("testset", "check", "faulty.jsonl", here)
    assert told.code == 4
    assert told.out.startswith("✗  broken: 1 question is empty")
    assert "numbered" in told.out


def test_json_alone(karat, here):
    told = karat("testset", "check", "qa.jsonl", here, "--json")
    made = json.loads(told.out)
    assert (made["format"], made["questions"], made["broken"]) == (2, 80, False)
    assert {row["k"] for row in made["attained"]} == {1, 5, 20}
    assert {row["kind"]: row["literal"] for row in made["kinds"]}["paraphrase"] == 0


@pytest.mark.parametrize("ending", ["md", "json", "txt"])
def test_to_a_file(karat, here, folder, ending):
    some = ("--only", "malformed", "--only", "leftovers")
    assert karat("testset", "check", "faulty.jsonl", here, "-q", *some, "-o", f"page.{ending}").code == 4
    page = (folder / f"page.{ending}").read_text(encoding="utf-8")
    assert "numbered" in page
    if ending == "json":
        assert json.loads(page)["broken"] is True


def test_an_unknown_ending_is_refused_before_anything_is_read(karat, here):
    told = karat("testset", "check", "gone.jsonl", here, "-o", "page.pdf")
    assert told.code == 2
    assert "cannot tell a format from 'page.pdf'. Endings: .json, .md, .txt." in told.sentence


def test_without_an_index(karat, here):
    told = karat("testset", "check", "faulty.jsonl")
    assert told.code == 4
    assert "not run, since no index was given: copies, coverage" in told.out


def test_quiet_and_one_check(karat, here):
    told = karat("testset", "check", "faulty.jsonl", here, "-q", "--only", "leftovers")
    assert told.code == 0
    assert '1 question keeps list numbering such as "1)", a label or quotes' in told.out
    assert "Kinds" not in told.out


def test_a_check_that_is_skipped_finds_nothing(karat, here):
    told = karat("testset", "check", "faulty.jsonl", here, "--skip", "malformed", "--json")
    assert told.code == 0
    made = json.loads(told.out)
    assert "malformed" not in {f["check"] for f in made["findings"]}
    assert made["kinds"]


def test_an_unknown_check_is_answered_with_the_nearest(karat, here):
    told = karat("testset", "check", "qa.jsonl", here, "--only", "leftover")
    assert told.code == 2
    assert "Did you mean leftovers?" in told.sentence


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "squad.json",
            {"data": [{"title": "T", "paragraphs": [{"context": "The pump runs on oil.", "qas": [
                {"id": "1", "question": "What does the pump run on?", "answers": [{"text": "oil", "answer_start": 17}]},
                {"id": "2", "question": "2) Why?", "answers": [{"text": "oil", "answer_start": 17}]}]}]}]},
        ),
        ("topics.tsv", "q1\tWhat does the pump run on?\nq2\t2) Why?\n"),
        ("pages.json", json.dumps([{"query": "What does it run on?", "relevant_docs": ["1"], "query_type": "f"},
                                   {"query": "2) Why?", "relevant_docs": ["1"], "query_type": "f"}])),
    ],
)  # fmt: skip
def test_other_formats(karat, put, name, content):
    told = karat("testset", "check", put(name, content), "--json")
    assert told.code in (0, 4), told.err
    made = json.loads(told.out)
    assert made["questions"] == 2
    assert [f["title"] for f in made["findings"] if f["check"] == "leftovers"] == [
        '1 question keeps list numbering such as "1)", a label or quotes'
    ]


def test_from_python(here):
    made = package.check("qa.jsonl", here)
    assert made.detectable[0].questions == 72
    assert package.check([{"id": "a", "question": "", "gold": ["x"]}]).broken


def test_arguments_that_were_swapped(karat, here):
    assert karat("testset", "check", here, "qa.jsonl").sentence.startswith(
        "the test set comes first, then the index: write qa"
    )
