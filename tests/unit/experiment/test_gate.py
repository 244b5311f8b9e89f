"""Gates over runs made by hand: each subject, each outcome, each refusal."""

from dataclasses import replace

import pytest

from karat.core.errors import UsageError
from karat.experiment.baseline import save_baseline
from karat.experiment.gate import gate
from karat.results.evaluation import Note
from karat.results.study import StudyAnswer

MRR = [1.0, 0.5, 0.0, 0.5]  # mean .5; facts .75, steps .25


def answer(question, text="yes", **more):
    return StudyAnswer("a", question, text, **more)


@pytest.fixture
def one(tmp_path, study_of, store):
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
    found = one(*rules, seconds=took, answers=answers, ranked="a")
    assert found.passed
    assert [v.value for v in found.verdicts] == pytest.approx(list(rules.values()))


def test_seconds_of_whole_questions_are_those_that_the_tables_show(one):
    """Results that say the whole beside its parts took more than these: the gate added up the parts."""
    answers = {"a": {f"q{n}": answer(f"q{n}", seconds=1.0, seconds_total=3.0) for n in range(4)}}
    for seconds in ({"a": (1.0,) * 4}, {}):
        (verdict,) = one("p50_seconds_total <= 2.5", seconds=seconds, answers=answers).verdicts
        assert (verdict.outcome, verdict.value) == ("fail", 3.0)


def test_seconds_of_whole_questions_leave_out_those_that_were_not_answered(one):
    """Their retrieval alone was taken for the whole: the median was below that of answering."""
    answers = {"a": {"q0": answer("q0", seconds=2.0), "q3": answer("q3", seconds=4.0)}}
    more = {"seconds": {"a": (0.5, 0.5, 0.5, None)}, "timed": {"a": 3}, "answers": answers, "ranked": "a"}
    (verdict,) = one("p50_seconds_total <= 1", **more).verdicts
    assert (verdict.outcome, verdict.value, verdict.n) == ("fail", 2.5, 1)


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


def test_the_best_system_is_gated_where_none_is_named_and_that_is_said(tmp_path, study_of, store):
    before = store(tmp_path, study_of({"a": [1.0, 1.0], "b": [0.0, 0.0]}, "MRR"))
    save_baseline(tmp_path, "main", before.id)
    run = store(tmp_path, study_of({"a": [0.0, 0.0], "b": [0.5, 1.0]}, "MRR"))

    def held(rule, **more):
        found = gate(run, [rule], baseline="main", runs_dir=tmp_path, **more)
        return found, (found.verdicts[0].system, found.verdicts[0].baseline_system)

    found, systems = held("MRR >= baseline")
    assert systems == ("b", "a")
    assert "rules that name no system are about b, the best of 2 by MRR." in found.notes
    assert held("a: MRR >= baseline")[1] == ("a", "a")
    assert held("MRR >= baseline", system="a")[1] == ("a", "a")
    save_baseline(tmp_path, "main", before.id, "b")
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


def test_undefined_rows_do_not_make_a_run_incomplete(one):
    found = one("MRR >= .3", "undefined == 1", undefined=[(0, 0, 0)])
    assert found.passed
    assert found.verdicts[0].n == 3
    (verdict,) = one("MRR >= 0", undefined=[(0, n, 0) for n in range(4)]).verdicts
    assert (verdict.outcome, verdict.reason) == ("fail", "no question has a value of MRR, all are undefined")


def test_a_run_that_was_not_finished_cannot_be_told(tmp_path, study_of, store):
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


def test_unequal_n_is_a_guard_where_a_rule_or_the_choice_of_a_system_is_about_the_measure(tmp_path, study_of, store):
    table = {name: [[value, 1.0] for value in MRR] for name in ("a", "b")}
    notes = (Note("warning", "NumberSupport: a 4, b 3.", "equal n"),)
    study = study_of(table, ["MRR", "NumberSupport"], undefined=[(1, 0, 1)], notes=notes)
    run = store(tmp_path, study)
    assert gate(run, ["a: MRR >= 0", "failed == 0"], runs_dir=tmp_path).passed
    found = gate(run, ["a: MRR >= 0", "a: NumberSupport >= 0"], runs_dir=tmp_path)
    assert (found.outcome, [note.guard for note in found.guards]) == ("fail", ["equal n"])
    assert "NumberSupport" in found.guards[0].text
    assert gate(run, ["a: NumberSupport >= 0"], runs_dir=tmp_path, allow="equal n").passed
    by_it = store(tmp_path, replace(study, main="NumberSupport"))
    assert not gate(by_it, ["MRR >= 0"], runs_dir=tmp_path).passed


def test_unequal_n_is_no_guard_where_rows_failed(tmp_path, study_of, store):
    run = store(tmp_path, study_of({"a": MRR, "b": MRR}, "MRR", failed=[(0, 0, 0)]))
    found = gate(run, ["a: MRR >= 0"], runs_dir=tmp_path)
    assert (found.guards, found.outcome) == ((), "unknown")


def test_without_rules_those_of_the_spec_count(tmp_path, study_of, store):
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
        ("MRR >= baseline", "needs a baseline: name it with --baseline. Save one"),
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
