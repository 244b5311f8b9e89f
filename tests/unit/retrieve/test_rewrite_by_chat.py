"""Rewriters that ask a chat model: what they ask, how replies are read, and what becomes of failures."""

import pytest

from karat.core.errors import UsageError
from karat.core.models import ChatReply, Models
from karat.retrieve.rewrite import (
    Change,
    Prepares,
    Rewriter,
    Rewritten,
    check_named,
    needs_of,
    rewrite_all,
    rewriter_named,
)
from karat.retrieve.rewriters.expand import Expand

QUERY = "How long is the night watch?"


def no_texts():
    raise AssertionError("the corpus was asked for")


class Stub:
    """A chat model that says what `reply` makes of a prompt, and remembers every batch."""

    label = "stub"

    def __init__(self, reply):
        self.reply, self.batches = reply, []

    def ask(self, prompts, said=None):
        self.batches.append([prompt.user for prompt in prompts])
        return [
            said if isinstance(said := self.reply(prompt.user), ChatReply) else ChatReply(said) for prompt in prompts
        ]


def rewritten(text, reply, *queries):
    chat = Stub(lambda user: reply)
    return rewrite_all([rewriter_named(text, no_texts)], queries or [QUERY], Models(chat=chat)), chat


def read(text, reply):
    (done,), _ = rewritten(text, reply)
    assert done.error is None
    return done.queries


@pytest.mark.parametrize("text", ["rephrase", "rephrase:5", "hyde", "translate:ru"])
def test_they_are_rewriters_that_need_a_chat_model(text):
    made = rewriter_named(text, no_texts)
    assert isinstance(made, Rewriter)
    assert isinstance(made, Prepares)
    assert needs_of(text) == ("chat",)
    assert needs_of("expand:FILE") == needs_of("spell") == ()
    with pytest.raises(UsageError, match=rf"{made.name} .*--model"):
        rewrite_all([made], [QUERY])[0]
    with pytest.raises(UsageError, match=rf"{made.name} was not told of the query"):
        made.rewrite(QUERY)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rephrase:x", "rephrase:x: write how many phrasings, from 1 to 20"),
        ("rephrase:0", "rephrase:0: write how many"),
        ("rephrase:21", "rephrase:21: write how many"),
        ("rephrase:²", "rephrase:²: write how many"),
        ("hyde:3", "hyde:3: hyde takes nothing after a colon."),
        ("translate", "translate needs a language. Write translate:en"),
        ("translate:../x", "translate:../x: no language."),
        ("translate:r2", "translate:r2: no language."),
        ("hide", "unknown rewriter 'hide'. Did you mean hyde?"),
    ],
)
def test_what_they_do_not_take_is_refused_before_anything_is_asked(text, told):
    with pytest.raises(UsageError) as caught:
        check_named(text)
    assert str(caught.value).startswith(told)


def test_a_list_of_a_rewriter_that_asks_nobody_is_not_read_by_the_check():
    check_named("expand:nowhere.txt")


@pytest.mark.parametrize(
    ("reply", "phrasings"),
    [
        ("duration of the watch\nwatch hours", ("duration of the watch", "watch hours")),
        (
            'Here are three:\n\n1. "One way"\n2) Other way\n- «Third way»\n4. Fourth way',
            ("One way", "Other way", "Third way"),
        ),
        ("<think>Let me see.\n1. no</think>\n(1) yes", ("yes",)),
        ("3.5 kW at night?\n2 people at night?", ("3.5 kW at night?", "2 people at night?")),
        (f"{QUERY}\nother\nother", ("other",)),
        ("```text\nfenced\n```", ("fenced",)),
        ("the so-called 'night' watch", ("the so-called 'night' watch",)),
    ],
)
def test_phrasings_stand_one_a_line(reply, phrasings):
    assert read("rephrase", reply) == (QUERY, *phrasings)


def test_the_last_line_of_a_reply_that_was_cut_is_no_phrasing():
    assert read("rephrase", ChatReply("whole line\nhalf a li", cut=True)) == (QUERY, "whole line")


def test_so_many_phrasings_are_asked_for_and_no_more_are_taken():
    (done,), chat = rewritten("rephrase:2", "a\nb\nc")
    assert done.queries == (QUERY, "a", "b")
    assert done.changes == (Change("rephrase", QUERY, "a"), Change("rephrase", QUERY, "b"))
    assert chat.batches == [[f"Write 2 other phrasings of this question.\n\n{QUERY}"]]


