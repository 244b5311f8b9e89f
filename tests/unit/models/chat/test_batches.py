"""The chat client by batches: what goes out, what is read back, what fails, what it costs, and hostile servers."""

import json
import threading
import time

import pytest

from karat.core.errors import KaratError, UsageError
from karat.core.models import Prompt
from karat.models.chat import Budget, Calls, _batch_asking, _batch_files
from karat.models.chat._batch_server import BatchServer
from karat.models.chat.batches import CREATING, Batches
from karat.models.structured import ask_structured
from karat.testing import BatchScript, FakeLLM, Fault

PRICES = {"price_in_usd": 1.0, "price_out_usd": 2.0}
PROMPTS = [Prompt(f"question {n}", purpose="answer") for n in range(6)]


@pytest.fixture
def batched(client):
    """A chat client that asks by batches."""
    return lambda llm, calls, budget=None, **more: client(llm, calls, budget, **{"batch": True, **more})


def echo(request):
    return f"answer to {request.user}"


def usage_cost(llm, share=1.0):
    """What the server would bill at PRICES: 4 bytes a token, counted here anew."""
    tokens = [(-(-len(r.user.encode()) // 4), -(-len(r.reply.encode()) // 4)) for r in llm.paid]
    return share * sum(reads * 1.0 + writes * 2.0 for reads, writes in tokens) / 1e6


def test_prompts_go_out_as_one_batch_and_come_back_in_order(calls, batched):
    news, sentences = [], []
    with (
        FakeLLM(echo) as llm,
        batched(llm, calls, progress=lambda *n: news.append(n), announce=sentences.append, **PRICES) as chat,
    ):
        told = []
        said = chat.ask([*PROMPTS, PROMPTS[0]], lambda n, reply: told.append(n))
        assert [reply.text for reply in said] == [f"answer to question {n}" for n in (0, 1, 2, 3, 4, 5, 0)]
        assert {reply.seconds for reply in said} == {None}
        assert sorted(told) == list(range(7))
        (batch,) = llm.batches
        assert (len(batch.bodies), batch.status, llm.count) == (6, "completed", 6)
        assert batch.metadata["karat"]
        (file,) = [content for name, content in llm._desk.files.items() if name.startswith("file-")]
        lines = [json.loads(line) for line in file.decode().splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
        assert len({line["custom_id"] for line in lines}) == 6
        assert lines[0]["body"]["messages"] == [{"role": "user", "content": "question 0"}]
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert chat.spent.cost_usd == pytest.approx(sum(call.cost_usd for call in calls), abs=1e-15)
        assert (chat.spent.calls, chat.spent.cached) == (6, 0)
        states = [what.partition(",")[0] for what, _, total in news if total == 6]
        assert states[:3] == ["batch validating", "batch in progress", "batch finalizing"]
        assert "in batches" in sentences[0]
        assert "--price-batch" in sentences[0]
        assert sentences[1].startswith("submitted 6 requests as batch_1;")
        assert Batches(calls).tokens() == {}
        assert [reply.cached for reply in chat.ask(PROMPTS)] == [True] * 6
        assert len(llm.batches) == 1


def test_a_reply_is_the_same_whichever_way_it_came(calls, client, batched):
    with FakeLLM(echo) as llm:
        with client(llm, calls) as chat:
            chat.ask(PROMPTS[:2])
        with batched(llm, calls) as chat:
            chat.ask(PROMPTS[:4])
        with client(llm, calls) as chat:
            assert [reply.text for reply in chat.ask(PROMPTS[:4])] == [f"answer to question {n}" for n in range(4)]
        assert llm.count == 4
        assert [len(batch.bodies) for batch in llm.batches] == [2]


def test_the_price_of_a_batch_is_the_users_share_of_the_prices(calls, batched):
    sentences = []
    with FakeLLM(echo) as llm, batched(llm, calls, announce=sentences.append, price_batch=0.5, **PRICES) as chat:
        said = chat.ask(PROMPTS)
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm, 0.5), abs=1e-15)
        assert sum(reply.cost_usd for reply in said) == pytest.approx(chat.spent.cost_usd, abs=1e-15)
        assert "at 0.5 of the full prices" in sentences[0]


def test_prices_of_batches_that_cannot_be(calls, batched):
    with FakeLLM() as llm:
        with pytest.raises(UsageError, match="share of the prices"):
            batched(llm, calls, price_batch=0.5)
        with pytest.raises(UsageError, match="price_batch must be a number, 0 or more, found -1"):
            batched(llm, calls, price_batch=-1, **PRICES)
        with pytest.raises(UsageError, match=r"price_batch 50 is above 1: .* 0\.5 for half\."):
            batched(llm, calls, price_batch=50, **PRICES)
        with pytest.raises(UsageError, match="batch must be true or false, found 'yes'"):
            batched(llm, calls, batch="yes")


def test_large_work_is_split(calls, batched, monkeypatch):
    monkeypatch.setattr(_batch_files, "MOST_REQUESTS", 4)
    with FakeLLM(echo) as llm, batched(llm, calls) as chat:
        said = chat.ask(PROMPTS)
        assert [len(batch.bodies) for batch in llm.batches] == [4, 2]
        assert [reply.text for reply in said] == [f"answer to question {n}" for n in range(6)]


def test_large_files_are_split(calls, batched, monkeypatch):
    monkeypatch.setattr(_batch_files, "MOST_BYTES", 2000)
    prompts = [Prompt("ä" * 100 + str(n)) for n in range(6)]
    with FakeLLM(echo) as llm, batched(llm, calls) as chat:
        chat.ask(prompts)
        sizes = [len(content) for name, content in llm._desk.files.items() if name.startswith("file-")]
        assert len(sizes) == 3
        assert max(sizes) <= 2000
        assert sum(len(batch.bodies) for batch in llm.batches) == 6


def test_an_expired_batch_is_sent_once_more_and_nothing_answered_is(calls, batched):
    scripts = [BatchScript(end="expired", answered=0.5), BatchScript()]
    with FakeLLM(echo, batches=scripts) as llm, batched(llm, calls, **PRICES) as chat:
        said = chat.ask(PROMPTS)
        assert [reply.text for reply in said] == [f"answer to question {n}" for n in range(6)]
        assert [len(batch.bodies) for batch in llm.batches] == [6, 3]
        assert len({request.digest for request in llm.paid}) == len(llm.paid) == 6
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert (chat.spent.calls, chat.spent.failed) == (6, 0)


def test_what_expires_twice_fails_with_its_reason_and_is_asked_again_later(calls, batched):
    scripts = [BatchScript(end="expired", answered=0.5), BatchScript(end="expired", answered=0.0), BatchScript()]
    with FakeLLM(echo, batches=scripts) as llm, batched(llm, calls, **PRICES) as chat:
        said = chat.ask(PROMPTS)
        assert [reply.error is None for reply in said] == [True, True, True, False, False, False]
        assert "before the completion window expired (attempt 2)" in said[3].error
        assert (chat.spent.failed, len(calls), len(calls.failures())) == (3, 3, 3)
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert chat.spent.doubtful_usd == 0
        later = chat.ask(PROMPTS)
        assert [reply.error for reply in later] == [None] * 6
        assert len(llm.paid) == 6


def test_a_batch_that_fails_asks_nothing_and_says_why(calls, batched):
    with FakeLLM(batches=BatchScript(end="failed", message="Line 1 is no request.")) as llm:
        with batched(llm, calls, **PRICES) as chat:
            said = chat.ask(PROMPTS)
            assert {reply.error for reply in said} == {"the batch failed: Line 1 is no request"}
            assert (chat.spent.calls, chat.spent.failed, chat.spent.cost_usd) == (0, 6, 0)
            assert chat.charged_usd == 0
        assert len(llm.batches) == 1


def test_a_cancelled_batch_keeps_what_was_answered(calls, batched):
    with FakeLLM(echo, batches=BatchScript(end="cancelled", answered=0.5)) as llm, batched(llm, calls) as chat:
        said = chat.ask(PROMPTS)
        assert [reply.error is None for reply in said] == [True, True, True, False, False, False]
        assert "cancelled" in said[5].error
        assert len(llm.batches) == 1


def test_a_batch_with_some_failures(calls, batched):
    faults = {
        "question 1": Fault("bad_request", None),
        "question 2": Fault("server_error"),
        "question 3": Fault("hang"),
    }
    with FakeLLM(echo, lambda r: faults.get(r.user)) as llm, batched(llm, calls, **PRICES) as chat:
        said = chat.ask(PROMPTS)
        assert [reply.text for reply in said] == [None if n == 1 else f"answer to question {n}" for n in range(6)]
        assert said[1].error == "HTTP 400: This request cannot be served"
        assert [sorted(body["messages"][0]["content"] for _, body in batch.bodies) for batch in llm.batches[1:]] == [
            ["question 2", "question 3"]
        ]
        assert chat.spent.failed == 1
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert chat.spent.doubtful_usd > 0  # what timed out may have been billed


def test_without_retries_nothing_is_sent_again(calls, batched):
    with FakeLLM(echo, {Fault("server_error"): 1.0}) as llm, batched(llm, calls, retries=0) as chat:
        assert {reply.error for reply in chat.ask(PROMPTS)} == {"HTTP 500: The server had an error"}
        assert len(llm.batches) == 1


def test_a_server_without_json_mode_gets_the_prompts_without(calls, batched):
    def refuses(request):
        return Fault("bad_request", None) if "response_format" in request.body else None

    with FakeLLM("{}", refuses) as llm, batched(llm, calls) as chat:
        assert [reply.text for reply in chat.ask([Prompt("a", json=True), Prompt("b")])] == ["{}", "{}"]
        assert [len(batch.bodies) for batch in llm.batches] == [2, 1]
        assert chat.ask([Prompt("c", json=True)])[0].text == "{}"
        assert len(llm.batches) == 3  # the mode is not tried again


def test_repairs_go_as_a_second_batch(calls, batched):
    from pydantic import BaseModel

    class Verdict(BaseModel):
        grade: int

    def judge(request):
        return "no JSON" if request.user == "question 1" else '{"grade": 1}'

    with FakeLLM(judge) as llm, batched(llm, calls) as chat:
        verdicts = ask_structured(chat, PROMPTS[:3], Verdict)
        assert [verdict.value.grade for verdict in verdicts] == [1, 1, 1]
        assert [len(batch.bodies) for batch in llm.batches] == [3, 1]


@pytest.mark.parametrize("step", ["upload", "create", "look", "content"])
def test_a_lost_reply_of_the_server_costs_nothing(calls, batched, step):
    with FakeLLM(echo, batches=BatchScript(lost=(step,), hidden=2)) as llm, batched(llm, calls) as chat:
        assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert (len(llm.batches), len(llm.paid)) == (1, 6)


def test_a_batch_is_found_by_its_file_where_the_server_drops_metadata(calls, batched, monkeypatch):
    from karat.testing import _batches

    shown = _batches.FakeBatch.shown
    monkeypatch.setattr(_batches.FakeBatch, "shown", lambda self: shown(self) | {"metadata": None})
    with FakeLLM(echo, batches=BatchScript(lost=("create",))) as llm, batched(llm, calls) as chat:
        assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert len(llm.batches) == 1


def test_a_batch_is_found_behind_many_others(calls, batched, monkeypatch):
    monkeypatch.setattr("karat.models.chat._batch_server._PAGE", 2)
    with FakeLLM(echo, batches=[BatchScript(lost=("create",), hidden=6), BatchScript()]) as llm:
        with (
            batched(llm, calls, retries=0) as chat,
            pytest.raises(KaratError, match="failed: the connection broke off"),
        ):
            chat.ask(PROMPTS)
        with Calls(calls.path.with_name("other.sqlite")) as others, batched(llm, others) as chat:
            for n in range(5):
                chat.ask([Prompt(f"other {n}")])
        with batched(llm, calls) as chat:
            assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert len(llm.batches) == 6
        assert len(llm.paid) == 11


def test_a_server_that_does_not_tell_is_not_paid_on_a_guess(calls, batched, monkeypatch):
    from karat.testing._batches import BatchDesk, RefusedError

    def unlisted(self, query):
        raise RefusedError(404, "nothing here")

    monkeypatch.setattr(BatchDesk, "_list", unlisted)
    with FakeLLM(echo, batches=BatchScript(lost=("create",))) as llm, batched(llm, calls) as chat:
        for _ in range(2):
            with pytest.raises(KaratError, match="does not tell whether it took a batch of 6 requests") as stopped:
                chat.ask(PROMPTS)
            assert "--no-batch" in str(stopped.value)
        assert len(llm.batches) == 1
    assert [Batches(calls).record(token).state for token in set(Batches(calls).tokens().values())] == [CREATING]


def test_a_refused_batch_fails_its_rows_and_costs_nothing(calls, batched):
    script = BatchScript(refuse=400, message="The model cannot be used in batches.")
    with FakeLLM(batches=script) as llm, batched(llm, calls, Budget(max_cost_usd=1.0), **PRICES) as chat:
        said = chat.ask(PROMPTS[:2])
        reason = "the server refused the batch: HTTP 400: The model cannot be used in batches"
        assert {reply.error for reply in said} == {reason}
        assert (chat.charged_usd, llm.batches, Batches(calls).tokens()) == (0, [], {})


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "refused access"), (402, "no credit left"), (404, "takes no batches .HTTP 404: No.. Leave --batch out")],
)
def test_what_no_batch_would_survive_stops(calls, batched, client, status, words):
    with FakeLLM(echo, batches=BatchScript(refuse=status, message="No.")) as llm:
        with batched(llm, calls) as chat, pytest.raises(KaratError, match=words):
            chat.ask(PROMPTS)
        with client(llm, calls) as chat:  # no batch was created: nothing is in the way of asking directly
            assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6


