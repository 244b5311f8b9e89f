"""Calibration of made-up runs, with figures that can be worked out by hand."""

import json

import numpy as np
import pytest

from karat.core.errors import InputError, NoOverlapError, UsageError
from karat.core.language import parse_all
from karat.core.measure import Measure, MeasureSpec
from karat.core.scores import Scores, Status
from karat.core.types import Question, TestSet
from karat.experiment.calibrate import calibrate, calibration_writer
from karat.report import objects, tables
from karat.report.build.calibration import document
from karat.report.render import console, markdown
from karat.results.evaluation import Evaluation
from karat.results.study import Configuration, Study
from karat.stats.prediction_powered import powered_mean


def judge(name="Judge", bounds=(0.0, 1.0), direction="higher"):
    return Measure(MeasureSpec(name, lambda answered: answered, stage="answer", bounds=bounds, direction=direction))


def made(values, *, systems=("bm25",), measures=None, confidence=None, missing=None, details=None):
    """A study of scores, system x question x measure; `missing` gives statuses and reasons."""
    values = np.array(values, float)
    values = values.reshape(len(systems), -1, len(measures or [0]))
    status = np.zeros(values.shape, np.uint8)
    reasons = {}
    for place, (kind, why) in (missing or {}).items():
        status[place], values[place], reasons[place] = kind, np.nan, why
    questions = [Question(f"q{i}", f"question {i}?") for i in range(values.shape[1])]
    scores = Scores(
        tuple(systems),
        tuple(q.id for q in questions),
        tuple(measures or (judge(),)),
        values=values,
        status=status,
        reasons=reasons,
        details=details or {},
    )
    evaluation = Evaluation(
        testset=TestSet(questions, name="qa"), scores=scores, summaries=(), confidence=confidence or {}
    )
    return Study("mine", evaluation=evaluation, configurations=tuple(map(Configuration, systems)), main="Judge", k=5)


def labels(values, rater="ann", system="bm25", measure="Judge", start=0):
    return [
        {"id": f"q{i}", "system": system, "measure": measure, "label": value, "rater": rater}
        for i, value in enumerate(values, start)
        if value is not None
    ]


SCORES = [0.9, 0.8, 0.7, 0.2, 0.1, 0.6, 0.4, 0.9, 0.3, 0.9, 0.8, 0.5]
ANN = [1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1]


def notes(found):
    return " ".join(note.text for one in (found, *found.measures) for note in one.notes)


def test_a_judge_against_one_person():
    (one,) = calibrate(made(SCORES), labels(ANN)).measures
    assert (one.n_labels, one.n_items, one.n_scored, one.raters) == (12, 12, 12, ("ann",))
    # cut at .5: the judge says 1 for 0 1 2 5 7 9 10 11; they part on 5 (judge 1) and 6 (judge 0)
    assert one.confusion.counts == ((3, 1), (1, 7))
    assert one.confusion.cuts == (0.5,)
    assert [(off.question, off.people, off.score) for off in one.confusion.off] == [("q5", 0.0, 0.6), ("q6", 1.0, 0.4)]
    # 10 of 12 agree, by chance (4 * 4 + 8 * 8) / 144
    assert one.agreement.kappa == pytest.approx((10 / 12 - 80 / 144) / (1 - 80 / 144))
    assert one.agreement.low < one.agreement.kappa < one.agreement.high
    assert one.agreement.weighted is None
    assert one.bias == pytest.approx(sum(SCORES) / 12 - 8 / 12)
    assert one.people.alpha is None
    assert "one rater" in one.people.why[0]


def test_the_corrected_mean_is_that_of_the_labelled_and_all_other_rows():
    draw = np.random.default_rng(4)
    scores = draw.random(80)
    people = np.round(np.clip(scores[:30] - 0.2, 0, 1), 3)
    (one,) = calibrate(made(scores), labels(people)).measures
    (system,) = one.systems
    wanted = powered_mean(people, scores[:30], scores[30:])
    assert (system.n, system.n_scored) == (30, 80)
    assert system.measure_mean == pytest.approx(scores.mean())
    assert (system.mean, system.low, system.high) == pytest.approx((wanted.mean, wanted.low, wanted.high))
    assert system.effective > 30
    assert one.confusion is None
    assert one.agreement.metric == "interval"
    assert "continuous scale" in " ".join(note.text for note in one.notes)