def test_a_made_up_passage_is_searched_beside_the_question():
    assert read("hyde", "The watch\n\nlasts four hours.") == (QUERY, "The watch lasts four hours.")
    assert read("hyde", ChatReply("The watch lasts", cut=True)) == (QUERY, "The watch lasts")


def test_a_translation_is_searched_beside_the_question():
    (done,), chat = rewritten("translate:ru", "«Сколько длится ночная вахта?»\n")
    assert done.queries == (QUERY, "Сколько длится ночная вахта?")
    assert chat.batches[0][0].startswith("Translate this question into Russian.")
    assert (
        rewritten("translate:Norwegian Bokmål", "x")[1]
        .batches[0][0]
        .startswith("Translate this question into Norwegian Bokmål.")
    )


def test_a_question_in_that_language_already_stays_alone_without_a_remark():
    (done,), _ = rewritten("translate:en", QUERY)
    assert done == Rewritten(QUERY, (QUERY,))


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("rephrase", ""),
        ("rephrase", "Here they are:"),
        ("rephrase", ChatReply("half", cut=True)),
        ("hyde", "<think>never done"),
        ("hyde", "I'm sorry, but I cannot answer that."),
        ("translate:ru", " ... "),
        ("translate:ru", ChatReply("Сколько дл", cut=True)),
    ],
)
def test_a_reply_with_nothing_to_search_by_leaves_the_question_alone_and_says_so(text, reply):
    (done,), _ = rewritten(text, reply)
    assert (done.queries, done.error, done.changes) == ((QUERY,), None, ())
    name = text.partition(":")[0]
    cut = " (it was cut off for want of tokens)" if isinstance(reply, ChatReply) else ""
    assert done.remarks == (f"{name}: the reply holds nothing to search by{cut}; the question was searched alone.",)


def test_a_call_that_failed_is_the_error_of_its_question_and_the_rest_go_on():
    chat = Stub(
        lambda user: (
            ChatReply(error="HTTP 500 six times", seconds=9.0) if "bad" in user else ChatReply("ok", seconds=2.0)
        )
    )
    done = rewrite_all([rewriter_named("rephrase", no_texts)], ["good", "bad", "fine"], Models(chat=chat))
    assert [one.queries for one in done] == [("good", "ok"), (), ("fine", "ok")]
    assert [one.error for one in done] == [None, "rephrase: HTTP 500 six times", None]
    assert [one.seconds for one in done] == [2.0, 9.0, 2.0]
    assert [len(batch) for batch in chat.batches] == [3]


def test_each_query_is_asked_once_and_one_without_words_never():
    chat = Stub(lambda user: "x")
    made = [rewriter_named("hyde", no_texts)]
    assert rewrite_all(made, ["", "?!", "a", "a"], Models(chat=chat))[0] == Rewritten("", ("",))
    rewrite_all(made, ["a", "b"], Models(chat=chat))
    assert [len(batch) for batch in chat.batches] == [1, 1]


def test_one_rewriter_after_the_other_asks_for_all_that_came_before_it_at_once():
    chat = Stub(lambda user: f"T {user.rpartition(chr(10))[2]}" if user.startswith("Translate") else "other")
    made = [
        Expand({"sar": ("rescue",)}),
        rewriter_named("rephrase:1", no_texts),
        rewriter_named("translate:de", no_texts),
    ]
    done = rewrite_all(made, ["sar", "watch"], Models(chat=chat))
    assert done[0].queries == ("sar rescue", "T sar rescue", "other", "T other")
    assert done[1].queries == ("watch", "T watch", "other", "T other")
    assert [len(batch) for batch in chat.batches] == [2, 3]
    assert [change.rewriter for change in done[0].changes] == ["expand", "rephrase", "translate", "translate"]


def test_what_failed_is_not_rewritten_further():
    chat = Stub(lambda user: ChatReply(error="down") if user.startswith("Write") else ChatReply("T"))
    made = [rewriter_named("rephrase", no_texts), rewriter_named("translate:de", no_texts)]
    (done,) = rewrite_all(made, ["watch"], Models(chat=chat))
    assert (done.queries, done.error) == ((), "rephrase: down")
    assert [len(batch) for batch in chat.batches] == [1]
