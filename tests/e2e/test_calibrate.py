"""karat judge calibrate: a stored run against people's labels, from the command line."""

import json

import numpy as np
import pytest
from studies import study_of

from karat.core.scores import Status
from karat.experiment.store import new_run
from karat.results.serial import save_study

SYSTEMS = ("hybrid", "bm25")
N, LABELLED = 150, 40


@pytest.fixture
def stored(folder):
    """A run of two systems by two measures, and what people would say of each of its answers."""

    def store(**more):
        draw = np.random.default_rng(3)
        right = (draw.random((2, N)) < [[0.75], [0.6]]).astype(float)
        values = np.zeros((2, N, 2))
        values[:, :, 0] = np.where(right > 0, draw.beta(8, 2, (2, N)), draw.beta(4, 5, (2, N)))
        values[:, :, 1] = 0.5 * right + 0.4 * draw.random((2, N))
        missing = {(0, 3, 0): (Status.failed, "timed out")} if more.pop("failing", False) else {}
        measures = ("Faithfulness(by=heuristic)", "TokenF1")
        made = study_of(values, SYSTEMS, measures, missing=missing, about=more, main="TokenF1")
        run = new_run(folder / "runs", "mine", {"karat": "0.2"})
        save_study(made, run.path)
        run.update(status="done")
        return right

    return store


@pytest.fixture
def labelled(stored, put):
    def write(name="labels.csv", measure="Faithfulness", **more):
        right = stored(**more)
        rows = [
            f"q{i},{system},{measure},{right[s, i]:.0f},{rater}"
            for s, system in enumerate(SYSTEMS)
            for i in range(LABELLED)
            for rater in ("ann", "ben")
        ]
        return put(name, "id,system,measure,label,rater\n" + "\n".join(rows) + "\n")

    return write


def test_a_judge_is_held_against_people(labelled, karat, folder):
    told = karat("judge", "calibrate", "LAST", labelled())
    assert (told.code, told.err) == (0, "")
    assert "labels.csv  read as labels: 160 labels by 2 raters" in told.out
    assert "Faithfulness(by=heuristic) against people" in told.out
    assert "corrected by 40 labels" in told.out
    assert "more: -v shows all." in told.out
    assert len(karat("judge", "calibrate", "mine", "labels.csv", "-v").out) > len(told.out)
    quiet = karat("judge", "calibrate", "LAST", "labels.csv", "-q").out
    assert len(quiet) < len(told.out)
    assert "corrected" in quiet
    found = json.loads(karat("judge", "calibrate", "LAST", "labels.csv", "--json").out)
    (one,) = found["measures"]
    assert one["people"]["kappa"] == pytest.approx(1.0)
    assert 0.3 < one["agreement"]["kappa"] < 1
    assert [system["n_scored"] for system in one["systems"]] == [N, N]
    for system in one["systems"]:
        assert system["low"] < system["mean"] < system["high"]
        assert system["effective"] > LABELLED
    assert len(one["sentences"]) >= 4
    for name in ("calibration.json", "calibration.md", "calibration.csv", "calibration.txt"):
        written = karat("judge", "calibrate", "LAST", "labels.csv", "-q", "-o", name)
        assert (written.code, written.err) == (0, f"wrote {name}\n")
        assert "hybrid" in (folder / name).read_text(encoding="utf-8")


def test_the_same_labels_give_the_same_bytes(labelled, karat):
    name = labelled()
    assert (
        karat("judge", "calibrate", "LAST", name, "--json").out
        == karat("judge", "calibrate", "LAST", name, "--json").out
    )


def test_a_measure_that_failed_on_a_labelled_answer_is_exit_code_5(labelled, karat):
    told = karat("judge", "calibrate", "LAST", labelled(failing=True))
    assert told.code == 5
    assert "1 labelled answer without a score: the measure failed there: timed out (" in told.out


def test_confidence_comes_with_its_calibration_error(labelled, karat):
    name = labelled(confidence={"hybrid": [0.9] * N})
    told = karat("judge", "calibrate", "LAST", name)
    assert "hybrid is too sure of itself: mean confidence .900" in told.out
    assert "the default of --correct" in " ".join(told.out.split())
    by_rule = json.loads(karat("judge", "calibrate", "LAST", name, "--correct", "TokenF1>=0.7", "--json").out)[
        "reliability"
    ][0]
    assert by_rule["correct_by"] == "TokenF1 >= 0.7"
    assert by_rule["ece_width"] == pytest.approx(0.9 - by_rule["accuracy"])


