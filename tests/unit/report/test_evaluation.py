"""What a document says of an evaluation."""

import dataclasses

import numpy as np

from karat.report.build.evaluation import document
from karat.report.build.spread import spread
from karat.report.document import Detail, Table, Value
from karat.report.render import console, markdown
from karat.results.evaluation import InputInfo
from karat.stats.summary import summarise

EIGHT = ("bm25", "dense", "hybrid", "splade", "colbert-v2", "rerank_bm25", "Pure_Dense_FAISS_long", "x")


def shown(evaluation, detail=Detail.BRIEF, width=100):
    return " ".join(console.render(document(evaluation), detail, width=width).split())


def table_of(evaluation, caption, detail=Detail.FULL):
    return next(b for b in document(evaluation).at(detail) if isinstance(b, Table) and b.caption.startswith(caption))


def test_one_system_shows_all_that_was_asked_for(make, warning):
    text = shown(make(by=("kind",), notes=(warning,)))
    for part in (
        "qa.jsonl read as karat JSONL: 60 questions, 3 kinds",
        "match doc (document): gold names documents",
        "n 58, 2 undefined, 0 failed",
        "F1@5 > .5",
        "out of reach",
        "bm25: Recall@5",
        "! questions not in the run: bm25: 2 of 60",
        "more: -v shows all",
    ):
        assert part in text, part
    assert "out of reach" in markdown.render(document(make()))


def test_every_mean_with_its_interval_is_in_the_table(make):
    for count in (1, 3, 8):
        evaluation = make(EIGHT[:count], failed=1)
        values = [cell for row in table_of(evaluation, "Means over").rows for cell in row if isinstance(cell, Value)]
        whole = [(s.mean, s.low, s.high) for s in evaluation.summaries if s.slice is None]
        assert sorted((v.value, v.low, v.high) for v in values) == sorted(whole)


def test_the_ceiling_stands_beside_the_means_of_few_systems(make):
    for count in (1, 2):
        evaluation = dataclasses.replace(make(EIGHT[:count], measures=["Recall@5", "MRR"]), ceilings={"Recall@5": 0.75})
        table = table_of(evaluation, "Means over", Detail.BRIEF)
        place = [column.title for column in table.columns].index("ceiling")
        assert {row[0]: row[place] for row in table.rows} == {"Recall@5": ".750", "MRR": "", "seconds (p50)": ""}
        assert "ceiling: the highest mean" in shown(evaluation)
    assert "ceiling" not in shown(make(EIGHT[:2]))


def test_brief_shows_the_main_measures_and_full_all(make):
    evaluation = make(("a", "b"), by=("kind",))
    assert len(table_of(evaluation, "Means over", Detail.BRIEF).rows) < 10
    assert len(table_of(evaluation, "Means over").rows) == len(evaluation.scores.measures) + 1  # seconds
    assert len(table_of(evaluation, "By kind").rows) == 3 * len(evaluation.scores.measures)


def test_the_best_is_starred_and_overlap_is_told(make):
    values = np.zeros((3, 60, 1))
    values[0, :20], values[1, :45], values[2, :48] = 1, 1, 1
    evaluation = make(("low", "near", "top"), measures=["Hit@5"], values=values, undefined=0)
    row, _ = table_of(evaluation, "Means over").rows
    assert [cell.mark for cell in row[1:]] == ["", "~", "*"]
    assert row[3].best
    text = shown(evaluation)
    assert "*: best mean of its measure" in text
    assert "~: its interval overlaps" in text
    assert "highest Hit@5: top, .80 [" in text


def test_shares_are_percent_and_counts_counts(make):
    rows = table_of(make(measures=["AnyGold", "Retrieved"]), "Means over").rows
    assert [row[1].unit for row in rows[:2]] == ["share", "count"]


def test_failed_rows_show_worst_to_best(make):
    evaluation = make(("a", "b"), failed=3)
    row = table_of(evaluation, "Means if every failed row").rows[0]
    s = next(s for s in evaluation.summaries if s.measure == row[0] and s.system == "a")
    assert row[1:3] == ["a", 3]
    assert row[3:] == [f"{v:.3f}".removeprefix("0") for v in (s.worst, s.best)]


def test_counts_that_differ_are_told_apart(make):
    evaluation = make(("a", "b"), measures=["Recall@5", "MRR"], undefined=0)
    status = evaluation.scores.status.copy()
    status[1, :4, 1] = 1
    scores = dataclasses.replace(evaluation.scores, status=status)
    text = shown(dataclasses.replace(evaluation, scores=scores, summaries=summarise(scores)))
    assert "Recall@5: n 60, 0 undefined, 0 failed" in text
    assert "MRR: a: n 60, 0 undefined, 0 failed · b: n 56, 4 undefined, 0 failed" in text


def test_bands_of_several_systems_carry_their_meaning(make):
    text = shown(make(("a", "b"), answers=True))
    assert "Bands" in text
    assert "the first relevant hit is often below rank 3" in text


def test_the_spread_of_the_headline_is_told_for_every_system(make):
    evaluation = make(("a", "b"))
    text = shown(evaluation, Detail.FULL)
    assert "Spread of Recall@5" in text
    for s in evaluation.summaries:
        if s.measure == "Recall@5":
            assert f"{s.system} {spread(s)}." in text


def test_a_long_path_keeps_its_end(make):
    taken = InputInfo("/data/" + "deep/" * 20 + "bm25.run", "trec", "hits")
    assert "/bm25.run" in shown(dataclasses.replace(make(n=5), taken=(taken,)))


def test_without_intervals_no_best_is_marked(make):
    evaluation = make(("a", "b"), n=20)
    bare = tuple(dataclasses.replace(s, low=None, high=None) for s in evaluation.summaries)
    text = shown(dataclasses.replace(evaluation, summaries=bare, verdicts={}))
    assert "best mean" not in text
    assert "highest Recall@5" not in text


def test_an_evaluation_of_nothing_is_still_told(make):
    text = shown(make(n=3, undefined=3, measures=["Recall@5", "MRR"]))
    assert "n 0, 3 undefined, 0 failed" in text
    assert "has no value (3 undefined, 0 failed)" in text
    assert "nan" not in text.lower()


def test_every_n_is_said_however_many_differ(make):
    """A line for each group of measures with the same n, none left out or cut off in brief."""
    evaluation = make(EIGHT, measures=["Recall@5", "MRR", "nDCG@10", "Precision@3", "MAP"])
    summaries = [dataclasses.replace(s, n=s.n - len(s.measure)) for s in evaluation.summaries]
    text = shown(dataclasses.replace(evaluation, summaries=tuple(summaries)))
    for part in ("Recall@5: n 50,", "MRR, MAP: n 55,", "nDCG@10: n 51,", "Precision@3: n 47,"):
        assert f"scored {part}" in text, part


def test_a_long_name_keeps_its_share(make):
    evaluation = make(("a name of more than forty characters, as systems may have",))
    share = dict.fromkeys(evaluation.scores.systems, 0.463)
    matching = dataclasses.replace(evaluation.matching, share=share)
    assert "… 46.3%" in shown(dataclasses.replace(evaluation, matching=matching), Detail.FULL)
