"""Drafts of any text whatever: no exception, quotes word for word, answers within them, the same every time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.docs import Chunk, Chunks
from karat.core.models import Models
from karat.results.drafts import Draft, Fragment
from karat.testset.check import FILTERS, Surroundings, judge_drafts
from karat.testset.offline import LANGUAGE, offline_drafts

PIECES = [
    "The tank holds 42,000 litres.", "The shop opens on Tuesdays", "from 19:00 to 19:45.", "It is kept in the shed,",
    "because", "so that nobody", "If the lamp burns,", "To start it,", "There are six of them.", "- an item\n",
    "1. First\n", "# Heading\n", "How much?", "The Ice Core Register (ICR)", "is", "are", "must", "and", ":", ";",
    ",", ".", "\n", "\n\n", "| a | b |\n", "**bold**", "“quoted”", "(", ")", "___", "12", "3.5", "every day",
    "by the cook", "of", "called", "Билет стоит 150 рублей.", "\u00a0", "\u0301", "\ud800",
    "𝔘", "日本", "\u0000", "\ufffd", "x" * 300,
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=30).map(" ".join)


def flat(text):
    return re.sub(r"\s+", " ", re.sub(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)).strip()


@given(TEXTS, st.booleans())
def test_any_text_gives_sound_drafts_and_the_same_again(text, cut):
    fragment = Fragment(7, Chunk("c", "d", text, title="A title", span=(5, 5 + len(text)) if cut else None), LANGUAGE)
    drafts = offline_drafts(fragment, ["literal"])
    assert drafts == offline_drafts(fragment, ["literal"])
    for draft in drafts:
        assert draft.kind == "literal"
        assert draft.fragments == (fragment,)
        (quote,) = draft.quotes
        assert quote
        assert quote in text
        assert draft.answer
        assert draft.text
        assert "\n" not in draft.text
        assert draft.answer in flat(quote)
    assert len({draft.text for draft in drafts}) == len(drafts)


ODD = st.builds(
    Draft,
    text=TEXTS,
    kind=st.sampled_from(["literal", "paraphrase", "scenario", "unanswerable", "multi_hop"]),
    fragments=st.just(()),
    answer=st.one_of(st.none(), TEXTS),
    quotes=st.lists(TEXTS, max_size=2).map(tuple),
    answerable=st.booleans(),
)
CHUNKS = Chunks.ordered(
    [Chunk(f"c{i}", "d", f"{one} Notice {i} hangs beside the door.") for i, one in enumerate(PIECES[:12])]
)


@pytest.fixture(scope="module")
def surroundings():
    return Surroundings(CHUNKS, Models())


@given(data=st.data())
def test_every_filter_bears_any_draft(data, surroundings):
    drafts = [
        Draft(
            one.text,
            one.kind,
            (Fragment(row, CHUNKS[row], "en"),),
            answer=one.answer,
            quotes=one.quotes,
            language="en",
            answerable=one.answerable,
        )
        for one, row in data.draw(st.lists(st.tuples(ODD, st.integers(0, len(CHUNKS) - 1)), max_size=3))
    ]
    verdicts = judge_drafts(drafts, surroundings, [])
    assert [verdict.draft.text for verdict in verdicts] == [draft.text for draft in drafts]
    for verdict in verdicts:
        if verdict.rejected is not None:
            assert verdict.rejected.reason in FILTERS.names()
            assert verdict.rejected.detail
        for one in FILTERS:
            one.find(verdict.draft, surroundings, drafts)
