"""Where each way of chunking cuts."""

from itertools import pairwise

import pytest

from karat.core.docs import Doc, Section
from karat.core.text import tokenise
from karat.corpus import Chunking, chunk_docs


def words(first, last):
    return " ".join(f"w{i}" for i in range(first, last + 1))


def texts(text, setting, **fields):
    return [chunk.text for chunk in chunk_docs([Doc("a", text, **fields)], Chunking.parse(setting)).chunks]


def test_windows_overlap_and_the_last_brings_something_new():
    assert texts(words(1, 10), "tokens:4:1") == [words(1, 4), words(4, 7), words(7, 10)]
    assert texts(words(1, 8), "tokens:4:1") == [words(1, 4), words(4, 7), words(7, 8)]
    assert texts(words(1, 7), "tokens:4:1") == [words(1, 4), words(4, 7)]
    assert texts(words(1, 4), "tokens:4:1") == [words(1, 4)]
    assert texts(words(1, 3), "tokens:2:1") == [words(1, 2), words(2, 3)]


def test_a_window_ends_with_a_sentence_that_ends_in_its_last_part():
    text = f"{words(1, 18)}! {words(19, 40)}"
    assert texts(text, "tokens:20:0") == [f"{words(1, 18)}!", words(19, 38), words(39, 40)]
    assert texts(text, "tokens:20:5") == [f"{words(1, 18)}!", f"w14 w15 w16 w17 w18! {words(19, 33)}", words(29, 40)]
    far = f"{words(1, 16)}! {words(17, 40)}"
    assert texts(far, "tokens:20:0")[0] == f"{words(1, 16)}! {words(17, 20)}"


def test_a_sentence_end_wins_over_a_line_end_and_that_over_none():
    both = f"{words(1, 17)}! {words(18, 19)}\n{words(20, 40)}"
    assert texts(both, "tokens:20:0")[0] == f"{words(1, 17)}!"
    line = f"{words(1, 17)} {words(18, 19)}\n{words(20, 40)}"
    assert texts(line, "tokens:20:0")[0] == words(1, 19)


@pytest.mark.parametrize("stop", ["।", "?", "…", "."])
def test_dandas_and_other_stops_end_a_window(stop):
    first = " ".join(["राव"] * 18) + stop
    assert texts(f"{first} {' '.join(['Он'] * 10)}", "tokens:20:0")[0] == first


def test_an_abbreviation_does_not_end_a_window():
    text = f"{words(1, 17)} Dr. Rao {words(20, 40)}"
    assert texts(text, "tokens:20:0")[0] == f"{words(1, 17)} Dr. Rao w20"


def test_a_full_stop_inside_a_word_does_not_end_a_window():
    text = f"{words(1, 17)} 東京。大 {words(19, 40)}"
    assert texts(text, "tokens:20:0")[0] == f"{words(1, 17)} 東京。大 w19 w20"


def test_punctuation_that_stands_alone_is_no_token_and_is_not_lost():
    text = "— one — two - three . * * *"
    assert texts(text, "tokens:2:0") == ["— one — two -", "three . * * *"]
    assert texts(text, "tokens:2:1") == ["— one — two -", "two - three . * * *"]
    assert texts("* * *", "tokens:2:1") == ["* * *"]
    (chunk,) = chunk_docs([Doc("a", "* * *")]).chunks
    assert chunk.tokens == 0


def test_text_without_spaces_is_cut_by_characters_after_a_full_stop():
    sentence = "今天天气很好我们去公园散步了吧。"
    found = texts(sentence * 100, "tokens:30:0")
    assert "".join(found) == sentence * 100
    assert all(len(text) <= 30 * 3 for text in found)
    assert all(text.endswith("。") for text in found)
    overlapping = texts(sentence * 100, "tokens:50:10")
    assert all(a[-10:] in b for a, b in pairwise(overlapping))


def test_thai_is_not_cut_before_a_vowel_sign():
    found = texts("ก" + "ที่นี่" * 1000, "tokens:20:0")
    assert len(found) > 20
    assert not any(text[0] in "\u0e35\u0e48" for text in found)


def test_one_endless_word_is_cut_and_a_long_one_is_not():
    found = texts("QUJD" * 10_000, "tokens:200:0")
    assert "".join(found) == "QUJD" * 10_000
    assert {len(text) for text in found[:-1]} == {2400}
    address = "https://example.org/" + "a" * 200
    assert texts(f"see {address} now", "tokens:1:0") == ["see", address, "now"]
    assert texts(f"see {address} now", "tokens:2:1") == [f"see {address}", "now"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["=" * 200_000, "- " * 100_000, "\u0301" * 100_000, "A. " * 60_000, "x\n\n" * 60_000])
