"""Gates and baselines from the shell: exit codes, files, GitHub, and the composite action."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from karat.cli.main import load
from karat.experiment.store import open_run

ROOT = Path(__file__).parents[2]
GOLD = [("q1", "d1", "fact"), ("q2", "d2", "fact"), ("q3", "d3", "steps")]
SPEC = """\
name: {name}
testset: {testset}
systems: [{{name: mine, results: {results}}}]
k: [1, 3]
main: MRR
by: [kind]
outputs: [csv]
"""


@pytest.fixture
def ran(put, karat):
    """Makes a run of results whose rankings begin with these documents; None is a row that failed."""
    put("qa.jsonl", [{"id": q, "question": f"Where is {d}?", "gold": [{"id": d}], "kind": k} for q, d, k in GOLD])

    def run(name, *first, testset="qa.jsonl", more=""):
        rows = []
        for (qid, _, _), doc in zip(GOLD, first, strict=True):
            hits = [
                {"id": id_, "score": 9 - n} for n, id_ in enumerate([doc, "d1", "d2", "d3"]) if n == 0 or id_ != doc
            ]
            rows.append(
                {"id": qid, "retrieved": hits} if doc else {"id": qid, "status": "failed", "error": "timed out"}
            )
        put(f"{name}.jsonl", rows)
        put(f"{name}.yaml", SPEC.format(name=name, testset=testset, results=f"{name}.jsonl") + more)
        done = karat("run", f"{name}.yaml", "-q")
        assert done.code == (0 if all(first) else 5), done.err

    return run


def test_exit_codes_of_the_shell(ran, process, karat, put, folder):
    ran("good", "d1", "d2", "d3")
    ran("worse", "d1", "d2", "d1")
    ran("broken", "d1", None, "d3")

    def code(*words):
        return karat("gate", *words).code

    assert karat("gate", "good", "--save", "main").code == 0
    assert code("LAST", "--allow-incomplete", "MRR >= .9") == 0
    assert code("good", "MRR >= .9", "failed == 0", "Recall@3[kind=fact] >= 100%", "mine: MRR >= baseline",
                "--baseline", "main") == 0  # fmt: skip
    told = process("gate", "worse", "--baseline", "main", "MRR >= .5", "MRR >= baseline - 0.02")
    assert (told.code, "Traceback" in told.err) == (10, False)
    assert re.search(r"q3 \.\d+, before 1: Where is d3\?", told.out)
    assert process("gate", "good", "MRR >= .9").code == 0
    assert process("gate", "broken", "MRR >= .9").code == 11
    assert process("gate", "good", "MRR => .1").code == 2
    assert code("broken", "failed == 0") == 10
    assert code("broken", "MRR >= .9") == 11
    assert code("broken", "MRR >= .1") == 11
    assert code("good", "Recal@3 >= .1") == 2
    assert code("good", "MRR => .1") == 2
    assert code("good", "MRR >= baseline") == 2
    assert code("good", "MRR >= baseline", "--baseline", "none") == 2
    assert code("nothing", "MRR >= .1") == 2
    assert code("good") == 2
    stopped = max(path for path in (folder / "runs").iterdir() if "good" in path.name)
    open_run(stopped).update(status="running")
    assert code("good", "MRR >= .1") == 11


def test_a_refusal_is_one_sentence(ran, karat, put):
    ran("good", "d1", "d2", "d3")
    assert "Did you mean MRR?" in karat("gate", "LAST", "MMR > 1").sentence
    assert "there is no baseline 'main' in runs. None is saved yet." in karat(
        "gate", "LAST", "MRR >= baseline", "--baseline", "main"
    ).sentence  # fmt: skip
    assert "stands where the run does" in karat("gate", "MRR > .5").sentence
    assert "checks no rules" in karat("gate", "LAST", "MRR > .5", "--save", "main").sentence
    assert karat("gate", "--save", "main").code == 0
    put("qa2.jsonl", [{"id": q, "question": f"What is {d}?", "gold": [{"id": d}], "kind": k} for q, d, k in GOLD])
    ran("other", "d1", "d2", "d3", testset="qa2.jsonl")
    said = karat("gate", "LAST", "MRR >= baseline", "--baseline", "main").sentence
    assert "these runs are of different test sets" in said


def test_a_baseline_is_a_file_of_its_own(ran, karat, folder):
    ran("good", "d1", "d2", "d3")
    said = karat("gate", "LAST", "--save", "main", "--system", "mine").out
    assert said.startswith("baseline main is run ")
    file = folder / "runs" / "baselines" / "main.json"
    assert str(file.relative_to(folder)) in said
    saved = json.loads(karat("gate", "LAST", "--save", "kept/good.json", "--json").out)
    assert (saved["name"], saved["file"]) == ("good", "kept/good.json")
    assert json.loads(file.read_text())["run"] == saved["run"]
    for name in ("main", "kept/good.json", str(file)):
        assert karat("gate", "LAST", "MRR >= baseline", "--baseline", name).code == 0, name
    file.unlink()
    assert "there is no baseline 'main'" in karat("gate", "LAST", "MRR >= baseline", "--baseline", "main").sentence


def test_every_output_says_the_same(ran, karat, folder, monkeypatch):
    ran("worse", "d1", "d2", "d1")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    rules = ("MRR >= .9", "failed == 0")
    told = karat("gate", "LAST", *rules, "--json", "--junit", "out/j.xml", "--markdown", "c.md", "--github")
    made = json.loads(told.out)
    assert (told.code, made["exit_code"], [r["outcome"] for r in made["rules"]]) == (10, 10, ["fail", "pass"])
    assert made["rules"][0]["value"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert told.err.startswith("::error title=karat gate%3A MRR >= .9::mine: 0.7778 is below 0.9000.%0Aq3 ")
    suite = ElementTree.parse(folder / "out" / "j.xml").find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    assert (folder / "c.md").read_text() == (folder / "summary.md").read_text()
    assert "| FAIL | MRR" in (folder / "c.md").read_text()
    assert "::error" in karat("gate", "LAST", *rules, "--github").out
    assert (folder / "summary.md").read_text().count("<!-- karat gate -->") == 2
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert "GITHUB_STEP_SUMMARY is not set" in karat("gate", "LAST", *rules, "--github").err


def test_rules_of_karat_yaml(ran, karat, put):
    ran("ruled", "d1", "d2", "d3", more='gate: ["MRR >= .9", "mine: failed == 0"]\n')
    assert karat("gate").code == 0
    assert len(json.loads(karat("gate", "LAST", "--json").out)["rules"]) == 2
    put("wrong.yaml", SPEC.format(name="wrong", testset="qa.jsonl", results="ruled.jsonl") + "gate: [MRR => 1]\n")
    said = karat("run", "wrong.yaml").sentence
    assert said.startswith("wrong.yaml line 8, gate[0]: rule 'MRR => 1', position 5:")


def test_other_rules_are_no_other_work(put):
    from karat.experiment.spec import load_spec

    text = SPEC.format(name="x", testset="qa.jsonl", results="r.jsonl")
    assert load_spec(put("a.yaml", text)).digest == load_spec(put("b.yaml", text + "gate: failed == 0\n")).digest


ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def test_the_action_takes_what_the_command_takes():
    (step,) = ACTION["runs"]["steps"]
    assert "${{" not in step["run"]  # what a user gives is never part of the script
    given = re.findall(r"inputs\.([\w-]+)", " ".join(step["env"].values()))
    assert sorted(given) == sorted(ACTION["inputs"])
    known = {o for p in load("gate").params for o in p.opts}
    assert set(re.findall(r"(?<=\()--[\w-]+|(?<= )--[\w-]+", step["run"])) <= known


@pytest.mark.parametrize(
    ("rules", "code", "outcome"),
    [("MRR >= .5\n\n  failed == 0  \n", 0, "pass"), ("MRR >= .9", 10, "fail"), ("MRR => $(touch x)", 2, "error")],
)
def test_the_action_runs(ran, folder, rules, code, outcome):
    ran("worse", "d1", "d2", "d1")
    (step,) = ACTION["runs"]["steps"]
    inputs = {name: one["default"] for name, one in ACTION["inputs"].items()} | {"rules": rules, "junit": "j.xml"}
    env = {name: inputs[re.search(r"inputs\.([\w-]+)", text)[1]] for name, text in step["env"].items()}
    env |= {"GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary")}
    commands = folder / "bin"
    commands.mkdir()
    (commands / "karat").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m karat "$@"\n')
    (commands / "karat").chmod(0o755)
    env |= {**os.environ, **env, "PATH": f"{commands}:{os.environ['PATH']}"}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (folder / "output").read_text() == f"outcome={outcome}\n"
    assert (folder / "j.xml").exists() == (code != 2)
    assert not (folder / "x").exists()
