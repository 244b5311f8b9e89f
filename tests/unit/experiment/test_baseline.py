"""Gates against a baseline, and the baselines of a folder of runs."""

import json
import shutil

import numpy as np
import pytest

from karat.core.errors import InputError, UsageError
from karat.experiment.baseline import BASELINES, FORMER, baselines_in, find_baseline, save_baseline
from karat.experiment.gate import gate
from karat.experiment.store import open_run
from karat.io.checksum import sealed
from karat.stats.compare import compare_systems

MRR = [1.0, 0.5, 0.0, 0.5]  # mean .5; facts .75, steps .25


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
def test_rules_against_a_baseline(tmp_path, rule, outcome, bound, two):
    run = two(tmp_path, [1.0, 1.0, 0.0, 1.0], MRR)
    found = gate(run, [rule], baseline="main", runs_dir=tmp_path)
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.bound) == (outcome, pytest.approx(bound))
    assert (found.baseline, verdict.baseline_system) == ("main", "a")


def test_a_rule_against_a_baseline_names_what_broke_and_how_it_was(tmp_path, two):
    run = two(tmp_path, [1.0, 1.0, 0.5, 0.0], [1.0, 0.5, 0.0, 1.0])
    (verdict,) = gate(run, ["MRR > baseline"], baseline="main", runs_dir=tmp_path).verdicts
    assert [(b.question, b.before, b.value) for b in verdict.broken] == [("q1", 1.0, 0.5), ("q2", 0.5, 0.0)]


def test_confidence_against_a_baseline_is_of_the_paired_differences(tmp_path, two):
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


def test_confidence_where_hardly_anything_differs_from_the_baseline(tmp_path, two):
    before = [1.0, 0.5] * 20
    rules = ["MRR >= baseline - 0.02 @95%", "MRR >= baseline @95%"]
    margin, exact = gate(two(tmp_path, before, before), rules, baseline="main", runs_dir=tmp_path).verdicts
    assert (margin.outcome, margin.low, margin.high) == ("pass", 0.0, 0.0)
    assert (exact.outcome, exact.low) == ("fail", None)
    assert exact.reason == "too few questions differ from the bound for an interval"
    after = [0.5, 0.5, 1.0, *before[3:]]
    (near,) = gate(two(tmp_path, before, after), rules[:1], baseline="main", runs_dir=tmp_path).verdicts
    assert near.low < -0.02 < 0 < near.high


def test_failed_rows_of_a_baseline_count_too(tmp_path, study_of, store):
    before = store(tmp_path, study_of({"a": MRR}, "MRR", failed=[(0, 0, 0)]))
    save_baseline(tmp_path, "main", before.id)
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


def test_each_has_a_file_beside_those_of_earlier_versions(tmp_path, questions, study_of, store):
    first, second = (store(tmp_path, study_of({"a": MRR}, "MRR")) for _ in range(2))
    saved, path, before = save_baseline(tmp_path, "main", first.id)
    assert (saved.run, saved.testset, before) == (first.id, questions().digest, None)
    assert save_baseline(tmp_path, "main", "LAST")[2] == saved
    former = {"run": first.id, "testset": saved.testset, "system": None, "set_at": saved.set_at}
    (tmp_path / FORMER).write_text(json.dumps({"baselines": {"old": former, "main": former}}))
    assert {name: one.run for name, one in baselines_in(tmp_path).items()} == {"main": second.id, "old": first.id}
    path.unlink()
    assert {one.run for one in baselines_in(tmp_path).values()} == {first.id}


def test_a_missing_one_says_what_there_is(tmp_path, study_of, store):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))
    with pytest.raises(UsageError, match=r"no baseline 'main'.* None is saved yet"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)
    save_baseline(tmp_path, "main", run.id)
    with pytest.raises(UsageError, match=r"no baseline 'mian'.* Did you mean main?"):
        gate(run, ["MRR >= baseline"], baseline="mian", runs_dir=tmp_path)
    with pytest.raises(UsageError, match=r"name it with --baseline. There are main"):
        gate(run, ["MRR >= baseline"], runs_dir=tmp_path)