@pytest.mark.parametrize(
    ("text", "options", "code", "sentence"),
    [
        ("id,system,measure,label\nx1,hybrid,Faithfulness,1\n", (), 3, "no label meets a score of the run"),
        ("id,system,measure,label\nq1,hybrid,Faithfulness,1\nq2,hybrid,Faithfulness,5\n", (), 2, "--scale 1:5"),
        ("id,system,measure,label\nq1,hybrid,Faithfulness,1\n", ("-m", "Faithfulnes"), 2, "Did you mean Faithfulness"),
        ("id,system,measure,label\nq1,hybrid,Faithfulness,1\n", ("-o", "x.docx"), 2, "cannot tell a format"),
        ("id,label\nq1,1\n", ("-m", "TokenF1"), 2, 'Add a column "system" with hybrid, bm25'),
        ("id,system,label\nq1,hybrid,1\n", (), 2, "of which measure they are"),
        ("", (), 2, "is empty"),
    ],
    ids=["no overlap", "scale", "measure", "ending", "system", "no measure", "empty"],
)
def test_what_cannot_be_is_one_sentence(stored, put, karat, text, options, code, sentence):
    stored()
    told = karat("judge", "calibrate", "LAST", put("labels.csv", text), *options)
    assert told.code == code
    assert sentence in told.sentence


def test_a_run_that_is_not_there_is_named(folder, karat, put):
    told = karat("judge", "calibrate", "LAST", put("labels.csv", "id,label\nq1,1\n"))
    assert (told.code, "there are no runs in runs" in told.sentence) == (2, True)


GRADES = "id,system,human,gpt,llama,length\n" + "".join(
    f"q{i},{system},{1 + (i + s) % 3},{1 + (i + s + (i % 5 == 0)) % 3},{1 + (2 * i + s) % 3},{20 + 7 * i % 90}\n"
    for s, system in enumerate(SYSTEMS)
    for i in range(30)
)


def test_judges_of_a_file_are_compared_without_a_run(folder, put, karat):
    name = put("grades.csv", GRADES)
    put("llama.csv", "id,system,score\n" + "".join(f"q{i},{s},{1 + i % 3}\n" for s in SYSTEMS for i in range(30)))
    judges = ("--judge", "gpt=gpt", "--judge", "llama=llama.csv", "--scale", "1:3")
    told = karat("judge", "calibrate", name, *judges, "-o", "judges.json")
    assert (told.code, told.err) == (0, "wrote judges.json\n")
    assert "llama, gpt" in told.out
    assert len(told.out.splitlines()) < 45
    found = json.loads((folder / "judges.json").read_text(encoding="utf-8"))
    assert [one["measure"] for one in found["measures"]] == ["gpt", "llama"]
    assert found["measures"][0]["slants"][0]["by"] == "length"
    assert json.loads(karat("judge", "calibrate", name, *judges, "--json").out) == found
    people = karat("judge", "calibrate", name, "--judge", "gpt", "--people", "human", "--people", "llama", "--json")
    assert json.loads(people.out)["measures"][0]["raters"] == ["human", "llama"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("grades.csv",), "name its judges with --judge"),
        (("LAST",), "no labels are named"),
        (("LAST", "grades.csv", "--judge", "gpt"), "with --judge there is no run"),
        (("grades.csv", "--judge", "a=gpt", "--judge", "a=llama"), "there is a judge 'a' already"),
        (("grades.csv", "--judge", "=gpt"), "write NAME=COLUMN"),
        (("grades.csv", "--judge", "gpt", "--correct", "EM>=1"), "--correct is for systems of a run"),
        (("LAST", "grades.csv", "--people", "human"), "--people is for judges of a file of labels"),
        (("grades.csv", "--judge", "gpt=nowhere"), "neither a column of grades.csv nor a file"),
    ],
)
def test_what_judges_cannot_be_is_one_sentence(put, karat, options, sentence):
    put("grades.csv", GRADES)
    told = karat("judge", "calibrate", *options)
    assert told.code == 2
    assert sentence in told.sentence


def test_a_calibration_corrects_another_run(labelled, karat, folder):
    assert karat("judge", "calibrate", "LAST", labelled(measure="TokenF1"), "-q", "-o", "calibration.json").code == 0
    told = karat("judge", "calibrate", "LAST", "calibration.json", "-o", "applied.csv")
    assert (told.code, told.err) == (0, "wrote applied.csv\n")
    assert "corrected by 80 labels of other answers" in " ".join(told.out.split())
    assert "labels are of this very run" in " ".join(told.out.split())
    assert json.loads(karat("judge", "calibrate", "LAST", "calibration.json", "--json").out)["calibrated"]
    refused = karat("judge", "calibrate", "LAST", "calibration.json", "--scale", "1:5")
    assert (refused.code, "a calibration has them" in refused.sentence) == (2, True)
