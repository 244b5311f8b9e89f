"""Sentences of a page: broken lines joined, headings above what they head, rows and items apart."""

from karat.core.text.layout import page_sentences

PAGE = """The Station Handbook
4.2 Fuel
Fuel is stored in six tanks on the Saddle, 160
metres from the nearest room. Each tank **holds**
42,000 litres.
Tools you need:
- a dip stick
- a lamp that
  does not spark
The lamp hangs in the porch.

# Dates
Season | Litres
---|---
31 | 9,000
Contents of it ..... 17
17
and the rest of a sentence"""


def test_sentences_items_and_rows_have_the_heading_above_them():
    found = [(one.kind, one.heading, one.text) for one in page_sentences(PAGE, "The Station Handbook")]
    assert found == [
        ("sentence", "Fuel", "Fuel is stored in six tanks on the Saddle, 160 metres from the nearest room."),
        ("sentence", "Fuel", "Each tank holds 42,000 litres."),
        ("sentence", "Fuel", "Tools you need:"),
        ("item", "Fuel", "a dip stick"),
        ("item", "Fuel", "a lamp that does not spark"),
        ("sentence", "Fuel", "The lamp hangs in the porch."),
        ("row", "Dates", "Season | Litres"),
        ("row", "Dates Season | Litres", "31 | 9,000"),
        ("sentence", "Dates", "and the rest of a sentence"),
    ]


def test_the_place_of_a_sentence_is_where_it_stands_on_the_page():
    for one in page_sentences(PAGE):
        assert " ".join(PAGE[one.start : one.end].replace("**", "").split()) == one.text


def test_whole_sentences_begin_and_end_as_such():
    whole = {one.text: one.is_whole for one in page_sentences("cut at its start. It is whole. (It is open.\n\nNo end")}
    assert whole == {"cut at its start.": False, "It is whole.": True, "(It is open.": False, "No end": False}


def test_a_heading_that_asks_stands_above_its_answer():
    (answer,) = page_sentences("May I smoke here?\nNobody smokes indoors.")
    assert (answer.heading, answer.text) == ("May I smoke here?", "Nobody smokes indoors.")


def test_a_last_line_heads_nothing_and_is_kept():
    assert [one.text for one in page_sentences("Eight books\n\n")] == ["Eight books"]


def test_a_line_that_ends_with_a_number_is_no_line_of_contents():
    (one,) = page_sentences("The mill was worth 900\ncrowns.")
    assert one.text == "The mill was worth 900 crowns."
