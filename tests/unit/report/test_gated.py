"""A gate as people, programs, build servers and GitHub read it; what it shows may be hostile."""

import json
import re
from xml.etree import ElementTree

import pytest

from karat.experiment.rules import parse_rule
from karat.report import objects
from karat.report.build.gate import document
from karat.report.build.gate import sentence as sentence_of
from karat.report.document import level_of
from karat.report.render import console, github, junit
from karat.results.evaluation import Note
from karat.results.gating import Gate, RuleCounterexample, RuleResult

HOSTILE = "a|b`c` <script>@everyone\x1b[31m %0A\r\n::error::x\x00"


def shown(gate, *, quiet=False, width=100):
    return console.render(document(gate, broken_only=quiet), level_of(quiet, False), width=width)


def verdict(text, outcome="pass", **more):
    given = {"system": "rrf", "subject": "MRR", "value": 0.5, "bound": 0.6, "n": 4, **more}
    return RuleResult(rule=parse_rule(text), outcome=outcome, **given)


BROKEN = verdict(
    "MRR >= baseline - 0.02",
    "fail",
    low=-0.2,
    high=0.1,
    level=0.95,
    baseline=0.62,
    baseline_system="rrf",
    reason="0.5000 is below 0.6000 (baseline - 0.02)",
    broken=(
        RuleCounterexample("q1", value=0.0, before=1.0, text="How long?"),
        RuleCounterexample("q2", value=0.25, before=None, text=HOSTILE, why="it broke"),
    ),
    n_broken=5,
)
KEPT = verdict("failed == 0", subject="failed", value=0.0, bound=0.0)
OPEN = verdict("MRR > .4", "unknown", reason="with the 2 rows that failed it lies between 0.3000 and 0.5000")
FAILS = Gate(
    run="run-1",
    verdicts=(KEPT, BROKEN, OPEN),
    baseline="main",
    baseline_run="run-0",
    incomplete=("rrf: 2 of 4 rows failed.",),
    notes=("a note.",),
)
PASSES = Gate(run="run-1", verdicts=(KEPT,))
GUARDED = Gate(
    run="run-1", verdicts=(KEPT,), guards=(Note("warning", "F1 passes what it can be.", "f1 under its parts"),)
)
STOPPED = Gate(run="run-1", verdicts=(), incomplete=("run run-1 is stopped.",))
UNKNOWN = Gate(run="run-1", verdicts=(KEPT, OPEN), incomplete=("rrf: 2 of 4 rows failed.",))
ALLOWED = Gate(run="run-1", verdicts=(KEPT,), incomplete=("rrf: 2 of 4 rows failed.",), allows_incomplete=True)


@pytest.mark.parametrize(
    ("gate", "outcome", "sentence"),
    [
        (PASSES, "pass", "The gate passes: 1 of 1 rule kept."),
        (ALLOWED, "pass", "The gate passes: 1 of 1 rule kept without what is missing."),
        (FAILS, "fail", "The gate fails: 1 of 3 rules broken."),
        (GUARDED, "fail", "The gate fails: 1 guard fired."),
        (UNKNOWN, "unknown", "The gate cannot tell, because the run is incomplete: 1 of 2 rules cannot be decided."),
        (STOPPED, "unknown", "The gate cannot tell: there is nothing to check the rules on."),
    ],
)
def test_what_it_comes_down_to(gate, outcome, sentence):
    assert (gate.outcome, sentence_of(gate)) == (outcome, sentence)
    assert sentence in shown(gate)


def test_each_line_has_value_bound_interval_n_and_verdict():
    text = shown(FAILS, width=160)
    (line,) = (line for line in text.splitlines() if line.startswith("FAIL "))
    parts = ["FAIL", "MRR >= baseline - 0.02", "rrf", ".5000", ">= .6000 (baseline .6200)", "[-.200, .100]", "4"]
    places = [line.index(part) for part in parts]
    assert places == sorted(places)
    assert "q1 0, before 1: How long?" in text
    assert "(it broke)" in text
    assert "and 3 more" in text
    assert "\x1b" not in text
    assert "rrf: 2 of 4 rows failed." in text
    assert "a note." in text


def test_quiet_shows_what_is_not_kept():
    text = shown(FAILS, quiet=True)
    assert "failed == 0" not in text
    assert "MRR > .4" in text


def test_guards_are_shown_with_their_names():
    assert "f1 under its parts: F1 passes what it can be." in shown(GUARDED)