def test_odd_texts_grow_little(text):
    chunks = chunk_docs([Doc("a", text)]).chunks
    assert sum(len(chunk.text) for chunk in chunks) < 1.5 * len(text)
    assert max(len(chunk.text) for chunk in chunks) <= 4800


def test_tokens_are_counted_as_scoring_counts_them():
    text = "Well-known e-mail: a@b.c — 3.5 % of “it”, ½ ² टीम। " * 30
    chunks = chunk_docs([Doc("a", text)]).chunks
    assert len(chunks) > 1
    assert [c.tokens for c in chunks] == [len(tokenise(c.text, "words")) for c in chunks]
    assert chunks[0].tokens <= 200


def test_sentences_are_grouped_and_overlap():
    text = "One. Two! Three? Four. Five. Six."
    assert texts(text, "sentences:3:1") == ["One. Two! Three?", "Three? Four. Five.", "Five. Six."]
    assert texts(text, "sentences:3:0") == ["One. Two! Three?", "Four. Five. Six."]
    assert texts(text, "sentences:6:5") == [text]
    assert texts(text, "sentences:9") == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. Rao paid 3.5 lakh. Why?", ["Dr. Rao paid 3.5 lakh.", "Why?"]),
        ("Пришёл он, т. е. Иван. Вот 2,5 км и т.д. до него.", ["Пришёл он, т. е. Иван.", "Вот 2,5 км и т.д. до него."]),
        ("डॉ. राव आए। वे 3.5 किमी चले। क्यों?", ["डॉ. राव आए।", "वे 3.5 किमी चले।", "क्यों?"]),
    ],
)  # fmt: skip
def test_sentences_of_three_languages(text, parts):
    assert texts(text, "sentences:1:0") == parts


def test_a_sentence_without_end_counts_as_several():
    text = f"Short! {words(1, 450)}. Last."
    assert texts(text, "sentences:1:0") == ["Short!", words(1, 200), words(201, 400), f"{words(401, 450)}.", "Last."]


HANDBOOK = "Preface.\n# Watch\nAll stand watch.\n## Night\n### Duties\nWalk the round.\n# Food\nEat."


def sections(*found):
    return tuple(Section(title, level, HANDBOOK.index(f"# {title}") - level + 1) for title, level in found)


def test_a_section_is_a_chunk_under_the_way_to_it():
    parts = sections(("Watch", 1), ("Night", 2), ("Duties", 3), ("Food", 1))
    chunks = chunk_docs([Doc("a", HANDBOOK, "Handbook", sections=parts)], Chunking.parse("section")).chunks
    assert [(c.title, c.text) for c in chunks] == [
        ("Handbook", "Preface."),
        ("Handbook > Watch", "# Watch\nAll stand watch."),
        ("Handbook > Watch > Night > Duties", "## Night\n### Duties\nWalk the round."),
        ("Handbook > Food", "# Food\nEat."),
    ]
    assert all(HANDBOOK[slice(*c.span)] == c.text for c in chunks)


def test_a_title_is_said_once_and_none_is_invented():
    parts = sections(("Watch", 1), ("Night", 2))
    titles = [
        c.title for c in chunk_docs([Doc("a", HANDBOOK, "Watch", sections=parts)], Chunking.parse("section")).chunks
    ]
    assert titles == ["Watch", "Watch", "Watch > Night"]
    titles = [c.title for c in chunk_docs([Doc("a", HANDBOOK, sections=parts)], Chunking.parse("section")).chunks]
    assert titles == [None, "Watch", "Watch > Night"]


def test_a_heading_with_nothing_below_it_stands_alone():
    text = "# A\n# B\ntext"
    parts = (Section("A", 1, 0), Section("B", 1, 4))
    assert texts(text, "section", sections=parts) == ["# A", "# B\ntext"]


def test_a_long_section_is_cut_on_and_never_into_the_next():
    text = f"# A\n{words(1, 9)}\n# B\n{words(10, 12)}"
    parts = (Section("A", 1, 0), Section("B", 1, text.index("# B")))
    chunks = chunk_docs([Doc("a", text, "T", sections=parts)], Chunking.parse("section:5:1")).chunks
    assert [(c.title, c.text) for c in chunks] == [
        ("T > A", f"# A\n{words(1, 4)}"),
        ("T > A", words(4, 8)),
        ("T > A", words(8, 9)),
        ("T > B", f"# B\n{words(10, 12)}"),
    ]


def test_a_document_without_sections_is_one():
    assert texts(words(1, 7), "section:5:1") == [words(1, 5), words(5, 7)]
    assert texts("Short.", "section") == ["Short."]
