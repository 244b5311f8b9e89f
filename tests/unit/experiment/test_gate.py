"""Gates over runs made by hand: each subject, each outcome, each refusal."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from karat.core.errors import UsageError
from karat.core.language import parse_all
from karat.core.scores import Scores, Status
from karat.core.types import Gold, Question, TestSet
from karat.experiment.baseline import BASELINES, baselines_in, find_baseline, remove_baseline, set_baseline
from karat.experiment.gate import gate
from karat.experiment.store import DONE, new_run, open_run
from karat.results.evaluation import Evaluation, Note
from karat.results.serial import save_study
from karat.results.study import Configuration, Study, StudyAnswer
from karat.stats.compare import compare_systems
from karat.stats.summary import summarise

MRR = [1.0, 0.5, 0.0, 0.5]  # mean .5; facts .75, steps .25

KINDS = ("fact", "fact", "steps", "steps")


def questions(many=4, gold="d"):
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


def study_of(table, measures, *, testset=None, failed=(), undefined=(), **more):
    """A study of `{system: [[value of each measure] of each question]}`; `failed` are (system, question, measure)."""
    values = np.array([table[name] for name in table], np.float64)
    if values.ndim == 2:
        values = values[:, :, None]
    status = np.zeros(values.shape, np.uint8)
    reasons = {}
    for places, kind, why in ((failed, Status.failed, "it broke"), (undefined, Status.undefined, "no relevant gold")):
        for place in places:
            status[place], values[place], reasons[place] = kind, np.nan, why
    testset = testset or questions(values.shape[1])
    scores = Scores(tuple(table), testset.ids, parse_all(measures), values, status, reasons)
    evaluation = Evaluation(testset, scores, summarise(scores, intervals=False), notes=more.pop("notes", ()))
    configurations = tuple(Configuration(name) for name in table)
    return Study("made", evaluation, configurations, scores.measures[0].name, 5, **more)


def store(runs, study, *, done=True, spec=None):
    """A run's folder with this study in it."""
    testset = study.evaluation.testset
    about = {"path": "qa.jsonl", "digest": testset.digest, "questions": len(testset)}
    manifest = {"karat": "0", "inputs": {"testset": about}, "spec": spec or {}, "seed": 0}
    folder = new_run(runs, "made", manifest)
    save_study(replace(study, manifest=folder.manifest), folder.path)
    if done:
        folder.update(status=DONE)
    return open_run(folder.path)


def answer(question, text="yes", **more):
    return StudyAnswer("a", question, text, **more)


@pytest.fixture
def one(tmp_path):
    """Holds rules against a run of one system `a` with the values of MRR above, or others."""

    def held(*rules, values=MRR, options=None, measures="MRR", **more):
        folder = store(tmp_path, study_of({"a": values}, measures, **more))
        return gate(folder, rules, runs_dir=tmp_path, **(options or {}))

    return held


@pytest.mark.parametrize(
    ("rule", "outcome", "value", "n"),
    [
        ("MRR >= 0.5", "pass", 0.5, 4),
        ("MRR > 0.5", "fail", 0.5, 4),
        ("MRR <= 50%", "pass", 0.5, 4),
        ("MRR < 0.5", "fail", 0.5, 4),
        ("MRR == 0.5", "pass", 0.5, 4),
        ("MRR != 0.5", "fail", 0.5, 4),
        ("recip_rank > .4", "pass", 0.5, 4),
        ("a: MRR > .4", "pass", 0.5, 4),
        ("a:MRR > .4", "pass", 0.5, 4),
        ("MRR[kind=fact] >= .75", "pass", 0.75, 2),
        ("MRR[kind=steps] >= .75", "fail", 0.25, 2),
        ("MRR[kind=steps, half=a] == 0", "pass", 0.0, 1),
        ("questions >= 5", "fail", 4, 4),
        ("questions[kind=fact] == 2", "pass", 2, 2),
        ("failed == 0", "pass", 0, 4),
        ("undefined == 0", "pass", 0, 4),
    ],
)
def test_measures_counts_slices_and_systems(one, rule, outcome, value, n):
    found = one(rule)
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.value, verdict.n, verdict.system) == (outcome, value, n, "a")
    assert found.outcome == outcome
    assert bool(verdict.reason) == (outcome == "fail")


