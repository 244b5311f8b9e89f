import numpy as np
import pytest

from karat.core.measure import Measure, MeasureSpec
from karat.core.scores import Scores, Status
from karat.diagnose.guards import Facts, check
from karat.results.evaluation import Matching
from karat.stats.summary import summarise

SPECS = {
    name: MeasureSpec(name, lambda judged, k=None: judged, cut="optional")
    for name in ("Precision", "Recall", "F1", "Hit", "nDCG", "Judged", "TokenF1", "EM")
}


def measure(text):
    name, _, cut = text.partition("@")
    return Measure(
        SPECS[name], int(cut) if cut.isdigit() else None, tokens=int(cut[:-1]) if cut.endswith("t") else None
    )


def scores_of(table, statuses=None, reasons=None):
    """Scores of {system: {measure: one value per question}}; every system has the same measures."""
    systems = tuple(table)
    measures = tuple(measure(m) for m in next(iter(table.values())))
    values = np.array([[row[m.name] for m in measures] for row in table.values()], float).transpose(0, 2, 1)
    status = np.zeros(values.shape, np.uint8) if statuses is None else np.array(statuses, np.uint8)
    questions = tuple(f"q{i}" for i in range(values.shape[1]))
    return Scores(systems, questions, measures, values=values, status=status, reasons=reasons or {})


def fired(table, matching=None, facts=None, **made):
    scores = scores_of(table, **made)
    notes = check(scores, summarise(scores, intervals=False), matching, facts)
    return {note.guard: note.text for note in notes}


def test_a_sound_result_fires_nothing():
    sound = {
        "Precision@5": [0.4, 0.2],
        "Recall@5": [0.5, 1],
        "Recall@10": [0.5, 1],
        "F1@5": [4 / 9, 1 / 3],
        "Hit@5": [1, 1],
        "Judged@10": [0.9, 0.8],
    }
    matching = Matching(matcher="exact", unit="chunk", why="ids agree", share={"a": 0.8, "b": 0.7})
    facts = Facts(
        extra={"a": 0},
        missing={"a": 0},
        empty_answers={"a": (0, 2)},
        unjudged={"a": 0.3, "b": 0.35},
    )
    assert fired({"a": sound, "b": sound}, matching, facts) == {}


def test_value_out_of_range_names_the_first_question_and_the_count():
    said = fired({"a": {"Recall@5": [0.5, 1.2, 1.5]}})["value out of range"]
    assert "Recall@5" in said
    assert "2 questions (first: q1 with 1.2000)" in said
    assert "credited" not in said
    assert "value out of range" in fired({"a": {"Recall@5": [0.5, -0.1]}})
    assert "q1 with no finite number" in fired({"a": {"Recall@5": [0.5, np.nan]}})["value out of range"]
    assert fired({"a": {"Recall@5": [1 + 1e-12, 0]}}) == {}


def test_counted_repeats_explain_a_value_above_one():
    above = {"a": {"nDCG@3": [2.131, 1]}}
    assert "repeats=count" in fired(above, facts=Facts(repeats="count"))["value out of range"]
    assert "dialect healthcare" in fired(above, facts=Facts(dialect="healthcare"))["value out of range"]
    below = {"a": {"nDCG@3": [-2, 1]}}
    assert "repeats" not in fired(below, facts=Facts(repeats="count"))["value out of range"]


def test_an_undefined_value_is_not_out_of_range():
    statuses = [[[Status.ok], [Status.undefined]]]
    assert fired({"a": {"Recall@5": [0.5, np.nan]}}, statuses=statuses) == {}


def test_f1_above_its_parts():
    table = {"a": {"Precision@5": [0.2, 0.2], "Recall@5": [0.4, 0.4], "F1@5": [0.31, 0.31]}}
    assert "0.3100 is above 2PR/(P+R)" in fired(table)["F1 above its parts"]
    table["a"]["F1@5"] = [0.27, 0.27]
    assert "0.2667" in fired(table)["F1 above its parts"]
    table["a"]["F1@5"] = [0.26, 0.27]
    assert fired(table) == {}
    other_cut = {"a": {"Precision@3": [0.2], "Recall@5": [0.4], "F1@5": [0.9]}}
    assert fired(other_cut) == {}


@pytest.mark.parametrize("name", ["Hit", "Recall"])
def test_falling_with_k(name):
    falling = {"a": {f"{name}@10": [0.5, 0.5], f"{name}@5": [1, 0.5]}}
    assert f"{name}@10 0.5000 is below {name}@5 0.7500" in fired(falling)[f"{name} falls with k"]
    assert fired({"a": {f"{name}@10": [1, 1], f"{name}@5": [1, 0.5]}}) == {}


