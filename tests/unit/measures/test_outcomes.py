"""Right, abstained or wrong, and CRAG: by hand, and once more in other words."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, ClaimRows
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.scores import MISSING_ANSWER
from karat.measures.compute import Unscored, compute
from karat.measures.dialects import dialect_named
from karat.measures.outcomes import RightRule, outcomes

NAN = float("nan")
DECLINES = "I don't know."


def table(*rows, claims=None):
    """Rows of answer, references, answerable."""
    answers, references, answerable = zip(*rows, strict=True)
    size = len(rows)
    return AnswerTable(
        ("s",), tuple(f"q{i}" for i in range(size)), texts=["Where is it?"] * size, answers=answers,
        references=references, contexts=[("c",)] * size, answerable=answerable, claims=claims,
    )  # fmt: skip


def crag(name, *rows, claims=None):
    return parse(name).of(table(*rows, claims=claims))


ROWS = [
    ("Paris", ("Paris",), True),  # right
    ("In Lyon", ("Paris",), True),  # wrong
    (DECLINES, ("Paris",), True),
    ("", ("Paris",), True),
    (None, ("Paris",), True),
    ("<think>Paris</think>", ("Paris",), True),
    ("[1][2]", ("Paris",), True),  # nothing but citations
    (DECLINES, (), False),  # rightly
    ("Paris", (), False),  # there is no answer
    ("", (), False),
    ("invalid question", ("invalid question",), False),  # what the reference says of a question without an answer
    ("Paris", (), True),  # nothing says whether it is right
]


def test_every_outcome_by_hand():
    found = crag("CRAG", *ROWS)
    assert found.values[:11].tolist() == [1, -1, 0, 0, 0, 0, 0, 1, -1, 0, 1]
    assert np.isnan(found.values[11])
    assert found.undefined == {11: "no reference answer"}
    assert found.failed == {}


def test_the_dialect_counts_declining_what_has_no_answer_as_missing():
    meant = dialect_named("crag").meant(parse("CRAG"))
    assert meant.name == "CRAG(unanswerable=missing)"
    assert meant.of(table(*ROWS)).values[:11].tolist() == [1, -1, 0, 0, 0, 0, 0, 0, -1, 0, 1]


def test_a_missing_answer_is_left_out_or_0_and_never_wrong():
    rows = [("Paris", ("Paris",), True), (None, ("Paris",), True)]
    for zero, status, value in ((False, 1, NAN), (True, 0, 0.0)):
        answered = table(*rows)
        scores = compute(
            [parse("CRAG")], ("s",), answered.questions, answered=answered, unscored=Unscored(missing=(1,)),
            missing_is_zero=zero,
        )  # fmt: skip
        assert scores.status[0, 1, 0] == status
        assert np.array_equal(scores.values[0, 1, 0], value, equal_nan=True)
        assert scores.reason(0, 1, 0) == MISSING_ANSWER


def second(answer, right, answerable, declining):
    """The rule once more, in plain words."""
    said = (answer or "").replace("[1]", "").strip()
    declined = said == DECLINES
    if answerable:
        if right is None:
            return None
        return 0 if declined or (not said and not right) else 1 if right else -1
    if declined:
        return declining
    return 0 if not said and not right else 1 if right else -1


@pytest.mark.parametrize("declining", [1, 0])
def test_the_rule_against_a_second_one(declining):
    cases = [(a, r, ok) for a in (None, "", "[1]", DECLINES, "Paris [1]") for r in (True, False, None) for ok in (0, 1)]
    right = np.array([NAN if r is None else float(r) for _, r, _ in cases])
    found = outcomes([a for a, _, _ in cases], right, [bool(ok) for *_, ok in cases], declined=declining)
    wanted = [second(a, r, ok, declining) for a, r, ok in cases]
    assert [None if v != v else v for v in found.tolist()] == wanted


def test_the_threshold_is_a_parameter_and_a_share():
    row = ("Paris of course", ("Paris",), True)  # TokenF1 2 * 1 / (3 + 1) = .5
    assert [crag(f"CRAG(right={at})", row).values[0] for at in (0.4, 0.5, 0.51)] == [1, 1, -1]
    assert str(parse("CRAG(right=.80)")) == "CRAG(right=0.8)"
    for at in (1.5, -1):
        with pytest.raises(UsageError, match="Write one from 0 to 1"):
            crag(f"CRAG(right={at})", row)


def test_rules_are_read_and_written_in_one_place():
    assert str(RightRule.parse(" TokenF1 >= .5", "--correct")) == "TokenF1>=0.5"
    assert RightRule("x", "<", 1.0).right(np.array([0.5, 1.0, NAN])).tolist()[:2] == [1, 0]
    with pytest.raises(UsageError, match=r"--correct 'TokenF1': write a measure and what it must reach"):
        RightRule.parse("TokenF1", "--correct")


def test_by_claims_needs_half_of_them_and_none_contradicted():
    rows = ClaimRows(["s"], [f"q{i}" for i in range(6)])
    verdicts = {
        0: (ENTAILED, NEITHER),  # half of them: right
        1: (ENTAILED, CONTRADICTED),  # one against it: wrong
        2: (NEITHER, NEITHER, ENTAILED),  # a third: wrong
        3: (NEITHER,),  # it declines
    }
    for pair, some in verdicts.items():
        rows.claims(pair, "reference", [f"claim {i}" for i in range(len(some))])
        for number, verdict in enumerate(some, 1):
            rows.verdict(pair, "reference", number, "answer", verdict)
    rows.claims(4, "reference", ["never judged"])
    rows.claims(5, "reference", ["never judged"])
    said = [("Paris", ("r",), True)] * 3 + [(DECLINES, ("r",), True), ("Paris", ("r",), True), (DECLINES, ("r",), True)]
    found = crag("CRAG(by=claims)", *said, claims=rows.table())
    assert found.values[[0, 1, 2, 3, 5]].tolist() == [1, -1, -1, 0, 0]  # who abstains needs no verdict
    assert found.failed == {4: "1 of 1 verdicts are missing (reference by answer)"}
    assert parse("CRAG(by=claims)").relations == ("reference by answer",)
    assert parse("CRAG").relations == ()


def test_models_are_needed_only_where_they_are_asked():
    assert (parse("CRAG").needs, parse("CRAG(by=model)").needs, parse("CRAG(by=claims)").needs) == ((), ("chat",), ())


def test_the_dialect_has_a_default_set():
    crag = dialect_named("crag")
    chosen = crag.measures(rankings=False, answers=True, references=True, contexts=False, able=("chat",))
    assert chosen == ["CRAG(unanswerable=missing)", "EM", "CRAG(by=model, unanswerable=missing)"]
    assert crag.counts_missing(None)
