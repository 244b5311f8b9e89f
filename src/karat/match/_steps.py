"""Steps beside gold: the hits of every step judged by the join that the rankings are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.core.run import Run
from karat.core.steps import HITS, STEP, JudgedSteps, repeated_calls, run_of_steps
from karat.core.types import TestSet
from karat.match._excluded import Exclusions
from karat.match._judge import judge
from karat.match._match import Matched, unmatchable


def judge_steps(testset: TestSet, runs: Sequence[Run], matched: Matched) -> JudgedSteps:
    """Where the judged units of each question stand in the steps of each run; excluded hits are left out."""
    number, width = {qid: q for q, qid in enumerate(testset.ids)}, len(testset)
    exclusions, pairs = Exclusions(testset), len(runs) * width
    listed = [exclusions.without(run_of_steps(run))[0] for run in runs]
    known, first = np.zeros(pairs, bool), np.zeros(pairs, np.int64)
    queries, repeated = np.zeros((2, pairs), np.int64)
    calls: list[tuple[int, int]] = []
    for s, (run, hits) in enumerate(zip(runs, listed, strict=True)):
        step_of = np.array(hits.fields.get(STEP, ()), np.int64)
        for place, qid in enumerate(hits.question_ids):
            if (q := number.get(qid)) is None:
                continue
            pair, begin, end = s * width + q, int(hits.offsets[place]), int(hits.offsets[place + 1])
            known[pair], first[pair] = True, begin
            steps = run.steps[qid]
            is_repeat = [one for one in repeated_calls(steps) if one is not None]
            queries[pair], repeated[pair] = len(is_repeat), sum(is_repeat)
            ends = np.searchsorted(step_of[begin:end], np.arange(len(steps)), side="right")
            calls += [(pair, int(ends[at])) for at, step in enumerate(steps) if HITS in step]
    calls.sort(key=lambda call: call[0])
    join = matched.join
    units = join.units if join.testset is testset else join.units_of(testset)
    settings = replace(matched.settings, repeats="once", tokens=False)
    return JudgedSteps(
        judged=judge(testset, listed, join, settings),
        runs=listed,
        first=first,
        known=known,
        call_pair=np.array([pair for pair, _ in calls], np.int64),
        call_end=np.array([end for _, end in calls], np.int64),
        queries=queries,
        repeated=repeated,
        labels=[gold.label for gold in units.gold],
        unmatchable=unmatchable(join, listed),
    )
