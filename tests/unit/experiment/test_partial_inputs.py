"""Aggregates of partial inputs: lists that end before the cut-off, and files without an answer for some questions."""

import json

import pytest

import karat
from karat.core.errors import UsageError

QUESTIONS = [
    {"id": f"q{i}", "question": f"Who wrote book {i}?", "gold": [{"doc": f"d{i}"}], "answers": [f"author {i}"]}
    for i in range(8)
]
TOP_1 = {"top1": {f"q{i}": [f"d{i if i < 5 else 0}"] for i in range(8)}}


def summaries(report):
    return {(s.system, s.measure): s for s in report.evaluation.summaries if s.slice is None}


def scored(results, **options):
    return karat.score(QUESTIONS, results, **options)


def test_measures_past_the_end_of_every_list_say_so_and_have_no_band_and_no_target():
    report = scored(TOP_1, measures=["Recall@{1,10}", "Hit@5", "MRR", "F1@5"], bands=True)
    found = summaries(report)
    past, within = found["top1", "Recall@10"], found["top1", "Recall@1"]
    assert (past.lists_end, past.note, past.band, past.meaning) == (1, "lists end at 1", None, None)
    assert (within.lists_end, within.note, within.band) == (None, None, "Moderate")
    assert found["top1", "MRR"].lists_end is None
    assert {t.measure for t in report.evaluation.targets} == {"MRR"}


def test_lists_of_each_system_are_looked_at_apart_and_empty_ones_do_not_count():
    lists = {
        "two": {f"q{i}": [f"d{i}", "x"] for i in range(7)} | {"q7": []},
        "mixed": {f"q{i}": ["x", f"d{i}", "y"][: 1 + i % 3] for i in range(8)},
        "long": {f"q{i}": [f"d{i}", *(f"x{n}" for n in range(9))] for i in range(8)},
    }
    found = summaries(scored(lists, measures=["Recall@2", "Recall@10"]))
    ends = {key: s.lists_end for key, s in found.items()}
    assert ends == {
        ("two", "Recall@2"): None, ("two", "Recall@10"): 2,
        ("mixed", "Recall@2"): None, ("mixed", "Recall@10"): None,
        ("long", "Recall@2"): None, ("long", "Recall@10"): None,
    }  # fmt: skip


def test_short_lists_are_said_of_every_slice_too():
    kinds = [{**q, "kind": "even" if i % 2 else "odd"} for i, q in enumerate(QUESTIONS)]
    report = karat.score(kinds, TOP_1, measures="Recall@10", by="kind")
    assert {s.note for s in report.evaluation.summaries} == {"lists end at 1"}
    assert set(report.by("kind")["note"]) == {"lists end at 1"}


def test_the_verdict_does_not_speak_of_ranks_that_no_list_has():
    (line,) = scored(TOP_1, measures="Recall@5").evaluation.verdicts.values()
    assert line == "top1: Recall@5 .62 [.31, .86] (lists end at 1)."


@pytest.mark.parametrize("measures", [["Recall@10"], ["Recall@10", "Recall@1", "MRR"]])
def test_the_caveat_stands_beside_the_figure_in_every_output(tmp_path, measures):
    for results in (TOP_1, {**TOP_1, "also": TOP_1["top1"]}):
        report = karat.score(QUESTIONS, results, measures=measures)
        for name in ("a.md", "a.tex", "a.csv", "a.txt", "a.json"):
            report.save(tmp_path / name)
            assert (tmp_path / name).read_text().count("lists end at 1") >= len(results), name
        rows = [s for s in json.loads((tmp_path / "a.json").read_text())["summaries"] if s["measure"] == "Recall@10"]
        assert {row["note"] for row in rows} == {"lists end at 1"}


def test_quiet_output_keeps_the_caveat(capsys):
    scored(TOP_1, measures="Recall@10").print(quiet=True)
    assert "lists end at 1" in capsys.readouterr().out


PARTIAL = [{"id": "q0", "answer": "author 0"}, {"id": "q1", "answer": "author x"}, {"id": "q2", "answer": ""}]


def test_missing_is_not_empty_and_both_means_are_given():
    (em,) = scored(PARTIAL, measures="EM").evaluation.summaries
    assert (em.n, em.n_undefined, em.n_missing) == (3, 5, 5)
    assert (em.mean, em.mean_answered, em.mean_with_missing) == pytest.approx((1 / 3, 1 / 3, 1 / 8))
    assert em.note == "3 of 8 answered; missing as 0: .125"