def test_the_budget_is_checked_before_a_batch_is_sent(calls, batched):
    with FakeLLM(echo) as llm, batched(llm, calls, Budget(max_cost_usd=0.005), **PRICES) as chat:
        said = chat.ask(PROMPTS)  # each may cost 42 bytes to read and 1,024 tokens to write: 0.00209 USD
        assert [reply.error is None for reply in said] == [True, True, False, False, False, False]
        assert said[2].error.startswith("not asked: the budget of 0.005 USD allows no more in this batch")
        assert (len(llm.batches[0].bodies), chat.spent.not_asked) == (2, 4)
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        more = chat.ask(PROMPTS)
        assert [reply.error is None for reply in more] == [True] * 4 + [False] * 2  # what was not spent is there again


def test_a_budget_of_calls(calls, batched):
    with FakeLLM(echo) as llm, batched(llm, calls, Budget(max_calls=4)) as chat:
        said = chat.ask(PROMPTS)
        assert [reply.error for reply in said[4:]] == ["not asked: the budget of 4 calls is spent"] * 2
        assert (chat.spent.calls, len(llm.batches[0].bodies)) == (4, 4)


def test_prompts_in_a_batch_are_not_asked_directly_unless_the_user_says_so(calls, batched, client):
    with FakeLLM(echo, batches=BatchScript(lost=("create",), hidden=20)) as llm:
        with batched(llm, calls, retries=0) as chat, pytest.raises(KaratError):
            chat.ask(PROMPTS)
        with client(llm, calls) as chat:
            with pytest.raises(UsageError, match="2 prompts of 2 went into a batch whose replies were not read yet"):
                chat.ask(PROMPTS[:2])
            assert chat.ask([Prompt("something else")])[0].error is None
        with client(llm, calls, batch=False) as chat:
            assert chat.ask(PROMPTS[:1])[0].text == "answer to question 0"


