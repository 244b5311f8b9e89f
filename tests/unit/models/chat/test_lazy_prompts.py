"""Asking a slow endpoint: what is asked is made when its turn comes, and as much of it lives as is under way."""

import gc
import json
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from karat.answer import AnswererSettings, answerer_named
from karat.core.answered import AnswerTable
from karat.core.asked import AnswerRequest, Context
from karat.core.language import parse
from karat.core.lazy import Lazy
from karat.core.models import Models, Prompt
from karat.core.run import Run
from karat.core.types import Question, TestSet
from karat.experiment.answering import answer_all
from karat.experiment.study import StudySystem
from karat.models.chat import Calls, Chat, ChatSettings
from karat.testing import FakeLLM

JOBS, ASKED = 3, 120
FEW = 4 * JOBS
"""As many as may live at a time: those under way, and those that are made and not yet gone."""


class Living:
    """How many objects of a kind live, and the most that ever did."""

    def __init__(self, monkeypatch, kind):
        self.alive, self.most = set(), 0
        made = kind.__init__

        def init(one, *given, **named):
            made(one, *given, **named)
            number = id(one)
            self.alive.add(number)
            self.most = max(self.most, len(self.alive))
            weakref.finalize(one, self.alive.discard, number)

        monkeypatch.setattr(kind, "__init__", init)


@pytest.fixture
def prompts(monkeypatch):
    gc.collect()
    return Living(monkeypatch, Prompt)


@pytest.fixture
def chat(tmp_path):
    def reply(request):
        return json.dumps({"reason": "so", "grade": "full"}) if "JSON" in request.system + request.user else "Yes."

    with (
        FakeLLM(reply) as llm,
        Calls(tmp_path / "calls.sqlite") as calls,
        Chat(ChatSettings("m", base_url=llm.base_url, jobs=JOBS), calls) as chat,
    ):
        chat.llm = llm
        yield chat


def test_as_many_prompts_live_as_are_under_way(chat, prompts):
    replies = chat.ask(Lazy(ASKED, lambda number: Prompt(f"number {number}")))
    assert len(replies) == chat.llm.count == ASKED
    assert prompts.most <= FEW


def test_an_answerer_holds_no_more_requests_than_are_under_way(chat, prompts):
    texts = Lazy(ASKED, lambda number: f"passage {number}")
    made = []

    def asked(number):
        made.append(number)
        return AnswerRequest(f"q{number}", f"Question {number}?", (Context("d", texts[number]),))

    got = []
    answerer = answerer_named(AnswererSettings("chat"), Models(chat=chat))
    answerer.answer(Lazy(ASKED, asked), lambda one, answer: got.append((one.id, answer.question)))
    assert sorted(got) == sorted((f"q{n}", f"q{n}") for n in range(ASKED))
    assert prompts.most <= FEW


def test_a_run_is_answered_with_one_copy_of_each_text(chat, prompts):
    """Texts of hits are made anew whenever they are read, as those of an index are."""
    testset = TestSet(Question(f"q{n}", f"Question {n}?") for n in range(ASKED))
    columns = {"text": Lazy(2 * ASKED, lambda place: f"passage {place % 7}")}
    docs = [f"d{place % 7}" for place in range(2 * ASKED)]
    run = Run(
        "bm25", question_ids=testset.ids, offsets=np.arange(0, 2 * ASKED + 1, 2), _docs=docs, _scores=None,
        order="given", fields=columns,
    )  # fmt: skip
    system = StudySystem(configuration=SimpleNamespace(name="bm25"), run=run)
    answerer = answerer_named(AnswererSettings("chat"), Models(chat=chat))
    (answered,), _ = answer_all([system], testset, answerer, 2)
    assert chat.llm.count == len(answered.run.answers) == ASKED
    assert prompts.most <= FEW
    contexts = [text for answer in answered.run.answers.values() for text in answer.contexts]
    assert len(contexts) == 2 * ASKED
    assert len({id(text) for text in contexts}) == 7


def test_a_judge_holds_no_more_prompts_than_are_under_way(chat, prompts):
    answered = AnswerTable(
        ("x",),
        tuple(f"q{n}" for n in range(ASKED)),
        texts=[f"Question {n}?" for n in range(ASKED)],
        answers=[f"Answer {n}." for n in range(ASKED)],
        references=[(f"Reference {n}.",) for n in range(ASKED)],
        contexts=[(f"Context {n}.",) for n in range(ASKED)],
        answerable=[True] * ASKED,
        models=Models(chat=chat),
    )
    parse("Relevance").of(answered)
    assert chat.llm.count >= ASKED
    assert prompts.most <= FEW