def test_no_cut_is_the_deepest_and_token_cuts_are_a_chain_of_their_own():
    assert "Recall falls with k" in fired({"a": {"Recall": [0.4], "Recall@20": [0.5]}})
    assert "Recall falls with k" in fired({"a": {"Recall": [0.4], "Recall@800t": [0.5]}})
    assert fired({"a": {"Recall@5": [0.4], "Recall@800t": [0.3]}}) == {}
    assert fired({"a": {"nDCG@5": [0.4], "nDCG@10": [0.3]}}) == {}


def test_recall_above_hit():
    assert "Recall above Hit" in fired({"a": {"Recall@5": [0.5, 1], "Hit@5": [0, 1]}})
    assert fired({"a": {"Recall@5": [0.5, 1], "Hit@5": [1, 1]}}) == {}


def test_means_over_different_questions_are_not_set_against_each_other():
    statuses = [[[Status.ok, Status.ok], [Status.ok, Status.undefined]]]
    assert fired({"a": {"Recall@5": [0.5, 1], "Hit@5": [0.6, np.nan]}}, statuses=statuses) == {}


def test_unequal_n_is_said_once_for_measures_alike():
    row = {"Recall@5": [0.5, 0.5], "Hit@5": [1, 1]}
    ok = [[0, 0], [0, 0]]
    said = fired({"a": row, "b": row}, statuses=[ok, [[0, 0], [1, 1]]])
    assert said["equal n"].startswith("Recall@5, Hit@5: systems are compared over different numbers")
    assert "(a 2, b 1)" in said["equal n"]
    assert "equal n" not in fired({"a": row, "b": row}, statuses=[ok, ok])


def test_hardly_any_gold_matched():
    table = {"a": {"Hit@5": [0, 1]}}
    facts = Facts(gold_example="handbook.pdf", hit_examples={"a": "docs/handbook"})
    said = fired(table, Matching(matcher="exact", unit="document", why="", share={"a": 0.05}), facts)["low id overlap"]
    assert "only 5% of the gold documents" in said
    assert "gold is written 'handbook.pdf', hits 'docs/handbook'" in said
    assert fired(table, Matching(matcher="exact", unit="document", why="", share={"a": 0.1}), facts) == {}


def test_gold_of_questions_that_a_run_lacks_says_nothing_of_ids():
    table = {"a": {"Hit@5": [0, 1]}}
    matching = Matching(matcher="exact", unit="document", why="", share={"a": 0.06})
    assert "low id overlap" in fired(table, matching)
    assert "low id overlap" not in fired(table, matching, Facts(missing={"a": 1}))


def test_all_zero_with_zero_overlap_says_so_and_suggests_a_matcher():
    table = {"a": {"Hit@5": [0, 0], "Recall@5": [0, 0]}, "b": {"Hit@5": [1, 0], "Recall@5": [1, 0]}}
    matching = Matching(
        matcher="exact", unit="chunk", why="", share={"a": 0.0, "b": 0.5}, others={"doc": 0.75, "url": 0.1}
    )
    said = fired(table, matching)["zero overlap"]
    assert said.startswith("a: no gold chunk stands among its hits, so Hit@5, Recall@5 are 0.")
    assert said.endswith("--match doc would match 75% of the gold.")
    suggested = Matching(matcher="exact", unit="chunk", why="", share={"a": 0.0}, suggestion="Try --match uuid.")
    assert fired(table, suggested)["zero overlap"].endswith("Try --match uuid.")
    assert fired(table, Matching(matcher="exact", unit="chunk", why="", share={"a": 0.2, "b": 0.5})) == {}


def test_empty_answers():
    table = {"a": {"Hit@5": [1]}}
    said = fired(table, facts=Facts(empty_answers={"a": (3, 10)}))["empty answers"]
    assert "3 of 10 answers are empty (30%)" in said
    assert fired(table, facts=Facts(empty_answers={"a": (0, 100), "b": (0, 0)})) == {}


def test_a_few_empty_answers_are_said_without_alarm():
    scores = scores_of({"a": {"Hit@5": [1]}})
    (note,) = check(scores, summarise(scores, intervals=False), None, Facts(empty_answers={"a": (1, 100)}))
    assert (note.level, note.guard) == ("info", "empty answers")
    assert "1 of 100 answers is empty" in note.text


