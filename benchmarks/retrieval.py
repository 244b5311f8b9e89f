"""BM25 against rank_bm25 and bm25s, and dense search against FAISS itself.

BM25: 100,000 made passages of about 60 words (Zipf's law, 200,000 words, English function words among the most
frequent), 1,000 queries of 3 to 10 words of a passage, top 100. Twice, with the same goals: with stop words dropped and
stems, as karat and bm25s do unless told otherwise, and with every word kept, function words included. The second is the
harder one: bm25s without numba is faster where few scores are zero, and karat has more postings to go through.
All systems get the same terms, run with their defaults (one thread) and must agree on the scores of the top 100 before
anything is timed. karat is timed from the text of the queries, the peers from their terms. rank_bm25 and bm25s without
numba are timed on the first few queries only; seconds are those of 1,000 queries at that rate.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._passages import passages
from benchmarks._race import race, verdict

DEPTH = 100
GOALS = {"rank_bm25": 500, "bm25s": 50, "numba": 1 / 1.3}
SAMPLE = {"rank_bm25": 10, "bm25s": 100}
Tokens = list[list[str]]


def build(texts: Sequence[str], terms: str, variant: str = "lucene") -> Any:
    from karat.retrieve.engines.bm25 import BM25Engine

    return BM25Engine.build(texts, {"terms": terms, "variant": variant}, lambda *_: None)


def tokenise(texts: Sequence[str], terms: str, *, ids: bool) -> Any:
    """The same terms by bm25s's tokeniser."""
    import bm25s
    import Stemmer

    from karat.core.text.languages import stop_words

    extra: dict[str, Any] = {"stopwords": None}
    if terms == "stem":
        extra = {"stopwords": sorted(stop_words("en", "words")), "stemmer": Stemmer.Stemmer("english")}
    return bm25s.tokenize(list(texts), token_pattern=r"(?u)\b\w+\b", return_ids=ids, show_progress=False, **extra)


def index_bm25s(texts: Sequence[str], terms: str) -> Any:
    import bm25s

    made = bm25s.BM25()
    made.index(tokenise(texts, terms, ids=True), show_progress=False)
    return made


def with_numba(made: Any) -> Any:
    """The same index, searched by bm25s's numba code."""
    import bm25s

    fast = bm25s.BM25(backend="numba")
    fast.scores, fast.vocab_dict, fast.nonoccurrence_array = made.scores, made.vocab_dict, None
    return fast


def retrieve(made: Any, queries: Tokens) -> Any:
    return made.retrieve(queries, k=DEPTH, show_progress=False)


def check_equal(ours: Any, theirs: Sequence[np.ndarray], whose: str) -> None:
    """As many scores as the peer has above 0, up to 100, equal to 1e-6; rows may differ where scores are tied."""
    for i, expected in enumerate(theirs):
        want = np.sort(expected[expected > 0])[::-1][:DEPTH]
        np.testing.assert_allclose(ours.of(i)[1], want, rtol=1e-6, err_msg=f"{whose}, query {i}")


def searches(texts: Sequence[str], queries: list[str], terms: str, label: str) -> None:
    from rank_bm25 import BM25Okapi

    ours, made = build(texts, terms), index_bm25s(texts, terms)
    fast, tokens = with_numba(made), tokenise(queries, terms, ids=False)
    few = SAMPLE["bm25s"]
    check_equal(ours.search(queries[:few], DEPTH), retrieve(made, tokens[:few]).scores, "bm25s")
    start = time.perf_counter()
    retrieve(fast, tokens)
    warm_up = time.perf_counter() - start
    check_equal(ours.search(queries, DEPTH), retrieve(fast, tokens).scores, "bm25s with numba")

    def search() -> object:
        return ours.search(queries, DEPTH)

    took = race({"karat": search, "numba": lambda: retrieve(fast, tokens)}, rounds=9)
    print(verdict(f"{label} bm25s with numba, warmed up", took["karat"], took["numba"], GOALS["numba"]))
    print(f"     {label} bm25s with numba: its first call took {warm_up:.1f} s")
    took = race({"karat": search, "bm25s": lambda: retrieve(made, tokens[:few])}, rounds=3)
    whole = took["bm25s"] * len(queries) / few
    print(verdict(f"{label} bm25s without numba (of {few} queries)", took["karat"], whole, GOALS["bm25s"]))

    few = SAMPLE["rank_bm25"]
    ours, peer = build(texts, terms, "okapi"), BM25Okapi(tokenise(texts, terms, ids=False))
    check_equal(ours.search(queries[:few], DEPTH), [peer.get_scores(query) for query in tokens[:few]], "rank_bm25")
    rows = range(len(texts))
    took = race(
        {"karat": search, "rank_bm25": lambda: [peer.get_top_n(query, rows, DEPTH) for query in tokens[:few]]},
        rounds=3,
    )
    whole = took["rank_bm25"] * len(queries) / few
    print(verdict(f"{label} rank_bm25 (of {few} queries)", took["karat"], whole, GOALS["rank_bm25"]))


def builds_and_loads(texts: Sequence[str], queries: list[str]) -> None:
    import bm25s

    from karat.retrieve.engines.bm25 import BM25Engine

    took = race({"karat": lambda: build(texts, "stem"), "bm25s": lambda: index_bm25s(texts, "stem")}, rounds=3)
    print(verdict("from texts to index, bm25s", took["karat"], took["bm25s"], 1.0))
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "karat"), Path(folder, "bm25s")
        here.mkdir()
        build(texts, "stem").save(here)
        index_bm25s(texts, "stem").save(str(there), show_progress=False)
        took = race({"karat": lambda: BM25Engine.load(here), "bm25s": lambda: bm25s.BM25.load(str(there), mmap=True)})
        mark = "ok  " if took["karat"] < 0.2 else "MISS"
        print(f"{mark} load by mmap: {took['karat']:.4f} s (goal below 0.2 s), bm25s {took['bm25s']:.4f} s")
        size = {path.name: sum(f.stat().st_size for f in path.iterdir()) / 1e6 for path in (here, there)}
        print(f"     on disk: {size['karat']:.0f} MB, bm25s {size['bm25s']:.0f} MB")
        loaded = BM25Engine.load(here)
        spent = []
        for _ in range(3):
            start = time.perf_counter()
            loaded.search(queries, DEPTH)
            spent.append(f"{time.perf_counter() - start:.3f}")
        print(f"     first, second and third search of 1,000 queries after loading: {', '.join(spent)} s")


def main() -> None:
    os.environ["DISABLE_TQDM"] = "1"
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    texts, queries = passages(100_000)
    print(f"{'':53} {'karat':>12} {'peer':>11}")
    searches(texts, queries, "stem", "stems,")
    searches(texts, queries, "words", "every word,")
    builds_and_loads(texts, queries)
    if importlib.util.find_spec("benchmarks._dense") is not None:
        importlib.import_module("benchmarks._dense").dense()