def test_one_of_an_earlier_version_whose_run_is_gone_says_so(tmp_path, two):
    run = two(tmp_path, MRR, MRR)
    path = tmp_path / BASELINES / "main.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({key: about[key] for key in ("run", "testset", "system", "set_at")}))
    shutil.rmtree(tmp_path / about["run"])
    with pytest.raises(UsageError, match="any more: it was deleted or moved"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


@pytest.mark.parametrize(
    "rule", ["MRR >= baseline - 0.02 @95%", "MRR >= baseline", "MRR < baseline", "failed == baseline"]
)
def test_its_file_alone_gives_the_verdicts_of_its_run(tmp_path, two, rule):
    run = two(tmp_path, [0.5, 1.0, 0.0, 1.0], [1.0, 1.0, 0.25, 0.5])
    there = gate(run, [rule], baseline="main", runs_dir=tmp_path)
    committed = tmp_path / "committed.json"
    shutil.move(tmp_path / BASELINES / "main.json", committed)
    shutil.rmtree(tmp_path / there.baseline_run)
    gone = gate(run, [rule], baseline=str(committed), runs_dir=tmp_path)
    assert gone.verdicts == there.verdicts
    assert gone.baseline_run == there.baseline_run


def test_its_file_alone_says_what_it_lacks(tmp_path, study_of, store):
    before = store(tmp_path, study_of({"a": MRR, "b": MRR}, "MRR"))
    save_baseline(tmp_path, "main", before.id, "b")
    run = store(tmp_path, study_of({"a": MRR, "b": MRR}, "MRR"))
    shutil.rmtree(before.path)
    with pytest.raises(UsageError, match=r"is gone, and the file of the baseline main holds no 'p95_seconds'"):
        gate(run, ["p95_seconds <= baseline"], baseline="main", runs_dir=tmp_path)
    assert gate(run, ["a: MRR >= baseline"], baseline="main", runs_dir=tmp_path).verdicts[0].baseline_system == "b"


def test_failed_rows_of_a_file_alone_count_too(tmp_path, study_of, store):
    before = store(tmp_path, study_of({"a": MRR}, "MRR", failed=[(0, 0, 0)]))
    save_baseline(tmp_path, "main", before.id)
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))
    there = gate(run, ["MRR >= baseline + .1"], baseline="main", runs_dir=tmp_path)
    shutil.rmtree(before.path)
    gone = gate(run, ["MRR >= baseline + .1"], baseline="main", runs_dir=tmp_path)
    assert (gone.verdicts, gone.incomplete) == (there.verdicts, there.incomplete)


def test_a_file_alone_of_another_test_set_or_scoring_is_refused(tmp_path, questions, study_of, store):
    before = store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "count"})
    save_baseline(tmp_path, "main", before.id)
    run = store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "once"})
    shutil.rmtree(before.path)
    with pytest.raises(UsageError, match=r"not scored alike .repeats count and once."):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)
    path = tmp_path / BASELINES / "main.json"
    path.write_text(json.dumps(sealed({**json.loads(path.read_text()), "testset": "0" * 64})))
    with pytest.raises(UsageError, match="different test sets"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def _change(path, seal, **values):
    about = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps(sealed(about) if seal else about))


