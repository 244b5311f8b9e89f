"""A name that stands in data is looked up among registered measures; nothing is imported for it, whoever reads it."""

import json
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from studies import study_of, study_with

from karat.cli.main import main
from karat.core import loading
from karat.core.language import parse
from karat.core.measure import Measure, MeasureSpec
from karat.core.types import Question, TestSet
from karat.experiment.store import new_run
from karat.results.serial import save_study
from karat.stats.summary import summarise

EVIL = "from pathlib import Path\nPath('ran').touch()\ndef f(answer): return 1.0\n"
NAMES = (
    "sub/evil:f", "sub.evil:f", "evil:f", "evil.py:f", "evil:f(x=1)", "evil:f@5", "sub/evil:f(rel=2)@10", "os:system",
    "karat.measures:evil", "../evil:f", "evil:f_at_5", "evil:", ":f", "call:evil:f",
)  # fmt: skip
QUESTIONS = 12


@dataclass(frozen=True)
class Told:
    code: int
    text: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with code that leaves a trace where it runs, and a register of every attempt to load some."""
    (tmp_path / "sub").mkdir()
    for place in ("evil.py", "sub/evil.py"):
        (tmp_path / place).write_text(EVIL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def attempts(monkeypatch):
    asked = []
    place = loading._place
    monkeypatch.setattr(loading, "_place", lambda text, folder: (asked.append(text), place(text, folder))[1])
    return asked


@pytest.fixture
def karat(folder, monkeypatch, capsys, attempts):
    """Runs a command and holds the law against it."""

    def run(*words):
        monkeypatch.setattr("sys.argv", ["karat", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        assert attempts == [], f"karat {' '.join(map(str, words))} went to load {attempts[0]!r}"
        assert not (folder / "ran").exists()
        assert not {name for name in sys.modules if name.endswith("evil")}
        assert "internal error" not in told.err, told.err
        return Told(code, told.out + told.err)

    return run


def write_table(folder):
    values = [",".join(str((i + s + n) % 3 / 2) for n in range(len(NAMES))) for s in range(2) for i in range(QUESTIONS)]
    owners = [f"q{i},{system}" for system in "ab" for i in range(QUESTIONS)]
    header = ",".join(f'"{name}"' for name in NAMES)
    rows = [f"{owner},{numbers}" for owner, numbers in zip(owners, values, strict=True)]
    (folder / "scores.csv").write_text("\n".join([f"id,system,{header}", *rows]) + "\n")
    return "scores.csv"


def write_testset(folder):
    rows = [{"id": f"q{i}", "question": f"what is {i}?", "gold": ["d1"], "answers": ["x"]} for i in range(QUESTIONS)]
    (folder / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "qa.jsonl"


def write_run(folder, run="mine", **manifest):
    """A finished run whose study says it was scored by measures of these names."""
    values = np.random.default_rng(1).random((2, QUESTIONS, len(NAMES) + 1))
    testset = TestSet([Question(f"q{i}", f"what is {i}?") for i in range(QUESTIONS)])
    measures = (*(Measure(MeasureSpec(name, len, bounds=(0.0, 1.0))) for name in NAMES), parse("Recall@5"))
    study = study_of(values, "ab", measures, testset=testset)
    study = study_with(replace(study.evaluation, summaries=summarise(study.evaluation.scores)))
    inputs = {"inputs": {"testset": {"digest": testset.digest, "path": "qa.jsonl"}}}
    made = new_run(folder / "runs", run, {"karat": "0.4", "name": run, **inputs, **manifest})
    save_study(study, made.path)
    made.update(status="done")
    return made


def test_the_header_of_a_score_table(folder, karat):
    table, testset = write_table(folder), write_testset(folder)
    compared = karat("compare", table)
    assert compared.code == 0
    assert NAMES[0] in compared.text
    assert karat("compare", "--power", testset, table).code == 0
    karat("verify", table)
    karat("compare", "--factors", table, "--score", NAMES[0])


def test_the_measure_of_a_label(folder, karat):
    write_run(folder)
    labels = [*NAMES, "evil:g", "sub/evil:g@5"]
    rows = [f'q{i},{system},"{name}",1,ann' for name in labels for system in "ab" for i in range(QUESTIONS)]
    (folder / "labels.csv").write_text("id,system,measure,label,rater\n" + "\n".join(rows) + "\n")
    assert karat("judge", "calibrate", "LAST", "labels.csv").code == 0


def test_the_measures_of_a_stored_run(folder, karat):
    """They are shown, reported, compared and held to rules by their stored numbers, under the names stored."""
    gate = [f"{name} >= 0" for name in NAMES]
    write_run(folder, spec={"gate": gate, "measures": NAMES, "main": NAMES[0], "judge": NAMES})
    shown = karat("show", "LAST", "--scores")
    assert shown.code == 0, shown.text
    told = " ".join(shown.text.split())
    assert f"{', '.join(NAMES)} are not registered measures" in told
    testset = write_testset(folder)
    for words in (
        ("show", "LAST"),
        ("show", "LAST", "--json"),
        ("show", "LAST", "q1"),
        ("show", "LAST", "-o", "page.md"),
        ("show",),
        ("compare", "LAST"),
        ("compare", "--power", testset, "LAST"),
    ):
        assert karat(*words).code == 0, words
    assert NAMES[0] in karat("compare", "LAST", "-m", NAMES[0]).text
    karat("gate", "LAST")
    assert karat("gate", "LAST", "sub/evil:f >= 0", "Recall@5 >= 0").code == 0
    karat("compare", "--factors", "LAST")
    karat("verify", "LAST")
    karat("judge", "LAST", "-m", "TokenF1")
    write_run(folder, run="later")
    assert karat("gate", "mine", "--save", "main").code == 0
    assert karat("gate", "later", "sub/evil:f >= baseline - 0.01", "--baseline", "main").code in (0, 10)
    assert karat("compare", "mine", "later").code == 0


def test_the_headings_of_a_printed_table(folder, karat):
    numbers, line = " | ".join("0.5" for _ in NAMES), "|---" * (len(NAMES) + 1)
    (folder / "table.md").write_text(f"| system | {' | '.join(NAMES)} |\n{line}|\n| a | {numbers} |\n")
    header = ",".join(f'"{name}"' for name in NAMES)
    (folder / "table.csv").write_text(f"system,{header},n\na,{'0.5,' * len(NAMES)}10\n")
    (folder / "summary.json").write_text(json.dumps({"a": dict.fromkeys(NAMES, 0.5)}))
    for table in ("table.md", "table.csv", "summary.json"):
        karat("verify", table)
        karat("compare", table)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sub/evil:f", "evil:f(x=1)@5"])
def test_columns_and_fields_of_results_and_test_sets(folder, karat, name):
    """Whatever else a test set or a results file says stays text."""
    testset, results = folder / "odd.jsonl", folder / "results.jsonl"
    rows = [
        {"id": f"q{i}", "question": f"what is {i}?", "gold": [{"doc": "d1"}], "answers": ["x"], "measure": name,
         "kind": name, "tags": {name: name}, "metrics": {name: 1}, "scores": {name: 1}, name: 1}
        for i in range(QUESTIONS)
    ]  # fmt: skip
    testset.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = [{**row, "retrieved": ["d1"], "answer": "x", "system": name, "method": name} for row in rows]
    results.write_text("".join(json.dumps(row) + "\n" for row in found))
    for words in (("score", testset, results), ("testset", "check", testset), ("testset", "freeze", testset),
                  ("verify", results), ("compare", results), ("convert", results, "out.run")):  # fmt: skip
        karat(*words)


def test_a_run_by_the_users_own_measure_is_shown_without_its_code(folder, karat, attempts, monkeypatch):
    (folder / "mine.py").write_text("def brevity(answer):\n    return 1 / len(answer)\n")
    results = [{"id": f"q{i}", "retrieved": ["d1"], "answer": "xy"} for i in range(QUESTIONS)]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results))
    testset = write_testset(folder)
    (folder / "karat.yaml").write_text(
        f"name: own\ntestset: {testset}\nsystems: [{{name: a, results: results.jsonl}}]\n"
        'measures: ["mine:brevity", Recall@5]\noutputs: [csv]\n'
    )
    monkeypatch.setattr("sys.argv", ["karat", "run", "-q"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert attempts, "karat.yaml names the code, and it is loaded"
    attempts.clear()
    (folder / "mine.py").write_text(EVIL)
    shown = karat("show", "LAST", "--scores")
    assert "brevity is not a registered measure" in shown.text
    assert any(line.split()[:2] == ["brevity", ".5000"] for line in shown.text.splitlines()), shown.text
    assert karat("show", "LAST", "-o", "page.md").code == 0
    assert "brevity" in (folder / "page.md").read_text()
    assert karat("gate", "LAST", "brevity >= 0.5").code == 0
