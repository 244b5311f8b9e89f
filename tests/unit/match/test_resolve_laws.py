"""Judging through a resolution equals judging the same hits by the plain matcher; and it scales."""

import string
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.docs import Chunk, Chunks, Doc
from karat.core.run import Run
from karat.core.text import normalise, tokenise
from karat.core.text.typography import without_typography
from karat.core.types import Gold, Question, TestSet
from karat.match import JudgingSettings, judge, resolve
from karat.match._passages import Passages, word_bounds

FILES = ("a.pdf", "b.pdf", "c.md")
PARTS = ("pair", "rank", "unit", "new", "gold_question", "gold_grade", "slots", "distinct")

pages = st.lists(st.integers(1, 6), min_size=0, max_size=2, unique=True).map(lambda p: tuple(sorted(p)))
chunk_lists = st.lists(st.tuples(st.sampled_from(FILES), pages, st.integers(0, 3)), min_size=1, max_size=9)
golds = {
    "page": st.builds(
        lambda d, p, g: Gold(doc=d, page=p, grade=g),
        st.sampled_from(FILES), st.sampled_from(["1", " 2", "03", "4-5", "6", "60"]), st.integers(0, 2),
    ),
    "doc": st.builds(lambda d, g: Gold(doc=d, grade=g), st.sampled_from((*FILES, "z.pdf")), st.integers(0, 2)),
    "url": st.builds(lambda u: Gold(url=f"http://ex.org/{u}/"), st.integers(0, 5)),
    "exact": st.builds(lambda i, g: Gold(chunk=f"c{i}", grade=g), st.integers(0, 9), st.integers(0, 2)),
}  # fmt: skip


def run_over(chunks, lists):
    """A run whose hits say all that is known of their chunks."""
    rows = [row % len(chunks) for order in lists for row in order]
    run = Run.from_lists("s", {f"q{i}": [chunks[r % len(chunks)].id for r in order] for i, order in enumerate(lists)})
    held = [chunks[r] for r in rows]
    run.fields.update(
        doc=[c.doc for c in held], page=[c.pages or None for c in held], url=[c.url for c in held],
        text=[c.text for c in held], span=[c.span for c in held],
    )  # fmt: skip
    return run


def assert_same(one, other):
    for part in PARTS:
        assert np.array_equal(getattr(one, part), getattr(other, part)), part
    assert all(np.array_equal(a, b) for a, b in zip(one.stale, other.stale, strict=True))


@pytest.mark.parametrize("kind", list(golds))
@pytest.mark.parametrize("repeats", ["once", "collapse"])
@given(data=st.data())
def test_a_run_is_judged_as_by_the_plain_matcher(kind, repeats, data):
    made = data.draw(chunk_lists)
    chunks = Chunks.ordered(
        [Chunk(f"c{i}", d, "x", url=f"https://ex.org/{u}", pages=p) for i, (d, p, u) in enumerate(made)]
    )
    gold = [data.draw(st.lists(golds[kind], min_size=least, max_size=4)) for least in (1, 0)]
    lists = data.draw(st.lists(st.lists(st.integers(0, 8), max_size=8), min_size=2, max_size=2))
    everything = list(range(len(chunks)))  # so that both ways see the same files
    testset = TestSet([Question(f"q{i}", gold=tuple(g)) for i, g in enumerate([*gold, ()])])
    run = run_over(chunks, [*lists, everything])
    found = resolve(testset, chunks, by=kind)
    plain = judge(testset, [run], kind, JudgingSettings(repeats=repeats))
    assert_same(judge(testset, [run], found, JudgingSettings(repeats=repeats)), plain)
    reached = {int(u) for u in plain.unit}
    assert reached <= set(np.flatnonzero(found.reached).tolist())


