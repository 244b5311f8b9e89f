"""Nuggets written by a model from the gold, and what a check has against nuggets."""

import json

import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.models import ChatReply
from karat.core.types import Gold, Nugget, Question, TestSet
from karat.match import resolve
from karat.testset.check import CheckContext
from karat.testset.check_testset import check_testset
from karat.testset.nuggets import MOST_NUGGETS, make_nuggets

CHUNKS = Chunks(
    [
        Chunk("a#1", "a", "The night watch lasts four hours and is kept by two people."),
        Chunk("b#1", "b", "Each tank holds 42,000 litres of fuel and is dipped every Monday."),
    ]
)
WATCH = Question("q1", "How long is the night watch?", answers=("four hours",), gold=(Gold(doc="a"),))
FUEL = Question("q2", "How often is the fuel checked?", gold=(Gold(doc="b"),))


def facts(*pairs):
    return json.dumps({"nuggets": [{"text": text, "importance": importance} for text, importance in pairs]})


class Writer:
    """A chat model that says these things, one after the other."""

    label = "writer"

    def __init__(self, *replies):
        self.replies, self.prompts = list(replies), []

    def ask(self, prompts, said=None):
        self.prompts += prompts
        told = [self.replies.pop(0) for _ in prompts]
        return [one if isinstance(one, ChatReply) else ChatReply(one, model="m") for one in told]


def make(writer, *questions):
    testset = TestSet(questions)
    return make_nuggets(testset, resolve(testset, CHUNKS), writer)


def test_facts_of_the_gold_become_nuggets():
    writer = Writer(
        facts(("1. The night watch lasts four hours.", "vital"), ("Two people keep the watch.", "okay")),
        facts(("The tank is dipped every Monday.", "vital"), ("the tank is dipped every monday", "okay")),
    )
    made = make(writer, WATCH, FUEL)
    assert made.testset["q1"].nuggets == (
        Nugget("The night watch lasts four hours.", True),
        Nugget("Two people keep the watch.", False),
    )
    assert made.testset["q2"].nuggets == (Nugget("The tank is dipped every Monday."),)  # the same fact once
    assert (made.made, made.failed, made.rejected, len(made.nuggets)) == (("q1", "q2"), {}, [], 3)
    first, second = writer.prompts
    assert CHUNKS[0].text in first.user
    assert "four hours" in first.user.split("reference answer")[1]
    assert "reference answer" not in second.user
    assert CHUNKS[0].text not in second.user
    assert first.purpose == "generate nuggets"


def test_what_the_gold_does_not_bear_out_is_rejected_and_counted():
    invented = "Penguins guard the harbour lighthouse in winter."
    made = make(Writer(facts((invented, "vital"), ("The watch lasts four hours.", "vital"))), WATCH)
    assert (made.rejected, len(made.nuggets)) == ([("q1", invented)], 1)
    nothing = make(Writer(facts((invented, "vital"))), WATCH)
    assert nothing.failed == {"q1": "the passages bear out none of its facts"}
    assert nothing.testset["q1"] == WATCH
    assert make(Writer(facts()), WATCH).failed == {"q1": "the model names no fact"}


def test_every_question_is_accounted_for():
    kept = Question("q3", "Which?", gold=(Gold(doc="a"),), nuggets=(Nugget("mine"),))
    lost = Question("q4", "Where?", gold=(Gold(doc="nowhere"),))
    closed = Question("q5", "Who?", answerable=False)
    made = make(
        Writer(ChatReply(None, error="the call failed"), "no json", "again none"), kept, WATCH, lost, FUEL, closed
    )
    assert (made.made, made.had, made.without) == ((), ["q3"], ["q4", "q5"])
    assert made.failed["q1"] == "the call failed"
    assert set(made.failed) == {"q1", "q2"}
    assert made.testset["q3"].nuggets == (Nugget("mine"),)


def test_no_question_gets_more_than_can_be_judged():
    many = [(f"The watch of {n} lasts four hours.", "okay") for n in range(MOST_NUGGETS + 5)]
    made = make(Writer(facts(*many)), Question("q1", "How long is the watch?", gold=(Gold(doc="a"),)))
    assert len(made.nuggets) <= MOST_NUGGETS


@pytest.mark.parametrize(
    ("nuggets", "check", "title"),
    [
        ([Nugget("It lasts four hours.", False)], "nuggets", "1 question has nuggets and no vital one"),
        ([Nugget("It lasts four hours."), Nugget("it lasts four hours")], "nuggets", "1 question has a nugget twice"),
        (
            [Nugget("Penguins guard the harbour lighthouse.")],
            "unsupported_nuggets",
            "1 question has a nugget that its gold does not support",
        ),
        ([Nugget("The watch lasts four hours.")], "nuggets", None),
        ([Nugget("The watch lasts four hours.")], "unsupported_nuggets", None),
        ([], "nuggets", None),
    ],
)
def test_a_check_of_nuggets(nuggets, check, title):
    asked = Question("q1", "How long is the night watch?", gold=(Gold(doc="a"),), nuggets=tuple(nuggets))
    found = check_testset(CheckContext(TestSet([asked]), CHUNKS), only=[check])
    assert [finding.title for finding in found.findings] == ([] if title is None else [title])
