"""Ranking measures against pytrec_eval, ranx and ir_measures: the same measures, the same inputs, equal values.

Sizes: (a) 6,980 questions x 1,000 hits, 7,437 judgements; (b) 200 x 1,000 with 200 graded judgements each;
(c) 55 runs x 133 questions x 15 hits; (d) 10,000 x 100. Data are made with a fixed seed. Both sides compute
Precision, Recall, Success and nDCG at 1, 3, 5, 10, 20, MAP and MRR for every question. Rows "with intervals" add what
`karat.score` does by default and no peer does: the summary of every measure with the 95% interval of its mean.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._race import race, verdict

if TYPE_CHECKING:
    from karat.core.scores import Scores

CUTS = (1, 3, 5, 10, 20)
OURS = [f"{name}@{k}" for name in ("Precision", "Recall", "Hit", "nDCG") for k in CUTS] + ["MAP", "MRR"]
AT = ",".join(map(str, CUTS))
THEIRS = {f"P.{AT}", f"recall.{AT}", f"success.{AT}", f"ndcg_cut.{AT}", "map", "recip_rank"}
NAMES = {
    **{f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in (("Precision", "P"), ("Recall", "recall")) for k in CUTS},
    **{f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in (("Hit", "success"), ("nDCG", "ndcg_cut")) for k in CUTS},
    "MAP": "map",
    "MRR": "recip_rank",
}

Qrels = dict[str, dict[str, int]]
Hits = dict[str, dict[str, float]]


def make(
    questions: int, depth: int, judged: int, *, grades: int = 1, extra: int = 0, docs: int, seed: int
) -> tuple[Qrels, Hits]:
    """Judgements and a run: most judged documents are retrieved, nearer the top than not."""
    rng = np.random.default_rng(seed)
    qrels: Qrels = {}
    run: Hits = {}
    for q in range(questions):
        ids = rng.choice(docs, depth, replace=False)
        scores = np.sort(rng.gamma(2.0, 5.0, depth))[::-1]
        names = [str(i) for i in ids]
        count = judged + (1 if q < extra else 0)
        places = np.unique(np.minimum(rng.exponential(depth / 8, count * 3).astype(int), depth - 1))
        rng.shuffle(places)
        chosen = [names[p] for p in places[: max(1, int(count * 0.85 + rng.random()))]][:count]
        while len(chosen) < count:
            other = str(rng.integers(docs, docs + 10**6))
            if other not in chosen:
                chosen.append(other)
        qid = str(1_000_000 + q * 7)
        qrels[qid] = {d: int(rng.integers(0, grades + 1)) if grades > 1 else 1 for d in chosen}
        run[qid] = {n: float(f"{s:.6f}") for n, s in zip(names, scores, strict=True)}
    return qrels, run


def write(folder: Path, qrels: Qrels, run: Hits) -> tuple[Path, Path]:
    gold, hits = folder / "gold.qrels", folder / "a.run"
    with open(gold, "w") as file:
        for q, judged in qrels.items():
            file.writelines(f"{q} 0 {d} {g}\n" for d, g in judged.items())
    with open(hits, "w") as file:
        for q, docs in run.items():
            file.writelines(f"{q} Q0 {d} {r} {s:.6f} bench\n" for r, (d, s) in enumerate(docs.items(), 1))
    return gold, hits


def karat_dicts(qrels: Qrels, runs: dict[str, Hits]) -> Scores:
    """karat from dicts: every measure for every question."""
    from karat.core.language import parse_all
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.match import match
    from karat.measures.compute import compute

    testset = TestSet(qrels=qrels)
    matched = match(testset, [Run.from_scores(name, run) for name, run in runs.items()])
    measures = parse_all(OURS)
    return compute(measures, list(runs), testset.ids, judged=matched.judged)


def karat_files(gold: Path, hits: Path) -> Scores:
    """karat from files, told by content as `karat score` does."""
    from karat.core.language import parse_all
    from karat.files import read_results, read_testset
    from karat.match import match
    from karat.measures.compute import compute

    testset, _ = read_testset(gold)
    runs, _ = read_results(hits)
    matched = match(testset, runs)
    measures = parse_all(OURS)
    return compute(measures, [r.name for r in runs], testset.ids, judged=matched.judged)


def with_intervals(scores: Scores) -> object:
    """The summaries that `karat.score` makes of them, each mean with its interval."""
    from karat.stats.summary import summarise

    return summarise(scores)


def trec_dicts(qrels: Qrels, run: Hits) -> dict[str, dict[str, float]]:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run)


def trec_files(gold: Path, hits: Path) -> dict[str, dict[str, float]]:
    import pytrec_eval

    with open(gold) as file:
        qrels = pytrec_eval.parse_qrel(file)
    with open(hits) as file:
        run = pytrec_eval.parse_run(file)
    return trec_dicts(qrels, run)


def check_equal(ours: Scores, theirs: list[dict[str, dict[str, float]]], qrels: Qrels) -> None:
    """Every value of every question that has relevant gold, to 1e-9."""
    relevant = [any(g >= 1 for g in docs.values()) for docs in qrels.values()]
    for i, name in enumerate(measure.name for measure in ours.measures):
        for s, expected in enumerate(theirs):
            want = np.array([expected[q][NAMES[name]] for q in qrels])
            np.testing.assert_allclose(ours.values[s, relevant, i], want[relevant], rtol=0, atol=1e-9, err_msg=name)


WHOLE = """
import sys
from pathlib import Path
from benchmarks.ranking import {name}
{name}(*map(Path, sys.argv[1:]))
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(*[line.split()[1] for line in lines if line.startswith("VmHWM")])
"""


def whole_process(name: str, bytecode: Path, *arguments: str) -> tuple[float, int]:
    """Wall-clock seconds and peak memory (MB, where Linux tells it) of a fresh interpreter, imports included.

    All modules are kept as `bytecode`, as those of an installed package are, so that none is compiled in the race.
    """
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    code = WHOLE.format(name=name)
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, env=env)
    return time.perf_counter() - start, int(run.stdout or 0) // 1024


def files_and_dicts(
    label: str,
    qrels: Qrels,
    run: Hits,
    file_goals: tuple[float, float],
    dict_goals: tuple[float, float],
    whole_goal: float | None = None,
    rounds: int = 5,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        gold, hits = write(Path(folder), qrels, run)
        theirs = trec_dicts(qrels, run)
        check_equal(karat_dicts(qrels, {"r": run}), [theirs], qrels)
        check_equal(karat_files(gold, hits), [theirs], qrels)
        del theirs
        took = race(
            {
                "karat": lambda: karat_dicts(qrels, {"r": run}),
                "with intervals": lambda: with_intervals(karat_dicts(qrels, {"r": run})),
                "trec": lambda: trec_dicts(qrels, run),
            },
            rounds=rounds,
        )
        print(verdict(f"{label} from dicts", took["karat"], took["trec"], dict_goals[0]))
        print(verdict(f"{label} from dicts, with intervals", took["with intervals"], took["trec"], dict_goals[1]))
        run.clear()
        took = race(
            {
                "karat": lambda: karat_files(gold, hits),
                "with intervals": lambda: with_intervals(karat_files(gold, hits)),
                "trec": lambda: trec_files(gold, hits),
            },
            rounds=rounds,
        )
        print(verdict(f"{label} from a TREC file, without imports", took["karat"], took["trec"], file_goals[0]))
        print(verdict(f"{label} from a TREC file, with intervals", took["with intervals"], took["trec"], file_goals[1]))
        if whole_goal is not None:
            seconds: dict[str, list[float]] = {"karat_files": [], "trec_files": []}
            memory = dict.fromkeys(seconds, 0)
            for code in seconds:
                whole_process(code, Path(folder) / "bytecode", str(gold), str(hits))
            for _ in range(5):
                for code in seconds:
                    spent, peak = whole_process(code, Path(folder) / "bytecode", str(gold), str(hits))
                    seconds[code].append(spent)
                    memory[code] = max(memory[code], peak)
            ours, other = statistics.median(seconds["karat_files"]), statistics.median(seconds["trec_files"])
            print(verdict(f"{label} from a TREC file, whole process", ours, other, whole_goal))
            mark = "ok  " if memory["karat_files"] < 600 else "MISS"
            held = f"karat {memory['karat_files']} MB (goal below 600), pytrec_eval {memory['trec_files']} MB"
            print(f"{mark} {label} peak memory: {held}")


def many_runs() -> None:
    """(c): 55 runs at once, against every peer."""
    import warnings

    rng = np.random.default_rng(3)
    qrels, _ = make(133, 60, 3, docs=5000, seed=3)
    names = {q: [*docs, *(str(i) for i in range(57))] for q, docs in qrels.items()}
    runs: dict[str, Hits] = {}
    for s in range(55):
        runs[f"system{s}"] = {
            q: {
                names[q][i]: float(f"{x:.6f}")
                for i, x in zip(rng.choice(60, 15, replace=False), np.sort(rng.random(15))[::-1], strict=True)
            }
            for q in qrels
        }
    theirs = [trec_dicts(qrels, run) for run in runs.values()]
    check_equal(karat_dicts(qrels, runs), theirs, qrels)
    contenders: dict[str, Callable[[], object]] = {
        "karat": lambda: karat_dicts(qrels, runs),
        "with intervals": lambda: with_intervals(karat_dicts(qrels, runs)),
        "pytrec_eval": lambda: [trec_dicts(qrels, run) for run in runs.values()],
    }
    goals = {"pytrec_eval": 2.2, "ranx": 30.0, "ir_measures": 30.0}
    goals_with_intervals = {"pytrec_eval": 2.0, "ranx": 15.0, "ir_measures": 15.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ir_measures
        import ranx

        asked = [f"{name}@{k}" for name in ("precision", "recall", "hit_rate", "ndcg") for k in CUTS] + ["map", "mrr"]
        wanted = [ir_measures.parse_measure(f"{name}@{k}") for name in ("P", "R", "Success", "nDCG") for k in CUTS]
        wanted += [ir_measures.AP, ir_measures.RR]

        def with_ranx() -> object:
            gold = ranx.Qrels(qrels)
            return [ranx.evaluate(gold, ranx.Run(run), asked, return_mean=False) for run in runs.values()]

        contenders["ranx"] = with_ranx
        contenders["ir_measures"] = lambda: [list(ir_measures.iter_calc(wanted, qrels, run)) for run in runs.values()]
        took = race(contenders, rounds=5)
    for peer, goal in goals.items():
        print(verdict(f"(c) 55 runs x 133 x 15 against {peer}", took["karat"], took[peer], goal))
        label = f"(c) 55 runs x 133 x 15 against {peer}, with intervals"
        print(verdict(label, took["with intervals"], took[peer], goals_with_intervals[peer]))


def main() -> None:
    print(f"     {'':58} {'karat':>11}  {'peer':>11}")
    qrels, run = make(6980, 1000, 1, extra=457, docs=8_841_823, seed=0)
    assert sum(map(len, qrels.values())) == 7437
    files_and_dicts("(a) 6,980 x 1,000", qrels, run, (10, 9), (10, 8), whole_goal=7, rounds=3)
    qrels, run = make(200, 1000, 200, grades=3, docs=20_000, seed=1)
    files_and_dicts("(b) 200 x 1,000, 200 judged each", qrels, run, (3, 3), (2, 2))
    many_runs()
    qrels, run = make(10_000, 100, 2, docs=1_000_000, seed=4)
    files_and_dicts("(d) 10,000 x 100", qrels, run, (5, 5), (5, 5))
