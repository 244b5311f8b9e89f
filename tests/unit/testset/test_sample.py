from collections import Counter

import pytest

from karat.core.docs import Chunk, Chunks, Doc, Section
from karat.core.errors import UsageError
from karat.core.text.boilerplate import boilerplate, repeated_lines
from karat.testset.sample import sample, sections_of

WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty", "knoll", "lodge", "maple",
    "north", "otter", "pine", "quartz",
)  # fmt: skip


def prose(number, sentences=6):
    """A text of its own: no two numbers share a shingle."""
    told = []
    for i in range(sentences):
        words = [f"{WORDS[(number * 7 + i * 3 + k) % len(WORDS)]}{number}x{i}" for k in range(9)]
        told.append(" ".join(words).capitalize() + ".")
    return " ".join(told)


def corpus(sizes, **more):
    """Documents d0, d1 ... of so many chunks."""
    made, number = [], 0
    for d, size in enumerate(sizes):
        for c in range(size):
            made.append(Chunk(f"d{d:02}#{c:04}", f"d{d:02}", prose(number), span=(c * 500, c * 500 + 400), **more))
            number += 1
    return Chunks.ordered(made)


def test_a_sample_is_spread_over_documents_by_the_root_of_their_size():
    chunks = corpus([64, 16, 4, 1, 1, 1])
    drawn = sample(chunks, 17, seed=3)
    held = Counter(chunks[row].doc for row in drawn.rows)
    assert sorted(held) == [f"d{d:02}" for d in range(6)]  # roots 8 4 2 1 1 1: of 17 each gets its root
    assert [held[f"d{d:02}"] for d in range(6)] == [8, 4, 2, 1, 1, 1]


def test_every_row_is_drawn_in_reserve_or_left_out_with_its_reason():
    chunks = corpus([30, 5])
    found = sample(chunks, 7)
    assert len(found.rows) == 7
    assert sorted((*found.rows, *found.reserve)) == list(range(35))
    assert [one.row for one in found.left_out] == sorted(found.reserve)
    assert {one.reason for one in found.left_out} == {"not_drawn"}


def test_the_same_seed_draws_the_same_and_another_draws_others():
    chunks = corpus([40, 20])
    assert sample(chunks, 10, seed=1) == sample(chunks, 10, seed=1)
    assert sample(chunks, 10, seed=1).rows != sample(chunks, 10, seed=2).rows


