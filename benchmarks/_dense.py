"""Dense search against FAISS itself: 100,000 passages, 256 numbers each, 1,000 queries, top 100.

The vectors are wordllama's of made passages. FAISS searches its own IndexFlatIP; karat searches the same vectors from
the folder it wrote, fetches enough to settle ties, scores every hit anew and puts equal scores in order.

HNSW is shown on these and on real text: paragraphs of the docstrings of the installed packages, asked for by eight
words of one of them. Made passages have no subjects, only words at random, which is the worst a graph can meet.
"""

from __future__ import annotations

import ast
import random
import sysconfig
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

import faiss
import numpy as np

from benchmarks._passages import passages
from benchmarks._race import race, verdict
from karat.models import EmbedderSettings, embedder_named
from karat.retrieve.engines.dense import DenseEngine

DEPTH = 100


def shared(found: np.ndarray, wanted: np.ndarray, depth: int) -> float:
    """The share of the exact top `depth` that is in the other one."""
    pairs = zip(found[:, :depth].tolist(), wanted[:, :depth].tolist(), strict=True)
    return float(np.mean([len(set(a) & set(b)) / depth for a, b in pairs]))


def real_passages(count: int, queries: int = 300, seed: int = 3) -> tuple[list[str], list[str]]:
    """Distinct paragraphs of docstrings, of 15 to 60 words, and eight words in a row of some of them."""
    rng = random.Random(seed)
    places = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    files = sorted({file for place in places for file in Path(place).rglob("*.py")})
    rng.shuffle(files)
    found: dict[str, None] = {}
    for file in files:
        with suppress(OSError, SyntaxError, ValueError, RecursionError), warnings.catch_warnings(action="ignore"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                        words = paragraph.split()[:60]
                        if len(words) >= 15:
                            found[" ".join(words)] = None
        if len(found) >= count:
            break
    asked = (text.split() for text in rng.sample(list(found), queries))
    starts = ((words, rng.randrange(len(words) - 8)) for words in asked)
    return list(found), [" ".join(words[start : start + 8]) for words, start in starts]


def built(texts: list[str], folder: Path, ann: str, **more: object) -> tuple[DenseEngine, float]:
    folder.mkdir()
    start = time.perf_counter()
    engine = DenseEngine.build(texts, {"ann": ann}, lambda *_: None, **more)  # type: ignore[arg-type]
    took = time.perf_counter() - start
    engine.save(folder)
    return DenseEngine.load(folder), took


def near(exact: DenseEngine, texts: list[str], questions: list[str], label: str, folder: Path) -> None:
    """The default graph beside exact search: seconds, and how much of it is found."""
    graph, took = built(texts, folder, "hnsw", known=exact.known)
    asked = exact.embedder.embed(questions, "query")
    wanted, found = (engine.search_vectors(asked, DEPTH).rows.reshape(-1, DEPTH) for engine in (exact, graph))
    seconds = race(
        {"exact": lambda: exact.search_vectors(asked, DEPTH), "hnsw": lambda: graph.search_vectors(asked, DEPTH)}
    )
    print(
        f"     hnsw on {len(texts):,} {label}: {seconds['hnsw'] / len(asked) * 1e3:.3f} ms a query, exact "
        f"{seconds['exact'] / len(asked) * 1e3:.3f} ms; recall@10 {shared(found, wanted, 10):.3f}, "
        f"recall@100 {shared(found, wanted, 100):.3f}; linked in {took:.0f} s"
    )


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

        loaded = race({"exact": lambda: DenseEngine.load(Path(place) / "exact")})["exact"]
        print(f"     load by mmap: {loaded:.4f} s")
        texts = texts[:20_000]
        exact, _ = built(texts, Path(place) / "some", "exact", known=exact.known)
        near(exact, texts, questions, "made passages", Path(place) / "made")
        texts, questions = real_passages(50_000)
        exact, _ = built(texts, Path(place) / "real", "exact")
        near(exact, texts, questions, "real text", Path(place) / "near")


if __name__ == "__main__":
    dense()
