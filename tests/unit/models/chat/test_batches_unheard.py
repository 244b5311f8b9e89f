"""Batches whose creation or replies were not heard of: nothing is paid twice."""

import pytest

from karat.core.errors import KaratError
from karat.core.models import Prompt
from karat.models.chat import _batch_server
from karat.testing import BatchScript, FakeLLM
from karat.testing._batches import BatchDesk, RefusedError

PROMPTS = [Prompt(f"question {n}", purpose="answer") for n in range(6)]


def batched(client, llm, calls, **more):
    return client(llm, calls, batch=True, **more)


def paid_once(llm):
    return len({request.digest for request in llm.paid}) == len(llm.paid) == len(PROMPTS)


@pytest.fixture
def answered_first(monkeypatch):
    """The server creates the first batch, and answers with a status; a second one is refused with another."""

    def answer(first, second=None):
        create, statuses = BatchDesk._create, [first, second]

        def answered(self, body, headers):
            status = statuses.pop(0) if statuses else None
            if len(statuses) == 0 and status is not None:
                raise RefusedError(status, "The file was used already.")
            shown = create(self, body, headers)
            if status is not None:
                raise RefusedError(status, "The server behind this one is late.")
            return shown

        monkeypatch.setattr(BatchDesk, "_create", answered)

    return answer


@pytest.mark.parametrize("status", [408, 500, 504])
def test_a_status_that_may_hide_a_batch_has_it_looked_for(client, calls, answered_first, status):
    answered_first(status)
    with FakeLLM(batches=BatchScript(hidden=2)) as llm, batched(client, llm, calls) as chat:
        assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert len(llm.batches) == 1
        assert paid_once(llm)


@pytest.mark.parametrize("second", [400, 401, 409])
def test_a_refusal_says_nothing_of_the_attempt_before_it(client, calls, answered_first, second):
    answered_first(500, second)
    with FakeLLM(batches=BatchScript(hidden=13)) as llm:  # not listed before the command is run again
        with batched(client, llm, calls) as chat, pytest.raises(KaratError):
            chat.ask(PROMPTS)
        with batched(client, llm, calls) as chat:
            assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert len(llm.batches) == 1
        assert paid_once(llm)


def test_a_batch_is_found_where_the_oldest_are_listed_first(client, calls, monkeypatch):
    def listed(self, query):
        old = [{"id": f"old_{n}", "created_at": 1_000_000 + n} for n in range(5)]
        shown = [*old, *(batch.shown() for batch in self.batches)]
        start = [one["id"] for one in shown].index(query["after"]) + 1 if "after" in query else 0
        return {"data": shown[start : start + 2], "has_more": start + 2 < len(shown)}

    monkeypatch.setattr(BatchDesk, "_list", listed)
    monkeypatch.setattr(_batch_server, "_PAGE", 2)
    with FakeLLM(batches=BatchScript(lost=("create",))) as llm, batched(client, llm, calls) as chat:
        assert [reply.error for reply in chat.ask(PROMPTS)] == [None] * 6
        assert len(llm.batches) == 1


@pytest.mark.parametrize("reply", [{}, {"data": None}, {"object": "list", "batches": []}])
def test_a_list_that_is_none_is_no_word_that_there_is_no_batch(client, calls, monkeypatch, reply):
    monkeypatch.setattr(BatchDesk, "_list", lambda self, query: reply)
    with FakeLLM(batches=BatchScript(lost=("create",))) as llm, batched(client, llm, calls) as chat:
        with pytest.raises(KaratError, match="does not tell whether it took a batch of 6 requests"):
            chat.ask(PROMPTS)
        assert len(llm.batches) == 1


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_reply_that_cannot_be_read_is_not_asked_for_again_when_a_batch_ended_early(client, calls, end):
    def cut(content):
        return content.splitlines(keepends=True)[0] + content.splitlines()[1][:60]

    script = BatchScript(end=end, answered=0.5, output=cut, errors=lambda content: b"")
    with (
        FakeLLM(batches=[script, BatchScript()]) as llm,
        batched(client, llm, calls, price_in_usd=1.0, price_out_usd=2.0) as chat,
    ):
        replies = chat.ask(PROMPTS)
        assert len(llm.batches) == 1
        assert replies[0].error is None
        assert "the batch ended without a reply to it (1 line of its files cannot be read)" in replies[1].error
        assert chat.spent.doubtful_usd > 0
