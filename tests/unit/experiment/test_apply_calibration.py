"""A calibration held to a run without labels: what it corrects, and for which judge it is refused."""

import json

import numpy as np
import pytest
from studies import study_of

from karat.core.errors import InputError, UsageError
from karat.core.scores import Status
from karat.experiment.apply_calibration import applied_writer, apply_calibration, is_calibration
from karat.experiment.calibrate import calibrate, calibrate_judges, calibration_writer
from karat.report import objects
from karat.report.build.applied import document
from karat.report.render import console
from karat.stats.prediction_powered import transferred_mean

JUDGE = {
    "by": "model",
    "model": "gpt-x",
    "fingerprint": "f1",
    "prompt": "faithfulness/1",
    "prompt_digest": "0123456789abcdef",
    "repeats": [1.0],
}
N = 60


def judged(seed=0, shift=0.0, name="Faithfulness", systems=("a",), judge=JUDGE, **fields):
    """A run whose judge is .15 too high of what people would say, which comes with it."""
    draw = np.random.default_rng(seed)
    truth = np.clip(draw.beta(4, 3, (len(systems), N)) + shift, 0, 0.85)
    values = np.clip(truth + 0.15 + 0.03 * draw.normal(size=truth.shape), 0, 1)
    details = {} if judge is None else {(s, q, 0): judge for s in range(len(systems)) for q in range(N)}
    study = study_of(values, systems, (name,), details=details, main=name, **{"name": "mine"} | fields)
    return study, truth, values


@pytest.fixture
def saved(tmp_path):
    """The file of a calibration by 40 labels of each of two systems."""

    def save(file="calibration.json", labelled=40, **fields):
        study, truth, _ = judged(systems=("a", "b"), **fields)
        name = study.evaluation.scores.measures[0].name
        rows = [
            {"id": f"q{q}", "system": "ab"[s], "measure": name, "label": truth[s, q], "rater": "ann"}
            for s in range(2)
            for q in range(labelled)
        ]
        path = tmp_path / file
        calibration_writer(path)(calibrate(study, rows))
        return path

    return save


def test_a_calibration_names_its_judge(saved):
    (one,) = json.loads(saved().read_text(encoding="utf-8"))["measures"]
    assert one["judges"] == [{name: value for name, value in JUDGE.items() if name != "repeats"}]
    assert len(one["sample"]) == 80
    assert one["ends"] is None


def test_the_means_of_a_new_run_are_corrected_by_the_line_of_the_labels(saved):
    path = saved()
    study, truth, values = judged(seed=9)
    found = apply_calibration(study, path)
    (one,) = found.measures
    (system,) = one.systems
    sample = json.loads(path.read_text(encoding="utf-8"))["measures"][0]["sample"]
    people, scores = (np.array([row[key] for row in sample]) for key in ("people", "score"))
    groups = np.array([int(row["question"][1:]) for row in sample])
    wanted = transferred_mean(people, scores, groups, values[0])
    assert (system.mean, system.low, system.high) == pytest.approx((wanted.mean, wanted.low, wanted.high))
    assert system.measure_mean > truth.mean() + 0.1
    assert system.low < truth.mean() < system.high
    assert (system.n, system.n_scored, one.n_labels) == (80, N, 80)
    shown = console.render(document(found), width=200)
    assert "corrected by 80 labels of other answers" in shown
    assert "answers are like the labelled ones" in shown


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "gpt-y"}, "a calibration holds for its own model"),
        ({"prompt": "faithfulness/2", "prompt_digest": "f" * 16}, "a calibration holds for its own prompt"),
        ({"prompt_digest": "f" * 16}, "a calibration holds for its own words of the prompt"),
        ({"prompt_digest": None}, "without the model and the prompt that gave its scores"),
    ],
    ids=["model", "prompt", "words", "not recorded"],
)
def test_a_calibration_of_another_judge_is_refused(saved, change, words):
    path = saved()
    study, *_ = judged(seed=9, judge=JUDGE | change)
    with pytest.raises(UsageError, match=words) as refused:
        apply_calibration(study, path)
    assert "\n" not in str(refused.value)
    assert "karat judge" in str(refused.value)


def test_a_run_that_does_not_say_who_judged_is_refused_on_either_side(saved):
    with pytest.raises(UsageError, match="run mine: Faithfulness is without the model and the prompt"):
        apply_calibration(judged(seed=9, judge=None)[0], saved())
    path = saved("old.json", judge=None)
    with pytest.raises(UsageError, match=r"old.json: Faithfulness is without .* and calibrate it by its labels"):
        apply_calibration(judged(seed=9)[0], path)


def test_a_run_judged_by_two_is_refused(saved):
    study, *_ = judged(seed=9)
    details = dict(study.evaluation.scores.details)
    details[0, 0, 0] = JUDGE | {"model": "gpt-y"}
    values = study.evaluation.scores.values
    both = study_of(values, ("a",), ("Faithfulness",), details=details, main="Faithfulness")
    with pytest.raises(UsageError, match=r"was judged by gpt-x .* and gpt-y .*, and a calibration holds for one judge"):
        apply_calibration(both, saved())