def test_rounding_breaks_no_rule(one):
    assert one("MRR >= 0.3", values=[0.1 + 0.2 - 1e-16, 0.3, 0.3, 0.3 - 1e-13]).passed


def test_a_broken_rule_names_the_worst_questions_first(one):
    (verdict,) = one("MRR >= .6").verdicts
    assert [(b.question, b.value, b.text) for b in verdict.broken] == [
        ("q2", 0.0, "What is number 2?"),
        ("q1", 0.5, "What is number 1?"),
        ("q3", 0.5, "What is number 3?"),
    ]
    assert verdict.reason == "0.5000 is below 0.6000"


def test_at_most_ten_questions_are_named(one):
    (verdict,) = one("MRR >= .6", values=[0.0] * 14).verdicts
    assert (len(verdict.broken), verdict.n_broken) == (10, 14)


def test_times_are_of_retrieval_of_answering_and_of_both(one):
    took = {"a": (0.1, 0.2, 0.3, 0.4)}
    answers = {"a": {f"q{n}": answer(f"q{n}", seconds=float(n)) for n in range(4)}}
    rules = {
        "mean_seconds <= .25": 0.25,
        "p50_seconds <= 1": 0.25,
        "p95_seconds <= 1": 0.385,
        "max_seconds <= 1": 0.4,
        "mean_seconds_answer <= 2": 1.5,
        "p95_seconds_answer <= 3": 2.85,
        "max_seconds_total <= 4": 3.4,
    }
    found = one(*rules, seconds=took, answers=answers)
    assert found.passed
    assert [v.value for v in found.verdicts] == pytest.approx(list(rules.values()))


def test_a_slow_run_names_the_slowest(one):
    (verdict,) = one("max_seconds <= .25", seconds={"a": (0.1, 0.2, 0.3, 0.4)}).verdicts
    assert [b.question for b in verdict.broken] == ["q3", "q2"]


def test_times_that_are_not_known_fail(one):
    (verdict,) = one("p95_seconds <= 10").verdicts
    assert (verdict.outcome, verdict.value) == ("fail", None)
    assert "not known of 4 of 4 questions" in verdict.reason


def test_cost_and_tokens_are_of_answers_and_an_unknown_cost_is_not_0(one):
    answers = {"a": {f"q{n}": answer(f"q{n}", cost_usd=0.1, tokens=10) for n in range(4)}}
    found = one("cost_usd <= 0.4", "tokens == 40", "mean_cost_usd <= .1", "mean_tokens == 10", answers=answers)
    assert [v.outcome for v in found.verdicts] == ["pass"] * 4
    answers["a"]["q2"] = answer("q2", tokens=10)
    (verdict,) = one("cost_usd <= 100", answers=answers).verdicts
    assert (verdict.outcome, verdict.value) == ("fail", None)
    assert "not known of 1 of 4 questions, and what is not known is not 0" in verdict.reason
    assert [b.question for b in verdict.broken] == ["q2"]
    (verdict,) = one("cost_usd <= 100").verdicts
    assert verdict.outcome == "fail"


def test_empty_answers_are_counted_where_there_are_answers(one):
    answers = {"a": {"q0": answer("q0", ""), "q1": answer("q1", "<think>x</think>"), "q2": answer("q2", None)}}
    (verdict,) = one("empty_answers == 0", answers=answers).verdicts
    assert (verdict.value, [b.question for b in verdict.broken]) == (2, ["q0", "q1"])
    with pytest.raises(UsageError, match="a has no answers in this run"):
        one("empty_answers == 0")


