"""karat run DOCS TESTSET: from a folder of documents and a file of questions to the first number, in one command."""

import csv
import json
import re

import pytest
from fpdf import FPDF

import karat as library
from karat.experiment import outputs
from karat.experiment.spec import load_spec
from karat.experiment.store import open_run

THINGS = {
    "pumps.pdf": ["basalt", "cobalt", "dolomite", "feldspar"],
    "valves.pdf": ["garnet", "hematite", "jasper", "kyanite"],
    "motors.pdf": ["lapis", "malachite", "nephrite", "olivine"],
}
MISSING = ("motors.pdf", 9)  # motors.pdf has four pages: nobody can find this one
ASKED = sum(map(len, THINGS.values()))
RIGHT = (ASKED - 1) / ASKED  # by the word alone every page is found but the one that is not there


@pytest.fixture(scope="module")
def pdfs(tmp_path_factory):
    """Three PDFs of four pages; a page is the only one with its word, and longer than a chunk."""
    folder = tmp_path_factory.mktemp("manuals") / "manuals"
    folder.mkdir()
    for name, words in THINGS.items():
        pdf = FPDF()
        pdf.set_font("Helvetica", size=10)
        for word in words:
            pdf.add_page()
            pdf.multi_cell(0, 5, f"The {word} unit. " + "Tighten every screw and look at the seal again. " * 40)
        pdf.output(str(folder / name))
    return folder


def questions(path, doc, page):
    """One question a page; the gold of the last is a page that its document does not have."""
    rows = [(f"Where is the {word}?", name, number) for name, words in THINGS.items()
            for number, word in enumerate(words, 1)]  # fmt: skip
    rows[-1] = (rows[-1][0], *MISSING)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("question", doc, page), *rows])
    return path


@pytest.fixture(autouse=True)
def _without_charts(monkeypatch):
    """Tables alone: drawing the charts of every run would take longer than all the rest."""
    write = outputs.write_study
    monkeypatch.setattr(outputs, "write_study", lambda study, path, _, *more: write(study, path, ["csv"], *more))


@pytest.fixture
def manuals(folder, pdfs):
    (folder / "manuals").symlink_to(pdfs, target_is_directory=True)
    questions(folder / "qa.csv", "gold_doc", "gold_page")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("doc", "page"),
    [
        ("gold_doc", "gold_page"),
        ("file", "page"),
        ("source_file", "page"),
    ],
)
def test_the_first_number_of_pages_in_several_pdfs_is_right(folder, pdfs, karat, last, doc, page):
    questions(folder / "qa.csv", doc, page)
    told = karat("run", pdfs, "qa.csv")
    assert (told.code, told.err) == (0, "")
    (first,) = re.findall(r"Summary\n.*?(\.\d+)", told.out, re.S)
    assert first == f"{RIGHT:.2f}".lstrip("0")  # Recall@5 of one gold page
    assert "12 questions" in told.out
    assert "3 documents, 12 pages" in told.out
    scores = library.run(pdfs, "qa.csv", runs_dir="again")
    for measure in ("Hit@1", "Hit@5", "Recall@5", "MRR"):
        assert scores.mean(measure, system="pure_sparse") == pytest.approx(RIGHT), measure
    wrong = scores.per_query.filter(system="pure_sparse").filter(**{"Recall@5": 0.0})
    assert wrong["question_id"].to_list() == [scores.study.evaluation.testset.ids[-1]]


@pytest.mark.slow
def test_it_is_the_experiment_that_init_writes(manuals, karat, folder, last):
    assert karat("run", "manuals", "qa.csv", "--answer", "none").code == 0
    assert not (folder / "karat.yaml").exists()
    manifest = json.loads((last() / "manifest.json").read_text())
    assert manifest["command"] == ["karat", "run", "manuals", "qa.csv", "--answer", "none"]
    assert karat("init", "manuals", "qa.csv").code == 0
    assert manifest["spec"] == load_spec().plain()
    told = karat("run", "--fresh")
    again = json.loads((last() / "manifest.json").read_text())
    assert (told.code, again["digest"]) == (0, manifest["digest"])


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on(manuals, karat, folder, last):
    assert karat("run", "manuals", "qa.csv").code == 0
    open_run(last()).update(status="running")
    rows, journal = (last() / "rows.parquet").read_bytes(), (last() / "journal.jsonl").read_bytes()
    (last() / "rows.parquet").unlink()
    assert karat("run", "manuals", "qa.csv").code == 0
    assert len(list(folder.glob("runs/*/manifest.json"))) == 1
    assert (last() / "rows.parquet").read_bytes() == rows
    assert (last() / "journal.jsonl").read_bytes() == journal
    assert karat("run", "manuals", "qa.csv").code == 0
    assert len(list(folder.glob("runs/*/manifest.json"))) == 2


