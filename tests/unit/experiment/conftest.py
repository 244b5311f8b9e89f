"""Studies and runs made by hand."""

from dataclasses import replace

import pytest
import studies

from karat.core.scores import Status
from karat.core.types import Gold, Question, TestSet
from karat.experiment.baseline import save_baseline
from karat.experiment.store import DONE, new_run, open_run
from karat.results.serial import save_study
from karat.stats.summary import summarise

KINDS = ("fact", "fact", "steps", "steps")


@pytest.fixture
def questions():
    """A test set of a few questions."""

    def make(many=4, gold="d"):
        return TestSet(
            [
                Question(
                    f"q{n}",
                    f"What is number {n}?",
                    gold=(Gold(id=f"{gold}{n}"),),
                    kind=KINDS[n % 4],
                    tags={"half": "ab"[n % 2]},
                )
                for n in range(many)
            ],
            name="qa.jsonl",
        )

    return make


@pytest.fixture
def study_of(questions):
    """A study of `{system: [[value of each measure] of each question]}`; `failed` are (system, question, measure).

    `ranked` names the systems that returned hits.
    """

    def make(table, measures, *, testset=None, failed=(), undefined=(), **more):
        values = list(table.values())
        missing = dict.fromkeys(failed, (Status.failed, "it broke"))
        missing |= dict.fromkeys(undefined, (Status.undefined, "no relevant gold"))
        testset = testset or questions(len(values[0]))
        made = studies.study_of(values, tuple(table), measures, testset=testset, missing=missing).evaluation
        ranked = {name: [["d"]] * len(testset) for name in more.pop("ranked", ())}
        summaries = summarise(made.scores, intervals=False)
        made = replace(made, summaries=summaries, notes=more.pop("notes", ()), ranked=ranked)
        return studies.study_with(made, **more)

    return make


@pytest.fixture
def store():
    """A run's folder with a study in it."""

    def make(runs, study, *, done=True, spec=None):
        testset = study.evaluation.testset
        about = {"path": "qa.jsonl", "digest": testset.digest, "questions": len(testset)}
        manifest = {"karat": "0", "inputs": {"testset": about}, "spec": spec or {}, "seed": 0}
        folder = new_run(runs, "made", manifest)
        save_study(replace(study, manifest=folder.manifest), folder.path)
        if done:
            folder.update(status=DONE)
        return open_run(folder.path)

    return make


@pytest.fixture
def two(study_of, store):
    """A run after another that is the baseline `main`."""

    def make(runs, before, after, measures="MRR", **more):
        first = store(runs, study_of({"a": before}, measures))
        save_baseline(runs, "main", first.id)
        return store(runs, study_of({"a": after}, measures, **more))

    return make
