from dataclasses import dataclass

import numpy as np

from karat.core.docs import Chunk, Chunks
from karat.retrieve.engines.dense import DenseEngine
from karat.testset.related import Related


def unit(*rows):
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def chunk(id_, doc="d", text=None, **more):
    return Chunk(id_, doc, text or f"text of {id_}", **more)


@dataclass
class Given:
    """An embedder for tests, which knows the vector of each text."""

    vectors: dict[str, np.ndarray]
    fingerprint: str = "given"

    def embed(self, texts, role):
        return np.array([self.vectors[text] for text in texts])


def related(chunks, vectors, usable=None):
    made = Chunks(chunks)
    embedder = Given(dict(zip(made.texts, vectors, strict=True)))
    dense = DenseEngine.made_by(embedder, made.texts)
    return Related(made, range(len(made)) if usable is None else usable, dense)


def test_the_nearest_in_meaning_comes_first_and_strangers_never():
    vectors = unit([1, 0, 0, 0], [1, 0.9, 0, 0], [1, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, -1, 0])
    found = related([chunk(f"c{n}", f"d{n}") for n in range(6)], vectors)
    assert found.floor == 0
    assert found.partners(0) == (2, 1)
    assert found.partners(3) == ()


def test_one_that_says_the_same_is_no_partner():
    vectors = unit([1, 0], [1, 0.01], [1, 0.8], [-1, 0], [-1, 1])
    assert list(related([chunk(f"c{n}") for n in range(5)], vectors).partners(0)) == [2]


def test_chunks_that_overlap_are_no_partners():
    vectors = unit([1, 0], [1, 0.5], [1, 0.6], [-1, 0], [0, -1])
    spans = [(0, 100), (80, 180), (100, 200), (300, 400), (400, 500)]
    chunks = [chunk(f"c{n}", span=span) for n, span in enumerate(spans)]
    assert list(related(chunks, vectors).partners(0)) == [2]


def test_only_usable_rows_are_partners():
    vectors = unit([1, 0], [1, 0.5], [1, 0.6], [-1, 0], [0, -1])
    assert list(related([chunk(f"c{n}") for n in range(5)], vectors, usable=[0, 2]).partners(0)) == [2]


def test_what_a_chunk_links_to_comes_before_neighbours():
    vectors = unit([1, 0], [0, 1], [1, 0.6], [0, -1])
    chunks = [
        chunk("a", "notes/a.md", "See [the book](../docs/b.md#top) and https://x.example/c/."),
        chunk("b", "docs/b.md"),
        chunk("c", "c.html", url="https://x.example/c"),
        chunk("e", "e.md"),
    ]
    assert related(chunks, vectors).partners(0) == (1, 2)


def test_a_link_to_a_name_that_two_documents_have_leads_nowhere():
    chunks = [chunk("a", "a.md", "[x](index.md)"), chunk("b", "one/index.md"), chunk("c", "two/index.md")]
    assert related(chunks, unit([1, 0], [0, 1], [0, -1])).partners(0) == ()
