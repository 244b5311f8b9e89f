"""Questions whose gold is alike share their perfect list."""

import random

import numpy as np
import pytest

from karat.core.language import parse
from karat.files import as_runs, as_testset
from karat.match import JudgingSettings, match
from karat.measures.compute import compute


@pytest.mark.parametrize("grades", [(1,), (0, 1, 2, 3)])
@pytest.mark.parametrize("lost", [False, True])
def test_the_perfect_lists_of_few_questions_are_those_of_all(grades, lost):
    rng = random.Random(len(grades))
    asked = [(f"q{i}", rng.randrange(1, 6)) for i in range(80)]
    gold = {q: {f"d{rng.randrange(90)}": rng.choice(grades) for _ in range(size)} for q, size in asked}
    runs = {"a": {q: {f"d{rng.randrange(90)}": rng.random() for _ in range(20)} for q in gold}}
    judged = match(as_testset(gold)[0], as_runs(runs)[0], JudgingSettings()).judged
    findable = np.array([rng.random() < 0.7 for _ in judged.gold_grade], bool) if lost else None
    few, few_findable, like = judged.alike(findable)
    assert len(few.questions) < len(judged.questions)
    measures = [parse(name) for name in ("P@5", "Recall@3", "nDCG@10", "MAP")]
    whole = compute(measures, ["x"], judged.questions, judged=judged.perfect(10, findable))
    short = compute(measures, ["x"], few.questions, judged=few.perfect(10, few_findable))
    np.testing.assert_array_equal(whole.values[0], short.values[0, like])
    np.testing.assert_array_equal(whole.status[0], short.status[0, like])