@pytest.mark.slow
def test_options_of_a_run_apply(manuals, karat, last):
    told = karat("run", "manuals/pumps.pdf", "qa.csv", "--answer", "extractive", "--runs-dir", "other", "--json")
    assert told.code == 0
    assert json.loads(told.out)["answers"][0]["system"] == "pure_dense"
    assert json.loads((last("other") / "manifest.json").read_text())["spec"]["answer"]["by"] == "extractive"


def test_an_index_that_stands_is_searched_as_it_is(manuals, karat, last):
    assert karat("index", "manuals", "-o", "my.index").code == 0
    assert karat("run", "my.index", "qa.csv").code == 0
    assert json.loads((last() / "manifest.json").read_text())["spec"]["index"] == "my.index"


def test_a_folder_that_holds_an_experiment_is_one(karat, folder, put):
    put("mine/qa.jsonl", [{"id": "q1", "question": "Which?", "gold": ["a"]}])
    put("mine/found.jsonl", [{"id": "q1", "retrieved": ["a"]}])
    put("mine/karat.yaml", "testset: qa.jsonl\nsystems: [{results: found.jsonl}]\nmain: MRR\noutputs: [csv]\n")
    for name in ("mine", "mine/karat.yaml"):
        assert karat("run", name).code == 0
        told = karat("run", name, "mine/qa.jsonl")
        assert told.code == 2
        assert told.sentence == (
            f"{name} names its own test set, and mine/qa.jsonl is given too. Leave that out, or name the folder of the "
            "documents alone."
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere does not exist. Name a folder of documents, or files."),
        (["manuals", "qa.csv", "more.csv"], "3 files are named. Documents and a test set are two: karat run DOCS TEST"),
        (["manuals", "qa.csv", "--samples", "3"], "--samples is for documents without a test set of their own"),
        (["nowhere.yaml", "--chunk", "page"], "--chunk is for documents without a test set of their own"),
        (["manuals", "--judge", "Faithfulness"], "--judge is for a karat.yaml, or for documents with a test set"),
        (["manuals", "--dry-run"], "--dry-run is for a karat.yaml, or for documents with a test set"),
        (["nowhere", "qa.csv"], "nowhere: does not exist. Name a folder or file of documents."),
        (["manuals", "nowhere.csv"], "nowhere.csv: does not exist. Name a file of questions."),
        (["qa.csv", "manuals"], "manuals: is a folder"),
        (["manuals", "empty.json"], "empty.json"),
        (["nowhere.yaml"], "nowhere.yaml: does not exist. Write one with `karat init DOCS TESTSET`"),
        ([], "karat.yaml: does not exist. Write one with `karat init DOCS TESTSET`"),
        (["manuals", "qa.csv", "--answer", "nobody"], "karat run manuals qa.csv, key answer.by: no answerer is called"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_one_sentence_and_nothing_is_written(manuals, karat, folder, put, words, said):
    put("empty.json", "[]")
    told = karat("run", *words)
    assert told.code == 2
    assert said in told.sentence
    assert not (folder / "runs").exists()


def test_from_python_an_experiment_takes_no_second_test_set(manuals, folder):
    from karat.experiment.spec.draft import spec_for

    spec = spec_for("manuals", "qa.csv")
    assert spec_for(spec) is spec
    with pytest.raises(library.KaratError, match=r"the experiment names its own test set, and qa\.csv is given too"):
        library.run(spec, "qa.csv")
    with pytest.raises(library.KaratError, match="the test set of a run is a file, not a TestSet"):
        library.run("manuals", library.load_testset("qa.csv"))


def test_questions_without_gold_are_refused_where_nobody_answers(manuals, karat):
    with open("bare.csv", "w") as file:
        file.write("question,remark\nWhere is the basalt?,x\n")
    told = karat("run", "manuals", "bare.csv")
    assert told.code == 2
    assert "bare.csv: no question names a document that answers it" in told.sentence
    assert "--map COLUMN=gold_doc" in told.sentence


def test_an_engine_that_finds_less_in_few_documents_does_not_fail_a_gate(folder, karat):
    (folder / "notes").mkdir()
    for name, text in (("a", "The pump is blue."), ("b", "The valve is red."), ("c", "Motors hum at night.")):
        (folder / "notes" / f"{name}.txt").write_text(text)
    (folder / "qa.csv").write_text("question,file\nWhat colour is the pump?,a.txt\nWhat colour is the valve?,b.txt\n")
    assert karat("run", "notes", "qa.csv").code == 0
    told = karat("gate", "LAST", "Recall@5 >= 0", "failed == 0")
    assert (told.code, "unequal depth" in told.out) == (0, False)
