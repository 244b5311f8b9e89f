"""What asking will take and did take, and the budget that it may not pass."""

import pytest

from karat.core.errors import UsageError
from karat.core.models import Prompt
from karat.models.chat import Budget, ChatSettings, ChatSpending, estimate
from karat.models.chat._asking import RateLimit
from karat.models.chat.budget import SpendingLedger, tokens_about, tokens_most
from karat.models.endpoint import backoff
from karat.testing import FakeLLM, Fault

PRICED = ChatSettings("m", price_in_usd=1.0, price_out_usd=2.0, max_tokens=1000)


def test_so_many_a_minute_in_any_minute():
    pace = RateLimit(3)
    waits = [pace.wait(now) for now in (0.0, 10.0, 20.0, 20.0, 20.0, 20.0, 20.0)]
    assert waits == [0.0, 0.0, 0.0, 40.0, 50.0, 60.0, 100.0]
    assert RateLimit(None).wait(5.0) == 0.0


def test_waits_double_and_differ_by_prompt():
    waits = [backoff(1.0, attempt, "a") for attempt in range(1, 12)]
    assert all(2.0 ** (n - 1) / 2 <= wait <= 2.0 ** (n - 1) for n, wait in enumerate(waits[:6], 1))
    assert all(30 <= wait <= 60 for wait in waits[6:])
    assert waits == [backoff(1.0, attempt, "a") for attempt in range(1, 12)]
    assert len({backoff(1.0, 1, f"{n}") for n in range(50)}) == 50


def test_tokens_before_they_are_counted():
    prompt = Prompt("12345", "Привет")  # 5 and 12 bytes
    assert tokens_about(prompt) == 2 + 4 + 3 + 4
    assert tokens_most(PRICED.request(prompt)) == 17 + 2 * 32


def test_an_estimate_is_a_sentence():
    found = estimate(PRICED, [Prompt("1234"), Prompt("1234", max_tokens=10)], 3)
    assert (found.calls, found.cached, found.prompt_tokens, found.completion_tokens_most) == (2, 3, 10, 1010)
    assert found.cost_usd == pytest.approx((10 + 2020) / 1e6)
    assert found.sentence == (
        "asking m 2 times (3 known already): about 10 tokens to read, at most 1,010 to write; about 0.002 USD at most"
    )
    unknown = estimate(ChatSettings("m"), [Prompt("1234")], 0)
    assert unknown.cost_usd is None
    assert unknown.sentence == (
        "asking m once: about 5 tokens to read, at most 1,024 to write; cost unknown: give --price-in and --price-out"
    )


UNKNOWN = ChatSpending(
    calls=1, cached=2, failed=3, prompt_tokens=None, completion_tokens=None, cost_usd=None, not_asked=4
)
KNOWN = ChatSpending(calls=5, failed=1, prompt_tokens=10, completion_tokens=20, cost_usd=1.5, doubtful_usd=0.25)


def test_what_is_spent_is_a_sentence():
    assert ChatSpending().sentence == "0 calls; 0 tokens read, 0 written; cost 0.00 USD"
    assert UNKNOWN.sentence == ("1 call, 2 known already, 3 failed, 4 not asked; tokens unknown; cost unknown")
    assert KNOWN.sentence == (
        "5 calls, 1 failed; 10 tokens read, 20 written; cost 1.50 USD, and up to 0.25 USD for calls that broke off"
    )


def test_calls_are_counted_before_they_are_made():
    ledger = SpendingLedger(PRICED, Budget(max_calls=2))
    assert [ledger.take(0.0) for _ in range(3)] == [True, True, None]
    ledger.free(0.0, reached=False)  # never got there: does not count
    assert ledger.take(0.0) is True
    ledger.pay(0.0, 1, 1)
    assert ledger.take(0.0) is None
    ledger.free(0.0, reached=True)
    assert ledger.take(0.0) is False
    assert ledger.refusal == "the budget of 2 calls is spent"
    assert ledger.spent.calls == 2


def test_cost_is_reserved_at_its_most_and_given_back():
    ledger = SpendingLedger(PRICED, Budget(max_cost_usd=1.0))
    assert [ledger.take(0.4), ledger.take(0.4), ledger.take(0.4)] == [True, True, None]
    assert ledger.pay(0.4, 100_000, 0) == pytest.approx(0.1)
    assert ledger.take(0.4) is True  # .1 paid, .8 reserved
    ledger.lose(0.4)
    ledger.pay(0.4, 0, 100_000)
    assert ledger.take(0.4) is False  # .3 paid, .4 may have been
    assert ledger.refusal == (
        "the budget of 1.00 USD is spent (0.30 USD paid, up to 0.40 USD for calls that broke off; the next call could "
        "pass it)"
    )
    assert ledger.take(0.0) is False  # spent is spent
    spent = ledger.spent
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (3, 100_000, 100_000)
    assert (spent.cost_usd, spent.doubtful_usd) == (pytest.approx(0.3), pytest.approx(0.4))


