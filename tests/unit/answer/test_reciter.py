"""`reciter`: the first context, whole."""

from karat.answer import AnswererSettings, answerer_named
from karat.core.asked import AnswerRequest, Context
from karat.core.models import Models


def _answer(asked, **settings):
    answers = []
    reciter = answerer_named(AnswererSettings("reciter", **settings), Models())
    reciter.answer([asked], lambda one, answer: answers.append(answer))
    (answer,) = answers
    return answer


def test_it_recites_the_first_context():
    answer = _answer(AnswerRequest("q", "Where?", (Context("a", " In Rome.\n"), Context("b", "In Oslo."))))
    assert (answer.question, answer.text) == ("q", " In Rome.\n")
    assert (answer.contexts, answer.used, answer.given) == ((" In Rome.\n",), ("a",), ("a", "b"))
    assert (answer.confidence, answer.tokens, answer.cost_usd, answer.error) == (None, None, None, None)
    assert set(answer.seconds) == {"answer"}


def test_it_says_nothing_without_a_context():
    assert (_answer(AnswerRequest("q", "Where?")).text, _answer(AnswerRequest("q", "Where?")).used) == ("", ())


def test_it_says_nothing_where_the_first_context_does_not_fit():
    assert _answer(AnswerRequest("q", "Where?", (Context("a", "one two three"),)), context_tokens=2).text == ""
