"""What a comparison is given, and what it makes of a judge's repeats."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.core.errors import UsageError
from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.core.types import Gold, Question, TestSet
from karat.experiment.power import power
from karat.results.evaluation import Evaluation, Matching
from karat.results.study import Configuration, Study


def judged_study(name="judged", repeats=2, noise=0.2, n=60):
    """Two systems whose answers a judge scores by the mean of noisy replies."""
    rng = np.random.default_rng(3)
    questions = tuple(Question(f"q{i:02}", f"What is {i}?", gold=(Gold(id="d"),), kind="fact") for i in range(n))
    measures = parse_all(["TokenF1", "MRR"])
    true = rng.random((1, n, 1)) + rng.normal(0, 0.1, (2, n, 1))
    replies = true + rng.normal(0, noise, (2, n, repeats))
    values = np.stack([replies.mean(axis=2), np.full((2, n), 0.5)], axis=2)
    details = {(s, q, 0): {"repeats": replies[s, q].tolist()} for s in range(2) for q in range(n)}
    testset = TestSet(questions, name="made")
    scores = Scores(
        ("x", "y"), testset.ids, measures, values=values, status=np.zeros(values.shape, np.uint8), details=details
    )
    evaluation = Evaluation(testset=testset, scores=scores, summaries=())
    return Study(
        name, evaluation=evaluation, configurations=tuple(Configuration(s) for s in scores.systems), main="TokenF1", k=5
    ), replies


def test_repeats_of_a_judge():
    study, replies = judged_study()
    found = karat.compare(study, measures="TokenF1")
    (pair,) = found.pairs
    variances = [replies[s].var(axis=1, ddof=1).mean() / 2 for s in range(2)]
    assert [one.variance for one in found.noise] == pytest.approx(variances)
    assert pair.judge_share == pytest.approx(sum(variances) / pair.spread**2)
    assert 0.5 < pair.judge_share < 0.9  # .04 of about .06
    assert all(one.flips == 1.0 and one.repeats == 2 for one in found.noise)
    assert found.noise[0].error == pytest.approx((variances[0] / 60) ** 0.5)


def test_without_repeats_nothing_is_said_of_a_judge():
    found = karat.compare(judged_study(repeats=1)[0], measures="TokenF1")
    assert found.noise == ()
    assert found.pairs[0].judge_share is None


def test_power_says_what_is_the_judges():
    study, _ = judged_study()
    (one,) = power(study.evaluation.testset, study, measures="TokenF1").measures
    assert one.judge == pytest.approx(karat.compare(study, measures="TokenF1").pairs[0].judge_share)
    assert one.without_judge == pytest.approx(one.detectable * (1 - one.judge) ** 0.5)


def test_the_main_measure_comes_first_and_is_all_where_there_is_one():
    found = karat.compare(judged_study()[0])
    assert [measure.name for measure in found.measures] == ["TokenF1", "MRR"]
    assert found.pairs[1].difference == 0.0
    assert found.pairs[1].adjusted == 1.0


def test_reports_frames_and_tables_meet():
    gold = {f"q{i}": {"d": 1} for i in range(6)}
    report = karat.score(gold, {"bm25": {f"q{i}": {"d": 2.0, "e": 1.0 + i} for i in range(6)}}, measures="MRR")
    rows = [{"qid": f"q{i}", "system": "other", "recip_rank": 1.0} for i in range(1, 6)]
    found = karat.compare(report, rows)
    assert found.systems == ("bm25", "other")
    assert [measure.name for measure in found.measures] == ["MRR"]
    assert found.questions == ("q1", "q2", "q3", "q4", "q5")
    assert [(loss.questions, loss.kept) for loss in found.losses] == [(6, 5)]
    assert (found.pairs[0].wins, found.pairs[0].ties) == (5, 0)  # a tie goes to the later id, which is e


def test_order_does_not_matter_to_p():
    rng = np.random.default_rng(0)
    rows = [{"id": f"q{i}", "system": s, "score": float(rng.random())} for s in "ab" for i in range(30)]
    shuffled = [rows[i] for i in rng.permutation(60)]
    one, two = karat.compare(rows, measures="score"), karat.compare(shuffled, measures="score")
    first, second = one.pairs[0], two.pairs[0]
    assert first.permutation == second.permutation
    assert abs(first.difference) == pytest.approx(abs(second.difference))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"system": "a", "MRR": 1}], "no column holds the id"),
        ([{"id": "q1", "system": "a", "answer": "x"}], "no column holds scores"),
        ([{"id": "q1", "system": None, "MRR": 1}], 'field "system": None is no id'),
        ([{"id": "q1", "MRR": 1}, {"id": "q2", "MRR": float("inf")}], "inf is no score"),
    ],
)
def test_tables_that_cannot_be_read(rows, said):
    with pytest.raises(karat.KaratError, match=said):
        karat.compare(rows)


def test_what_is_no_input():
    with pytest.raises(UsageError, match="scores cannot be made of int"):
        karat.compare(3)
    with pytest.raises(UsageError, match="nothing to compare"):
        karat.compare()


def test_a_slice_without_a_value_is_not_tested():
    rng = np.random.default_rng(1)
    rows = [
        {"id": f"q{i}", "system": s, "kind": "abc"[i % 3], "MRR": None if i % 3 == 2 else float(rng.random())}
        for s in ("x", "y")
        for i in range(30)
    ]
    found = karat.compare(rows, by="kind")
    assert [part.value for part in found.slices] == ["a", "b"]
    assert found.slice_tests == 2
    least = min(found.slices, key=lambda part: part.p)
    assert least.adjusted == pytest.approx(min(1, 2 * least.p))


@pytest.mark.parametrize(
    ("column", "direction"),
    [("sentiment", "higher"), ("multimetric", "higher"), ("terrorism", "higher"), ("effort", "higher"),
     ("judge_time", "lower"), ("elapsedTime", "lower"), ("latencyMS", "lower"), ("errors", "lower"),
     ("API cost", "lower")],
)  # fmt: skip
def test_less_is_better_by_a_whole_word(column, direction):
    rows = [{"id": f"q{i}", "system": s, column: i / 10} for s in "ab" for i in range(4)]
    assert karat.compare(rows).measures[0].direction == direction


@pytest.mark.parametrize(
    ("lower", "said"),
    [("efort", r"--lower efort: no score table has such a column. Did you mean effort\?"),
     ("recip_rank", "--lower recip_rank: karat knows MRR, and of it less is not better")],
)  # fmt: skip
def test_a_lower_that_would_do_nothing_is_refused(lower, said):
    rows = [{"id": f"q{i}", "system": s, "effort": i / 10, "recip_rank": 1.0} for s in "ab" for i in range(4)]
    assert karat.compare(rows, lower="effort").measures[1].direction == "lower"
    with pytest.raises(UsageError, match=said):
        karat.compare(rows, lower=lower)


def test_runs_that_are_scored_otherwise_are_refused():
    def study(name, matcher="exact", **spec):
        made, _ = judged_study(name)
        about = {"inputs": {"testset": {"digest": made.evaluation.testset.digest}}, "spec": spec}
        evaluation = replace(made.evaluation, matching=Matching(matcher=matcher, unit="chunk", why="", share={}))
        return replace(made, evaluation=evaluation, manifest=about)

    assert len(karat.compare(study("a"), study("b", repeats="once")).systems) == 4
    with pytest.raises(UsageError, match=r"a and b are not scored alike \(matcher exact and doc\)"):
        karat.compare(study("a"), study("b", matcher="doc"))
    with pytest.raises(UsageError, match=r"not scored alike \(repeats once and count\)"):
        karat.compare(study("a"), study("b", repeats="count"))


def test_results_that_are_matched_otherwise_are_told():
    gold, ranked = {f"q{i}": {"d": 1} for i in range(6)}, {f"q{i}": ["e", "d"] for i in range(6)}
    made = [
        karat.score(gold, {name: ranked}, measures="MRR", matching=by) for name, by in (("x", "exact"), ("y", "doc"))
    ]
    told = [note.text for note in karat.compare(*made).notes if note.level == "warning"]
    assert told == [
        "Hits are not matched alike with the gold (report by exact, report by doc): a difference may be the matcher's. "
        "See --match."
    ]


def test_scores_that_pass_their_measure_are_told():
    rows = [
        {"id": f"q{i}", "system": s, "MRR": (10.0 + lift) * i, "Hit@5": 1.0}
        for s, lift in (("a", 0), ("b", 2))
        for i in range(8)
    ]
    found = karat.compare(rows, measures=["MRR", "Hit@5"])
    (told,) = (note for note in found.notes if note.level == "warning")
    assert told.text.startswith("MRR lies between 0 and 1, and 14 scores do not: a has 10 for q1. Are they percentages")
    assert found.pairs[0].detectable > 1
    told = power(TestSet(tuple(Question(f"q{i}", "?", gold=(Gold(id="d"),)) for i in range(8))), rows, measures="MRR")
    assert told.measures[0].detectable == found.pairs[0].detectable
    assert [note.text for note in told.notes] == [one.text for one in found.notes if one.guard == "range"]


def test_power_leaves_pairs_out_that_never_differ():
    lifts = {"a": 0.0, "twin": 0.0, "b": 0.3, "c": -0.2}
    rows = [
        {"id": f"q{i}", "system": s, "MRR": (i % 3) / 4 + 0.2 + lift * (i % 2)} for s, lift in lifts.items()
        for i in range(8)
    ]  # fmt: skip
    questions = TestSet(tuple(Question(f"q{i}", "?", gold=(Gold(id="d"),)) for i in range(8)))
    told = power(questions, rows, measures="MRR", difference=0.05)
    assert told.measures[0].detectable_least > 0
    assert [n.text for n in told.notes] == ["Left out: 1 pair of systems with the same MRR on every question."]


def test_of_two_systems_the_permutation_test_decides_and_is_named():
    rows = [
        {"id": f"q{i}", "system": s, "MRR": (i * 7 % 5) / 5 * x} for s, x in (("a", 1), ("b", 0.8)) for i in range(9)
    ]
    found, plain = karat.compare(rows, test="tukey"), karat.compare(rows)
    assert (found.test, found.pairs) == ("permutation", plain.pairs)
    assert any("three systems and more" in note.text for note in found.notes)


@pytest.mark.parametrize("option", [{"test": {"seed": -1}}, {"flips": -1}], ids=["seed", "flips"])
def test_numbers_below_0_are_refused(option):
    with pytest.raises(UsageError, match=r"--(seed|flips) -1: name 0 or more"):
        karat.compare([{"id": "q1", "system": "a", "MRR": 1.0}], **option)
