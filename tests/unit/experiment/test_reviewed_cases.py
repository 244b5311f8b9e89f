"""Scoring cases that went wrong once: each a number that must not come back."""

import json

import pytest

import karat
from karat.core.errors import NoOverlapError

QA = [
    {"id": "q1", "question": "one?", "answers": ["Paris"], "gold": ["A"]},
    {"id": "q2", "question": "two?", "answers": ["Rome"], "gold": ["B"]},
]


def rows(tmp_path, name, *records):
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_answers_alone_are_scored_where_the_test_set_has_gold():
    report = karat.score(QA, {"q1": "paris", "q2": "Milan"}, measures="EM")
    assert report.mean("EM") == 0.5


def test_a_system_without_rankings_does_not_choose_the_matcher():
    report = karat.score(QA, {"rank": {"q1": ["A::chunk-0"], "q2": ["x::chunk-1"]}, "ans": {"q1": "Paris"}})
    assert report.evaluation.matching.matcher == "doc"
    assert report.mean("Recall@5", "rank") == 0.5
    assert report.mean("Recall@5", "ans") is None
    assert report.mean("EM", "rank") is None
    assert report.mean("EM", "ans") == 1.0  # of the question it answers
    assert not any("usually about ids" in note for note in report.notes)


def test_a_system_that_failed_throughout_is_failed_not_refused(tmp_path):
    good = rows(tmp_path, "good.jsonl", *({"id": q, "retrieved": ["A", "B"]} for q in ("q1", "q2")))
    bad = rows(tmp_path, "bad.jsonl", *({"id": q, "status": "failed", "error": "timeout"} for q in ("q1", "q2")))
    report = karat.score(QA, [good, bad], measures="MRR")
    assert report.mean("MRR", "good") == 0.75
    assert report.mean("MRR", "bad") is None
    assert report.n_failed == 2
    assert set(report.failures()["reason"]) == {"timeout"}


def test_empty_lists_score_zero_and_absent_ones_are_said(tmp_path):
    empty = rows(tmp_path, "e.jsonl", *({"id": q, "retrieved": [], "answer": "x"} for q in ("q1", "q2")))
    with pytest.raises(NoOverlapError):
        karat.score(QA, empty, measures="Recall@5")
    assert karat.score(QA, empty, measures="Recall@5", matching={"allow_zero_overlap": True}).mean("Recall@5") == 0
    part = rows(tmp_path, "p.jsonl", {"id": "q1", "retrieved": ["A"]}, {"id": "q2", "answer": "x"})
    report = karat.score(QA, part, measures="Recall@5")
    assert report.mean("Recall@5") == 0.5
    assert any("1 of 2 questions have no result in the run" in note for note in report.notes)


def test_rankings_without_any_gold_have_counts_and_no_reason_but_the_gold():
    report = karat.score([{"id": "q1", "question": "?"}], {"q1": ["a", "b"]}, measures=["Retrieved", "MRR"])
    assert report.mean("Retrieved") == 2
    assert report.per_query["MRR.reason"].to_list() == ["no relevant gold"]


def test_no_ceiling_below_what_was_reached():
    pages = [{"id": "q", "gold": [{"page": str(p)} for p in range(1, 11)]}]
    hits = [{"id": "q", "retrieved": [{"id": f"c{i}", "page": f"{2 * i + 1}-{2 * i + 2}"} for i in range(5)]}]
    (target,) = karat.score(pages, hits, measures="F1@5", bands=True).evaluation.targets
    assert (target.value, target.ceiling) == (1, 1)
    eight = [{"id": "q", "retrieved": [{"id": f"c{i}", "page": "8"} for i in range(5)]}]
    report = karat.score([{"id": "q", "gold": [{"page": "8"}]}], eight, dialect="healthcare")
    assert {t.measure: t.ceiling for t in report.evaluation.targets}["F1@5"] == 1


