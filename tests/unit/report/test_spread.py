import numpy as np

from karat.core.measure import Measure, MeasureSpec
from karat.core.scores import Scores
from karat.report.build.spread import spread
from karat.results.evaluation import Summary
from karat.stats.summary import summarise

RECALL = Measure(MeasureSpec("Recall", lambda judged, k=None: judged, cut="optional"), 5)


def say(values):
    questions = tuple(map(str, range(len(values))))
    rows = np.array(values, float).reshape(1, -1, 1)
    (summary,) = summarise(Scores(("a",), questions, (RECALL,), values=rows, status=np.zeros(rows.shape, np.uint8)))
    return spread(summary)


def test_spread_names_what_piles_up_at_the_ends():
    said = say([0, 0, 0, 0, 0, 0.2, 0.4, 0.5, 0.6, 1])
    assert said.startswith("50% of questions score 0, 10% score 1; the mean (.270) is above the median (.100): 40% of")


def test_spread_of_all_or_nothing():
    assert say([0, 1, 1, 1, 1]) == "20% of questions score 0, 80% score 1, none between"
    assert say([0] * 199 + [1]) == "99% of questions score 0, 1% score 1, none between"


def test_spread_tells_which_way_it_leans():
    assert "below the median" in say([0.1, 0.8, 0.82, 0.84, 0.86, 0.88])
    assert say([0.1, 0.2, 0.3, 0.4, 0.5]).endswith("between .2 and .4; mean and median agree")


def test_spread_claims_no_shape_of_few_values():
    assert say([0.1, 0.9]) == "too few questions to tell a shape: 2, from .1 to .9"
    assert say([0.5]) == "the only question scores .5"
    assert say([0.25] * 6) == "all 6 questions score .25"
    assert spread(Summary(system="a", measure="Recall@5", n=0, n_undefined=3, n_failed=0)) is None