def test_stretches_of_a_document_without_sections_are_all_met():
    chunks = corpus([100])
    rows = sample(chunks, 20, seed=5).rows
    assert {row // 10 for row in rows} == set(range(10))  # 10 stretches of 10 chunks, two from each
    assert set(Counter(row // 10 for row in rows).values()) == {2}


def test_sections_of_the_documents_are_all_met():
    chunks = corpus([20])
    doc = Doc("d00", "x" * 10_000, sections=tuple(Section(f"part {i}", 1, i * 2500) for i in range(4)))
    sections = sections_of(chunks, [doc])
    assert Counter(sections) == {f"part {i}": 5 for i in range(4)}
    assert {sections[row] for row in sample(chunks, 4, sections=sections).rows} == {f"part {i}" for i in range(4)}


def test_a_title_above_all_is_no_section():
    doc = Doc("d00", "x" * 3000, sections=(Section("book", 1, 0), Section("a", 2, 0), Section("b", 2, 900)))
    assert sections_of(corpus([3]), [doc]) == ["a", "a", "b"]


def test_short_chunks_are_left_out():
    chunks = Chunks([Chunk("a", "d", prose(1)), Chunk("b", "d", "A short note. It says little.")])
    found = sample(chunks, 2)
    assert found.rows == (0,)
    assert [(one.row, one.reason, one.detail) for one in found.left_out] == [(1, "short", "6 tokens, fewer than 40")]


def test_tokens_that_a_chunk_knows_count_before_words():
    chunks = Chunks([Chunk("a", "d", prose(1), tokens=12)])
    assert sample(chunks, 1).left_out[0].detail == "12 tokens, fewer than 40"
    assert sample(chunks, 1, least_tokens=12).rows == (0,)


def test_a_text_that_many_chunks_repeat_counts_once_and_its_near_copy_is_seen():
    texts = [prose(0)] * 150 + [prose(0).removesuffix(".") + " amber."]
    chunks = Chunks.ordered([Chunk(f"d#{n:03}", "d", text) for n, text in enumerate(texts)])
    found = sample(chunks, 5)
    assert found.rows == (0,)
    assert {one.reason for one in found.left_out} == {"near_duplicate"}
    assert found.left_out[0].detail == "the same words as d#000"
    assert found.left_out[-1].detail.endswith("% the same as d#000")


def test_of_near_duplicates_the_first_stays():
    text = prose(1, 12)
    chunks = Chunks(
        [
            Chunk("a", "d", text),
            Chunk("b", "e", prose(2, 12)),
            Chunk("c", "f", text.replace("amber1x0", "changed")),
            Chunk("d", "g", text),
        ]
    )
    found = sample(chunks, 4)
    assert sorted(found.rows) == [0, 1]
    assert {one.row: one.reason for one in found.left_out} == {2: "near_duplicate", 3: "near_duplicate"}
    assert found.left_out[1].detail == "the same words as a"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1 Arrival ..... 3\n2 Water ..... 9\n3 Power ...... 12\n4 Refuges ...... 30", "a table of contents"),
        ("Where it stands 1\nThe buildings 1\nWho is in charge 2\nStation time 3\nTags 3", "a table of contents"),
        ("[One](https://a.example/one)\n[Two](https://a.example/two)\nhttps://a.example/three", "a list of links"),
        ("12 345 | 67.8 | 90 | 11:22 | 33/44 | 55 | 66 | total 1,234,567.89", "mostly figures and punctuation"),
        ("Opening hours and prices of the small shop near the pier, all year", "no whole sentence"),
        ("The shop opens at nine in the morning. And also", "one sentence only"),
        ("The shop opens at nine in the morning. It closes at six in the evening.", None),
        ("Магазин открыт с девяти утра. Он закрывается в шесть часов вечера.", None),
        ("दुकान सुबह नौ बजे खुलती है। यह शाम छह बजे बंद हो जाती है।", None),
        ("   \n ", "empty"),
    ],
)
def test_boilerplate_is_told_from_prose(text, why):
    assert boilerplate(text) == why


def test_headers_and_footers_that_pages_repeat_do_not_count_as_text():
    head, foot = "Handbook of the station, all rights are reserved here.", "Page {} of the handbook ends here now."
    chunks = [Chunk(f"c{n}", "d", f"{head}\n{prose(n)}\n{foot.format(n)}") for n in range(5)]
    chunks.append(Chunk("c9", "d", f"{head}\nAnnex on the weather of the north.\n{foot.format(9)}", tokens=50))
    repeated = repeated_lines(Chunks(chunks).texts)
    assert repeated == {head.lower(), "page  of the handbook ends here now."}
    found = sample(Chunks(chunks), 6)
    assert [(one.row, one.detail) for one in found.left_out] == [(5, "little but lines that other chunks repeat")]


def test_weights_make_rows_more_likely_and_zero_leaves_them_out():
    chunks = corpus([10, 10])
    weights = dict.fromkeys(range(10), 0.001) | {19: 0.0}
    found = sample(chunks, 5, weights=weights)
    assert all(chunks[row].doc == "d01" for row in found.rows)
    assert [one.row for one in found.left_out if one.reason == "covered"] == [19]


def test_only_wanted_documents_are_asked_about():
    chunks = corpus([3, 3])
    found = sample(chunks, 9, wanted_docs=["d01"])
    assert sorted(found.rows) == [3, 4, 5]
    assert [one.reason for one in found.left_out] == ["other_document"] * 3


def test_no_sample_of_nothing():
    assert sample(Chunks([]), 3).rows == ()
    with pytest.raises(UsageError, match="--samples 0"):
        sample(corpus([1]), 0)