def test_confidence_asks_for_the_whole_interval(one):
    values = [1.0, 0.0] * 30
    found = one("MRR >= .45", "MRR >= .45 @95%", "MRR >= .35 @95%", "MRR <= .65 @95%", "MRR <= .55 @99%", values=values)
    assert [v.outcome for v in found.verdicts] == ["pass", "fail", "pass", "pass", "fail"]
    wide, narrow = found.verdicts[4], found.verdicts[3]
    assert wide.low < narrow.low < 0.5 < narrow.high < wide.high
    assert (wide.level, narrow.level) == (0.99, 0.95)
    assert "the 95% interval of the mean reaches 0.3" in found.verdicts[1].reason
    with pytest.raises(UsageError, match="failed has no interval"):
        one("failed <= 0 @95%")
    (alone,) = one("MRR >= .1 @95%", values=[0.5]).verdicts
    assert alone.outcome == "fail"
    assert alone.reason == "too few questions have a value for an interval"
    (right,) = one("MRR >= .9 @95%", values=[1.0] * 20).verdicts
    assert (right.outcome, right.high) == ("fail", 1.0)
    assert right.low == pytest.approx(0.8389, abs=1e-4)


def two(runs, before, after, measures="MRR", **more):
    first = store(runs, study_of({"a": before}, measures))
    set_baseline(runs, "main", first.id)
    return store(runs, study_of({"a": after}, measures, **more))


@pytest.mark.parametrize(
    ("rule", "outcome", "bound"),
    [
        ("MRR >= baseline", "fail", 0.75),
        ("MRR >= baseline - 0.25", "pass", 0.5),
        ("MRR >= baseline - 0.2", "fail", 0.55),
        ("MRR >= baseline * 0.6", "pass", 0.45),
        ("MRR < baseline + .1", "pass", 0.85),
        ("MRR[kind=fact] >= baseline - 0.25", "pass", 0.75),
        ("questions == baseline", "pass", 4),
    ],
)
def test_rules_against_a_baseline(tmp_path, rule, outcome, bound):
    run = two(tmp_path, [1.0, 1.0, 0.0, 1.0], MRR)
    found = gate(run, [rule], baseline="main", runs_dir=tmp_path)
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.bound) == (outcome, pytest.approx(bound))
    assert (found.baseline, verdict.baseline_system) == ("main", "a")


def test_a_rule_against_a_baseline_names_what_broke_and_how_it_was(tmp_path):
    run = two(tmp_path, [1.0, 1.0, 0.5, 0.0], [1.0, 0.5, 0.0, 1.0])
    (verdict,) = gate(run, ["MRR > baseline"], baseline="main", runs_dir=tmp_path).verdicts
    assert [(b.question, b.before, b.value) for b in verdict.broken] == [("q1", 1.0, 0.5), ("q2", 0.5, 0.0)]


def test_confidence_against_a_baseline_is_of_the_paired_differences(tmp_path):
    drawn = np.random.default_rng(0)
    before = drawn.random(80).round(3)
    after = np.clip(before + drawn.normal(0, 0.05, 80), 0, 1)
    run = two(tmp_path, before.tolist(), after.tolist())
    rules = ["MRR >= baseline - 0.02 @95%", "MRR >= baseline - 0.001 @95%", "MRR >= baseline * .9 @95%"]
    near, strict, share = gate(run, rules, baseline="main", runs_dir=tmp_path).verdicts
    assert [near.outcome, strict.outcome, share.outcome] == ["pass", "fail", "pass"]
    by_id = np.argsort([f"q{i}" for i in range(80)])  # as a comparison takes them
    compared = compare_systems(np.array([[before, after]])[:, :, by_id], [(0, 1)])
    assert (near.low, near.high) == pytest.approx((compared.low[0, 0], compared.high[0, 0]))
    assert share.low > near.low + 0.01


def test_confidence_where_hardly_anything_differs_from_the_baseline(tmp_path):
    before = [1.0, 0.5] * 20
    rules = ["MRR >= baseline - 0.02 @95%", "MRR >= baseline @95%"]
    margin, exact = gate(two(tmp_path, before, before), rules, baseline="main", runs_dir=tmp_path).verdicts
    assert (margin.outcome, margin.low, margin.high) == ("pass", 0.0, 0.0)
    assert (exact.outcome, exact.low) == ("fail", None)
    assert exact.reason == "too few questions differ from the bound for an interval"
    after = [0.5, 0.5, 1.0, *before[3:]]
    (near,) = gate(two(tmp_path, before, after), rules[:1], baseline="main", runs_dir=tmp_path).verdicts
    assert near.low < -0.02 < 0 < near.high


