"""The default system against BM25 alone and dense vectors alone, on questions that no default was tuned on.

English is the demo's test half and a small corpus; Russian and Hindi are small corpora too, of made-up towns. The other
half (dev) is for tuning. `HALF=dev python -m benchmarks languages` prints that half, `HALF=fresh` the Russian questions
that were written after the test half had been measured once.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import karat
from karat.core.text import NAMES
from karat.core.types import TestSet
from karat.experiment.demo import demo_files, half_of
from karat.experiment.score import score
from karat.files import read_testset
from karat.systems.defaults import default_line, system_for
from karat.systems.index import Index

CORPORA = Path(__file__).parent / "_languages"
MEASURES = ("nDCG@10", "Recall@5")
GOAL = -0.01


def means_of(index: Index, testset: TestSet) -> dict[str, list[float]]:
    """The mean of each measure for BM25, dense and the default, over the questions that have gold."""
    means = {}
    for engine in ("bm25", "dense", None):
        hits = system_for(index, engine=engine).search([question.text for question in testset], 20)
        report = score(testset, hits.run(engine or "default", testset.ids), measures=MEASURES, index=index)
        means[engine or "default"] = [report.mean(measure) or 0.0 for measure in MEASURES]
    return means


def main() -> None:
    half = os.environ.get("HALF", "test")
    with demo_files() as demo, tempfile.TemporaryDirectory() as place:
        sets = {"demo": (demo / "docs", demo / "questions.jsonl", "tokens:200:40")}
        for code in ("en", "ru", "hi"):
            sets[code] = (CORPORA / f"{code}.jsonl", CORPORA / f"{code}.questions.jsonl", "whole")
        for name, (docs, questions, chunk) in sets.items():
            testset = half_of(read_testset(questions)[0], half)
            for embedder in ("wordllama", "multilingual") if len(testset) else ():
                index = karat.index(docs, Path(place) / f"{name}-{embedder}", chunk=chunk, embedder=embedder)
                means = means_of(index, testset)
                print(f"{NAMES.get(name, name)}, {half} half; default {default_line(index)}")
                for i, measure in enumerate(MEASURES):
                    simpler = max(means["bm25"][i], means["dense"][i])
                    margin = means["default"][i] - simpler
                    mark = "ok" if margin >= GOAL else "MISS"
                    figures = "  ".join(f"{system} {values[i]:.3f}" for system, values in means.items())
                    print(f"  {mark:4} {measure:8}  {figures}  ({margin:+.3f} against the better one)")