def test_a_reply_without_numbers_makes_the_sum_unknown():
    ledger = SpendingLedger(PRICED, Budget(max_cost_usd=1.0))
    ledger.take(0.5)
    assert ledger.pay(0.5, None, 3) is None
    ledger.take(0.1)
    ledger.pay(0.1, 1000, 1000)
    spent = ledger.spent
    assert (spent.prompt_tokens, spent.completion_tokens, spent.cost_usd) == (None, 1003, None)
    assert ledger.take(0.6) is False  # .5 counts, as the most it can have been


def test_the_most_that_a_request_can_cost():
    ledger = SpendingLedger(PRICED, Budget())
    assert ledger.most(PRICED.request(Prompt("1234")), 1000) == pytest.approx((36 + 2000) / 1e6)


def test_a_call_that_broke_off_has_an_unknown_cost_where_prices_are_unknown():
    ledger = SpendingLedger(ChatSettings("m"), Budget())
    ledger.take(0.0)
    ledger.lose(0.0)
    assert ledger.spent.cost_usd is None
    assert ledger.spent.sentence == "1 call; 0 tokens read, 0 written; cost unknown"


def test_what_each_step_will_take_is_said_before_it(calls, client):
    said = []
    with FakeLLM() as llm, client(llm, calls, announce=said.append) as chat:
        for purpose in ("claims", "claims", "verdicts"):
            chat.ask([Prompt(f"{purpose} {len(said)}", purpose=purpose)])
    assert [text.partition(":")[0] for text in said] == ["claims", "verdicts"]


def test_what_it_will_take_is_said_once_before_the_first_call(calls, client):
    said = []
    with FakeLLM() as llm, client(llm, calls, announce=said.append) as chat:
        chat.ask([Prompt("known")])
    assert len(said) == 1
    with FakeLLM() as other, client(other, calls, announce=lambda text: said.append((text, other.count))) as chat:
        chat.ask([])
        assert chat.estimate([Prompt("a"), Prompt("a"), Prompt("b")]).calls == 2
        chat.ask([Prompt("a")])
        assert chat.estimate([Prompt("a"), Prompt("b")]).cached == 1
        chat.ask([Prompt("b")])
    assert len(said) == 2
    assert said[1] == (
        "asking fake once: about 5 tokens to read, at most 1,024 to write; "
        "cost unknown: give --price-in and --price-out",
        0,
    )


def test_a_budget_of_calls_is_hard(calls, client):
    with FakeLLM() as llm, client(llm, calls, Budget(max_calls=5)) as chat:
        said = chat.ask([Prompt(f"{n}") for n in range(20)])
        assert llm.count == 5
        assert sum(s.text == "ok" for s in said) == 5
        assert {s.error for s in said if s.error} == {"not asked: the budget of 5 calls is spent"}
        assert (chat.spent.calls, chat.spent.not_asked, chat.spent.failed) == (5, 15, 0)
        assert calls.failures() == []
        again = chat.ask([Prompt(f"{n}") for n in range(20)])
        assert (llm.count, sum(s.cached for s in again)) == (5, 5)  # what is known costs nothing


def test_retries_count_in_the_budget(calls, client):
    with (
        FakeLLM(faults={Fault("server_error", None): 1.0}) as llm,
        client(llm, calls, Budget(max_calls=2), retries=5, jobs=1) as chat,
    ):
        first, second = chat.ask([Prompt("a"), Prompt("b")])
        assert llm.count == 2
        assert first.error == "HTTP 500: The server had an error; not asked again: the budget of 2 calls is spent"
        assert second.error == "not asked: the budget of 2 calls is spent"


def test_a_budget_of_nothing_asks_nothing(calls, client):
    with FakeLLM() as llm, client(llm, calls, Budget(max_calls=0)) as chat:
        assert chat.ask([Prompt("a")])[0].error == "not asked: the budget of 0 calls is spent"
        assert llm.count == 0


def test_a_budget_of_money_is_never_passed(calls, client):
    # a reply of 1,000 bytes is 250 tokens: .0005 USD; before it is known, 300 tokens are reserved
    with (
        FakeLLM("x" * 1000) as llm,
        client(llm, calls, Budget(max_cost_usd=0.005), max_tokens=300, price_in_usd=0.0, price_out_usd=2.0) as chat,
    ):
        said = chat.ask([Prompt(f"{n:02}") for n in range(40)])
        assert chat.spent.cost_usd == pytest.approx(0.0005 * llm.count)
        assert llm.count == 9  # the tenth could have cost .0006, with .0045 spent
        assert chat.spent.cost_usd <= 0.005
        assert sum(s.error is None for s in said) == 9
        assert {s.error for s in said if s.error} == {
            "not asked: the budget of 0.005 USD is spent (0.0045 USD paid; the next call could pass it)"
        }


def test_a_budget_of_money_needs_prices(calls, client):
    with pytest.raises(UsageError, match="needs the prices of fake: give --price-in and --price-out"):
        client("http://127.0.0.1:9/v1", calls, Budget(max_cost_usd=1.0))