def test_a_model_with_other_settings_is_warned_of(saved):
    found = apply_calibration(judged(seed=9, judge=JUDGE | {"fingerprint": "f2"})[0], saved())
    assert "gpt-x was asked with other settings" in found.measures[0].notes[0].text


def test_a_measure_that_asks_nobody_needs_no_judge(saved):
    path = saved(name="TokenF1", judge=None)
    found = apply_calibration(judged(seed=9, name="TokenF1", judge=None)[0], path)
    assert found.measures[0].judge is None
    assert found.measures[0].systems[0].mean is not None
    heuristic = {"by": "heuristic"}
    path = saved(name="Faithfulness(by=heuristic)", judge=heuristic)
    study, *_ = judged(seed=9, name="Faithfulness(by=heuristic)", judge=heuristic)
    assert apply_calibration(study, path).measures[0].systems[0].mean is not None


def test_answers_that_are_unlike_the_labelled_are_warned_of(saved):
    path = saved()
    found = apply_calibration(judged(seed=9, shift=-0.3)[0], path)
    assert any("not like the labelled ones" in note.text for note in found.measures[0].notes)
    assert not any(
        "not like the labelled ones" in n.text for n in apply_calibration(judged(seed=9)[0], path).measures[0].notes
    )


def test_the_labelled_run_itself_is_sent_to_its_labels(saved):
    found = apply_calibration(judged(systems=("a", "b"))[0], saved())
    assert any("labels are of this very run" in note.text for note in found.measures[0].notes)


def test_what_cannot_be_corrected_says_why(saved):
    missing = {(0, q, 0): (Status.failed, "timed out") for q in range(N)}
    study, *_ = judged(seed=9)
    values = study.evaluation.scores.values
    failed = study_of(values, ("a",), ("Faithfulness",), missing=missing, details={(0, 0, 0): JUDGE})
    (system,) = apply_calibration(failed, saved()).measures[0].systems
    assert (system.mean, system.why) == (None, "no answer has a score")
    (system,) = apply_calibration(study, saved("few.json", labelled=2)).measures[0].systems
    assert system.why == "4 labels in the calibration: 5 are needed"
    assert "not corrected: 4 labels" in console.render(
        document(apply_calibration(study, saved("few.json", labelled=2)))
    )


def test_a_measure_that_was_not_labelled_is_named(saved):
    path = saved()
    study, *_ = judged(seed=9, name="TokenF1", judge=None)
    with pytest.raises(UsageError, match="is of Faithfulness, and run mine has no scores by it"):
        apply_calibration(study, path)
    with pytest.raises(UsageError, match=r"it holds no labels of TokenF1. It has Faithfulness"):
        apply_calibration(study, path, measures=["TokenF1"])


def test_grades_of_a_file_correct_no_run(tmp_path):
    """A column says not which model filled it in."""
    rows = [{"id": f"q{i}", "label": i % 2, "Faithfulness": i % 2} for i in range(10)]
    path = tmp_path / "c.json"
    calibration_writer(path)(calibrate_judges(rows, {"Faithfulness": "Faithfulness"}))
    with pytest.raises(UsageError, match="without the model and the prompt"):
        apply_calibration(judged(seed=9)[0], path)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "karat calibration 1"',
        '{"format": "karat calibration 2", "measures": []}',
        '{"format": "karat calibration 1", "measures": 5}',
        '{"format": "karat calibration 1", "run": "x", "measures": [{"measure": "F"}]}',
        '{"format": "karat calibration 1", "run": "x", "measures": [7]}',
        '{"format": "karat calibration 1", "run": "x", "measures": [{"measure": "F", "judges": [], "sample": '
        '[{"score": "x", "people": 1, "system": "a", "question": "q"}], "ends": null}]}',
        '{"format": "karat calibration 1", "run": "x", "measures": [{"measure": "F", "judges": [], "sample": '
        '[{"score": Infinity, "people": 1, "system": "a", "question": "q"}], "ends": null}]}',
        '{"format": "karat calibration 1", "a": ' + "[" * 5000,
    ],
)
def test_a_damaged_calibration_is_one_sentence(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    assert is_calibration(path)
    with pytest.raises(InputError, match="is no calibration that can be read"):
        apply_calibration(judged()[0], path)


def test_labels_are_no_calibration(tmp_path):
    path = tmp_path / "labels.json"
    path.write_text('[{"id": "q1", "label": 1}]', encoding="utf-8")
    assert not is_calibration(path)
    assert not is_calibration(tmp_path / "nowhere.json")
    assert not is_calibration(tmp_path)


def test_corrected_means_are_written_in_every_form(saved, tmp_path):
    found = apply_calibration(judged(seed=9)[0], saved())
    assert json.loads(objects.applied(found))["measures"][0]["judge"]["model"] == "gpt-x"
    for name in ("x.json", "x.md", "x.csv", "x.txt"):
        applied_writer(tmp_path / name)(found)
        assert "Faithfulness" in (tmp_path / name).read_text(encoding="utf-8")