def test_the_best_system_is_gated_where_none_is_named_and_that_is_said(tmp_path):
    before = store(tmp_path, study_of({"a": [1.0, 1.0], "b": [0.0, 0.0]}, "MRR"))
    set_baseline(tmp_path, "main", before.id)
    run = store(tmp_path, study_of({"a": [0.0, 0.0], "b": [0.5, 1.0]}, "MRR"))

    def held(rule, **more):
        found = gate(run, [rule], baseline="main", runs_dir=tmp_path, **more)
        return found, (found.verdicts[0].system, found.verdicts[0].baseline_system)

    found, systems = held("MRR >= baseline")
    assert systems == ("b", "a")
    assert "rules that name no system are about b, the best of 2 by MRR." in found.notes
    assert held("a: MRR >= baseline")[1] == ("a", "a")
    assert held("MRR >= baseline", system="a")[1] == ("a", "a")
    set_baseline(tmp_path, "main", before.id, "b")
    assert held("MRR >= baseline")[1] == ("b", "b")


@pytest.mark.parametrize(
    ("rule", "allowed", "outcome", "rules"),
    [
        ("MRR >= 0.5", False, "unknown", "unknown"),  # between 1.5/4 and 2.5/4
        ("MRR >= 0.3", False, "unknown", "pass"),  # kept whatever the row would have had, and the run is incomplete
        ("MRR >= 0.7", False, "fail", "fail"),  # broken whatever it would have had
        ("failed == 0", False, "fail", "fail"),
        ("failed <= 1", False, "unknown", "pass"),
        ("MRR >= 0.1 @95%", False, "unknown", "unknown"),
        ("p95_seconds <= 1", False, "unknown", "unknown"),
        ("MRR >= 0.5", True, "pass", "pass"),  # 1.5/3
        ("MRR >= 0.51", True, "fail", "fail"),
        ("p95_seconds <= 1", True, "pass", "pass"),
    ],
)
def test_failed_rows_make_a_run_incomplete(one, rule, allowed, outcome, rules):
    found = one(
        rule, failed=[(0, 0, 0)], values=[0.0, 0.5, 0.5, 0.5], seconds={"a": (None, 0.1, 0.1, 0.1)},
        options={"allow_incomplete": allowed},
    )  # fmt: skip
    assert (found.outcome, found.verdicts[0].outcome) == (outcome, rules)
    assert found.incomplete == ("a: 1 of 4 rows failed, the first of them q0.",)


def test_a_failed_row_is_named_with_its_reason(one):
    (verdict,) = one("failed == 0", failed=[(0, 2, 0)]).verdicts
    assert [(b.question, b.why) for b in verdict.broken] == [("q2", "it broke")]


def test_failed_rows_of_a_baseline_count_too(tmp_path):
    before = store(tmp_path, study_of({"a": MRR}, "MRR", failed=[(0, 0, 0)]))
    set_baseline(tmp_path, "main", before.id)
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))

    def held(rule, **more):
        return gate(run, [rule], baseline="main", runs_dir=tmp_path, **more)

    found = held("MRR >= baseline - 0.1")
    assert (found.outcome, found.verdicts[0].outcome) == ("unknown", "pass")  # at worst 0 apart
    assert found.incomplete == ("the baseline's a: 1 of 4 rows failed, the first of them q0.",)
    assert held("MRR >= baseline + .1").verdicts[0].outcome == "unknown"  # the row may have been 0 there
    assert held("MRR >= baseline + .3").verdicts[0].outcome == "fail"
    allowed = held("MRR >= baseline", allow_incomplete=True)
    assert (allowed.outcome, allowed.verdicts[0].n) == ("pass", 3)


def test_undefined_rows_do_not_make_a_run_incomplete(one):
    found = one("MRR >= .3", "undefined == 1", undefined=[(0, 0, 0)])
    assert found.passed
    assert found.verdicts[0].n == 3
    (verdict,) = one("MRR >= 0", undefined=[(0, n, 0) for n in range(4)]).verdicts
    assert (verdict.outcome, verdict.reason) == ("fail", "no question has a value of MRR, all are undefined")


