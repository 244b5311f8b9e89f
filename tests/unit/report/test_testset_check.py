"""What a check of a test set found, in words and as JSON."""

import io
import json

import pytest

from karat.report import objects
from karat.report.build.testset_check import check_document, verdict
from karat.report.document import level_of
from karat.report.render import console
from karat.results.testset_check import Ceiling, Finding, GoldCoverage, TestSetCheck

BROKEN = Finding(
    "unknown_gold",
    "broken",
    "the gold names 1 file that the index does not hold",
    text="3 gold units can never be found.",
    numbers={"units": 3},
    questions=tuple(f"q{i}" for i in range(1, 10)),
    examples=("a.pdf", "b.pdf", "c.pdf", "d.pdf"),
    remedy="Index it.",
)
WARNING = Finding("leaks", "warning", "2 questions leak", questions=("q1", "q2"), remedy="Rewrite them.")
INFO = Finding("overview", "info", "by page: common 38")
CEILINGS = (
    Ceiling("Recall", 1, 0.5),
    Ceiling("Recall", 5, 0.927),
    Ceiling("nDCG", 1, 1.0),
    Ceiling("nDCG", 5, 0.95, False),
)


def render(found, *, width=100, **how):
    return console.render(check_document(found), level_of(how.get("quiet"), how.get("verbose")), width=width)


def checked(*findings, reached=38, ceilings=CEILINGS, **fields):
    reach = GoldCoverage(units=41, reached=reached, questions=30, whole=28, without=1)
    return TestSetCheck(**{
        "testset": "qa.jsonl", "questions": 32, "chunks": 212, "docs": 5, "reach": reach, "matchers": {"page": 41},
        "findings": findings, "ceilings": ceilings, "digest": "0" * 64, **fields,
    })  # fmt: skip


def test_it_opens_with_the_verdict():
    first, *rest = render(checked(BROKEN, WARNING, INFO), width=200).splitlines()
    assert first == (
        "✗  broken: the gold names 1 file that the index does not hold; 38 of 41 gold units can be found, and 1 of 30 "
        "questions have none."
    )
    assert "qa.jsonl: 32 questions; index of 212 chunks, 5 documents; gold units matched: 41 by page" in rest[0]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (checked(reached=41), "no fault found; all 41 gold units can be found."),
        (
            checked(reach=GoldCoverage(units=0, reached=0, questions=0, whole=0, without=0)),
            "the test set has no relevant gold",
        ),
        (checked(chunks=0), "the index is empty: none of the 41 gold units can be found."),
        (checked(BROKEN, BROKEN), "does not hold, and 1 more;"),
        (checked(WARNING), "2 of 32 questions need a look (1 warning); 38 of 41 gold units can be found, and 1 of"),
        (checked(chunks=None, reach=None, ceilings=()), "no fault found."),
    ],
)
def test_the_verdict(found, said):
    assert said in verdict(found)


def test_the_gravest_come_first_with_examples_ids_and_remedies():
    said = render(checked(BROKEN, WARNING, INFO))
    assert said.index("✗  the gold") < said.index("!  2 questions leak") < said.index("-  by page")
    assert said.index("-  by page") < said.index("Ceilings: the highest")
    assert "→ Index it." in said


def test_the_screen_has_forty_lines_however_much_is_found():
    many = [*(BROKEN for _ in range(12)), *(WARNING for _ in range(12)), *(INFO for _ in range(12))]
    said = render(checked(*many, notes=[f"note {n}" for n in range(9)]))
    assert len(said.splitlines()) <= 40
    assert "18 more: -v shows all." in said


def test_checks_that_were_not_run_are_named():
    said = render(checked(chunks=None, reach=None, ceilings=(), not_run={"copies": "no index was given"}))
    assert "not run, since no index was given: copies" in said


def test_verbose_shows_all_and_quiet_the_grave_alone():
    verbose, quiet = (render(checked(BROKEN, WARNING, INFO), **{way: True}) for way in ("verbose", "quiet"))
    assert "d.pdf" in verbose
    assert "q8, q9" in verbose
    assert "by page" not in quiet
    assert "a.pdf" not in quiet
    assert "Index it." in quiet
    assert "Recall" in quiet


def test_ceilings_say_what_is_only_a_bound():
    said = render(checked())
    assert "≤.9500" in said
    assert "no ranking passes it" in said
    assert "no ranking passes it" not in render(checked(ceilings=CEILINGS[:3]))
    assert "Ceilings" not in render(checked(ceilings=()))


def test_marks_follow_the_gravest():
    marks = [render(checked(*findings, reached=41))[0] for findings in ((BROKEN,), (WARNING,), (INFO,), ())]
    assert marks == ["✗", "!", "✓", "✓"]
    assert render(checked(INFO, reached=40))[0] == "!"  # a check alone that says nothing of the gold that is missing


def test_hostile_text_stays_text():
    bad = Finding(
        "x",
        "broken",
        "\x1b[31m[bold]red\x07",
        text="a\nb",
        numbers={},
        questions=("q\x1b]0;t\x07",),
        examples=("\u202etxet",),
        remedy="\x9b31m",
    )
    said = render(checked(bad, testset="\x1b[2Jqa"))
    assert not set(said) & set("\x1b\x07\x9b\u202e")
    assert "[bold]red" in said
    assert json.loads(objects.examined(checked(bad)))["findings"][0]["title"] == bad.title


def test_json_is_ascii_and_whole():
    text = objects.examined(checked(BROKEN, Finding("x", "info", "é", numbers={"share": float("nan")})))
    assert text.isascii()
    found = json.loads(text)
    assert found["broken"] is True
    assert found["findings"][1]["numbers"] == {"share": None}
    assert found["ceilings"][3] == {"measure": "nDCG", "k": 5, "value": 0.95, "exact": False}


def test_a_stream_gets_what_it_can_show():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console.show(check_document(checked(BROKEN)), stream)
    stream.seek(0)
    said = stream.read()
    assert said.startswith("-  broken: the gold names")
    assert "?" not in said
    assert max(map(len, render(checked(BROKEN, WARNING), width=60).splitlines())) <= 60