def test_gold_that_the_matcher_cannot_use():
    table = {"a": {"Hit@5": [1]}}
    said = fired(table, Matching(matcher="quote", unit="quote", why="", share={"a": 0.5}, unusable=2, entries=5))
    assert said["unusable gold"].startswith("2 of 5 gold entries name no quote")
    assert fired(table, Matching(matcher="quote", unit="quote", why="", share={"a": 0.5}, unusable=0, entries=5)) == {}


def test_gold_that_no_chunk_of_the_index_holds():
    table = {"a": {"Hit@5": [1]}}
    said = fired(table, Matching(matcher="page", unit="page", why="", share={"a": 0.5}, unheld=(7, 17)))
    assert said["gold not in the index"].startswith("no chunk of the index holds 7 of 17 gold units")
    assert fired(table, Matching(matcher="page", unit="page", why="", share={"a": 0.5}, unheld=(0, 17))) == {}


def test_hits_that_are_no_chunks_of_the_index():
    table = {"a": {"Hit@5": [1]}}
    said = fired(
        table, Matching(matcher="page", unit="page", why="", share={"a": 0.5}, strangers={"a": (34, 340, "a_b")})
    )
    assert said["hits not in the index"].startswith("a: 34 of 340 hits are no chunks of the index (such as 'a_b')")


def test_lists_of_different_length():
    table = {"a": {"Hit@5": [1], "Hit@10": [1]}, "b": {"Hit@5": [1], "Hit@10": [1]}}
    said = fired(table, facts=Facts(depth={"a": 5, "b": 10}))
    assert "at most a 5, b 10 hits): Hit@10 favours the longer ones." in said["unequal depth"]
    assert fired(table, facts=Facts(depth={"a": 10, "b": 20})) == {}


def test_judged_below_four_fifths():
    assert "is 0.7000, below 0.8" in fired({"a": {"Judged@10": [0.6, 0.8]}})["few judged hits"]
    assert fired({"a": {"Judged@10": [0.8, 0.8]}}) == {}


def test_unjudged_hits_differ():
    table = {"a": {"Hit@5": [1]}, "b": {"Hit@5": [1]}}
    said = fired(table, facts=Facts(unjudged={"a": 0.2, "b": 0.45}))["unjudged hits differ"]
    assert said.startswith("45% of the hits of b are unjudged, against 20% of a")
    assert fired(table, facts=Facts(unjudged={"a": 0.2, "b": 0.25})) == {}
    judged = {"a": {"Judged@10": [1.0], "Judged@5": [0.9]}, "b": {"Judged@10": [0.85], "Judged@5": [0.9]}}
    assert fired(judged)["unjudged hits differ"].startswith("15% of the hits of b")


def test_failed_rows_give_their_reasons_grouped_and_counted():
    failed = [Status.failed]
    reasons = {(0, 1, 0): "timed out after 3 s", (0, 2, 0): "timed out after 4 s.", (0, 3, 0): "no such index"}
    table = {"a": {"Hit@5": [1, np.nan, np.nan, np.nan, np.nan]}}
    said = fired(table, statuses=[[[Status.ok], failed, failed, failed, failed]], reasons=reasons)
    assert said["failed rows"] == (
        "a: 4 of 5 questions failed and are in no mean: timed out after 3 s (2 times, first q1); "
        "no such index (q3); no reason given (q4)."
    )


def test_rows_that_failed_in_some_measures_are_said_to_be_missing_from_those_alone():
    ok, failed = Status.ok, Status.failed
    table = {"a": {"Hit@5": [1, 1, np.nan], "TokenF1": [1, np.nan, np.nan], "EM": [1, np.nan, np.nan]}}
    reasons = {(0, 1, 1): "no reply", (0, 2, 0): "timed out"}
    said = fired(table, statuses=[[[ok] * 3, [ok, failed, failed], [ok] * 3]], reasons=reasons)["failed rows"]
    assert said == "a: 1 of 3 questions failed in TokenF1, EM and are not in those means: no reply (q1)."
    said = fired(table, statuses=[[[ok] * 3, [ok, failed, failed], [failed] * 3]], reasons=reasons)["failed rows"]
    assert said == (
        "a: 2 of 3 questions failed in TokenF1, EM and are not in those means, 1 of them in no mean at all: "
        "no reply (q1); timed out (q2)."
    )


def test_questions_on_one_side_only():
    table = {"a": {"Hit@5": [1, 0, 0]}}
    said = fired(table, facts=Facts(extra={"a": 4}, missing={"a": 2}))
    assert "4 questions of the run that the test set lacks" in said["questions not in the test set"]
    assert "2 of 3 questions have no result in the run; each that has gold scores 0" in said["questions not in the run"]
    assert fired(table, facts=Facts(extra={"a": 0}, missing={"a": 0})) == {}