def test_threads_that_ask_the_same_at_once_pay_once(calls, batched):
    found = {}
    with FakeLLM(echo, batches=BatchScript(seconds=0.3)) as llm, batched(llm, calls, **PRICES) as chat:
        threads = [threading.Thread(target=lambda n=n: found.update({n: chat.ask(PROMPTS)})) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(llm.batches), len(llm.paid)) == (1, 6)
        assert {tuple(reply.text for reply in said) for said in found.values()} == {
            tuple(f"answer to question {n}" for n in range(6))
        }
        assert chat.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert (chat.spent.calls, chat.spent.cached) == (6, 12)


def test_a_batch_of_another_run_is_waited_for_and_read(tmp_path, batched):
    shared = tmp_path / "calls.sqlite"
    with (
        FakeLLM(echo, batches=BatchScript(seconds=0.3)) as llm,
        Calls(tmp_path / "one" / "calls.sqlite", shared) as one,
        Calls(tmp_path / "two" / "calls.sqlite", shared) as two,
        batched(llm, one, **PRICES) as first,
        batched(llm, two, **PRICES) as second,
    ):
        thread = threading.Thread(target=first.ask, args=(PROMPTS,))
        thread.start()
        while not llm.batches:
            time.sleep(0.005)
        said = second.ask(PROMPTS)
        thread.join()
        assert [reply.error for reply in said] == [None] * 6
        assert (len(llm.batches), len(llm.paid)) == (1, 6)
        assert first.spent.cost_usd + second.spent.cost_usd == pytest.approx(usage_cost(llm), abs=1e-15)
        assert (len(one), len(two)) == (6, 6)


