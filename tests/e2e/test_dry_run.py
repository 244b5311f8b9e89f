"""karat run --dry-run: calls, tokens and price beforehand, and nothing else."""

import json

import pytest

from karat.testing import FakeLLM

QUESTIONS = [
    {"id": f"q{n}", "question": f"What does tank {n} hold?", "gold": [{"doc": "fuel"}], "answers": ["Fuel."]}
    for n in range(4)
]
SPEC = """\
corpus: corpus.jsonl
testset: qa.jsonl
chunk: {chunk}
systems: [balanced, pure_sparse]
k: [1, 3]
main: MRR
model: {{name: fake, base_url: "{url}", price_in_usd: 1.0, price_out_usd: 2.0, max_tokens: 100}}
answer: {{by: chat, contexts: 3}}
outputs: [csv]
"""


@pytest.fixture
def tanks(put, folder):
    put(
        "corpus.jsonl", [{"id": "fuel", "text": "Each tank holds 42,000 litres of fuel."}, {"id": "b", "text": "Tank."}]
    )
    put("qa.jsonl", QUESTIONS)

    def spec(more="", chunk="tokens:50", url="http://127.0.0.1:1/v1"):
        put("karat.yaml", SPEC.format(chunk=chunk, url=url) + more)
        return sorted(path.name for path in folder.rglob("*"))

    return spec


def test_calls_tokens_and_price_are_said_and_nothing_is_run_or_written(tanks, folder, karat):
    before = tanks()
    told = karat("run", "--dry-run")
    assert told.code == 0, told.err
    assert told.out.startswith("4 questions, 2 systems; nothing was run.\nanswer: asking fake 8 times: about ")
    assert "at most 800 to write" in told.out
    assert "In all at most 8 calls" in told.out
    assert " USD at most" in told.out
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_as_json_with_the_price_of_what_is_read_and_written(tanks, karat):
    tanks()
    small = json.loads(karat("run", "--dry-run", "--json").out)
    tanks(chunk="tokens:500")
    large = json.loads(karat("run", "--dry-run", "--json").out)
    assert (small["calls"], small["completion_tokens_most"]) == (8, 800)
    assert small["cost_usd_most"] == pytest.approx((small["prompt_tokens"] + 2 * 800) / 1e6)
    more = large["prompt_tokens"] - small["prompt_tokens"]
    assert more == pytest.approx(8 * 3 * 450 * 1.5, rel=0.01)  # calls, contexts, words more, tokens a word


@pytest.mark.parametrize(
    ("more", "calls"),
    [
        ("judge: [Faithfulness]\n", {"answer": 8, "judge Faithfulness: claims": 8, "judge Faithfulness: verdicts": 8}),
        ("judge: [Responsiveness]\njudge_repeat: 3\n", {"answer": 8, "judge Responsiveness": 24}),
        ("judge: [ContextRelevance]\n", {"answer": 8, "judge ContextRelevance": 24}),
        ('judge: ["ContextSufficient(by=model)"]\n', {"answer": 8, "judge ContextSufficient": 8}),
        ('judge: ["eRAG(by=chat)@3"]\n', {"answer": 8 + 24}),  # each of three contexts alone
    ],
)
def test_judges_are_counted_as_they_ask(tanks, karat, more, calls):
    tanks(more)
    planned = json.loads(karat("run", "--dry-run", "--json").out)
    assert {one["purpose"]: one["calls"] for one in planned["purposes"]} == calls


def test_a_limit_of_questions_and_a_budget_are_told(tanks, karat):
    tanks("budgets: {max_calls: 3}\n")
    told = karat("run", "--dry-run")
    assert told.out.rstrip().endswith("The budget ends it after 3 calls.")


def test_rewriting_and_reranking_by_chat_are_counted(tanks, put, karat):
    tanks()
    put(
        "karat.yaml",
        "corpus: corpus.jsonl\ntestset: qa.jsonl\nsystems:\n  - {engine: bm25, rewrite: hyde, rerank: chat}\n"
        "  - {engine: dense, rewrite: hyde}\nmodel: fake\n",
    )
    planned = json.loads(karat("run", "--dry-run", "--json").out)
    assert {one["purpose"]: one["calls"] for one in planned["purposes"]} == {"hyde": 4, "rerank": 4}
    assert planned["cost_usd_most"] is None


def test_without_a_chat_model_it_costs_nothing(tanks, karat):
    tanks()
    told = karat("run", "--dry-run", "--answer", "extractive")
    assert (told.code, told.out) == (
        0, "4 questions, 2 systems; nothing was run.\nNo chat model is asked: 0 calls, 0 tokens, 0.00 USD.\n",
    )  # fmt: skip


def test_systems_that_are_results_are_counted(tanks, put, karat):
    tanks()
    put("old.jsonl", [{"id": f"q{n}", "retrieved": ["fuel"]} for n in range(4)])
    put("karat.yaml", "testset: qa.jsonl\nmain: MRR\nsystems: [{name: old, results: old.jsonl}]\n")
    told = karat("run", "--dry-run")
    assert told.code == 0, told.err
    assert told.out.startswith("4 questions, 1 system; nothing was run.")


def test_what_a_run_asks_is_no_more_than_was_planned(tanks, karat):
    def reply(request):
        return '{"reason": "r", "grade": "fully"}' if "JSON" in request.system else "It is so [1]."

    with FakeLLM(reply) as llm:
        tanks("judge: [Responsiveness]\n", url=llm.base_url)
        planned = json.loads(karat("run", "--dry-run", "--json").out)
        assert llm.count == 0
        assert karat("run", "-q").code == 0
        assert 0 < llm.count <= planned["calls"]