@pytest.mark.parametrize(
    "values",
    [
        {"scores": {"MRR": [1.0]}},
        {"scores": {"MRR": ["1", 0.5, 0.0, 0.5]}},
        {"scores": {"MRR": [10**400, 0.5, 0.0, 0.5]}},
        {"scores": {"MRR": [1e308, 0.5, 0.0, 0.5]}},
        {"scores": {"MRR": [float("nan"), 0.5, 0.0, 0.5]}},
        {"scores_of": 3},
        {"questions": ["q0", "q0", "q2", "q3"]},
    ],
)
def test_a_file_that_holds_what_cannot_be_is_refused(tmp_path, study_of, store, values):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))
    save_baseline(tmp_path, "main", run.id)
    path = tmp_path / BASELINES / "main.json"
    _change(path, True, **values)
    with pytest.raises(InputError, match="its scores are not what karat wrote"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_a_file_that_was_edited_is_refused(tmp_path, study_of, store):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))
    save_baseline(tmp_path, "main", run.id)
    _change(tmp_path / BASELINES / "main.json", False, scores={"MRR": [1.0, 1.0, 1.0, 1.0]})
    with pytest.raises(InputError, match="it was changed since karat wrote it"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_a_damaged_file_beside_it_is_not_read(tmp_path, two):
    run = two(tmp_path, MRR, MRR)
    (tmp_path / BASELINES / "junk.json").write_text("{bad")
    assert gate(run, "MRR >= baseline", baseline="main", runs_dir=tmp_path, allow="equal n").passed
    assert gate(run, "MRR >= baseline", baseline=tmp_path / BASELINES / "main.json", runs_dir=tmp_path).passed


def test_one_of_another_test_set_is_refused(tmp_path, questions, two):
    store_of = {"testset": questions(gold="other")}
    run = two(tmp_path, MRR, MRR, **store_of)
    with pytest.raises(UsageError, match=r"different test sets.* 4 questions are not the same in both"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_one_whose_run_was_exchanged_is_refused(tmp_path, two):
    run = two(tmp_path, MRR, MRR)
    other = open_run(tmp_path / find_baseline(tmp_path, "main").run)
    other.update(inputs={"testset": {"digest": "0" * 64}})
    with pytest.raises(UsageError, match="is not what it was when the baseline was saved"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_one_scored_otherwise_is_refused(tmp_path, study_of, store):
    save_baseline(tmp_path, "main", store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "count"}).id)
    run = store(tmp_path, study_of({"a": MRR}, "MRR"), spec={"repeats": "once"})
    with pytest.raises(UsageError, match=r"not scored alike .repeats count and once."):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_one_that_lacks_the_measure_is_refused(tmp_path, study_of, store):
    save_baseline(tmp_path, "main", store(tmp_path, study_of({"a": MRR}, "Precision@5")).id)
    run = store(tmp_path, study_of({"a": MRR}, "MRR"))
    with pytest.raises(UsageError, match=r"of the baseline: the run has no 'MRR'.* It has Precision@5"):
        gate(run, ["MRR >= baseline"], baseline="main", runs_dir=tmp_path)


def test_the_folder_of_a_run_is_one_too(tmp_path, two):
    run = two(tmp_path, MRR, MRR)
    other = tmp_path / find_baseline(tmp_path, "main").run
    shutil.move(other, tmp_path / "elsewhere")
    assert gate(run, ["MRR >= baseline"], baseline=str(tmp_path / "elsewhere"), runs_dir=tmp_path).passed


def test_only_a_finished_run_and_a_good_name_will_do(tmp_path, study_of, store):
    run = store(tmp_path, study_of({"a": MRR}, "MRR"), done=False)
    with pytest.raises(UsageError, match="only a finished run can be a baseline"):
        save_baseline(tmp_path, "main", run.id)
    with pytest.raises(UsageError, match="cannot name a baseline"):
        save_baseline(tmp_path, "../main", run.id)
    done = store(tmp_path, study_of({"ab": MRR}, "MRR"))
    with pytest.raises(UsageError, match=r"no system 'abc'. Did you mean ab?"):
        save_baseline(tmp_path, "main", done.id, "abc")


@pytest.mark.parametrize("name", [FORMER, f"{BASELINES}/a.json"])
@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"run": "../x", "testset": "", "set_at": ""}'])
def test_a_damaged_file_says_what_to_do(tmp_path, name, text):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text if name != FORMER or text == "{" else f'{{"baselines": {{"a": {text}}}}}')
    with pytest.raises(InputError, match=r"baseline cannot be read.* Remove the file and save it again"):
        baselines_in(tmp_path)
