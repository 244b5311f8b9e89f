"""`extractive`: a sentence of the contexts, or a refusal."""

import pytest

from karat.answer import AnswererSettings, answerer_named
from karat.core.asked import AnswerRequest, Context
from karat.core.errors import KaratError, UsageError
from karat.core.models import Models
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


def _answer(question, contexts=CONTEXTS, models=None, **settings):
    answers = []
    extractive = answerer_named(AnswererSettings("extractive", **settings), models or Models())
    extractive.answer([AnswerRequest("q", question, contexts)], lambda one, answer: answers.append(answer))
    (answer,) = answers
    return answer


ANSWERED = {
    "How many books may I take home at once?": "Eight books may be taken home at once.",
    "Who founded the library?": "The library was founded by Eleanor Whitcombe, a schoolteacher, in 1887.",
    "Why was the building closed for two winters?": (
        "The building had to be closed for two winters because the roof leaked."
    ),
    "What does ABS stand for?": "The anti-lock braking system (ABS) is fitted to the Touring model only.",
    "What is the price of the Gravel model?": "Gravel | 10 kg | 22 | 1,899 euros",
    "How long is the tyre lever?": "a tyre lever",
    "Во сколько закрывается касса?": "Касса закрывается в 18:30.",
    "Сколько стоит билет для студентов?": "Билет для взрослых стоит 450 рублей, для студентов — 200 рублей.",
}


@pytest.mark.parametrize("question", ANSWERED)
def test_it_quotes_the_sentence_that_answers(question):
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


def test_a_threshold_of_0_never_declines_and_of_1_wants_every_word():
    assert not declines(_answer("Who conducted the orchestra in Vienna?", threshold=0.0).text)
    assert not declines(_answer("Who founded the library?", threshold=1.0).text)
    assert declines(_answer("Who founded the library in spring?", threshold=1.0).text)


@pytest.mark.parametrize("threshold", [-0.1, 1.5])
def test_a_threshold_outside_0_to_1_is_refused(threshold):
    with pytest.raises(UsageError, match=f"threshold={threshold}"):
        _answer("Who?", threshold=threshold)


def test_it_names_all_contexts_that_it_read():
    answer = _answer("Who founded the library?", contexts=CONTEXTS[:2])
    assert (answer.used, answer.contexts, answer.model) == (("0", "1"), (LIBRARY, BICYCLE), "extractive")


def test_without_contexts_it_declines():
    assert declines(_answer("Who founded the library?", contexts=()).text)


def test_lines_broken_for_want_of_room_are_one_sentence():
    page = "4\nThe annual report\n4.2 Money\nThe garden was paid for by the sale of\nthe old mill, worth 900\ncrowns."
    answer = _answer("What was the old mill worth?", (Context("p", page),))
    assert answer.text == "The garden was paid for by the sale of the old mill, worth 900 crowns."


def test_a_heading_counts_for_the_sentences_below_it():
    page = "# Sledges\nThe hire is 4 crowns a day.\n# Skis\nThe hire is 2 crowns a day."
    assert _answer("What is the hire of skis?", (Context("p", page),)).text == "The hire is 2 crowns a day."


def test_confidence_is_the_share_of_the_questions_words_without_an_embedder():
    page = (Context("p", "The boat leaves at nine. Tickets are sold on board."),)
    assert _answer("Where are tickets sold?", page).confidence == 1.0
    # Of two sentences one holds "ticket" and none "print": log(1 + 3/2) / (log(1 + 3/2) + log(1 + 3/1)).
    assert _answer("Where are tickets printed?", page).confidence == 0.39794


def test_an_embedder_that_fails_makes_an_error_and_not_an_answer():
    class Failing:
        fingerprint = "failing"

        def embed(self, texts, role):
            raise KaratError("the endpoint is down.")

    answer = _answer("Who founded the library?", models=Models(embedder=Failing))
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