def test_json_holds_all_of_it():
    told = json.loads(objects.gate(FAILS, 10))
    assert (told["outcome"], told["exit_code"], told["run"]) == ("fail", 10, "run-1")
    assert told["baseline"] == {"name": "main", "run": "run-0"}
    rule = told["rules"][1]
    assert (rule["value"], rule["bound"], rule["low"], rule["interval_of"]) == (0.5, 0.6, -0.2, "difference")
    assert rule["broken"][0] == {"question": "q1", "value": 0.0, "before": 1.0, "text": "How long?", "why": ""}
    assert told["rules"][0]["interval_of"] is None


def test_the_comment_is_a_table_that_mentions_nobody():
    text = github.comment(FAILS)
    assert text.startswith(github.MARKER)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 5
    assert {len(row.replace("\\|", "").split("|")) for row in rows} == {9}
    assert "- q2 .2500: a\\|b\\`c\\` \\<script\\>@<!-- -->everyone" in text
    assert "<details><summary>5 questions</summary>" in text
    assert "\x1b" not in text
    assert "\n::error" not in text
    assert "- ! rrf: 2 of 4 rows failed." in text


def test_neither_confidence_nor_a_system_is_taken_for_a_person():
    named = verdict("'@ops/team': Recall@5 >= .6 @95%", "fail", system="@ops/team", reason="@ops/team is below")
    text = github.comment(
        Gate(run="run-1", verdicts=(named,), incomplete=("(@ops): 1 row failed.",), notes=("about @ops.",))
    )
    assert not re.search(r"(?<![0-9A-Za-z])@[0-9A-Za-z]", text)
    assert "Recall@5 \\>= .6 @<!-- -->95%" in text


def test_github_takes_no_commands_from_what_is_shown():
    first, *lines, last = github.unheard(shown(FAILS)).splitlines()
    end = first.removeprefix("::stop-commands::")
    assert last == f"::{end}::"
    assert "\n".join(lines) + "\n" == shown(FAILS)
    assert end not in shown(FAILS)


def test_annotations_are_one_line_each_and_escaped():
    lines = github.workflow_commands(FAILS)
    assert [line.partition("::")[2].partition(" ")[0] for line in lines] == ["error", "warning", "error"]
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert lines[0].startswith("::error title=karat gate%3A MRR >= baseline - 0.02::rrf: 0.5000 is below")
    assert "%0Aq1 0, before 1: How long?" in lines[0]
    assert "%250A" in lines[0]
    assert github.workflow_commands(PASSES) == []
    assert github.workflow_commands(ALLOWED)[0].startswith("::warning")


def cases(gate):
    root = ElementTree.fromstring(junit.render(gate).encode())
    (suite,) = root
    counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    return suite, counts, {case.get("name"): case for case in suite.iter("testcase")}


def test_junit_has_a_test_for_every_rule():
    suite, counts, found = cases(FAILS)
    assert counts == {"tests": 5, "failures": 1, "errors": 2, "skipped": 0}
    assert list(found) == [
        "failed == 0", "MRR >= baseline - 0.02", "MRR > .4", "the run is complete", "no guard fired",
    ]  # fmt: skip
    assert not list(found["failed == 0"])
    (failure,) = found["MRR >= baseline - 0.02"]
    assert (failure.tag, failure.get("message")) == ("failure", BROKEN.reason)
    assert "q1 0, before 1: How long?" in failure.text
    assert found["MRR > .4"][0].tag == found["the run is complete"][0].tag == "error"
    assert {p.get("name"): p.get("value") for p in suite.iter("property")}["baseline_run"] == "run-0"


def test_junit_holds_nothing_that_xml_cannot():
    gate = Gate(run="run\x00", verdicts=(verdict("MRR > 1", "fail", system="r\x1b\ud800<&", reason="a\x0bb"),))
    _, counts, found = cases(gate)
    assert counts["failures"] == 1
    assert found["MRR > 1"].get("classname") == "karat gate.r??<&"
    assert found["MRR > 1"][0].get("message") == "a?b"


def test_junit_of_guards_and_of_what_is_allowed():
    assert cases(GUARDED)[1] == {"tests": 3, "failures": 1, "errors": 0, "skipped": 0}
    assert cases(ALLOWED)[1] == {"tests": 3, "failures": 0, "errors": 0, "skipped": 1}
    assert cases(PASSES)[1] == {"tests": 3, "failures": 0, "errors": 0, "skipped": 0}