def test_a_run_that_was_not_finished_cannot_be_told(tmp_path):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"), done=False)
    found = gate(run, ["MRR >= 0"], runs_dir=tmp_path)
    assert (found.outcome, found.verdicts) == ("unknown", ())
    assert "is stopped, not finished" in found.incomplete[0]
    assert gate(run, ["MRR >= 0"], runs_dir=tmp_path, allow_incomplete=True).passed
    (run.path / "study.json.gz").unlink()
    assert gate(run, ["MRR >= 0"], runs_dir=tmp_path, allow_incomplete=True).outcome == "unknown"


def test_a_guard_that_fired_fails_the_gate_unless_it_is_allowed(one):
    notes = (
        Note("warning", "F1 passes what it can be.", "f1 under its parts"),
        Note("info", "as it is", "empty answers"),
    )
    found = one("MRR >= 0", notes=notes)
    assert (found.outcome, [note.guard for note in found.guards]) == ("fail", ["f1 under its parts"])
    allowed = one("MRR >= 0", notes=notes, options={"allow": ["f1 under its parts"]})
    assert allowed.passed
    assert allowed.notes == ("the guard 'f1 under its parts' fired and is allowed.",)
    assert one("MRR >= 0", notes=(Note("warning", "Look.", None),)).passed


def test_unequal_n_is_a_guard_unless_rows_failed(one):
    notes = (Note("warning", "a 3, b 4.", "equal n"), Note("warning", "1 failed.", "failed rows"))
    assert [note.guard for note in one("MRR >= 0", notes=notes[:1]).guards] == ["equal n"]
    found = one("MRR >= 0", notes=notes, failed=[(0, 0, 0)])
    assert (found.guards, found.outcome) == ((), "unknown")


def test_without_rules_those_of_the_spec_count(tmp_path):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"gate": ["MRR >= .9"]})
    assert [v.rule.text for v in gate(run, runs_dir=tmp_path).verdicts] == ["MRR >= .9"]
    assert [v.rule.text for v in gate(run, ["MRR > 0"], runs_dir=tmp_path).verdicts] == ["MRR > 0"]
    with pytest.raises(UsageError, match="there are no rules to hold run"):
        gate(store(tmp_path, study_of({"a": MRR}, "MRR")), runs_dir=tmp_path)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Recal@5 > 0", "position 1: the run has no 'Recal@5'.* It has MRR, Precision@5; counts"),
        ("MMR > 0", "Did you mean MRR?"),
        ("Recall@5 > 0", "the run has no 'Recall@5'"),
        ("p96_seconds > 0", "Did you mean p9[59]_seconds?"),
        ("b: MRR > 0", "position 1: run .* has no system 'b'.* It has a"),
        ("os:system > 0", "has no system 'os'"),
        ("MRR[kid=fact] > 0", "no slice 'kid'. Did you mean kind?"),
        ("MRR[kind=facts] > 0", "position 10: no question has kind 'facts'. Did you mean fact?"),
        ("MRR >= baseline", "needs a baseline: name it with --baseline. Set one"),
    ],
)
def test_what_a_run_does_not_have_is_refused_with_what_it_has(one, rule, said):
    with pytest.raises(UsageError, match=said):
        one(rule, measures="MRR,Precision@5", values=[[0.5, 0.5]] * 4)


