"""Rules read by hand: every form, and every mistake with its place."""

import pytest

from karat.core.errors import UsageError
from karat.experiment.rules import parse_rule, parse_rules
from karat.results.gating import SIGNS, Rule

KIND = (("kind", "numerical"),)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("nDCG@10 >= 0.60", {"subject": "nDCG@10", "sign": ">=", "number": 0.6}),
        ("nDCG@10>=.6", {"subject": "nDCG@10", "sign": ">=", "number": 0.6}),
        ("Recall@5 >= baseline - 0.02", {"subject": "Recall@5", "sign": ">=", "number": -0.02, "factor": 1.0}),
        ("Recall@5 > Baseline+1e-3", {"subject": "Recall@5", "sign": ">", "number": 0.001, "factor": 1.0}),
        ("MRR >= baseline", {"subject": "MRR", "sign": ">=", "number": 0.0, "factor": 1.0}),
        ("p95_seconds <= baseline * 1.1", {"subject": "p95_seconds", "sign": "<=", "number": 0.0, "factor": 1.1}),
        ("MRR >= baseline * 98% - .01", {"subject": "MRR", "sign": ">=", "number": -0.01, "factor": 0.98}),
        ("failed == 0", {"subject": "failed", "sign": "==", "number": 0.0}),
        ("undefined != 3", {"subject": "undefined", "sign": "!=", "number": 3.0}),
        ("Relevance > -0.5", {"subject": "Relevance", "sign": ">", "number": -0.5}),
        ("AnyGold >= 60%", {"subject": "AnyGold", "sign": ">=", "number": 0.6}),
        ("Precision(rel=2)@5 < 1", {"subject": "Precision(rel=2)@5", "sign": "<", "number": 1.0}),
        ("Recall@5[kind=numerical] >= 0.7", {"subject": "Recall@5", "sign": ">=", "number": 0.7, "where": KIND}),
        (
            "Recall@5[ kind = numerical , 'a, b'=\"c ] d\" ] ≥ 0.7",
            {"subject": "Recall@5", "sign": ">=", "number": 0.7, "where": (*KIND, ("a, b", "c ] d"))},
        ),
        ("balanced: MRR > .5", {"subject": "MRR", "sign": ">", "number": 0.5, "system": "balanced"}),
        ("hybrid alpha=0.9: MRR > .5", {"subject": "MRR", "sign": ">", "number": 0.5, "system": "hybrid alpha=0.9"}),
        ("'a: b': MRR > .5", {"subject": "MRR", "sign": ">", "number": 0.5, "system": "a: b"}),
        ("my_measures:brevity > .5", {"subject": "my_measures:brevity", "sign": ">", "number": 0.5}),
        (
            "MRR[kind=numerical] >= baseline - 0.02 @95%",
            {"subject": "MRR", "sign": ">=", "number": -0.02, "factor": 1.0, "confidence": 0.95, "where": KIND},
        ),
        ("MRR <= 2 @ 99.5%", {"subject": "MRR", "sign": "<=", "number": 2.0, "confidence": 0.995}),
    ],
)
def test_every_form(text, rule):
    assert parse_rule(f" {text} ") == Rule(text=text, **rule)


def test_the_bound_in_words():
    bounds = {
        "x > 1": "1",
        "x > baseline": "baseline",
        "x > baseline - 0.02": "baseline - 0.02",
        "x > baseline * 2 + 1": "baseline * 2 + 1",
    }
    assert {text: parse_rule(text).bound for text in bounds} == bounds


def test_a_rule_written_twice_counts_once():
    assert [rule.text for rule in parse_rules(["a > 1", "b > 1", "a > 1 "])] == ["a > 1", "b > 1"]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("nDCG@10 => 0.6", 9, "Did you mean >=?"),
        ("nDCG@10 = 0.6", 9, "Did you mean ==?"),
        ("nDCG@10 <> 0.6", 9, "Did you mean !=?"),
        ("nDCG@10 >> 0.6", 10, "no comparison"),
        ("nDCG@10", 8, "no comparison follows 'nDCG@10'"),
        ("nDCG@10 0.6", 12, "no comparison follows"),
        ("> 0.6", 1, "is missing before this"),
        ("MRR >", 6, "a number is missing"),
        ("MRR > high", 7, "'high' is neither a number nor baseline"),
        ("MRR > basline", 7, "Did you mean baseline?"),
        ("MRR > 0.5 0.6", 11, "'0.6' is left over"),
        ("MRR > 0.5 and P@5 > 1", 11, "give others as further rules"),
        ("MRR > 0,5", 7, "Write 0.5, with a point"),
        ("MRR > 1e999", 7, "no number that can be compared with"),
        ("MRR > baseline * 0", 17, "above 0"),
        ("MRR > baseline - 2%", 17, "baseline - 0.02 for points, or baseline * 0.98"),
        ("MRR[kind] > .5", 9, "name=value"),
        ("MRR[kind=] > .5", 10, "has no value"),
        ("MRR[kind=a > .5", 16, "a ] is missing"),
        ("MRR['kind=a] > .5", 5, "not closed"),
        ("MRR > .5 @95", 11, "such as @95%"),
        ("MRR > .5 @100%", 11, "below 100%"),
        ("MRR > .5 @10%", 11, "from 50%"),
        ("MRR == .5 @95%", 12, "confidence needs"),
        ("'a' MRR > .5", 5, "followed by a colon"),
    ],
)
def test_every_mistake_is_told_with_its_place(text, place, said):
    with pytest.raises(UsageError) as told:
        parse_rule(text)
    assert str(told.value).startswith(f"rule {text!r}, position {place}: ")
    assert said in str(told.value)


@pytest.mark.parametrize("text", ["", "  ", "MRR\n> 1", "x" * 2000])
def test_what_is_no_line_is_refused(text):
    with pytest.raises(UsageError, match=r"Write one like|one line"):
        parse_rule(text)


def test_each_sign_is_read():
    assert [parse_rule(f"x {sign} 1").sign for sign in SIGNS] == list(SIGNS)
