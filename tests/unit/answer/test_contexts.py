"""Which contexts an answerer reads."""

import pytest

from karat.answer import AnswererSettings
from karat.answer._contexts import within
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import UsageError

ASKED = AnswerRequest("q", "Where?", tuple(Context(str(i), "word " * (i + 1)) for i in range(4)))


def _read(**settings):
    return "".join(context.id for context in within(ASKED, AnswererSettings(**settings)))


def test_no_more_contexts_than_asked_for():
    assert _read(contexts=2) == "01"
    assert _read(contexts=9) == "0123"


def test_no_more_tokens_than_asked_for():
    assert [_read(context_tokens=n) for n in (1, 2, 3, 6, 9, 10)] == ["0", "0", "01", "012", "012", "0123"]


def test_what_stands_behind_the_first_that_does_not_fit_is_not_read():
    asked = AnswerRequest("q", "Where?", (Context("long", "word " * 9), Context("short", "word")))
    assert within(asked, AnswererSettings(context_tokens=5)) == ()


def test_punctuation_is_no_token():
    asked = AnswerRequest("q", "Where?", (Context("a", "one — two ... !"),))
    assert within(asked, AnswererSettings(context_tokens=2)) == asked.contexts


@pytest.mark.parametrize("settings", [{"contexts": 0}, {"context_tokens": 0}], ids=["contexts", "tokens"])
def test_a_budget_of_nothing_is_refused(settings):
    with pytest.raises(UsageError, match="1 "):
        within(ASKED, AnswererSettings(**settings))