def test_repeats_are_no_false_alarms():
    hits = {"q1": [f"A#{i}" for i in range(5)]}
    report = karat.score(
        {"q1": {"A": 1}}, hits, matching="doc", measures=["AQWV(fa=retrieved)", "AQWV(n=3)", "Precision"]
    )
    assert report.summary["mean"].to_list() == [1, 1, 1]


def test_rel_reaches_the_counts_and_keeps_the_targets():
    report = karat.score(
        {"q": {"A": 1, "B": 2}}, {"q": ["A", "B"]}, measures=["Gold", "Correct", "MRR"], matching={"rel": 2}, bands=True
    )
    assert report.measures == ("Gold(rel=2)", "Correct(rel=2)", "MRR(rel=2)")
    assert [report.mean(m) for m in ("Gold", "Correct", "MRR")] == [1, 1, 0.5]
    assert [t.measure for t in report.evaluation.targets] == ["MRR(rel=2)"]


def test_rows_trace_the_order_that_was_scored():
    near = {"q": {"a": 1.00000001, "b": 1.0}}
    for ties, order in (("float32", ["b", "a"]), ("double", ["a", "b"])):
        report = karat.score({"q": {"a": 1}}, near, matching={"ties": ties}, measures="MRR")
        assert report.per_query["ranked"].to_list() == [order]
        assert report.mean("MRR") == 1 / (order.index("a") + 1)


def test_ids_of_mixed_kind_in_a_dict_are_all_found():
    report = karat.score({"q": {"10": 1, "a": 1, "b": 1}}, {"q": {"a": 3.0, 10: 2.0, " b": 1.0}}, measures="Recall@5")
    assert report.mean("Recall@5") == 1


def test_all_grades_zero_is_undefined_and_no_matter_of_ids():
    report = karat.score({"q": {"a": 0}}, {"q": ["a"]}, measures="MRR")
    assert report.mean("MRR") is None
    assert report.notes == []


def test_think_only_answers_are_empty():
    report = karat.score(QA, {"q1": "<think>hm</think>", "q2": "Rome"}, measures="EM")
    assert any("1 of 2 answers is empty" in note for note in report.notes)


def test_healthcare_data_from_python_and_its_printed_scores(tmp_path):
    questions = [{"query": "a?", "relevant_docs": ["8"], "query_type": "factual"}]
    lists = [{"id": "0", "retrieved_pages": ["8", "9"]}]
    assert karat.score(questions, lists, measures="MRR").mean("MRR") == 1
    head = (
        "config_name,alpha,k,query_id,query,precision_at_k,recall_at_k,mrr,ndcg_at_k,retrieved_pages,relevant_pages\n"
    )
    good = tmp_path / "good.csv"
    good.write_text(head + "D,1.0,5,1,a?,0.2,1.0,1.0,1.0,\"['8', '9', '3']\",['8']\n")
    notes = karat.score(questions, good, measures="MRR").notes
    assert any("all 4 of its printed scores follow from its rows" in note for note in notes)
    bad = tmp_path / "bad.csv"
    bad.write_text(head + "D,1.0,5,0,a?,0.2,0.9,1.0,1.63,\"['8', '9', '3']\",['8']\n")
    notes = karat.score(questions, bad, measures="MRR").notes
    assert any("recall_at_k differs in 1 of 1 rows" in note and "printed 1.6300" in note for note in notes)
    counted = tmp_path / "counted.csv"
    counted.write_text(head + "D,1.0,5,0,a?,0.4,1.0,1.0,1.6309,\"['8', '8', '3']\",['8']\n")
    notes = karat.score(questions, counted, measures="MRR").notes
    assert any("count every chunk of a page" in note for note in notes)


def test_contexts_without_ids_are_no_rankings_where_gold_has_ids(tmp_path):
    results = rows(
        tmp_path, "c.jsonl", *({"id": q, "answer": "Paris", "contexts": ["It is Paris."]} for q in ("q1", "q2"))
    )
    report = karat.score(QA, results)
    assert report.mean("EM") == 0.5
    assert report.mean("SupportCoverage") == 1
    assert "c: its hits are texts without ids: taken as contexts, not ranked." in report.notes
    quoted = [{"id": "q1", "gold": [{"quote": "is Paris"}]}, {"id": "q2", "gold": [{"quote": "is Rome"}]}]
    assert karat.score(quoted, results, measures="Recall@5").mean("Recall@5") == 0.5