def test_no_name_in_a_rule_loads_code(one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text("open('loaded', 'w').close()\ndef f(judged): ...\n")
    for rule in ("a: evil:f > 0", "evil:f > 0", "a:evil.py:f > 0"):
        with pytest.raises(UsageError, match=r"has no (system )?'"):
            one(rule)
    assert not (tmp_path / "loaded").exists()


class TestBaselines:
    def test_set_list_and_remove(self, tmp_path):
        first, second = (store(tmp_path, study_of({"a": MRR}, "MRR")) for _ in range(2))
        made, before = set_baseline(tmp_path, "main", first.id)
        assert (made.run, made.testset, before) == (first.id, questions().digest, None)
        assert set_baseline(tmp_path, "main", "LAST")[1] == made
        set_baseline(tmp_path, "old", first.id)
        assert {name: one.run for name, one in baselines_in(tmp_path).items()} == {"main": second.id, "old": first.id}
        remove_baseline(tmp_path, "old")
        assert list(baselines_in(tmp_path)) == ["main"]
        with pytest.raises(UsageError, match=r"no baseline 'old'"):
            remove_baseline(tmp_path, "old")

    def test_a_missing_one_says_what_there_is(self, tmp_path):
        run = store(tmp_path, study_of({"a": MRR}, "MRR"))
        with pytest.raises(UsageError, match=r"no baseline 'main'.* None is set yet"):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)
        set_baseline(tmp_path, "main", run.id)
        with pytest.raises(UsageError, match=r"no baseline 'mian'.* Did you mean main?"):
            gate(run, ["MRR >= baseline"], baseline="mian", runs_dir=tmp_path)
        with pytest.raises(UsageError, match=r"name it with --baseline. There are main"):
            gate(run, ["MRR >= baseline"], runs_dir=tmp_path)

    def test_one_whose_run_is_gone_says_so(self, tmp_path):
        run = two(tmp_path, MRR, MRR)
        shutil.rmtree(tmp_path / find_baseline(tmp_path, "main").run)
        with pytest.raises(UsageError, match="any more: it was deleted or moved"):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)

    def test_one_of_another_test_set_is_refused(self, tmp_path):
        store_of = {"testset": questions(gold="other")}
        run = two(tmp_path, MRR, MRR, **store_of)
        with pytest.raises(UsageError, match=r"different test sets.* 4 questions are not the same in both"):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)

    def test_one_whose_run_was_exchanged_is_refused(self, tmp_path):
        run = two(tmp_path, MRR, MRR)
        other = open_run(tmp_path / find_baseline(tmp_path, "main").run)
        other.update(inputs={"testset": {"digest": "0" * 64}})
        with pytest.raises(UsageError, match="is not what it was when the baseline was set"):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)

    def test_one_scored_otherwise_is_refused(self, tmp_path):
        set_baseline(tmp_path, "main", store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "count"}).id)
        run = store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "once"})
        with pytest.raises(UsageError, match=r"not scored alike .repeats count and once."):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)

    def test_one_that_lacks_the_measure_is_refused(self, tmp_path):
        set_baseline(tmp_path, "main", store(tmp_path, study_of({"a": MRR}, "Precision@5")).id)
        run = store(tmp_path, study_of({"a": MRR}, "MRR"))
        with pytest.raises(UsageError, match=r"of the baseline: the run has no 'MRR'.* It has Precision@5"):
            gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)

    def test_the_folder_of_a_run_is_one_too(self, tmp_path):
        run = two(tmp_path, MRR, MRR)
        other = tmp_path / find_baseline(tmp_path, "main").run
        shutil.move(other, tmp_path / "elsewhere")
        assert gate(run, ["MRR >= baseline"], baseline=str(tmp_path / "elsewhere"), runs_dir=tmp_path).passed

    def test_only_a_finished_run_and_a_good_name_will_do(self, tmp_path):
        run = store(tmp_path, study_of({"a": MRR}, "MRR"), done=False)
        with pytest.raises(UsageError, match="only a finished run can be a baseline"):
            set_baseline(tmp_path, "main", run.id)
        with pytest.raises(UsageError, match="cannot name a baseline"):
            set_baseline(tmp_path, "../main", run.id)
        done = store(tmp_path, study_of({"ab": MRR}, "MRR"))
        with pytest.raises(UsageError, match=r"no system 'abc'. Did you mean ab?"):
            set_baseline(tmp_path, "main", done.id, "abc")

    @pytest.mark.parametrize("text", ["[]", "{", '{"baselines": {"a": {}}}', '{"baselines": {"a": {"run": "../x"}}}'])
    def test_a_damaged_file_says_what_to_do(self, tmp_path, text):
        (tmp_path / BASELINES).write_text(text)
        with pytest.raises(Exception, match=r"baselines cannot be read.* Remove the file and set them again"):
            baselines_in(tmp_path)
