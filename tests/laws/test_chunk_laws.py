"""Laws of every way of chunking, and of the tables: nothing lost, nothing changed, the same every time."""

import random
import tempfile
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.docs import Chunk, Doc, Page, Section
from karat.core.text import sentences, tokenise
from karat.core.text.sentences import sentence_spans
from karat.corpus import CHUNKERS, Chunking, chunk_docs, load_chunks, load_docs, save_chunks, save_docs

WORDS = [
    *(
        "one",
        "Two",
        "три",
        "डॉ.",
        "चार",
        "5.5",
        "—",
        "*",
        "# H",
        "東京です。",
        "大きい！",
        "ที่นี่",
        "x" * 300,
        "今天" * 200,
    ),
    *("e.g.", "\ud800", "é", "е\u0301", "🙂"),
]
GAPS = [" ", " ", " ", "\n", "\n\n", ". ", "! ", "।\n", "\t", "\u2003", "\f", "\u2028", "\x1f"]


@st.composite
def documents(draw):
    texts = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=60))
    text = draw(st.sampled_from(["", " ", "\n"])) + "".join(word + gap for word, gap in texts)
    if draw(st.booleans()):
        text = draw(st.text(max_size=80))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    pages = tuple(Page(n, a, b, draw(st.sampled_from([None, "i", "7"]))) for n, (a, b) in enumerate(pairwise(edges), 1))
    heads = draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(1, 4)), max_size=5))
    sections = tuple(Section(draw(st.sampled_from(["H", "one", ""])), level, at) for at, level in sorted(heads))
    id_ = draw(st.sampled_from(["a", "b", "a#0001", "a#0002", "a#00001", "a#", "#", "b#1", "c"]))
    part_of = draw(st.sampled_from([None, None, None, "a", "z"]))
    return Doc(
        id_,
        text,
        draw(st.sampled_from([None, "T"])),
        url=None,
        pages=draw(st.sampled_from([(), pages])),
        sections=sections,
        part_of=part_of,
    )


def corpora():
    return st.lists(documents(), max_size=4, unique_by=lambda doc: doc.id)


@st.composite
def chunkings(draw):
    way = CHUNKERS.get(draw(st.sampled_from(CHUNKERS.keys())))
    if way.size is None:
        return Chunking(way.name)
    size = draw(st.integers(1, 12))
    return Chunking(way.name, size, draw(st.integers(0, size - 1)))


@given(corpora(), chunkings())
@settings(max_examples=2 * settings.default.max_examples)
def test_every_character_is_in_a_chunk_and_every_chunk_is_its_span(docs, chunking):
    chunks = chunk_docs(docs, chunking).chunks
    keys = [c.id.encode("utf-8", "surrogatepass") for c in chunks]
    assert keys == sorted(set(keys))
    held = {doc.id: set() for doc in docs}
    for doc in docs:
        if doc.part_of is not None:
            own = [c for c in chunks if c.id == doc.id]
            assert [(c.text, c.doc, c.span) for c in own] == [(t, doc.part_of, None) for t in [doc.text.strip()] if t]
            continue
        for chunk in (c for c in chunks if c.doc == doc.id and c.span):
            assert doc.text[slice(*chunk.span)] == chunk.text == chunk.text.strip() != ""
            assert chunk.tokens == len(tokenise(chunk.text, "words"))
            held[doc.id] |= set(range(*chunk.span))
        assert all(c.isspace() for i, c in enumerate(doc.text) if i not in held[doc.id])


@pytest.mark.slow
@given(corpora(), chunkings(), st.randoms(use_true_random=False))
@settings(max_examples=2 * settings.default.max_examples)
def test_the_same_documents_give_the_same_chunks_in_any_order(docs, chunking, chance):
    found = list(chunk_docs(docs, chunking).chunks)
    assert list(chunk_docs(iter(docs), Chunking.parse(chunking.text)).chunks) == found
    mixed = docs[:]
    chance.shuffle(mixed)
    assert list(chunk_docs(mixed, chunking).chunks) == found


@given(documents(), chunkings())
@settings(max_examples=3 * settings.default.max_examples)
def test_pages_are_those_whose_characters_the_chunk_holds(doc, chunking):
    for chunk in chunk_docs([doc], chunking).chunks:
        start, end = chunk.span or (0, len(doc.text))
        shared = {p.number: doc.text[max(p.start, start) : min(p.end, end)].strip() for p in doc.pages}
        assert list(chunk.pages) == [number for number, text in shared.items() if text]
        labels = [p.label or "" for p in doc.pages if p.number in chunk.pages]
        assert list(chunk.labels) == (labels if any(labels) else [])


