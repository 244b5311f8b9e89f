"""1,000 vectors with texts, and what an exact search over them finds: computed by numpy, in float64."""

import numpy as np

from karat.models import EmbedderSettings, Encoder

COUNT, SIZE, QUERIES = 1000, 32, 25
_made = np.random.default_rng(20).normal(size=(COUNT + QUERIES, SIZE))
_made /= np.linalg.norm(_made, axis=1, keepdims=True)
VECTORS, ASKED = _made[:COUNT].astype(np.float32), _made[COUNT:].astype(np.float32)
LONG = VECTORS * np.random.default_rng(21).uniform(0.5, 2, (COUNT, 1)).astype(np.float32)  # of several lengths
IDS = [f"chunk {number:04}" for number in range(COUNT)]
WORDS = ("night", "watch", "generator", "fault", "bread", "harbour", "lamp")
TEXTS = [" ".join(word for bit, word in enumerate(WORDS) if number >> bit & 1) or "empty" for number in range(COUNT)]
RECORDS = [
    {"id": id_, "text": text, "source": f"file{number % 7}.pdf", "page_number": number % 9 + 1}
    for number, (id_, text) in enumerate(zip(IDS, TEXTS, strict=True))
]
NAMES = [f"question {number}" for number in range(QUERIES)]


EMBEDDER = Encoder(
    EmbedderSettings("numbered"), "1", lambda texts: np.array([ASKED[int(text.split()[-1])] for text in texts])
)
OTHER = Encoder(EmbedderSettings("other"), "1", lambda texts: np.ones((len(texts), 3), np.float32))


def scores(metric, vectors):
    """The scores that karat documents, of every query and vector."""
    asked, stored = ASKED.astype(np.float64), vectors.astype(np.float64)
    products = asked @ stored.T
    if metric == "cosine":
        return products / np.linalg.norm(stored, axis=1) / np.linalg.norm(asked, axis=1, keepdims=True)
    if metric == "l2":
        return 1 - (np.square(asked).sum(1)[:, None] - 2 * products + np.square(stored).sum(1)) / 2
    return products


def check_ranking(store, metric, vectors, depth=50, recall=1.0):
    """The store ranks as an exact search does, or finds so much of its first ten; scores are what they are said."""
    ranked, wanted = store.search(NAMES, depth), scores(metric, vectors)
    assert store.failed == {}
    found_of_ten = 0
    for number in range(QUERIES):
        rows, values = ranked.of(number)
        places = [IDS.index(store.chunks[row].id) for row in rows]
        np.testing.assert_allclose(values, wanted[number][places], atol=2e-6)
        best = np.argsort(-wanted[number])[:depth]
        found_of_ten += len(set(places[:10]) & set(best[:10].tolist()))
        if recall == 1.0:
            assert places == best.tolist()
    share = found_of_ten / (min(10, depth) * QUERIES)
    assert share >= recall
    return share


def check_chunk(store):
    """Texts and places come along."""
    store.search(NAMES[:1], 1)
    (chunk,) = store.chunks
    number = IDS.index(chunk.id)
    assert (chunk.text, chunk.doc, chunk.pages) == (TEXTS[number], f"file{number % 7}.pdf", (number % 9 + 1,))