@pytest.mark.parametrize("moment", ["while it waits", "while it looks for batches"])
def test_a_batch_that_another_process_has_read_is_taken_from_the_calls(tmp_path, batched, monkeypatch, moment):
    path = tmp_path / "calls.sqlite"
    with (
        FakeLLM(echo, batches=BatchScript(seconds=0.3)) as llm,
        Calls(path) as one,
        Calls(path) as two,
        batched(llm, one, **PRICES) as first,
        batched(llm, two, **PRICES) as second,
    ):
        thread = threading.Thread(target=first.ask, args=(PROMPTS,))
        thread.start()
        while not llm.batches or not llm.batches[0].looks:
            time.sleep(0.005)
        record, look_at = Batches.record, BatchServer.look_at

        def late_record(self, token):
            if self.calls is two:
                thread.join()
            return record(self, token)

        async def late_look(self, of):
            if self is not first._dispatcher.endpoint:
                thread.join()
            return await look_at(self, of)

        if moment == "while it waits":
            monkeypatch.setattr(BatchServer, "look_at", late_look)
        else:
            monkeypatch.setattr(Batches, "record", late_record)
        assert [reply.text for reply in second.ask(PROMPTS)] == [f"answer to question {n}" for n in range(6)]
        assert (len(llm.batches), len(llm.paid)) == (1, 6)
        assert (first.spent.calls, second.spent.calls, second.spent.cached, second.charged_usd) == (6, 0, 6, 0)


