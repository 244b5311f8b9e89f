import pytest

from karat.core.text.names import named_terms, plain_words, without_possessives
from karat.core.text.numbers import figures, readings
from karat.core.text.refusals import declines


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1,234.50 and 1.234.567,5", [{"1234.5"}, {"1234567.5"}]),
        ("1,234", [{"1234", "1.234"}]),
        ("0.500 3,5 007", [{"0.5"}, {"3.5"}, {"7"}]),
        ("1 000 000 in 1999 100", [{"1000000"}, {"1999"}, {"100"}]),
        ("२०२० में", [{"2020"}]),
        ("B12 and 5km, 10% of 10", [{"5"}, {"10"}]),
        ("10.0.0.1", [{"10.0.0.1"}]),
        ("2020-05-06, 6 May 2020, May 6th, 2020", [{"2020-05-06"}]),
        ("05/06/2020", [{"2020-05-06", "2020-06-05"}]),
        ("25.12.2020", [{"2020-12-25"}]),
        ("6 мая 2020, 6 मई 2020, 6 de mayo de 2020, 6. Mai 2020, 6 mai 2020", [{"2020-05-06"}]),
        ("1. First\n2) 40", [{"40"}]),
        ("none", []),
    ],
)
def test_figures(text, read):
    assert [set(f) for f in figures(text)] == read


def test_readings_hold_the_numbers_inside_a_date_too():
    assert readings("6 May 2020") == {"2020-05-06", "6", "2020"}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("However, the Bank of Japan hired Ada Lovelace in Tokyo.", ["bank of japan", "ada lovelace", "tokyo"]),
        ("Berlin is in Germany. I saw it in the US.", ["berlin", "germany", "us"]),
        ("OpenAI's GPT-4, Claude and (Mistral) won.", ["openai", "gpt4", "claude", "mistral"]),
        ("Trees grow.", []),
        ("Столица России — Москва.", ["столица россии", "москва"]),
        ("दिल्ली राजधानी है।", []),
        ("The Beatles", ["beatles"]),
    ],
)
def test_named_terms(text, terms):
    assert named_terms(text, {"trees"}) == terms


def test_words_seen_without_capitals():
    assert plain_words("The trees, Paris and oaks.") == {"trees", "and", "oaks"}
    assert without_possessives("Ada's code, Ivo’s.") == "Ada code, Ivo."


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I’m sorry, but I cannot answer that.",
        "I am sorry. I could not find it.",
        "The provided context does not mention the price.",
        "There is not enough information to answer.",
        "This is not mentioned in the documents.",
        "The answer cannot be determined from the passage.",
        "<think>Paris?</think>Unanswerable",
        "Я не знаю.",
        "К сожалению, в документе нет информации об этом.",
        "В тексте не указано, кто это сделал.",
        "मुझे नहीं पता।",
        "इस बारे में जानकारी उपलब्ध नहीं है।",
        "Das kann ich nicht beantworten.",
        "Ich weiß es nicht.",
        "Je ne sais pas.",
        "Le contexte ne mentionne pas ce point.",
        "No lo sé.",
        "No hay suficiente información.",
    ],
)
def test_refusals(text):
    assert declines(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Paris.",
        "Paris. The text does not say since when.",
        "Знаю: это Москва.",
        "दिल्ली भारत की राजधानी है।",
        "Berlin ist die Hauptstadt.",
        "<think>I don't know.</think>Paris",
        "No, it was Paris.",
    ],
)
def test_answers_are_no_refusals(text):
    assert not declines(text)
