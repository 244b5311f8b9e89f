"""Ranking measures against trec_eval itself (pytrec_eval), question by question, ties included."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.language import parse_all
from karat.core.run import Run
from karat.core.types import TestSet
from karat.files.trec_run import read
from karat.io.source import Source
from karat.match import judge
from karat.measures.compute import compute
from karat.stats.summary import summarise

CUTS = (1, 2, 3, 5, 10, 20)
OURS_TO_THEIRS = {
    "MRR": "recip_rank",
    "MAP": "map",
    "nDCG": "ndcg",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "infAP": "infAP",
    "IPrec11": "11pt_avg",
    "F1": "set_F",
    **{f"IPrec@{level:g}": f"iprec_at_recall_{level:.2f}" for level in np.arange(11) / 10},
    **{f"Precision@{k}": f"P_{k}" for k in CUTS},
    **{f"Recall@{k}": f"recall_{k}" for k in CUTS},
    **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in CUTS},
    **{f"MAP@{k}": f"map_cut_{k}" for k in CUTS},
    **{f"Hit@{k}": f"success_{k}" for k in CUTS},
}
ASKED = {
    *("recip_rank", "map", "ndcg", "Rprec", "bpref", "infAP", "11pt_avg", "set_F", "iprec_at_recall", "gm_map"),
} | {f"{name}.{','.join(map(str, CUTS))}" for name in ("P", "recall", "ndcg_cut", "map_cut", "success")}
MEASURES = parse_all(list(OURS_TO_THEIRS))

docs = st.sampled_from([f"d{i}" for i in range(12)] + ["é1", "ж2", "D3", "d10x"])
near = st.builds(lambda base, step: base * (1 + step * 2e-8), st.sampled_from([1.0, 3.7, 1e-3]), st.integers(-4, 4))
scores = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0, 2.5, -3.0]), near, st.floats(-1e6, 1e6, width=32), st.floats(-10, 10)
)
run_dicts = st.dictionaries(
    st.sampled_from("abcdefg"), st.dictionaries(docs, scores, min_size=1, max_size=14), min_size=1
)
# pytrec_eval never returns from a question of which nothing but negative grades is known
judgements = st.dictionaries(docs, st.integers(-1, 3), min_size=1, max_size=8).filter(lambda d: max(d.values()) >= 0)
qrel_dicts = st.dictionaries(st.sampled_from("abcdefh"), judgements, min_size=1)


def theirs(qrels, run, level=1):
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, ASKED, relevance_level=level)
    return evaluator.evaluate(run)


def agree(qrels, run, judged, measures=MEASURES, level=1):
    expected = theirs(qrels, run, level)
    for measure in measures:
        name = OURS_TO_THEIRS[measure.name.replace(f"(rel={level})", "")]
        got = measure.of(judged)
        for q, qid in enumerate(qrels):
            relevant = any(grade >= level for grade in qrels[qid].values())
            if relevant and qid in run:
                assert got[q] == pytest.approx(expected[qid][name], abs=1e-9), (measure.name, qid)
            elif relevant:
                assert got[q] == 0


@settings(max_examples=3 * settings.default.max_examples)
@given(qrel_dicts, run_dicts)
def test_dicts_agree(qrels, run):
    with np.errstate(all="ignore"):
        agree(qrels, run, judge(TestSet(qrels=qrels), [Run.from_scores("r", run)], "exact"))


@settings(max_examples=2 * settings.default.max_examples)
@given(qrel_dicts, run_dicts)
def test_general_path_agrees(qrels, run):
    """The path of other matchers, driven by a pattern that finds the whole id."""
    with np.errstate(all="ignore"):
        agree(qrels, run, judge(TestSet(qrels=qrels), [Run.from_scores("r", run)], "regex:.+"))


@given(qrel_dicts, run_dicts, st.randoms())
def test_files_agree(tmp_path_factory, qrels, run, random):
    rows = [f"{q} Q0 {d} 0 {s!r} tag\n" for q, hits in run.items() for d, s in hits.items()]
    random.shuffle(rows)
    path = tmp_path_factory.mktemp("trec") / "a.run"
    path.write_text("".join(rows), encoding="utf-8")
    with np.errstate(all="ignore"):
        agree(qrels, run, judge(TestSet(qrels=qrels), [read(Source(path))[0]]))


@given(qrel_dicts, run_dicts)
def test_relevance_level_agrees(qrels, run):
    binary = [m for m in MEASURES if m.spec.follows_rel]
    measures = [m.with_rel(2) for m in binary]
    with np.errstate(all="ignore"):
        judged = judge(TestSet(qrels=qrels), [Run.from_scores("r", run)])
        agree(qrels, run, judged, measures, level=2)


@pytest.mark.slow
def test_long_lists_with_many_judged_hits_agree():
    """Enough judged hits a question to take the sorting way of counting."""
    rng = np.random.default_rng(7)
    names = [f"doc{i:05d}" for i in range(6000)]
    run = {
        f"q{q}": {names[i]: float(np.round(rng.normal(), 2)) for i in rng.choice(6000, 5000, replace=False)}
        for q in range(30)
    }
    qrels = {q: {names[i]: int(rng.integers(0, 4)) for i in rng.choice(6000, 200, replace=False)} for q in run}
    judged = judge(TestSet(qrels=qrels), [Run.from_scores("r", run)])
    agree(qrels, run, judged)


@given(qrel_dicts, run_dicts)
def test_the_geometric_mean_agrees_as_trec_eval_aggregates_it(qrels, run):
    asked = {q: docs for q, docs in qrels.items() if q in run and max(docs.values()) >= 1}
    if not asked:
        return
    found = theirs(asked, run)
    expected = [found[q]["gm_map"] for q in asked]
    judged = judge(TestSet(qrels=asked), [Run.from_scores("r", run)])
    scores = compute(parse_all("gm_map"), judged.systems, judged.questions, judged=judged)
    (summary,) = summarise(scores, intervals=False)
    assert np.log(scores.values[0, :, 0]) == pytest.approx(expected, abs=1e-9)
    assert summary.mean == pytest.approx(pytrec_eval.compute_aggregated_measure("gm_map", expected), abs=1e-9)


def test_names_of_trec_eval_are_understood():
    asked = "infAP, 11pt_avg, gm_map, set_F, set_P, set_recall, iprec_at_recall_0.10, iprec_at_recall_1.00, IPrec@0.1"
    named = ["infAP", "IPrec11", "GMAP", "F1", "Precision", "Recall", "IPrec@0.1", "IPrec@1"]
    assert [measure.name for measure in parse_all(asked)] == named