def test_questions_of_different_kinds_are_each_judged_by_their_own():
    """The two chunks of a page are one unit where pages count, and of one address where addresses do."""
    held = [("c0", (1,)), ("c1", (1,)), ("c2", (2,)), ("c3", (2,))]
    chunks = Chunks.ordered([Chunk(i, "a.pdf", "x", url="https://ex.org/a", pages=p) for i, p in held])
    by_page, by_url = Question("q0", gold=(Gold(doc="a.pdf", page="2"),)), Question("q1", gold=(Gold(url="ex.org/a"),))
    both = Question("q2", gold=(*by_page.gold, *by_url.gold))
    testset = TestSet([by_page, by_url, both])
    run = run_over(chunks, [[0, 1, 2, 3]] * 3)
    found = resolve(testset, chunks)
    judged = judge(testset, [run], found)
    assert judged.distinct.tolist() == [2, 1, 2]
    for q, kind in enumerate(("page", "url")):
        alone = judge(testset, [run], kind)
        assert judged.rank[judged.pair == q].tolist() == alone.rank[alone.pair == q].tolist()
        assert judged.distinct[q] == alone.distinct[q]
    assert judged.found_within(1).tolist() == [0, 1, 1]
    assert judged.found_within(3).tolist() == [1, 1, 2]


@given(
    gold=st.lists(st.tuples(st.sampled_from(FILES), st.integers(0, 20), st.integers(0, 8)), min_size=1, max_size=4),
    cuts=st.lists(st.integers(1, 19), max_size=4, unique=True),
)
def test_spans_are_judged_as_by_the_span_matcher(gold, cuts):
    edges = [0, *sorted(cuts), 20]
    chunks = Chunks.ordered(
        [Chunk(f"{d}#{a}", d, "x" * (b - a), span=(a, b)) for d in FILES for a, b in pairwise(edges)]
    )
    golds = tuple(Gold(doc=d, span=(a, a + size)) for d, a, size in gold)
    testset = TestSet([Question("q0", gold=golds)])
    run = run_over(chunks, [[*range(len(chunks)), 0]])
    found = resolve(testset, chunks)
    assert set(found.kinds) == {"span"}
    assert_same(judge(testset, [run], found), judge(testset, [run], "span"))


words = st.lists(st.sampled_from(["ice", "Sea,", "the", "—", "Лёд", "हिम"]), min_size=1, max_size=12)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    parts=st.lists(words, min_size=1, max_size=4),
    picks=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 11), st.integers(1, 4)), max_size=4),
)
def test_quotes_that_no_chunk_splits_are_judged_as_by_the_quote_matcher(parts, picks):
    """Each chunk is a document of its own here, so that nothing is cut."""
    docs = [Doc(f"d{i}", " ".join(part)) for i, part in enumerate(parts)]
    chunks = Chunks.ordered([Chunk(f"{d.id}#0", d.id, d.text, span=(0, len(d.text))) for d in docs])
    quotes = [" ".join(parts[d % len(parts)][start : start + size]) for d, start, size in picks]
    testset = TestSet([Question("q0", gold=tuple(Gold(quote=q) for q in quotes))])
    run = run_over(chunks, [[*range(len(chunks)), 0]])
    plain = judge(testset, [run], "quote")
    for known in (docs, None):
        found = resolve(testset, chunks, known, by="quote")
        assert_same(judge(testset, [run], found), plain)


@settings(max_examples=3 * settings.default.max_examples)
@given(text=st.text(st.sampled_from([*string.printable, *"ﬁ²İßΣé№—कि\u00a0Д"]), max_size=40))
def test_the_bounds_of_words_are_those_of_the_normaliser(text):
    """Word by word, those that a hyphen at a line end parts as one."""
    starts, ends = word_bounds(text)
    words = tokenise(without_typography(text), "words")
    assert [normalise(without_typography(text[a:b]), "words") for a, b in zip(starts, ends, strict=True)] == words


@settings(max_examples=2 * settings.default.max_examples)
@given(texts=st.lists(words, min_size=1, max_size=3), quote=words)
def test_every_place_of_a_quote_is_found_and_no_other(texts, quote):
    plain = [" ".join(t) for t in texts]
    wanted = tokenise(" ".join(quote), "words")
    expected = 0
    for text in plain:
        held = tokenise(text, "words")
        expected += sum(held[i : i + len(wanted)] == wanted for i in range(len(held))) if wanted else 0
    found = Passages(plain).find(" ".join(quote))
    assert len(found) == expected
    assert all(tokenise(plain[p.text][p.start : p.end], "words") == wanted for p in found)