def test_a_server_that_goes_away_leaves_the_batch_to_the_next_time(calls, batched, monkeypatch):
    monkeypatch.setattr(_batch_asking, "_SILENT_LOOKS", 3)
    llm = FakeLLM(echo, batches=BatchScript(("in_progress",) * 10_000, seconds=60))
    with llm, batched(llm, calls) as chat:
        stopped = []

        def ask():
            try:
                chat.ask(PROMPTS)
            except KaratError as error:
                stopped.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        while not llm.batches or not llm.batches[0].looks:
            time.sleep(0.005)
        llm._server.stop()
        thread.join(20)
        llm.__enter__()  # so that the with block can end
    assert "cannot be reached" in stopped[0]
    assert "nothing is paid twice" in stopped[0]
    assert len(Batches(calls).tokens()) == 6


def test_a_batch_that_the_server_does_not_know_is_not_paid_for_again(calls, batched):
    with FakeLLM(echo, batches=BatchScript(states=("in_progress",) * 10_000, seconds=60)) as llm:
        with batched(llm, calls) as chat:
            chat.progress = lambda what, *_: chat.close() if "in progress" in what else None
            with pytest.raises(UsageError, match="was closed"):
                chat.ask(PROMPTS)
        llm._desk.batches.clear()
        with batched(llm, calls) as chat, pytest.raises(KaratError, match="does not have batch_1, or its replies"):
            chat.ask(PROMPTS)
        assert llm.batches == []


def hostile(rewrite, calls, batched):
    """What a client makes of a rewritten output file."""
    with FakeLLM(echo, batches=BatchScript(output=rewrite)) as llm, batched(llm, calls, **PRICES) as chat:
        return chat.ask(PROMPTS), chat.spent, llm


def lines_of(content):
    return [json.loads(line) for line in content.decode().splitlines()]


