"""The parts of `extractive`: kinds of questions, quantities, times, abbreviations, lists, and how contexts are read."""

import pytest

from karat.answer._extract.kinds import kind_of
from karat.answer._extract.phrases import enumeration, expansion
from karat.answer._extract.quantities import asked_class, quantities
from karat.answer._extract.question import wanted_of
from karat.answer._extract.reading import read
from karat.answer._extract.times import time_spans
from karat.answer._extract.words import words_of

KINDS = {
    "How many pages has it?": "number",
    "What does a ticket cost?": "number",
    "What is the highest speed?": "number",
    "How long does it take?": "duration",
    "When does it open?": "time",
    "On which day is it closed?": "time",
    "Who wrote it?": "person",
    "Where is it?": "place",
    "Which river is it?": "name",
    "What is the tower called?": "name",
    "Which rivers are there?": "list",
    "What is in the box?": "list",
    "Why is it blue?": "reason",
    "May I come in?": "polar",
    "If it rains, may I come in?": "polar",
    "How do I open it?": "manner",
    "What does NATO stand for?": "expansion",
    "What is the difference between tea and coffee?": "difference",
    "What is a kiln?": "other",
    "Сколько это стоит?": "number",
    "Как долго это длится?": "duration",
    "Когда он открыт?": "time",
    "Где он стоит?": "place",
    "Можно ли войти?": "polar",
    "Как открыть дверь?": "manner",
    "Почему он синий?": "reason",
    "Wie viele Seiten hat es?": "number",
    "Où est la gare ?": "place",
}


@pytest.mark.parametrize("question", KINDS)
def test_the_kind_of_a_question(question):
    assert kind_of(question) == KINDS[question]


def test_a_question_of_two_parts():
    wanted = wanted_of("The lamp is out. How far is the shop, and when does it open?")
    assert [part.kind for part in wanted.parts] == ["number", "time"]
    assert wanted.stems == ("lamp", "shop", "open")


QUANTITIES = {
    "It holds 42,000 litres of oil.": [("42,000 litres", "volume")],
    "Keep at least 30 metres away.": [("at least 30 metres", "length")],
    "It runs at 40 kilometres an hour.": [("40 kilometres an hour", "speed")],
    "Tighten it to 210 newton metres.": [("210 newton metres", "length")],
    "Painted every nine years.": [("every nine years", "often")],
    "Entry is € 5, or 3 euros for pupils.": [("€ 5", "money"), ("3 euros", "money")],
    "Бак вмещает 1,8 литра воды.": [("1,8 литра", "volume")],
    "No number here.": [],
}


@pytest.mark.parametrize("text", QUANTITIES)
def test_quantities(text):
    found = quantities(text, words_of(text, "en"))
    assert [(text[one.start : one.end], one.kind) for one in found] == QUANTITIES[text]


def test_what_sort_of_quantity_is_asked_for():
    questions = ["How far is it?", "What does it cost?", "How often?", "What is the phone number?", "How many?"]
    assert [asked_class(question) for question in questions] == ["length", "money", "often", "plain", ""]


TIMES = {
    "It opens on Saturdays from 14:00 to 16:00, when staff is there.": ["on Saturdays from 14:00 to 16:00"],
    "She came on 4 June 1931 and left.": ["on 4 June 1931"],
    "They march in May.": ["in May"],
    "The hour is late.": [],
    "Музей основан в 1894 году.": ["в 1894 году"],
}


@pytest.mark.parametrize("text", TIMES)
def test_times(text):
    words = words_of(text, "en")
    assert [text[words[a].start : words[b].end] for a, b, _ in time_spans(text, words)] == TIMES[text]


EXPANSIONS = {
    "The water control board (WCB) met.": "The water control board",
    "WCB: water control board, see 3": "water control board",
    "The anti-lock system (WCB) is new.": None,
    "He asked the water control board, and wrote WCB on it.": "water control board",
    "WCB means very cold beer.": "very cold beer",
}


@pytest.mark.parametrize("text", EXPANSIONS)
def test_what_an_abbreviation_stands_for(text):
    found = expansion(text, "WCB")
    assert (text[found[0] : found[1]] if found else None) == EXPANSIONS[text]


def test_a_list_in_a_sentence():
    for text in ("There are three bins: red, blue and green.", "The bins are red, blue and green."):
        start, end = enumeration(text, words_of(text, "en"), {"bin"})
        assert text[start:end] == "red, blue and green"
    assert enumeration("One bin.", words_of("One bin.", "en"), set()) is None


def test_a_page_is_read_as_sentences_under_their_headings():
    page = """12
The Mill Handbook
3.2 The wheel
The wheel turns in spring, when the river is high enough to
drive it. How fast does it turn?
Nine times a minute.
Name | Height
Old wheel | 4 metres
- oil the axle
- close the gate"""
    units = [(unit.kind, unit.heading, unit.text) for unit in read(page, "The Mill Handbook")]
    assert units == [
        ("sentence", "The wheel", "The wheel turns in spring, when the river is high enough to drive it."),
        ("sentence", "How fast does it turn?", "Nine times a minute."),
        ("row", "How fast does it turn?", "Old wheel | 4 metres"),
        ("item", "How fast does it turn?", "oil the axle"),
        ("item", "How fast does it turn?", "close the gate"),
    ]


def test_words_with_an_apostrophe_are_not_taken_for_others():
    assert [word.stop for word in words_of("shed she'd well we'll", "en")] == [False, True, False, True]
