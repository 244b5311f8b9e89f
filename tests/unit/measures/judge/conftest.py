"""A scripted model, and what it judges."""

import json

import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.models import ChatReply, Models


class Scripted:
    """Replies by what a call is for: a list for each step, its last entry again and again. Keeps what it was asked."""

    label = fingerprint = "scripted model"

    def __init__(self, **replies):
        self.replies = {step: list(each) if isinstance(each, list) else [each] for step, each in replies.items()}
        self.asked, self.batches = [], []

    def ask(self, prompts, said=None):
        self.batches.append(len(prompts))
        found = []
        for number, prompt in enumerate(prompts):
            self.asked.append(prompt)
            step = prompt.purpose.partition(": ")[2] or "grade"
            replies = self.replies[step]
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
            reply = reply(prompt) if callable(reply) else reply
            if not isinstance(reply, ChatReply):
                text = reply if isinstance(reply, str) else json.dumps(reply)
                reply = ChatReply(text, model="served-model", prompt_tokens=100, completion_tokens=10, cost_usd=0.25)
            found.append(reply)
            if said:
                said(number, reply)
        return found


def answered(*rows, chat=None, repeat=1, systems=("s",), progress=None):
    """Rows of a dict each: question, answer, references, contexts, answerable."""
    rows = [
        {"question": "Where is it?", "answer": "In Paris.", "references": ("Paris",), "contexts": ("c",), **r}
        for r in rows
    ]
    questions = tuple(f"q{i}" for i in range(len(rows) // len(systems)))
    return AnswerTable(
        systems,
        questions,
        texts=[r["question"] for r in rows],
        answers=[r["answer"] for r in rows],
        references=[tuple(r["references"]) for r in rows],
        contexts=[r["contexts"] for r in rows],
        answerable=[r.get("answerable", True) for r in rows],
        models=Models(chat=chat, repeat=repeat, progress=progress),
    )


def judge(name, *rows, chat=None, **keywords):
    return parse(name).of(answered(*(rows or ({},)), chat=chat, **keywords))


def verdicts(*words, contexts=(1,)):
    listed = [
        {"claim": i, "reason": f"why {i}", "contexts": [] if word == "not_found" else list(contexts), "verdict": word}
        for i, word in enumerate(words, 1)
    ]
    return {"verdicts": listed}


VALID = {
    "Faithfulness": ({"claims": {"claims": ["It is in Paris."]}, "verdicts": verdicts("supported")}, 1.0),
    "Faithfulness(scale=liverag)": (
        {"claims": {"claims": ["a b", "c d"]}, "verdicts": verdicts("supported", "not_found")}, 0.0,
    ),
    "Correctness": ({"claims": {"claims": ["It is in Paris."]}, "verdicts": verdicts("covered")}, 1.0),
    "ContextRelevance": ({"grade": {"reason": "r", "grade": "helps"}}, 2 / 3),
    "Responsiveness": ({"grade": {"reason": "r", "grade": "barely"}}, 1 / 3),
    "Relevance": ({"grade": {"reason": "r", "grade": -1}}, -1.0),
}  # fmt: skip
"""A reply to each step of a measure, and its value."""


@pytest.fixture(scope="session", name="scripted")
def scripted_fixture():
    return Scripted


@pytest.fixture(scope="session", name="answered")
def answered_fixture():
    return answered


@pytest.fixture(scope="session", name="judge")
def judge_fixture():
    return judge


@pytest.fixture(scope="session", name="verdicts")
def verdicts_fixture():
    return verdicts


@pytest.fixture(scope="session", name="valid")
def valid_fixture():
    return VALID