@given(documents(), st.integers(1, 12), st.data())
@settings(max_examples=3 * settings.default.max_examples)
def test_windows_keep_their_size_go_on_and_cut_no_word(doc, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    text = doc.text
    chunks = chunk_docs([Doc("a", text)], Chunking("tokens", size, overlap)).chunks
    assert all(chunk.tokens <= size for chunk in chunks)
    spans = [chunk.span for chunk in chunks]
    for (start, end), (after, later) in pairwise(spans):
        assert start < after
        assert end < later
        assert len(tokenise(text[after:end], "words")) <= overlap
    if all(len(word) <= 60 for word in text.split()):
        borders = {border for span in spans for border in span}
        assert all(b in (0, len(text)) or text[b - 1].isspace() or text[b].isspace() for b in borders)


@given(st.lists(st.sampled_from(["one", "two", "—", "5.5", "चार"]), max_size=80), st.integers(2, 12), st.data())
@settings(max_examples=2 * settings.default.max_examples)
def test_windows_of_common_words_repeat_exactly_the_overlap(words, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    text = " ".join(words)
    spans = [chunk.span for chunk in chunk_docs([Doc("a", text)], Chunking("tokens", size, overlap)).chunks]
    for (_, end), (after, _) in pairwise(spans):
        assert len(tokenise(text[after:end], "words")) == overlap


@given(st.one_of(st.text(max_size=200), documents().map(lambda doc: doc.text)))
@settings(max_examples=3 * settings.default.max_examples)
def test_sentences_stand_where_their_spans_say(text):
    spans = sentence_spans(text)
    assert [text[a:b] for a, b in spans] == sentences(text)
    assert "".join(text[a:b] for a, b in spans).split() == "".join(sentences(text)).split()
    inside = {i for a, b in spans for i in range(a, b)}
    assert all(c.isspace() for i, c in enumerate(text) if i not in inside)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


ANY_TEXT = st.text(st.characters(), max_size=20)
NUMBER = st.integers(0, 2**40)
META = st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=2)
MAYBE = st.none() | ANY_TEXT


@given(
    st.lists(
        st.builds(
            Chunk, ANY_TEXT, ANY_TEXT, ANY_TEXT, title=MAYBE, url=MAYBE, pages=st.lists(NUMBER, max_size=3).map(tuple),
            labels=st.lists(ANY_TEXT, max_size=3).map(tuple), span=st.none() | st.tuples(NUMBER, NUMBER),
            tokens=st.none() | NUMBER, meta=META,
        ),
        max_size=5,
    ),
    st.lists(
        st.builds(
            Doc, ANY_TEXT, ANY_TEXT, MAYBE, url=MAYBE,
            pages=st.lists(st.builds(Page, NUMBER, NUMBER, NUMBER, MAYBE), max_size=2).map(tuple),
            sections=st.lists(st.builds(Section, ANY_TEXT, NUMBER, NUMBER), max_size=2).map(tuple), part_of=MAYBE,
            meta=META,
        ),
        max_size=3,
    ),
)  # fmt: skip
@settings(max_examples=2 * settings.default.max_examples)
def test_tables_come_back_as_they_were(chunks, docs):
    with tempfile.TemporaryDirectory() as folder:
        save_chunks(chunks, folder)
        save_docs(docs, folder)
        loaded, others = load_chunks(folder), load_docs(folder)
        assert list(loaded) == chunks
        assert list(loaded.ids) == [chunk.id for chunk in chunks]
        assert list(others) == docs
        assert list(others.ids) == [doc.id for doc in docs]


@pytest.mark.parametrize("setting", ["tokens", "sentences", "section", "page"])
def test_more_documents_leave_the_ids_of_the_others(setting):
    chance = random.Random(7)
    docs = [Doc(f"d{i}", " ".join(chance.choices(WORDS[:7], k=400))) for i in range(4)]
    chunking = Chunking.parse(setting)
    few, many = chunk_docs(docs[:2], chunking).chunks, chunk_docs(docs, chunking).chunks
    assert [c for c in many if c.doc in ("d0", "d1")] == list(few)