def test_two_people_have_a_kappa_and_three_an_alpha():
    ben = [1 - ANN[0], *ANN[1:]]
    two = calibrate(made(SCORES), labels(ANN) + labels(ben, "ben")).measures[0]
    assert two.people.kappa == pytest.approx(1 - (1 / 12) / (1 - (8 * 7 + 4 * 5) / 144))
    assert two.people.alpha is not None
    assert two.confusion.ties == 1
    assert sum(map(sum, two.confusion.counts)) == 11
    assert "evenly divided on 1 answer" in " ".join(note.text for note in two.notes)
    three = calibrate(made(SCORES), labels(ANN) + labels(ben, "ben") + labels(ANN[:6], "cat")).measures[0]
    assert (three.people.raters, three.people.n, three.people.kappa) == (3, 12, None)
    assert three.people.alpha is not None
    assert three.confusion.ties == 0


def test_a_scale_of_five_has_weighted_kappa_and_every_category():
    study = made(np.linspace(0, 1, 12))
    given = labels([1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5])
    with pytest.raises(
        InputError, match=r"record 3: labels of Judge go from 1 to 5, and Judge itself from 0 to 1. .*--scale 1:5"
    ):
        calibrate(study, given)
    one = calibrate(study, given, scale=["1:5"]).measures[0]
    assert one.confusion.names == ("1", "2", "3", "4", "5")
    assert one.confusion.categories == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert one.confusion.cuts == (0.125, 0.375, 0.625, 0.875)
    assert one.agreement.weighted > one.agreement.kappa
    assert one.agreement.metric == "ordinal"
    assert one.bias == pytest.approx(0.5 - (38 / 12 - 1) / 4)
    assert calibrate(study, given, scale=["Judge=1:5"]).measures[0] == one
    assert "1 to 5 became 0 to 1" in " ".join(note.text for note in one.notes)


