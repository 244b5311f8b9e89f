"""A sweep against the loop that evaluation scripts run: retrieve, fuse and measure again for every cell.

11 alphas x 5 cut-offs x 133 questions over 5,000 made chunks of about 200 words (Zipf's law, seeded). A question is 6
to 14 words of a chunk, which is gold with the one after it; dense vectors are wordllama's. The loop is what scripts do,
in Python with the libraries they use: for each cell (alpha, k, question) rank_bm25 scores the whole corpus, numpy
compares the question's vector with all vectors, both top 100 are min-max normalised, weighed, merged in a dict and
sorted, and F1 is counted over the first k. Its BM25 statistics, tokens, vectors (of the questions too) and gold numbers
are made beforehand; karat has its index open and the gold resolved, and embeds the questions while it is timed. The
loop is timed on one cell of each alpha and cut-off and scaled to all of them; on three of each both must give the same
F1. What karat takes when it has to resolve the gold as well is printed below.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._passages import passages
from benchmarks._race import race, verdict

CHUNKS, QUESTIONS, DEPTH = 5000, 133, 100
ALPHAS, CUTS = [i / 10 for i in range(11)], [3, 5, 7, 10, 15]
CHECKED = 3  # questions of each alpha and cut-off on which the values are compared
GOAL, MORE, SECONDS = 2000, 1000, 1.0


def corpus() -> tuple[list[str], list[str], list[list[int]]]:
    """Chunks, questions and the numbers of their gold chunks."""
    texts, _ = passages(CHUNKS, words=200, queries=1)
    rng = np.random.default_rng(7)
    questions, gold = [], []
    for source in rng.choice(CHUNKS - 1, QUESTIONS, replace=False).tolist():
        words = texts[source].split()
        chosen = rng.choice(len(words), min(len(words), int(rng.integers(6, 15))), replace=False)
        questions.append(" ".join(words[i] for i in sorted(chosen.tolist())))
        gold.append([source, source + 1])
    return texts, questions, gold


class Loop:
    """The naive evaluation: nothing is kept from one cell to the next."""

    def __init__(self, texts: list[str], vectors: np.ndarray, queries: list[str], asked: np.ndarray) -> None:
        from rank_bm25 import BM25Okapi

        self.bm25 = BM25Okapi([text.split() for text in texts])
        self.vectors, self.asked = vectors, asked
        self.queries = [query.split() for query in queries]

    def cell(self, alpha: float, k: int, question: int, gold: list[int]) -> float:
        """F1 of one question at one alpha and cut-off."""
        dense = self.vectors @ self.asked[question]
        sparse = self.bm25.get_scores(self.queries[question])
        fused: dict[int, float] = {}
        for weight, scores in ((alpha, dense), (1 - alpha, sparse)):
            if weight == 0:
                continue
            top = np.argsort(-scores)[:DEPTH]
            best = {int(i): float(scores[i]) for i in top}
            low, high = min(best.values()), max(best.values())
            for i, score in best.items():
                fused[i] = fused.get(i, 0.0) + weight * ((score - low) / (high - low) if high > low else 0.5)
        found = sorted(fused, key=lambda i: (fused[i], i), reverse=True)[:k]
        hits = len(set(found) & set(gold))
        precision, recall = hits / k, hits / len(gold)
        return 2 * precision * recall / (precision + recall) if hits else 0.0


def build(folder: Path, texts: list[str]) -> Any:
    import karat

    lines = [json.dumps({"id": f"c{i:05}", "text": text}) for i, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    settings = {"bm25": {"variant": "okapi", "terms": "plain"}}
    return karat.index(folder / "corpus.jsonl", folder / "index", chunk="whole", settings=settings)


def check_equal(swept: Any, loop: Loop, gold: list[list[int]], cells: list[tuple[float, int, int]]) -> None:
    """Each of these cells has the same value in both."""
    columns = {measure.k: i for i, measure in enumerate(swept.scores.measures)}
    rows = {configuration.alpha: i for i, configuration in enumerate(swept.configurations)}
    for alpha, k, question in cells:
        ours = swept.scores.values[rows[alpha], question, columns[k]]
        theirs = loop.cell(alpha, k, question, gold[question])
        assert abs(ours - theirs) < 1e-12, f"alpha={alpha} k={k} question {question}: {ours}, in the loop {theirs}"


def sampled(each: int, seed: int) -> list[tuple[float, int, int]]:
    """Cells with so many questions of each alpha and cut-off."""
    rng = np.random.default_rng(seed)
    pairs = [(alpha, k) for alpha in ALPHAS for k in CUTS]
    return [(*pair, q) for pair in pairs for q in rng.choice(QUESTIONS, each, replace=False).tolist()]


def main() -> None:
    from karat.core.types import Gold, Question, TestSet
    from karat.experiment.sweep import sweep
    from karat.experiment.sweep.grid import Grid
    from karat.match import resolve

    texts, asked, gold = corpus()
    named = [tuple(Gold(chunk=f"c{row:05}") for row in rows) for rows in gold]
    testset = TestSet([Question(f"q{i}", text, gold=named[i]) for i, text in enumerate(asked)], name="made")
    grid = Grid.of(alpha=ALPHAS, k=CUTS, depth=DEPTH, normalise="minmax")
    more = Grid.of(alpha=[i / (MORE + 1) for i in range(1, MORE + 1)], k=CUTS, depth=DEPTH, normalise="minmax")
    measures = f"F1@{{{','.join(map(str, CUTS))}}}"
    with tempfile.TemporaryDirectory() as folder:
        index = build(Path(folder), texts)
        resolution = resolve(testset, index.chunks, index.docs)
        dense = index.engine("dense")
        embedded = dense.embedder.embed(texts, "passage")
        loop = Loop(texts, embedded, asked, dense.embedder.embed(asked, "query"))

        def swept(chosen: Grid = grid, held: Any = resolution) -> Any:
            return sweep(testset, index, chosen, measures=measures, main="F1", resolution=held)

        checked, timed = sampled(CHECKED, 1), sampled(1, 2)
        check_equal(swept(), loop, gold, checked)
        contenders = {
            "sweep": swept,
            "loop": lambda: [loop.cell(alpha, k, q, gold[q]) for alpha, k, q in timed],
            "resolving": lambda: swept(held=None),
            "more": lambda: swept(more),
        }
        took = race(contenders, rounds=5)
    cells = len(ALPHAS) * len(CUTS) * QUESTIONS
    naive = took["loop"] * cells / len(timed)
    print(f"     {len(checked)} of {cells:,} cells compared: equal. {len(timed)} timed in the loop, scaled to all.")
    print(verdict("11 alphas x 5 cut-offs x 133 questions, 5,000 chunks", took["sweep"], naive, GOAL))
    print(f"     the same with the gold to resolve: {took['resolving']:.3f} s, {naive / took['resolving']:,.0f}x")
    mark = "ok  " if took["more"] < SECONDS else "MISS"
    print(
        f"{mark} {MORE:,} configurations x 5 cut-offs, search included: {took['more']:.3f} s (goal under {SECONDS:g} s)"
    )