def joined(lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_replies_in_another_order_find_their_prompts(calls, batched):
    said, _, _ = hostile(lambda content: joined(reversed(lines_of(content))), calls, batched)
    assert [reply.text for reply in said] == [f"answer to question {n}" for n in range(6)]


def test_replies_with_ids_of_nobody_are_none(calls, batched):
    def renamed(content):
        return joined({**line, "custom_id": f"other-{n}"} for n, line in enumerate(lines_of(content)))

    said, spent, llm = hostile(renamed, calls, batched)
    assert {reply.error for reply in said} == {
        "the batch ended without a reply to it (6 lines of its files bear ids of no request)"
    }
    assert (len(calls), spent.failed, len(llm.batches)) == (0, 6, 1)
    assert spent.cost_usd == 0
    assert spent.doubtful_usd > 0


def test_two_different_replies_to_one_request_are_none(calls, batched):
    def doubled(content):
        first, *others = lines_of(content)
        second = json.loads(json.dumps(first).replace("answer to", "reply to"))
        return joined([first, *others, second, others[0]])

    said, _, _ = hostile(doubled, calls, batched)
    assert said[0].error == "the batch holds 2 different replies to it"
    assert [reply.text for reply in said[1:]] == [f"answer to question {n}" for n in range(1, 6)]


def test_lines_that_are_no_json_or_too_long_fail_alone(calls, batched):
    def broken(content):
        lines = content.splitlines()
        lines[1] = lines[1][:50]
        lines[2] = b'{"custom_id": ' + b"[" * 100_000
        lines[3] = lines[3].replace(b"answer to", b"x" * (6 << 20))
        return b"\n\n".join([b"\x00\xff", *lines, b"[1]", b"{}"])

    said, spent, _ = hostile(broken, calls, batched)
    assert [reply.error is None for reply in said] == [True, False, False, False, True, True]
    assert "(6 lines of its files cannot be read)" in said[1].error
    assert spent.failed == 3


@pytest.mark.parametrize(
    "response",
    [
        None,
        7,
        {},
        {"status_code": 200},
        {"status_code": 200, "body": "x"},
        {"status_code": "200", "body": {"choices": 3}},
    ],
)
def test_lines_of_another_shape_fail_alone(calls, batched, response):
    def odd(content):
        first, *others = lines_of(content)
        return joined([{**first, "response": response}, *others])

    said, _, _ = hostile(odd, calls, batched)
    assert [reply.error is None for reply in said] == [False, True, True, True, True, True]


def test_endless_files_are_read_no_further_than_there_is_reason_to(calls, batched, monkeypatch):
    monkeypatch.setattr(_batch_files, "_SMALLEST_BOUND", 100_000)
    monkeypatch.setattr(_batch_files, "_BYTES_A_REPLY", 1_000)
    said, _, _ = hostile(lambda content: content + b"x" * 10_000_000, calls, batched)
    assert [reply.error for reply in said] == [None] * 6
    said, _, _ = hostile(lambda content: b"{}\n" * 20_000 + content, Calls(calls.path.with_name("b")), batched)
    assert {"without a reply" in reply.error for reply in said} == {True}


@pytest.mark.parametrize("identifier", ["../../v1/models", "a/b", "", None, 7, "x" * 300, "id?x=1", "..", "a\nb"])
def test_ids_that_are_none_stop(calls, batched, monkeypatch, identifier):
    from karat.testing._batches import FakeBatch

    shown = FakeBatch.shown
    monkeypatch.setattr(FakeBatch, "shown", lambda self: shown(self) | {"id": identifier})
    refused = pytest.raises(KaratError, match="gave an id that cannot be one")
    with FakeLLM(echo) as llm, batched(llm, calls) as chat, refused:
        chat.ask(PROMPTS)


def test_keys_stand_in_no_file(calls, batched, monkeypatch, caplog):
    key = "sk-proj-unmistakable-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FakeLLM(lambda request: f"the key is {key}") as llm, batched(llm, calls) as chat:
        said = chat.ask(PROMPTS)
        assert {reply.text for reply in said} == {"the key is ${OPENAI_API_KEY}"}
        assert {request.headers["Authorization"] for request in llm.requests} == {f"Bearer {key}"}
    calls.close()
    content = b"".join(path.read_bytes() for path in calls.path.parent.iterdir() if path.is_file())
    assert key.encode() not in content
    assert key not in caplog.text


def test_redirects_are_not_followed(calls, batched, monkeypatch):
    from karat.testing import _server

    def redirected(self, content):
        self.send_response(307)
        self.send_header("Location", "http://127.0.0.1:9/v1/files")
        self.send_header("Content-Length", "0")
        self.end_headers()

    monkeypatch.setattr(_server._Handler, "_of_batches", redirected)
    with FakeLLM() as llm, batched(llm, calls) as chat, pytest.raises(KaratError, match="karat does not follow"):
        chat.ask(PROMPTS)
