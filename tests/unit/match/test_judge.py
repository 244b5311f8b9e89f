"""Judging by arrays gives what going through the lists hit by hit gives."""

import random

import numpy as np
import pytest

from karat.core.ranked import ranking
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import Join, JudgingSettings, judge


def hit_by_hit(testset, runs, join, settings):
    """Entries, repeats, slots and distinct units, by the definition of Judged."""
    numbers = {}
    for unit, (question, key) in enumerate(zip(join.units.question.tolist(), join.units.key, strict=True)):
        numbers.setdefault((question, key), unit)
    entries, stale, slots, distinct = [], [], [], []
    for s, run in enumerate(runs):
        keys, order = join.hit_keys(run), ranking(run, settings.ties).tolist()
        lists = {qid: order[run.offsets[i] : run.offsets[i + 1]] for i, qid in enumerate(run.question_ids)}
        for q, qid in enumerate(testset.ids):
            pair, rank, seen = s * len(testset) + q, 0, set()
            for hit in lists.get(qid, ()):
                held = keys[hit] or (hit,)
                repeated = seen.issuperset(held)
                if repeated and settings.repeats == "collapse":
                    continue
                rank += 1
                if repeated:
                    stale.append((pair, rank))
                for key in held:
                    if (q, key) in numbers:
                        entries.append((pair, rank, numbers[q, key], key not in seen))
                    seen.add(key)
            slots.append(rank)
            distinct.append(len(seen))
    return entries, stale, slots, distinct


@pytest.mark.parametrize("repeats", ["once", "collapse"])
@pytest.mark.parametrize("by", ["page", "doc", "exact", "quote", "each"])
def test_any_matcher(by, repeats):
    rng = random.Random(f"{by} {repeats}")
    files = ["a/x.pdf", "b/x.pdf", "y.pdf"]
    golds = [
        [Gold(doc=rng.choice(files), page=rng.choice(["1", "2-3", "4"]), quote=rng.choice(["red fox", "blue sea"]))
         if rng.random() < 0.7 else Gold(id=f"c{rng.randrange(9)}", grade=rng.randrange(3))
         for _ in range(rng.randrange(4))]
        for _ in range(30)
    ]  # fmt: skip
    testset = TestSet([Question(f"q{n}", gold=tuple(some)) for n, some in enumerate(golds)])
    runs = []
    for name in "st":
        asked = rng.sample([f"q{n}" for n in range(33)], 25)  # some that are no questions of the test set
        sizes = [rng.randrange(9) for _ in asked]
        count = sum(sizes)
        fields = {
            "doc": [rng.choice([*files, None]) for _ in range(count)],
            "page": [rng.choice(["1", "2", "3", ("3", "4"), None]) for _ in range(count)],
            "text": [rng.choice(["the red fox", "a blue sea and a red fox", None]) for _ in range(count)],
        }
        docs = [f"c{rng.randrange(9)}" for _ in range(count)]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        scores = np.array([rng.randrange(4) for _ in range(count)], np.float64)
        runs.append(
            Run(name, question_ids=asked, offsets=offsets, _docs=docs, _scores=scores, order="score", fields=fields)
        )
    kinds = {gold: "exact" if gold.id else "page" for some in golds for gold in some}
    join, settings = Join(testset, runs, kinds if by == "each" else by), JudgingSettings(repeats=repeats)
    judged = judge(testset, runs, join, settings)
    entries, stale, slots, distinct = hit_by_hit(testset, runs, join, settings)
    columns = (judged.pair, judged.rank, judged.unit, judged.new)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == entries
    assert list(zip(*(column.tolist() for column in judged.stale), strict=True)) == stale
    assert (judged.slots.tolist(), judged.distinct.tolist()) == (slots, distinct)
    assert entries


def test_units_of_a_question_are_its_distinct_keys_in_order_with_the_highest_grade():
    twice, blank = Gold(id="b"), Gold(id=" ", grade=2)
    golds = [(Gold(id="c", grade=1), twice, Gold(id=" c ", grade=3)), (), (blank, twice, blank, Gold(id="b", grade=0))]
    testset = TestSet([Question(f"q{n}", gold=some) for n, some in enumerate(golds)])
    units = Join(testset, [Run.from_lists("s", {"q0": ["b"]})]).units
    assert units.question.tolist() == [0, 0, 2, 2, 2]
    assert units.key == [("exact", "c"), ("exact", "b"), None, ("exact", "b"), None]
    assert units.grade.tolist() == [3, 1, 2, 1, 2]
    assert [gold.id for gold in units.gold] == ["c", "b", " ", "b", " "]
    assert testset.golds == (golds[0][0], twice, golds[0][2], blank, golds[2][3])
