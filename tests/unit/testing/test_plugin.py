"""The pytest plug-in: a fixture that runs a karat.yaml, failures that name questions, and nothing loaded before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PLUGIN = "karat.testing.plugin"
SPEC = """\
testset: qa.jsonl
systems: [{name: mine, results: mine.jsonl}, {name: other, results: other.jsonl}]
k: [1, 3]
main: MRR
gate: ["MRR >= .9"]
outputs: [csv]
"""
RANKED = {"mine": ["d0 x y", "x d1 y", "x y z"], "other": ["x y z", "x y z", "x y d2"]}


@pytest.fixture
def project(pytester):
    """A folder with an experiment; runs tests in it with the plug-in and nothing else of this session."""

    def lines(name, rows):
        (pytester.path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    kinds = ("fact", "fact", "steps")
    asked = [{"id": f"q{n}", "question": f"Where is {n}?", "gold": [{"id": f"d{n}"}]} for n in range(3)]
    lines("qa.jsonl", [{**row, "kind": kind} for row, kind in zip(asked, kinds, strict=True)])
    for name, ranked in RANKED.items():
        rows = [{"id": f"q{n}", "retrieved": [{"id": d} for d in docs.split()]} for n, docs in enumerate(ranked)]
        lines(f"{name}.jsonl", rows)
    (pytester.path / "karat.yaml").write_text(SPEC)

    def run(test):
        pytester.makepyfile(test_it=test)
        return pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:xdist", "-vv")

    run.path, run.lines = pytester.path, lines
    return run


@pytest.mark.slow
def test_means_that_are_reached_pass_and_failures_name_the_questions_that_broke(project):
    (project.path / "wrong.yaml").write_text("testset: qa.jsonl\nsystms: []\n")
    told = project("""
        import pytest

        def test_means(karat_run):
            run = karat_run("karat.yaml")
            assert (run.systems, run.best) == (("mine", "other"), "mine")
            assert "Recall@3" in run.measures
            mean = run.mean("MRR")
            assert mean >= .5 and mean == pytest.approx(.5) and isinstance(mean, float)
            assert run.mean("recall@3", system="other") == pytest.approx(1 / 3)
            assert run.mean("MRR", where={"kind": "fact"}) == .75
            assert run.mean("failed") == 0
            assert run.per_query.height == 6
            assert run.failures().height == 0
            assert run.gate("MRR >= .5", "other: MRR < .2").passed
            assert karat_run("karat.yaml") is run
            assert karat_run("karat.yaml", contexts=None) is not run

        def test_mean(karat_run):
            assert karat_run("karat.yaml").mean("MRR") >= .6

        def test_no_bound(karat_run):
            assert karat_run("karat.yaml").mean("MRR") >= float("nan")

        def test_turned(karat_run):
            assert .6 < karat_run().mean("MRR", system="mine")

        def test_gate(karat_run):
            karat_run().gate()

        def test_baseline(karat_run):
            karat_run().gate("MRR >= baseline", baseline="main")

        def test_text(karat_run):
            assert karat_run().mean("MRR") == "x"

        def test_plain():
            assert 1 == 2

        def test_wrong(karat_run):
            karat_run("wrong.yaml")
    """)
    told.assert_outcomes(passed=1, failed=8)
    against = [
        "*assert*<MRR of mine 0.5000 [[]*[]], n 3>*",
        "*0.5000 is * 0.6000",
        "*2 questions against it, the worst first:",
        "*q2 0: Where is 2[?]",
        "*q1 .5000: Where is 1[?]",
        "*run: *",
    ]
    no_bound = ["*assert <MRR of mine 0.5000* >= nan"]
    gate = ["_* test_gate _*", "*The gate fails: 1 of 1 rule broken.", "*q2 0: Where is 2[?]"]
    refused = ["*UsageError: there is no baseline 'main' in*"]
    left_to_pytest = ["*<MRR of mine 0.5000* == 'x'*", "*assert 1 == 2*"]
    mistake = ["*line 2, systms: unknown key. Did you mean systems?*"]
    told.stdout.fnmatch_lines([*against, *no_bound, *against, *gate, *refused, *left_to_pytest, *mistake])
    told.stdout.no_fnmatch_line("*pytest.fail(*")


@pytest.mark.slow
def test_failed_rows_are_not_left_out_of_a_mean_unasked(project):
    rows = [{"id": "q0", "retrieved": [{"id": "d0"}]}, {"id": "q1", "status": "failed", "error": "timed out"}]
    project.lines("mine.jsonl", [*rows, {"id": "q2", "retrieved": [{"id": "x"}]}])
    (project.path / "karat.yaml").write_text(SPEC.replace(", {name: other, results: other.jsonl}", ""))
    told = project("""
        import pytest
        from karat import KaratError

        def test_failed(karat_run):
            run = karat_run()
            with pytest.raises(KaratError, match="1 score of mine by MRR failed"):
                run.mean("MRR")
            assert run.mean("MRR", allow_incomplete=True) == .5
            assert run.mean("failed") == 1
            assert run.failures()["question_id"].to_list() == ["q1"]

        def test_gate(karat_run):
            karat_run().gate("MRR >= .3")
    """)
    told.assert_outcomes(passed=1, failed=1)
    told.stdout.fnmatch_lines(["*The gate cannot tell, because the run is incomplete*"])


@pytest.mark.slow
def test_runs_are_kept_in_the_cache_and_those_of_earlier_sessions_removed(project):
    test = """
        def test_one(karat_run):
            assert karat_run().folder.path.is_dir()
            karat_run("karat.yaml", runs_dir="kept")
    """
    for _ in range(2):
        project(test).assert_outcomes(passed=1)
    runs = list((project.path / ".pytest_cache" / "d" / "karat").rglob("manifest.json"))
    assert len(runs) == 1
    assert not (runs[0].parent / "report.html").exists()
    assert len(list((project.path / "kept").glob("*/manifest.json"))) == 2


def test_the_plug_in_loads_nothing_of_karat_but_itself():
    code = (
        f"import sys, pytest\nbefore = set(sys.modules)\nimport {PLUGIN}\n"
        "print(*sorted(set(sys.modules) - before), sep='\\n')"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(told) - {"importlib"} == {"karat", "karat.testing", PLUGIN}


def test_the_entry_point_has_the_name_of_the_module_so_that_both_may_be_given():
    import tomllib

    made = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert made["project"]["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def test_turned_signs():
    from karat.testing.plugin import _turned

    assert [_turned(sign) for sign in (">=", "<=", ">", "<", "==", "in")] == ["<=", ">=", "<", ">", "==", "in"]
