"""Questions by grammar: what each pattern makes, and what it leaves alone."""

import pytest

from karat.core.docs import Chunk
from karat.results.drafts import Fragment
from karat.testset.offline import OFFLINE_KINDS, offline_drafts


def drafts_of(text, language="en", title="", span=None):
    return offline_drafts(Fragment(3, Chunk("c", "d", text, title=title, span=span), language), ["literal"])


def asked_of(text, **more):
    return {draft.text: draft.answer for draft in drafts_of(text, **more)}


MADE = {
    "Each tank holds 42,000 litres.": ("How many litres does each tank hold?", "42,000 litres", "number"),
    "The tall mast is 52 metres high and carries the aerial.": ("How high is the tall mast?", "52 metres", "number"),
    "A lost key costs 8 pounds.": ("How much does a lost key cost?", "8 pounds", "number"),
    "The weekly meeting lasts at most 45 minutes.": (
        "How long does the weekly meeting last?", "at most 45 minutes", "number"),
    "At most four hives may stand on one plot.": (
        "How many hives may stand on one plot?", "At most four hives", "number"),
    "There are six drums in the boat shed.": ("How many drums are there in the boat shed?", "six drums", "number"),
    "The village shop opens on Tuesdays from 19:00 to 19:45.": (
        "When does the village shop open?", "on Tuesdays from 19:00 to 19:45", "time"),
    "The garden society was founded in 1911.": ("When was the garden society founded?", "in 1911", "time"),
    "The wood chipper is serviced every 50 hours.": (
        "How often is the wood chipper serviced?", "every 50 hours", "frequency"),
    "The outer ropes are checked every evening by the cook.": (
        "How often are the outer ropes checked by the cook?", "every evening", "frequency"),
    "A glacier is a body of ice that moves under its own weight.": (
        "What is a glacier?", "a body of ice that moves under its own weight", "definition"),
    "The stretcher sledge is kept in the vehicle shed, behind the door.": (
        "Where is the stretcher sledge kept?", "in the vehicle shed", "place"),
    "The tool shed stands beside the main gate.": ("Where does the tool shed stand?", "beside the main gate", "place"),
    "The garden water is turned off in autumn because the pipes would freeze.": (
        "Why is the garden water turned off in autumn?", "because the pipes would freeze", "reason"),
    "If all generators fail, the battery bank keeps the radio alive.": (
        "What happens if all generators fail?", "the battery bank keeps the radio alive", "condition"),
    "If you see the moon, switch off the heater at once.": (
        "What should you do if you see the moon?", "switch off the heater at once", "condition"),
    "The Ice Core Register (ICR) is kept for ever.": ("What does ICR stand for?", "Ice Core Register", "abbreviation"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", MADE)
def test_each_pattern_makes_its_question(sentence):
    question, answer, form = MADE[sentence]
    made = {draft.text: draft for draft in drafts_of(sentence)}
    assert question in made, list(made)
    draft = made[question]
    assert (draft.answer, draft.kind, draft.tags, draft.source) == (
        answer,
        "literal",
        {"form": form},
        f"offline/{form}",
    )
    assert draft.quotes == (sentence,)
    assert draft.fragments[0].row == 3


LEFT = [
    "It is 52 metres high and carries the aerial of the radio.",
    "They are checked every evening by the cook of the house.",
    "The other is kept in the vehicle shed near the door.",
    "If it shows less than that, the dive is put off.",
    "Nobody is in the trench alone.",
    "Whoever planned to leave stays behind.",
    "| Day | Supper at 18:00 in the mess |",
    "he tank holds 42,000 litres.",
    "Each tank holds 42,000 litres and",
    "The cook boils water and the soup is served at 12:30.",
    "Winter runs from the day the ship leaves in February.",
    "Asta is started at 06:00.",
    "Ice cores are stored at a steady minus 36 degrees.",
]


@pytest.mark.parametrize("sentence", LEFT)
def test_what_cannot_stand_alone_is_left(sentence):
    assert asked_of(sentence) == {}


def test_lines_of_a_page_are_joined_and_the_quote_is_the_text_itself():
    text = (
        "3.9 The shop\nSoap, stamps and the station badge are sold in\nthe cupboard beside the stairs. "
        "The village shop opens\non Tuesdays from 19:00 to\n19:45. It sells soap."
    )
    (draft,) = drafts_of(text)
    assert (draft.text, draft.answer) == ("When does the village shop open?", "on Tuesdays from 19:00 to 19:45")
    assert draft.quotes == ("The village shop opens\non Tuesdays from 19:00 to\n19:45.",)
    assert draft.quotes[0] in text


def test_a_heading_that_asks_is_answered_by_what_follows():
    text = "## How do I give up a plot?\n\nWrite to the secretary in good time. The shed must be empty."
    assert asked_of(text)["How do I give up a plot?"] == "Write to the secretary in good time. The shed must be empty"


def test_names_keep_their_capital_and_other_first_words_lose_it():
    made = asked_of(
        "Hot meals are served at 12:30. Old Tom is greased once a month. Then Asta waits. Asta is started at 06:00."
    )
    assert list(made) == ["When are hot meals served?", "How often is Old Tom greased?", "When is Asta started?"]


def test_a_bare_subject_is_asked_about_where_a_heading_names_it():
    walk = "The walk starts at 13:00. Boots are needed."
    assert asked_of(walk) == {}
    assert asked_of(f"# The Sunday walk\n\n{walk}") == {"When does the walk start?": "at 13:00"}


def test_the_first_sentence_of_a_chunk_that_begins_inside_a_document_may_be_cut():
    text = "The copper kettle is descaled every ten days. The end is near."
    assert asked_of(text) == {"How often is the copper kettle descaled?": "every ten days"}
    assert asked_of(text, span=(400, 456)) == {}
    assert asked_of("The tank is full of water. The lower hut is visited every ten days.", span=(400, 470)) == {
        "How often is the lower hut visited?": "every ten days"
    }


def test_the_head_of_a_page_is_no_part_of_a_sentence():
    text = "Two people and two\nThe Green Handbook\nblue drums stand at the middle of the strip every day."
    assert not any("Handbook" in question for question in asked_of(text, title="The Green Handbook"))


def test_other_languages_and_kinds_give_nothing():
    text = "The garden society was founded in 1911."
    assert drafts_of(text, language="de") == []
    assert offline_drafts(Fragment(0, Chunk("c", "d", text), "en"), ["scenario"]) == []
    assert OFFLINE_KINDS == ("literal",)
