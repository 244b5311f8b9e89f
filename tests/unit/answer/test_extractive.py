"""`extractive`: spans and sentences of the contexts, or a refusal."""

import pytest

from karat.answer import AnswererSettings, answerer_named
from karat.core.asked import Asked, Context
from karat.core.errors import KaratError, UsageError
from karat.core.means import Means
from karat.core.text.refusals import declines

LIBRARY = """Opening hours
The town library is open from Tuesday to Saturday, 10:00 to 18:00. On Sundays it stays closed.
Membership costs 12 euros a year; children under 14 pay nothing. A lost card is replaced for 3 euros.
Borrowing
Eight books may be taken home at once. Films are lent for seven days only.
The reading room on the second floor seats forty people. Telephone calls are not allowed there.
The library was founded by Eleanor Whitcombe, a schoolteacher, in 1887. Its oldest treasure, a psalter, is kept in a
steel cabinet behind the lending desk.
The building had to be closed for two winters because the roof leaked."""
BICYCLE = """The chain is cleaned every 300 kilometres with a dry cloth.
Tyres of the City model are inflated to 4.5 bar, those of the Gravel model to 3 bar.
To remove the front wheel, open the brake, loosen the quick release and lift the fork.
The anti-lock braking system (ABS) is fitted to the Touring model only.
Tools you need:
- a 5 mm hex key
- a tyre lever
- a hand pump
The carrier comes in four colours: red, black, silver and blue.
Model | Weight | Gears | Price
City | 14 kg | 7 | 799 euros
Gravel | 10 kg | 22 | 1,899 euros"""
MUSEUM = """Музей открыт ежедневно, кроме понедельника. Касса закрывается в 18:30.
Билет для взрослых стоит 450 рублей, для студентов — 200 рублей.
Музей основал купец Пётр Ильич Назаров в 1894 году.
Самый древний экспонат, бронзовый топор, хранится в третьем зале на втором этаже.
Входить в залы с рюкзаками нельзя, потому что можно задеть витрины.
В музее четыре зала: зал природы, зал ремёсел, зал живописи и зал оружия.
Система автоматического отключения (САО) срабатывает через 30 минут."""
CONTEXTS = tuple(Context(str(i), text) for i, text in enumerate((LIBRARY, BICYCLE, MUSEUM)))


def _answer(question, contexts=CONTEXTS, means=None, **settings):
    answers = []
    extractive = answerer_named(AnswererSettings("extractive", **settings), means or Means())
    extractive.answer([Asked("q", question, contexts)], lambda one, answer: answers.append(answer))
    (answer,) = answers
    return answer


ANSWERED = {
    "How many books may I take home at once?": "Eight books",
    "How long are films lent?": "seven days",
    "How much does membership cost?": "12 euros a year",
    "Who founded the library?": "Eleanor Whitcombe",
    "When was the library founded?": "in 1887",
    "Where is the psalter kept?": "in a steel cabinet behind the lending desk",
    "Why was the building closed for two winters?": "because the roof leaked",
    "What does ABS stand for?": "The anti-lock braking system",
    "How often is the chain cleaned?": "every 300 kilometres",
    "To what pressure are the tyres of the Gravel model inflated?": "3 bar",
    "What is the price of the Gravel model?": "1,899 euros",
    "How many gears does the City model have?": "7",
    "Which tools do I need?": "a 5 mm hex key; a tyre lever; a hand pump",
    "In which colours does the carrier come?": "red, black, silver and blue",
    "How do I remove the front wheel?": "open the brake, loosen the quick release and lift the fork.",
    "Who founded the library, and when was it founded?": "Eleanor Whitcombe; in 1887",
    "Are telephone calls allowed in the reading room?": "no, Telephone calls are not allowed there.",
    "Во сколько закрывается касса?": "в 18:30",
    "Сколько стоит билет для студентов?": "200 рублей",
    "Кто основал музей?": "Пётр Ильич Назаров",
    "Когда был основан музей?": "в 1894 году",
    "Где хранится бронзовый топор?": "в третьем зале на втором этаже",
    "Почему нельзя входить с рюкзаками?": "потому что можно задеть витрины",
    "Какие залы есть в музее?": "зал природы, зал ремёсел, зал живописи и зал оружия",
    "Что такое САО?": "Система автоматического отключения",
}


@pytest.mark.parametrize("question", ANSWERED)
def test_it_says_what_is_asked_for(question):
    answer = _answer(question)
    assert answer.text == ANSWERED[question]
    assert 0 < answer.confidence <= 1


@pytest.mark.parametrize(
    "question",
    ["How many calories has a portion of soup?", "Who conducted the orchestra in Vienna?", "Сколько весит кит?"],
)
def test_it_declines_what_the_contexts_do_not_say(question):
    answer = _answer(question)
    assert declines(answer.text)
    assert answer.confidence is None


def test_a_threshold_of_0_never_declines_and_of_1_always():
    assert not declines(_answer("Who conducted the orchestra in Vienna?", threshold=0.0).text)
    assert declines(_answer("Who founded the library?", threshold=1.0).text)


@pytest.mark.parametrize("threshold", [-0.1, 1.5])
def test_a_threshold_that_is_no_chance_is_refused(threshold):
    with pytest.raises(UsageError, match=f"threshold={threshold}"):
        _answer("Who?", threshold=threshold)


def test_it_names_all_contexts_that_it_read():
    answer = _answer("Who founded the library?", contexts=CONTEXTS[:2])
    assert (answer.used, answer.contexts, answer.model) == (("0", "1"), (LIBRARY, BICYCLE), "extractive")


def test_without_contexts_it_declines():
    assert declines(_answer("Who founded the library?", contexts=()).text)


def test_lines_broken_for_want_of_room_are_one_sentence():
    page = "4\nThe annual report\n4.2 Money\nThe garden was paid for by the sale of\nthe old mill, worth 900\ncrowns."
    assert _answer("What was the price of the old mill?", (Context("p", page),), threshold=0.0).text == "900 crowns"


def test_an_embedder_that_fails_makes_an_error_and_not_an_answer():
    class Failing:
        fingerprint = "failing"

        def embed(self, texts, role):
            raise KaratError("the endpoint is down.")

    answer = _answer("Who founded the library?", means=Means(embedder=Failing))
    assert (answer.text, answer.error) == (None, "the texts could not be embedded: the endpoint is down.")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "word " * 60_000,
        "." * 200_000,
        "\x00\x1f" * 50_000,
        "|" * 50_000,
        "- a\n" * 9_000,
        "\ud800. " * 500,
    ],
    ids=["word", "sentence", "dots", "controls", "bars", "items", "surrogates"],
)
def test_hostile_contexts_are_answered_all_the_same(text):
    for question in ("How many?", "Where is a word?", "\x00", ""):
        assert isinstance(_answer(question, (Context("c", text, title=text[:99]),)).text, str)
