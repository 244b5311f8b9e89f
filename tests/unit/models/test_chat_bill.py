"""Pace, estimate and ledger of the chat client, by hand."""

import pytest

from karat.core.means import Prompt
from karat.models.chat import Budget, ChatSettings, Estimate, Spent, estimate
from karat.models.chat._asking import Pace
from karat.models.chat.budget import Ledger, tokens_about, tokens_most
from karat.models.endpoint import backoff

PRICED = ChatSettings("m", price_in_usd=1.0, price_out_usd=2.0, max_tokens=1000)


def test_so_many_a_minute_in_any_minute():
    pace = Pace(3)
    waits = [pace.wait(now) for now in (0.0, 10.0, 20.0, 20.0, 20.0, 20.0, 20.0)]
    assert waits == [0.0, 0.0, 0.0, 40.0, 50.0, 60.0, 100.0]
    assert Pace(None).wait(5.0) == 0.0


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
    assert found == Estimate("m", 2, 3, 10, 1010, pytest.approx((10 + 2020) / 1e6))
    assert found.sentence == (
        "asking m 2 times (3 known already): about 10 tokens to read, at most 1,010 to write; about 0.002 USD at most"
    )
    unknown = estimate(ChatSettings("m"), [Prompt("1234")], 0)
    assert unknown.cost_usd is None
    assert unknown.sentence == (
        "asking m once: about 5 tokens to read, at most 1,024 to write; cost unknown: give --price-in and --price-out"
    )


def test_what_is_spent_is_a_sentence():
    assert Spent().sentence == "0 calls; 0 tokens read, 0 written; cost 0.00 USD"
    assert Spent(1, 2, 3, None, None, None, 4).sentence == (
        "1 call, 2 known already, 3 failed, 4 not asked; tokens unknown; cost unknown"
    )
    assert Spent(5, 0, 1, 10, 20, 1.5, 0, 0.25).sentence == (
        "5 calls, 1 failed; 10 tokens read, 20 written; cost 1.50 USD, and up to 0.25 USD for calls that broke off"
    )


def test_calls_are_counted_before_they_are_made():
    ledger = Ledger(PRICED, Budget(max_calls=2))
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
    ledger = Ledger(PRICED, Budget(max_cost_usd=1.0))
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
    ledger = Ledger(PRICED, Budget(max_cost_usd=1.0))
    ledger.take(0.5)
    assert ledger.pay(0.5, None, 3) is None
    ledger.take(0.1)
    ledger.pay(0.1, 1000, 1000)
    spent = ledger.spent
    assert (spent.prompt_tokens, spent.completion_tokens, spent.cost_usd) == (None, 1003, None)
    assert ledger.take(0.6) is False  # .5 counts, as the most it can have been


def test_the_most_that_a_request_can_cost():
    ledger = Ledger(PRICED, Budget())
    assert ledger.most(PRICED.request(Prompt("1234")), 1000) == pytest.approx((36 + 2000) / 1e6)


def test_a_call_that_broke_off_has_an_unknown_cost_where_prices_are_unknown():
    ledger = Ledger(ChatSettings("m"), Budget())
    ledger.take(0.0)
    ledger.lose(0.0)
    assert ledger.spent.cost_usd is None
    assert ledger.spent.sentence == "1 call; 0 tokens read, 0 written; cost unknown"