def test_missing_as_zero_is_the_headline_when_asked_for():
    report = scored(PARTIAL, measures="EM", missing="zero")
    (em,) = report.evaluation.summaries
    assert (em.n, em.n_undefined, em.n_missing) == (8, 0, 5)
    assert (em.mean, em.mean_answered, em.mean_with_missing) == pytest.approx((1 / 8, 1 / 3, 1 / 8))
    assert em.note == "3 of 8 answered; those alone: .333"
    reasons = dict(zip(report.per_query["question_id"], report.per_query["reason"], strict=True))
    assert (reasons["q2"], reasons["q3"]) == (None, "no answer in the results")


def test_missing_says_zero_or_skip():
    with pytest.raises(UsageError, match="missing='none' is not one of zero, skip"):
        scored(PARTIAL, measures="EM", missing="none")


def test_a_null_answer_is_missing_and_a_failed_one_is_failed():
    rows = [*PARTIAL, {"id": "q3", "answer": None}, {"id": "q4", "error": "timed out"}]
    (em,) = scored(rows, measures="EM").evaluation.summaries
    assert (em.n, em.n_missing, em.n_undefined, em.n_failed) == (3, 4, 4, 1)


def test_a_file_with_all_answers_says_nothing_of_missing_ones():
    (em,) = scored([{"id": f"q{i}", "answer": "x"} for i in range(8)], measures="EM").evaluation.summaries
    assert (em.n_missing, em.mean_answered, em.mean_with_missing, em.note) == (0, None, None, None)


def test_support_of_a_missing_answer_is_undefined_either_way():
    rows = [{**row, "contexts": ["author 0 wrote it"]} for row in PARTIAL]
    for missing in ("skip", "zero"):
        report = scored(rows, measures="SupportDensity", missing=missing)
        (support,) = report.evaluation.summaries
        assert (support.n, support.n_undefined, support.n_missing, support.note) == (2, 6, 0, None)


def test_missing_answers_are_counted_apart_from_empty_ones():
    notes = {n.guard: n.text for n in scored(PARTIAL, measures="EM").evaluation.notes if n.guard}
    assert notes["missing answers"] == (
        "results: 5 of 8 questions have no answer in this file: means of answers are over the others. "
        "--missing zero counts each as 0."
    )
    assert notes["empty answers"].startswith("results: 1 of 3 answers is empty (33%)")
    assert "questions not in the run" not in notes
    notes = {n.guard: n.text for n in scored(PARTIAL, measures="EM", missing="zero").evaluation.notes if n.guard}
    assert notes["missing answers"] == (
        "results: 5 of 8 questions have no answer in this file: each counts as 0. --missing skip leaves them out."
    )


def test_systems_that_answer_other_questions_are_not_ranked_against_each_other():
    both = [
        *({"id": f"q{i}", "system": "easy", "answer": f"author {i}"} for i in range(3)),
        *({"id": f"q{i}", "system": "hard", "answer": "author"} for i in range(3, 6)),
    ]
    report = karat.score(QUESTIONS, both, measures="TokenF1")
    assert not any("highest" in line for line in json.loads(report.to_json())["leaders"])
    zero = karat.score(QUESTIONS, both, measures="TokenF1", missing="zero")
    assert any("highest TokenF1: easy" in line for line in json.loads(zero.to_json())["leaders"])


def test_a_similarity_is_held_against_chance_over_the_same_answers():
    texts = ["cats purr softly", "tax law reform", "glacier ice melts", "jazz piano music"]
    asked = [{"id": f"q{i}", "question": "?", "answers": [text]} for i, text in enumerate(texts * 5)]
    rows = [{"id": f"q{i}", "answer": text} for i, text in enumerate(texts)] + [{"id": "q4", "answer": ""}]
    for missing in ("skip", "zero"):
        notes = karat.score(asked, rows, measures="SemanticSimilarity", missing=missing).evaluation.notes
        (note,) = [n for n in notes if "references of other questions" in n.text]
        assert note.level == "info"
        assert "SemanticSimilarity of results: 1.000 over 4 answers" in note.text
        assert "hardly" not in note.text


def test_refusals_leave_missing_answers_out():
    asked = [*QUESTIONS[:3], {"id": "q9", "question": "?", "answerable": False}]
    rows = [{"id": "q0", "answer": "author 0"}, {"id": "q9", "answer": "I don't know."}]
    (found,) = karat.score(asked, rows, measures="Refusal").evaluation.refusals.values()
    assert (found.n, found.empty) == (2, 0)
