"""eRAG by hand, against a second computation, and with a chat model behind a real server."""

import math

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.models import Models
from karat.core.types import Answer
from karat.experiment.models import models_of
from karat.models.chat import Budget, Calls, Chat, ChatSettings
from karat.testing import FakeLLM, Fault


class Scripted:
    """Answers with the text of its one context behind "says "; keeps what it was asked."""

    name = fingerprint = "scripted"

    def __init__(self):
        self.asked = []

    def answer(self, asked, done):
        self.asked += asked
        for one in asked:
            (context,) = one.contexts
            text = context.text.removeprefix("says ")
            done(one, Answer(one.id, None, error="timeout") if text == "fails" else Answer(one.id, text))


def table(*contexts, references=("k b c d",), systems=("s",), models=None, answerer=None, progress=None):
    size = len(contexts)
    made = Models(answerer=lambda name, models: answerer or Scripted(), progress=progress)
    return AnswerTable(
        systems, tuple(f"q{i}" for i in range(size // len(systems))), texts=["Which letters?"] * size,
        answers=["x"] * size, references=[references] * size, contexts=contexts, answerable=[True] * size,
        models=models or made,
    )  # fmt: skip


def of(name, answered):
    return parse(name).of(answered)


LIST = ("says z", "says k b c d", "says k b", "says I don't know.")  # TokenF1 0, 1, 4/6, 0


def test_ndcg_of_gains_by_hand():
    found = of("eRAG", table(LIST)).values[0]
    dcg = 1 / math.log2(3) + (2 / 3) / math.log2(4)
    assert found == pytest.approx(dcg / (1 + (2 / 3) / math.log2(3)))
    at_2 = of("eRAG@2", table(LIST)).values[0]  # the ideal is over all that was retrieved
    assert at_2 == pytest.approx((1 / math.log2(3)) / (1 + (2 / 3) / math.log2(3)))


def test_other_measures_take_a_threshold():
    values = {
        "eRAG(of=Precision)@4": 2 / 4, "eRAG(of=Precision, rel=0.7)@4": 1 / 4, "eRAG(of=MRR)": 1 / 2,
        "eRAG(of=MAP)": (1 / 2 + 2 / 3) / 2, "eRAG(of=Hit)@1": 0.0, "eRAG(of=Hit)@2": 1.0,
        "eRAG(of=Precision, score=EM)@4": 1 / 4, "eRAG(of=Precision, rel=0)@4": 2 / 4,
    }  # fmt: skip
    for name, value in values.items():
        assert of(name, table(LIST)).values[0] == pytest.approx(value), name
    with pytest.raises(UsageError, match="Write one from 0 to 1"):
        of("eRAG(rel=2)", table(LIST))


def test_ndcg_against_a_second_computation():
    random = np.random.default_rng(5)
    for _ in range(40):
        words = [" ".join(random.choice(list("kbcdxyz"), random.integers(1, 6))) for _ in range(random.integers(1, 7))]
        texts = list(dict.fromkeys(words))
        k = int(random.integers(1, 8))
        gains = []
        for text in texts:
            said, wanted = text.split(), ["k", "b", "c", "d"]
            common = sum(min(said.count(w), wanted.count(w)) for w in set(said))
            gains.append(2 * common / (len(said) + 4))

        def dcg(some, k=k):
            return sum(gain / math.log2(place + 2) for place, gain in enumerate(some[:k]))

        best = dcg(sorted(gains, reverse=True))
        found = of(f"eRAG@{k}", table(tuple(f"says {text}" for text in texts))).values[0]
        assert found == pytest.approx(dcg(gains) / best if best else 0.0, abs=1e-9)


def test_a_list_that_helps_nobody_scores_0_and_what_cannot_be_known_is_undefined():
    rows = (("says z", "says y"), (), None)
    for name in ("eRAG", "eRAG(of=MAP)", "eRAG(of=Precision)@2"):
        found = of(name, table(*rows))
        assert found.values[0] == 0.0
        assert found.undefined == {1: "nothing retrieved", 2: "no context texts are known"}
    found = of("eRAG(of=Recall)", table(LIST))
    assert "Recall is not known" in found.undefined[0]
    assert of("eRAG", table(LIST, references=())).undefined == {0: "no reference answer"}
    assert "empty after normalisation" in of("eRAG", table(LIST, references=("...",))).undefined[0]


def test_each_passage_of_a_question_is_asked_about_once_for_all_systems_and_measures():
    answerer, seen = Scripted(), []
    lists = (("says k", "says b"), ("says b", "says c", "says b"))
    answered = table(*lists, systems=("s", "t"), answerer=answerer, progress=lambda *told: seen.append(told))
    one, two = of("eRAG", answered), of("eRAG(of=Precision)@3", answered)
    assert [request.contexts[0].text for request in answerer.asked] == ["says k", "says b", "says c"]
    assert seen[-1] == ("answering by scripted from each passage alone", 3, 3)
    assert two.values.tolist() == [0, 0]
    assert one.values[0] == pytest.approx(1.0)
    assert one.values[1] == pytest.approx(1.0)  # the passage that comes again counts once
    assert [row["gain"] for row in one.details[1]["passages"]] == pytest.approx([0.4, 0.4, 0.4])


def test_an_answer_that_fails_fails_its_question_alone():
    found = of("eRAG", table(("says k", "fails"), ("says k b c d",)))
    assert found.failed == {0: "passage 2: timeout"}
    assert found.values[1] == 1.0
    assert found.details[0]["passages"][1]["error"] == "timeout"


def test_a_passage_without_words_is_not_asked_about():
    answerer = Scripted()
    found = of("eRAG", table((" ", "says k b c d"), answerer=answerer))
    assert [request.contexts[0].text for request in answerer.asked] == ["says k b c d"]
    assert found.values[0] == pytest.approx(1 / math.log2(3))


def test_extractive_works_without_a_model():
    contexts = ("Bananas are yellow and sweet.", "Paris is the capital of France.")
    answered = AnswerTable(
        ("s",), ("q",), texts=["What is the capital of France?"], answers=[None],
        references=[("Paris is the capital of France.",)], contexts=[contexts], answerable=[True], models=models_of(),
    )  # fmt: skip
    found = of("eRAG", answered)
    assert found.values[0] == pytest.approx(1 / math.log2(3))
    assert [row["gain"] for row in found.details[0]["passages"]] == [0.0, 1.0]


def test_it_says_what_it_needs():
    with pytest.raises(UsageError, match="needs an answerer"):
        of("eRAG", table(LIST, models=Models()))
    with pytest.raises(UsageError, match="cut by rank"):
        of("eRAG@800t", table(LIST))
    assert (parse("eRAG").needs, parse("eRAG(by=chat)").needs) == (("embedder",), ("chat", "embedder"))


def asked_of(llm, calls, lists, budget=None):
    settings = ChatSettings("fake", base_url=llm.base_url, retries=1, jobs=4, timeout_seconds=30.0)
    with Chat(settings, calls, budget, first_wait_seconds=0.001) as chat:
        models = Models(chat=chat, answerer=models_of().answerer)
        return of("eRAG(by=chat)", table(*lists, models=models))


def says(request):
    return next((text for text in ("k b c d", "k b", "z z") if text in request.user), "nonsense")


def test_a_chat_model_is_asked_once_a_passage_and_never_again(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    lists = (("says z z", "says k b c d"), ("says k b c d", "says k b"))
    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(says) as llm:
        found = asked_of(llm, calls, lists)
        assert llm.count == 3  # the two questions say the same, and so do two prompts
        assert found.values.tolist() == pytest.approx([1 / math.log2(3), 1.0])
        assert found.details[0]["model"]
        again = asked_of(llm, calls, lists)
        assert llm.count == 3
        assert again.values.tolist() == found.values.tolist()


def test_faults_and_a_spent_budget_are_failed_rows(tmp_path):
    def broken(request):
        return Fault("server_error", times=None) if "z z" in request.user else None

    lists = (("says z z", "says k b c d"), ("says k b c d",))
    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(says, broken) as llm:
        found = asked_of(llm, calls, lists)
    assert list(found.failed) == [0]
    assert found.failed[0].startswith("passage 1: ")
    assert found.values[1] == 1.0
    with Calls(tmp_path / "other.sqlite") as calls, FakeLLM(says) as llm:
        found = asked_of(llm, calls, (("says k b",), ("says z z",)), Budget(max_calls=1))
        assert llm.count == 1
    assert list(found.failed) == [1]
    assert "budget" in found.failed[1] or "max_calls" in found.failed[1]
