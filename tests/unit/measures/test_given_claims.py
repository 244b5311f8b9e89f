"""Claims that files bring, scored: alike texts, questions that a file does not hold, other tools' records."""

import pytest

import karat

QUESTIONS = [
    {"id": "q1", "question": "What is oil?", "answers": ["Oil is black."], "gold": [{"id": "a"}]},
    {"id": "q2", "question": "Who knows?", "answers": [], "gold": [{"id": "a"}]},
]
ROWS = [
    {"id": "q1", "answer": "Oil is black. oil  IS black.", "contexts": [{"id": "a", "text": "Oil is black."}]},
    {"id": "q2", "answer": "", "contexts": [{"id": "a", "text": "Oil is black."}]},
]


def scored(measures, claims, **more):
    return karat.score(QUESTIONS, {"mine": ROWS}, measures=measures, claims=claims, **more)


def test_claims_whose_texts_are_alike_keep_their_own_verdicts(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(
        "system,question,side,claim,text,premise,verdict\n"
        "mine,q1,answer,1,Oil is black,reference,entailed\n"
        "mine,q1,answer,2,oil  IS Black,reference,contradicted\n"
    )
    assert scored("ClaimPrecision", str(path)).mean("ClaimPrecision") == 0.5


def test_questions_that_a_file_does_not_hold_are_no_zeros(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(
        "system,question,side,claim,text,premise,verdict\n"
        "mine,q1,reference,1,Oil is black,1,entailed\n"
        "mine,q1,answer,1,Oil is black,reference,entailed\n"
    )
    names = "ContextClaimRecall(empty=zero),ClaimPrecision(empty=zero)"
    report = scored(names, str(path))
    assert [report.mean(name) for name in names.split(",")] == [1, 1]


def test_records_of_ragbench_are_scored(tmp_path):
    path = tmp_path / "ragbench.jsonl"
    path.write_text(
        '{"id": "q1", "documents_sentences": [[["0a", "Oil is black."], ["0b", "So is ink."]]], '
        '"all_relevant_sentence_keys": ["0a"], "all_utilized_sentence_keys": ["0a", "0b"], '
        '"response_sentences": [["a", "Oil is black."]], "unsupported_response_sentence_keys": []}\n'
    )
    report = scored("TraceUtilisation,TraceRelevance", str(path))
    assert report.per_query["TraceUtilisation"].to_list() == [1, 0]  # an empty answer uses nothing
    assert report.per_query["TraceRelevance"].to_list() == [pytest.approx(3 / 6), None]


def test_contexts_that_name_their_ids_are_hits():
    report = karat.score(QUESTIONS[:1], {"mine": ROWS[:1]}, measures="MRR,ContextSufficient")
    assert (report.mean("MRR"), report.mean("ContextSufficient")) == (1, 1)
