"""Whether contexts suffice: by gold, by claims, and by a model behind a real server."""

import json
import re

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import ENTAILED, NEITHER, PARTIAL, ClaimRows
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.models import Models
from karat.measures.judge.context_sufficient import NOT_MATCHED, UNANSWERABLE
from karat.models.chat import Budget, Calls, Chat, ChatSettings
from karat.testing import FakeLLM, Fault


def table(size, **more):
    given = {
        "texts": [f"Where is item {i}?" for i in range(size)], "answers": ["In Paris."] * size,
        "references": [("Paris",)] * size, "contexts": [("c", "d")] * size, "answerable": [True] * size,
    }  # fmt: skip
    return AnswerTable(("s",), tuple(f"q{i}" for i in range(size)), **{**given, **more})


def test_by_gold_it_is_what_the_contexts_hold():
    found = parse("ContextSufficient").of(
        table(4, context_gold=[True, False, None, True], answerable=[True, True, True, False])
    )
    assert found.values[:2].tolist() == [1, 0]
    assert found.undefined == {2: NOT_MATCHED, 3: UNANSWERABLE}
    assert set(parse("ContextSufficient").of(table(2)).undefined.values()) == {NOT_MATCHED}


def test_by_claims_every_claim_needs_a_passage():
    rows = ClaimRows(["s"], [f"q{i}" for i in range(7)])
    verdicts = {
        0: {1: (ENTAILED, NEITHER), 2: (NEITHER, ENTAILED)},  # two passages share the work
        1: {1: (ENTAILED, ENTAILED), 2: (NEITHER, PARTIAL)},  # a part is not enough
        2: {1: (ENTAILED,)},  # the second passage is not judged
        3: {},
        4: {1: (ENTAILED, NEITHER)},
        5: {1: ()},
    }
    for pair, claims in verdicts.items():
        rows.passages(pair, 0 if pair == 5 else 2)
        rows.claims(pair, "reference", [f"claim {n}" for n in claims])
        for number, by_passage in claims.items():
            for passage, verdict in enumerate(by_passage, 1):
                rows.verdict(pair, "reference", number, "passage", verdict, passages=[passage])
    rows.claims(6, "reference", ["claim"])
    contexts = [*[("c", "d")] * 5, (), None]
    answered = table(7, claims=rows.table(), contexts=contexts, answerable=[True] * 4 + [False, True, True])
    found = parse("ContextSufficient(by=claims)").of(answered)
    assert found.values[[0, 1, 5]].tolist() == [1, 0, 0]
    assert found.failed == {2: "1 of 2 verdicts are missing (reference by passage)"}
    assert found.undefined == {
        3: "there is no reference answer that claims anything", 4: UNANSWERABLE, 6: "no context texts are known",
    }  # fmt: skip
    assert parse("ContextSufficient(by=claims)").relations == ("reference by passage",)
    assert parse("ContextSufficient").relations == ()


def grade(request):
    number = int(re.search(r"item (\d+)", request.messages[1]["content"])[1])
    return json.dumps({"reason": "r", "grade": "sufficient" if number % 2 == 0 else " Insufficient"})


def judged(llm, calls, answered, budget=None, repeat=1, name="ContextSufficient(by=model)"):
    settings = ChatSettings("fake", base_url=llm.base_url, retries=1, jobs=4, timeout_seconds=30.0)
    with Chat(settings, calls, budget, first_wait_seconds=0.001) as chat:
        models = Models(chat=chat, repeat=repeat)
        return parse(name).of(AnswerTable(**{**vars(answered), "models": models, "made": {}}))


def test_by_a_model_each_question_is_asked_about_once_and_never_again(tmp_path):
    answered = table(6, contexts=[*[("c", "d")] * 4, (), None], answerable=[True, True, True, False, True, True])
    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(grade) as llm:
        found = judged(llm, calls, answered)
        assert llm.count == 4  # no contexts are known to hold nothing; one that is unanswerable is asked about
        assert found.values[:5].tolist() == [1, 0, 1, 0, 0]
        assert found.undefined == {5: "no context texts are known"}
        assert (found.details[0]["grade"], found.details[0]["prompt"]) == ("sufficient", "context_sufficient/1")
        assert found.details[4] == {"by": "model", "reason": "there are no contexts"}
        user = llm.requests[0].user
        assert user.count("<<<") >= 6  # the question and both contexts stand between fences
        assert "In Paris" not in user
        assert judged(llm, calls, answered).values[:5].tolist() == [1, 0, 1, 0, 0]
        assert llm.count == 4
        judged(llm, calls, answered, repeat=3)
        assert llm.count == 12


@pytest.mark.parametrize(
    "nonsense", ["yes", '{"grade": "sufficient"}', '{"reason": "r", "grade": "<sufficient or insufficient>"}']
)
def test_nonsense_is_a_failed_row_and_no_grade(tmp_path, nonsense):
    def reply(request):
        return nonsense if "item 1?" in request.messages[1]["content"] else grade(request)

    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(reply) as llm:
        found = judged(llm, calls, table(3))
    assert list(found.failed) == [1]
    assert found.values[[0, 2]].tolist() == [1, 1]


def test_faults_that_pass_change_nothing_and_a_spent_budget_fails_the_rest(tmp_path):
    with Calls(tmp_path / "a.sqlite") as calls, FakeLLM(grade, lambda r: Fault("server_error", times=1)) as llm:
        assert judged(llm, calls, table(4)).values.tolist() == [1, 0, 1, 0]
        assert llm.count == 8
    with Calls(tmp_path / "b.sqlite") as calls, FakeLLM(grade) as llm:
        found = judged(llm, calls, table(4), Budget(max_calls=2))
        assert llm.count == 2
    assert len(found.failed) == 2
    assert np.isfinite(found.values).sum() == 2


def test_crag_by_a_model_asks_nothing_about_answers_that_abstain(tmp_path):
    def reply(request):
        if '"claims": ["<' in request.system:
            return json.dumps({"claims": ["It is in Paris."]})
        word = "covered" if "In Paris" in request.user else "contradicted"
        return json.dumps({"verdicts": [{"claim": 1, "reason": "r", "verdict": word}]})

    answers = ["In Paris.", "In Lyon.", "I don't know.", "", "I don't know.", "Here."]
    answered = table(6, answers=answers, texts=["Where?"] * 6, answerable=[True] * 4 + [False] * 2)
    answered = AnswerTable(**{**vars(answered), "references": [*[("Paris",)] * 4, (), ()]})
    with Calls(tmp_path / "calls.sqlite") as calls, FakeLLM(reply) as llm:
        found = judged(llm, calls, answered, name="CRAG(by=model)")
        assert found.values.tolist() == [1, -1, 0, 0, 1, -1]
        assert llm.count == 1 + 2  # the claims of the reference once, two answers against them
        assert sorted(found.details) == [0, 1]
    with Calls(tmp_path / "other.sqlite") as calls, FakeLLM("nonsense") as llm:
        found = judged(llm, calls, answered, name="CRAG(by=model)")
    assert sorted(found.failed) == [0, 1]
    assert found.values[2:].tolist() == [0, 0, 1, -1]


def test_without_a_model_it_says_what_to_write():
    with pytest.raises(UsageError, match=r"ContextSufficient\(by=gold\), which asks none"):
        parse("ContextSufficient(by=model)").of(table(1))
    assert parse("ContextSufficient").needs == ()
    assert parse("ContextSufficient(by=model)").needs == ("chat",)
