"""The check of a test set as a whole: what it counts, and that one failing check stops no other."""

import json
from importlib.metadata import EntryPoint

import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.errors import UsageError
from karat.core.types import Gold, Question, TestSet
from karat.testset.check import CHECKS, Check, CheckContext
from karat.testset.check_testset import check_testset

CHUNKS = Chunks.ordered([Chunk("c1", "a.md", "Night watch lasts four hours."), Chunk("c2", "b.md", "Oil every week.")])
QUESTIONS = [
    Question("q1", "How long is a night watch?", gold=(Gold(id="c1"), Gold(id="gone"))),
    Question("q2", "How often is oil needed?", gold=(Gold(id="c2"),)),
    Question("q3", "How many lamps are lit?", gold=(Gold(id="lost"), Gold(id="c1", grade=0))),
    Question("q4", "Who is the cook?", answerable=False),
]


def examined(questions=QUESTIONS, **options):
    checks = {name: options.pop(name) for name in ("only", "skip", "progress") if name in options}
    return check_testset(CheckContext(TestSet(questions, name="qa"), CHUNKS, **options), **checks)


def test_reach_counts_relevant_units_and_questions():
    reach = examined().reach
    assert (reach.units, reach.reached, reach.questions, reach.whole, reach.without) == (4, 2, 3, 1, 1)
    assert examined().reachable == 0.5
    assert examined().matchers == {"exact": 4}
    assert (examined().chunks, examined().docs, examined().questions) == (2, 2, 4)


def test_ceilings_come_with_it():
    found = {(c.measure, c.k): c.value for c in examined().ceilings}
    assert found["Recall", 5] == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["Precision", 1] == pytest.approx(2 / 3)


def test_the_gravest_come_first_and_broken_is_said():
    found = examined()
    grades = [f.severity for f in found.findings]
    assert grades == sorted(grades, key=("broken", "warning", "info").index)
    assert found.broken
    assert not examined(QUESTIONS[1:2]).broken


def test_it_is_plain_json_under_keys_that_stay():
    plain = json.loads(json.dumps(examined().plain(), allow_nan=False))
    assert set(plain) == {
        "format", "testset", "digest", "questions", "chunks", "docs", "broken", "faulty", "findings", "reach",
        "matchers", "ceilings", "kinds", "languages", "attained", "coverage", "detectable", "not_run", "notes",
    }  # fmt: skip
    assert list(plain["findings"][0]) == [
        "check", "severity", "title", "text", "numbers", "questions", "examples", "remedy",
    ]  # fmt: skip
    assert plain["reach"]["share"] == 0.5


def test_a_check_that_fails_is_a_finding_and_the_others_go_on(monkeypatch):
    def fail(case):
        yield from ()
        raise ZeroDivisionError("nothing to divide")

    monkeypatch.setitem(CHECKS._loaded, "leftovers", Check("leftovers", "breaks", fail))
    found = examined(only=["leftovers", "unknown_gold"])
    failed, other = found.findings if found.findings[0].check == "leftovers" else found.findings[::-1]
    assert failed.severity == "broken"
    assert "ZeroDivisionError: nothing to divide" in failed.text
    assert other.check == "unknown_gold"


def test_only_some_checks_and_unknown_names():
    assert {f.check for f in examined(only=["overview"]).findings} == {"overview"}
    with pytest.raises(UsageError, match="Did you mean leftovers"):
        examined(only=["leftover"])
    with pytest.raises(UsageError, match="unknown matcher"):
        examined(by="ids")


def test_plug_ins_of_the_group_that_audits_had_are_named_as_not_run(monkeypatch):
    monkeypatch.setattr(
        "karat.testset.check_testset.entry_points", lambda group: [EntryPoint("acme", "acme:it", group)]
    )
    assert examined().not_run == {"acme": "plug-ins of karat.audits belong to karat.checks now"}


def test_it_says_what_it_does():
    steps = []
    examined(progress=steps.append)
    assert steps[0] == "resolving the gold"
    assert "unknown gold" in steps
    assert steps[-2:] == ["working out the ceilings", "counting"]


def test_nothing_to_look_at():
    empty = check_testset(CheckContext(TestSet([]), Chunks([])))
    assert [finding.check for finding in empty.findings] == ["size"]
    assert empty.reachable is None
    assert empty.ceilings == ()
    bare = check_testset(CheckContext(TestSet(QUESTIONS), Chunks([]), []))
    assert bare.broken
    assert bare.reachable == 0


def test_every_check_is_found_by_its_name_and_says_what_it_looks_for():
    assert len(CHECKS.names()) >= 25
    for name in CHECKS.names():
        made = CHECKS.get(name)
        assert made.name == name
        assert made.summary
