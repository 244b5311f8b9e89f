"""Frozen test sets in use: who warns, who refuses, what a manifest says, and which runs may be compared."""

import json

import pytest

import karat
from karat.core.errors import UsageError
from karat.core.types import Gold, Question, TestSet
from karat.experiment.frozen import same_testset
from karat.experiment.run import run
from karat.experiment.spec import spec_of
from karat.results.serial import load_study
from karat.testset.freeze import freeze

DOCS = [{"id": "watch", "text": "The night watch lasts four hours."}, {"id": "fuel", "text": "Each tank holds fuel."}]
ROWS = [
    {"id": "q1", "question": "How long is the night watch?", "gold": [{"doc": "watch"}]},
    {"id": "q2", "question": "What does a tank hold?", "gold": [{"doc": "fuel"}], "tags": {"half": "test"}},
]
SPEC = "corpus: docs.jsonl\ntestset: qa.jsonl\nchunk: whole\nsystems: [pure_sparse]\nk: [1]\noutputs: [json]\n"


def put(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path):
    put(tmp_path / "docs.jsonl", DOCS)
    put(tmp_path / "qa.jsonl", ROWS)
    return tmp_path


@pytest.mark.slow
def test_a_run_names_the_version_and_refuses_a_changed_set(folder):
    freeze(folder / "qa.jsonl", "1.0")
    done = run(spec_of(SPEC, folder))
    assert done.folder.manifest["inputs"]["testset"]["version"] == "1.0"
    assert load_study(done.folder.path).evaluation.testset.version == "1.0"
    assert json.loads((done.folder.path / "results.json").read_text())["testset"]["version"] == "1.0"
    put(folder / "qa.jsonl", ROWS[:1])
    with pytest.raises(UsageError, match=r"qa\.jsonl is frozen as version 1\.0 .* --changed-testset"):
        run(spec_of(SPEC, folder))
    again = run(spec_of(SPEC, folder), changed_testset=True)
    assert "version" not in again.folder.manifest["inputs"]["testset"]
    notes = [note.text for note in again.study.evaluation.notes if note.level == "warning"]
    assert any("qa is frozen as version 1.0" in text and "karat testset freeze" in text for text in notes)


@pytest.mark.slow
def test_freezing_does_not_make_another_run_of_it(folder):
    before = run(spec_of(SPEC, folder)).folder.manifest["digest"]
    freeze(folder / "qa.jsonl", "1.0")
    assert run(spec_of(SPEC, folder)).folder.manifest["digest"] == before


@pytest.mark.slow
def test_a_part_of_a_frozen_set_is_of_its_version(folder):
    freeze(folder / "qa.jsonl", "1.0")
    done = run(spec_of(f"{SPEC}where: {{half: test}}\n", folder))
    assert done.folder.manifest["inputs"]["testset"]["version"] == "1.0"


@pytest.mark.slow
def test_scoring_and_checking_warn(folder):
    freeze(folder / "qa.jsonl", "1.0")
    put(folder / "qa.jsonl", ROWS[:1])
    results = {"q1": ["watch"]}
    report = karat.score(str(folder / "qa.jsonl"), results)
    assert any("changed since" in note.text for note in report.evaluation.notes if note.level == "warning")
    karat.index([str(folder / "docs.jsonl")], str(folder / "i.index"), chunk="whole")
    checked = karat.check(str(folder / "qa.jsonl"), str(folder / "i.index"))
    assert "changed since" in checked.notes[0]


def manifest(testset, version=None, path="qa.jsonl"):
    about = {"path": path, "digest": testset.digest, "questions": len(testset)}
    return {"inputs": {"testset": about | ({"version": version} if version else {})}}


def questions(*texts):
    return TestSet([Question(f"q{n}", text, gold=(Gold(doc="a"),)) for n, text in enumerate(texts)])


def test_runs_of_one_test_set_may_be_compared():
    one = questions("a", "b")
    same_testset([manifest(one), manifest(questions("a", "b"), "1.0", "copy.jsonl"), manifest(one)])
    same_testset([manifest(one)])


def test_runs_of_others_may_not_and_it_says_why():
    one, other = questions("a", "b", "c"), questions("a", "B", "c", "d")
    with pytest.raises(UsageError) as refusal:
        same_testset([manifest(one, "1.0"), manifest(one), manifest(other, "1.1")], [one, one, other])
    told = str(refusal.value)
    assert f"run 1 of qa.jsonl, version 1.0 (3 questions, digest {one.digest[:12]})" in told
    assert f"run 3 of qa.jsonl, version 1.1 (4 questions, digest {other.digest[:12]})" in told
    assert "1 question is only in the other (q3); 1 question is not the same in both (q1)." in told
    turned = TestSet(reversed(one.questions))
    with pytest.raises(UsageError, match="in another order"):
        same_testset([manifest(one), manifest(turned)], [one, turned])
    with pytest.raises(UsageError, match="run 2 does not say which test set"):
        same_testset([manifest(one), {}])
