"""Nonsense questions: cut sentences and blanks over list numbers, filtered when made and counted in the audit."""

from types import SimpleNamespace

import pytest

from karat.core.text.detect import nonsense
from karat.core.types import Question, TestSet
from karat.testset.check import CheckContext
from karat.testset.check.not_a_question import not_a_question
from karat.testset.check_testset import check_testset

NONSENSE = [
    "How many litres does the tank of the?",
    "What is kept in the shed and?",
    "___) Fill in the form and sign it.",
    "In step ___. open the valve, what is done?",
    "What does the (see page hold?",
    "and the cook reports to the leader how often?",
    "When does the ferry...",
    "Что хранится в сарае и?",
]
SENSE = [
    "How many litres does the tank hold?",
    "What is the shed used for?",
    "The capital of France is ___.",
    "What is he afraid of?",
    "iPhone batteries last how long?",
    "Who lives on the (old) farm?",
    "Что хранится в сарае?",
    "What did they vote for and against?",
]


@pytest.mark.parametrize("text", [*NONSENSE, *SENSE])
def test_nonsense_is_seen_and_filtered(text):
    assert (nonsense(text) is not None) == (text in NONSENSE)
    assert (not_a_question.find(SimpleNamespace(text=text), None, []) is not None) == (text in NONSENSE)


def _broken(faulty, whole):
    texts = [*(NONSENSE * 5)[:faulty], *(f"Who pays for coal in {n}?" for n in range(whole))]
    made = check_testset(
        CheckContext(TestSet([Question(f"q{n}", text) for n, text in enumerate(texts)])), only=["nonsense"]
    )
    return [(finding.severity, finding.title) for finding in made.findings]


def test_a_fifth_of_nonsense_makes_a_test_set_unusable():
    assert _broken(0, 10) == []
    ((severity, title),) = _broken(1, 9)
    assert (severity, title) == ("warning", "1 question is a cut sentence or has a blank over a list number")
    ((severity, title),) = _broken(2, 8)
    assert (severity, title) == ("broken", "this test set is unusable: 2 of 10 questions are nonsense")