def test_all_rows_failed_and_nothing_else(tmp_path):
    bad = rows(tmp_path, "bad.jsonl", *({"id": q, "error": "timeout"} for q in ("q1", "q2")))
    report = karat.score(QA, bad)
    assert report.n_failed == 2
    assert "MRR" in report.measures


def test_rows_that_karat_wrote_can_be_scored_again(tmp_path):
    results = rows(
        tmp_path, "r.jsonl", {"id": "q1", "retrieved": ["A"]}, {"id": "q2", "status": "failed", "error": "x"}
    )
    first = karat.score(QA, results, measures=["MRR", "Gold"])
    first.save(tmp_path / "out")
    for name in ("rows.csv", "rows.parquet"):
        again = karat.score(QA, tmp_path / "out" / name, measures="MRR")
        assert (again.mean("MRR"), again.n_failed) == (1, 1)


def test_matchers_that_find_no_more_are_not_offered():
    report = karat.score(QA, {"q1": ["A", "x"], "q2": ["y"]}, measures="MRR")
    assert dict(report.evaluation.matching.others) == {}
    with pytest.raises(NoOverlapError) as refused:
        karat.score({"q1": ["Doc-1"]}, {"q1": ["doc-1"]})
    assert "--match page" not in str(refused.value)


def test_documents_under_other_folders_are_found():
    gold = [{"id": "q", "gold": [{"doc": "manual.pdf"}]}]
    hits = [{"id": "q", "retrieved": [{"id": "c1", "doc": "/data/manual.pdf"}]}]
    assert karat.score(gold, hits, measures="Recall@5").mean("Recall@5") == 1


def test_cells_that_hold_several_pages(tmp_path):
    pages = tmp_path / "pages.csv"
    pages.write_text("query_id,retrieved_pages\nq,12|13\n")
    gold = [{"id": "q", "gold": [{"page": "13"}]}]
    assert karat.score(gold, pages, measures="MRR").mean("MRR") == 0.5


def test_the_rows_of_a_run_whose_chunks_span_pages_score_as_the_run_did(tmp_path):
    gold = [{"id": "q", "question": "?", "gold": [{"doc": "m.pdf", "page": "4"}]}]
    retrieved = [{"id": "a", "doc": "m.pdf", "page": [1, 2]}, {"id": "b", "doc": "m.pdf", "page": [3, 4]}]
    hits = [{"id": "q", "retrieved": retrieved}]
    report = karat.score(gold, {"s": hits}, measures="MRR")
    report.save(tmp_path / "out")
    assert report.mean("MRR") == karat.score(gold, tmp_path / "out" / "rows.csv", measures="MRR").mean("MRR") == 0.5


def test_document_ids_that_were_floats_are_whole_numbers_in_hits_and_judgements_alike(tmp_path):
    floats, judged = tmp_path / "floats.csv", tmp_path / "judged.csv"
    floats.write_text("query,doc,score\nq,11.0,3\nq,13.0,2\n")
    judged.write_text("query_id,doc_id,relevance\nq,13.0,1\n")
    assert karat.score({"q": {"13": 1}}, floats, measures="MRR").mean("MRR") == 0.5
    assert karat.score(judged, floats, measures="MRR").mean("MRR") == 0.5
    assert karat.score(judged, {"q": ["11", "13"]}, measures="MRR").mean("MRR") == 0.5


def test_document_ids_that_only_look_like_floats_stay_as_they_are_written(tmp_path):
    sections = tmp_path / "sections.csv"
    sections.write_text("query,doc,score\nq,1.1,3\nq,1.0,2\n")
    assert karat.score({"q": {"1.0": 1}}, sections, measures="MRR").mean("MRR") == 0.5