@pytest.mark.parametrize(
    ("scale", "error", "sentence"),
    [
        (["5:1"], UsageError, "write the lowest and the highest label"),
        (["five"], UsageError, "as in 1:5"),
        (["Other=1:5"], UsageError, "no scores by this measure"),
        (["1:4"], InputError, "label 5 lies outside the scale 1:4"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(scale, error, sentence):
    with pytest.raises(error, match=sentence):
        calibrate(made([0.1, 0.2, 0.3]), labels([1, 5, 3]), scale=scale)


def test_whole_labels_of_another_range_are_its_categories():
    one = calibrate(made(np.linspace(-1, 2, 12), measures=[judge(bounds=(-1, 2))]), labels([-1, 0, 1, 2] * 3)).measures[
        0
    ]
    assert one.confusion.categories == (-1, 0, 1, 2)


def test_words_stand_for_the_ends_of_the_measure():
    words = [{"id": f"q{i}", "label": "yes" if i % 2 else "no"} for i in range(12)]
    one = calibrate(made(np.linspace(-1, 2, 12), measures=[judge(bounds=(-1, 2))]), words, measures=["judge"]).measures[
        0
    ]
    assert one.confusion.categories == (-1, 2)
    lower = made(SCORES, measures=[judge(direction="lower")])
    with pytest.raises(InputError, match="which value of Judge a yes would be cannot be told"):
        calibrate(lower, words, measures=["Judge"])


def test_what_meets_nothing_is_counted_and_named():
    given = labels(ANN) + labels([1], system="bm52") + labels([1, 1], measure="Jugde") + labels([1], start=99)
    found = calibrate(made(SCORES), given)
    assert found.unmatched == {"system bm52": 1, "measure Jugde": 2, "question q99": 1}
    told = notes(found)
    assert "1 label not used: the run has no system bm52. Did you mean bm25?" in told
    assert "2 labels not used: the run has no measure Jugde. Did you mean Judge?" in told
    assert found.measures[0].n_labels == 12


@pytest.mark.parametrize("other", [{"system": "x"}, {"measure": "x"}, {"start": 50}])
def test_labels_that_all_meet_nothing_are_refused(other):
    with pytest.raises(NoOverlapError, match="no label meets a score of the run") as refused:
        calibrate(made(SCORES), labels(ANN, **other))
    assert refused.value.exit_code == 3


def test_measure_and_system_may_be_left_out_where_there_is_one():
    bare = [{"id": f"q{i}", "label": value} for i, value in enumerate(ANN)]
    assert calibrate(made(SCORES), bare, measures=["Judge"]).measures[0].n_items == 12
    with pytest.raises(InputError, match="do not say of which measure they are"):
        calibrate(made(SCORES), bare)
    two = made(SCORES * 2, systems=("a", "b"))
    with pytest.raises(InputError, match=r"whose answers they are about, and the run has 2 systems.*with a, b"):
        calibrate(two, bare, measures=["Judge"])


def test_a_measure_is_found_by_its_plain_name_unless_two_have_it():
    one = parse_all(["nDCG@5"])
    assert calibrate(made(SCORES, measures=one), labels(ANN, measure="ndcg_cut_5")).measures[0].measure == "nDCG@5"
    assert calibrate(
        made(SCORES, measures=one), labels(ANN, measure="Recall") + labels(ANN, measure="nDCG@5")
    ).unmatched
    two = made(np.repeat(SCORES, 2), measures=parse_all(["MRR@5", "MRR@10"]))
    with pytest.raises(UsageError, match="'MRR' may mean 2 measures of this run: MRR@5, MRR@10"):
        calibrate(two, labels(ANN, measure="MRR"))


def test_labels_of_a_plain_name_hold_for_a_judge_and_its_heuristic():
    study = made(np.repeat(SCORES, 2), measures=parse_all(["Faithfulness", "Faithfulness(by=heuristic)"]))
    both = calibrate(study, labels(ANN, measure="faithfulness")).measures
    assert [one.measure for one in both] == ["Faithfulness", "Faithfulness(by=heuristic)"]
    assert [one.n_labels for one in both] == [12, 12]
    for name in ("Faithfulness", "Faithfulness(by=heuristic)"):
        (one,) = calibrate(study, labels(ANN, measure="Faithfulness"), measures=[name]).measures
        assert one.measure == name
    (one,) = calibrate(study, labels(ANN, measure="Faithfulness(by=heuristic)")).measures
    assert one.measure == "Faithfulness(by=heuristic)"
    five = labels([1 + 4 * value for value in ANN], measure="Faithfulness")
    assert len(calibrate(study, five, scale=["Faithfulness=1:5"]).measures) == 2


def test_a_measure_of_another_range_is_not_taken_for_the_same():
    names = ["Faithfulness", "Faithfulness(scale=liverag)"]
    study = made(np.repeat(SCORES, 2), measures=parse_all(names))
    assert [one.measure for one in calibrate(study, labels(ANN, measure="Faithfulness")).measures] == names[:1]
    (one,) = calibrate(study, labels(ANN, measure="Faithfulness"), measures=names[1:]).measures
    assert one.confusion.categories == (-1, 0, 1)


def test_labels_of_other_measures_are_left_aside_and_told():
    study = made(np.repeat(SCORES, 2), measures=[judge(), judge("Other")])
    found = calibrate(study, labels(ANN) + labels(ANN, measure="Other"), measures=["Other"])
    assert [one.measure for one in found.measures] == ["Other"]
    assert "12 labels of Judge left aside" in notes(found)


def test_answers_without_a_score_are_told_and_left_out_of_every_figure():
    missing = {(0, 0, 0): (Status.failed, "timed out"), (0, 1, 0): (Status.undefined, "no answer")}
    found = calibrate(made(SCORES, missing=missing), labels(ANN))
    one = found.measures[0]
    assert (one.n_items, one.n_scored, one.n_failed, one.n_undefined, found.failed) == (12, 10, 1, 1, 1)
    assert one.systems[0].n == 10
    assert sum(map(sum, one.confusion.counts)) == 10
    assert "1 labelled answer without a score: the measure failed there: timed out (q0 of bm25)." in notes(found)
    assert "1 labelled answer without a score: the measure is undefined there: no answer (q1 of bm25)." in notes(found)


def test_no_score_at_all_gives_no_figure():
    missing = {(0, i, 0): (Status.failed, "timed out") for i in range(12)}
    found = calibrate(made(SCORES, missing=missing), labels(ANN))
    (system,) = found.measures[0].systems
    assert (system.measure_mean, system.people_mean, system.mean) == (None, None, None)
    assert found.measures[0].bias is None
    assert "no labelled answer has a score" in console.render(document(found))


@pytest.mark.parametrize(
    ("scores", "people", "sentence"),
    [
        ([0.7] * 12, ANN, "scores all labelled answers 0.7"),
        (SCORES, [1] * 12, "people give all labelled answers 1"),
        (SCORES, [1 - value for value in ANN], "runs against people"),
        (SCORES, [*ANN[:6], *[None] * 6], "6 labelled answers with a score: below 10 every figure is rough"),
    ],
    ids=["constant judge", "constant people", "backwards", "few"],
)
def test_what_spoils_a_figure_is_said(scores, people, sentence):
    found = calibrate(made(scores), labels(people))
    assert sentence in notes(found)
    json.loads(objects.calibration(found))
    assert sentence in console.render(document(found), width=200)


def test_kappa_of_one_category_is_undefined_in_words():
    found = calibrate(made([0.9, 0.8, 0.7] * 4), labels([1] * 12))
    assert found.measures[0].agreement.kappa is None
    assert "kappa and alpha are undefined" in console.render(document(found), width=200)


def test_a_share_of_unlike_answers_without_any_spread_is_seen_too():
    assert "not like the others" in notes(calibrate(made([1.0] * 12 + [0.0] * 20), labels(ANN)))


def test_labelled_answers_that_are_unlike_the_others_are_warned_of():
    scores = [0.1, 0.2, 0.15, 0.12, 0.3, 0.2] * 2 + [0.9, 0.8, 0.95] * 10
    assert "not like the others (mean score 0.178 against 0.883)" in notes(calibrate(made(scores), labels(ANN)))


def test_repeats_of_a_judge_show_how_often_it_flips():
    details = {(0, 0, 0): {"repeats": [1, 1]}, (0, 1, 0): {"repeats": [1, 0]}, (0, 2, 0): {"reason": "x"}}
    one = calibrate(made(SCORES, details=details), labels(ANN)).measures[0]
    assert (one.flips, one.n_repeated) == (0.5, 2)


SURE = {"bm25": [0.95, 0.95, 0.95, 0.95] + [None] * 8}


def test_confidence_is_held_against_labels_of_correctness_first():
    found = calibrate(made(SCORES, confidence=SURE), labels(ANN) + labels([1, 1, 0, None], measure="Correctness"))
    (said,) = found.reliability
    assert (said.n, said.n_left_out, said.accuracy) == (3, 1, pytest.approx(2 / 3))
    assert said.ece_width == pytest.approx(0.95 - 2 / 3)
    assert said.correct_by == "people's labels of Correctness of at least 0.5"
    assert found.unmatched == {}


def test_confidence_is_held_against_a_measure_where_it_is_named():
    study = made(SCORES, confidence=SURE)
    (said,) = calibrate(study, labels(ANN), correct="judge >= 0.8").reliability
    assert (said.n, said.accuracy, said.correct_by) == (4, 0.5, "Judge >= 0.8")
    assert "nothing says which answers are right" in notes(calibrate(study, labels(ANN)))
    tokens = made(SCORES, measures=parse_all(["TokenF1"]), confidence=SURE)
    (said,) = calibrate(tokens, labels(ANN, measure="TokenF1")).reliability
    assert (said.accuracy, said.correct_by) == (0.75, "TokenF1 >= 0.5 (the default of --correct)")
    for rule, sentence in (("Judge", "write a measure and what it must reach"), ("Juge>=1", "Did you mean Judge")):
        with pytest.raises(UsageError, match=sentence):
            calibrate(study, labels(ANN), correct=rule)


def test_confidence_that_is_no_probability_is_said_and_not_used():
    found = calibrate(made(SCORES, confidence={"bm25": [95.0] * 12}), labels(ANN), correct="Judge>=0.5")
    assert found.reliability == ()
    assert "12 confidences lie outside 0 to 1 (such as 95)" in notes(found)
    assert "--correct changes nothing" in notes(calibrate(made(SCORES), labels(ANN), correct="Judge>=0.5"))


def test_hostile_names_reach_no_page_as_they_are():
    bad = "a\x1b[31m|b\n=1"
    found = calibrate(made(SCORES, systems=(bad,)), labels(ANN, system=bad))
    assert "\x1b" not in console.render(document(found))
    page = markdown.render(document(found))
    assert "\x1b" not in page
    assert "a\\|b" in page
    assert tables.calibration(found).count("\n") >= 2


def test_an_ending_that_says_nothing_is_refused_before_anything_is_done(tmp_path):
    with pytest.raises(UsageError, match=r"Endings: .csv, .json, .md, .txt"):
        calibration_writer(tmp_path / "x.docx")
    found = calibrate(made(SCORES), labels(ANN))
    for name in ("x.json", "x.md", "x.csv", "x.txt"):
        calibration_writer(tmp_path / name)(found)
        assert (tmp_path / name).stat().st_size > 100
