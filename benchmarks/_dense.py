"""Dense search against FAISS itself: 100,000 passages, 256 numbers each, 1,000 queries, top 100.

The vectors are wordllama's of made passages. FAISS searches its own IndexFlatIP; karat searches the same vectors from
the folder it wrote, fetches enough to settle ties, scores every hit anew and puts equal scores in order.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import faiss
import numpy as np

from benchmarks._passages import passages
from benchmarks._race import race, verdict
from karat.models import EmbedderSettings, embedder_named
from karat.retrieve.dense import Engine

DEPTH = 100


def shared(found: np.ndarray, wanted: np.ndarray, depth: int) -> float:
    """The share of the exact top `depth` that is in the other one."""
    pairs = zip(found[:, :depth].tolist(), wanted[:, :depth].tolist(), strict=True)
    return float(np.mean([len(set(a) & set(b)) / depth for a, b in pairs]))


def built(texts: list[str], folder: Path, ann: str, **more: object) -> tuple[Engine, float]:
    folder.mkdir()
    start = time.perf_counter()
    engine = Engine.build(texts, {"ann": ann}, lambda *_: None, **more)  # type: ignore[arg-type]
    took = time.perf_counter() - start
    engine.save(folder)
    return Engine.load(folder), took


def dense() -> None:
    texts, questions = passages(100_000)
    asked = embedder_named(EmbedderSettings()).embed(questions, "query")
    with tempfile.TemporaryDirectory() as place:
        exact, took = built(texts, Path(place) / "exact", "exact")
        print(f"     embed {len(texts):,} passages by wordllama, once: {took:.1f} s")
        peer = faiss.IndexFlatIP(exact.vectors.shape[1])
        peer.add(np.ascontiguousarray(exact.vectors))
        scores = peer.search(asked, DEPTH)[0]
        ours = exact.search_vectors(asked, DEPTH)
        np.testing.assert_allclose(ours.scores.reshape(scores.shape), scores, atol=1e-5)
        seconds = race(
            {
                "karat": lambda: exact.search_vectors(asked, DEPTH),
                "faiss": lambda: peer.search(asked, DEPTH),
                "texts": lambda: exact.search(questions, DEPTH),
            },
            rounds=9,
        )
        print(verdict("dense exact, FAISS itself", seconds["karat"], seconds["faiss"], 1 / 1.1))
        print(f"     dense exact with the embedding of the queries: {seconds['texts']:.4f} s")
        one = race({"karat": lambda: exact.search_vectors(asked[:1]), "faiss": lambda: peer.search(asked[:1], DEPTH)})
        print(f"     one query alone: {one['karat'] * 1e3:.2f} ms, FAISS {one['faiss'] * 1e3:.2f} ms")

        graph, took = built(texts, Path(place) / "hnsw", "hnsw", known=exact.known)
        near = graph.search_vectors(asked, DEPTH)
        wanted, found = ours.rows.reshape(-1, DEPTH), near.rows.reshape(-1, DEPTH)
        fast = race({"karat": lambda: graph.search_vectors(asked, DEPTH)})["karat"]
        print(
            f"     hnsw (m 32, ef_search 256): {fast:.4f} s, {seconds['karat'] / fast:.1f}x exact search; "
            f"recall@10 {shared(found, wanted, 10):.4f}, recall@100 {shared(found, wanted, 100):.4f}; "
            f"linked in {took:.1f} s"
        )
        loaded = race({"exact": lambda: Engine.load(Path(place) / "exact")})["exact"]
        print(f"     load by mmap: {loaded:.4f} s")


if __name__ == "__main__":
    dense()
