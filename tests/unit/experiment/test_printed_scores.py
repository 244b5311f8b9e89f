"""Scores that a rows file prints of itself, checked against its own rankings."""

import karat

HEAD = (
    "config_name,k,query_id,query,query_type,precision_at_k,recall_at_k,f1_score,mrr,hit_rate_at_k,ndcg_at_k,"
    "retrieved_pages,relevant_pages\n"
)
GOOD = """bm25,5,1,fever?,fact,0.4,1.0,0.5714,1.0,1.0,0.9197,"['34', '78', '35', '102', '45']","['34', '35']"\n"""


def notes(tmp_path, *rows):
    path = tmp_path / "rows.csv"
    path.write_text(HEAD + "".join(rows))
    return karat.score(path, path, measures="MRR").notes


def test_scores_that_follow_are_said_to(tmp_path):
    assert any("printed scores follow from its rows" in n for n in notes(tmp_path, GOOD))


def test_a_score_that_does_not_follow_is_named_with_an_example(tmp_path):
    (note,) = (n for n in notes(tmp_path, GOOD.replace("0.9197", "0.9519")) if "printed" in n)
    assert "ndcg" in note.lower()
    assert "printed 0.9519" in note
    assert "0.9197" in note


def test_counting_every_chunk_is_told_apart_from_wrong(tmp_path):
    counted = (
        """bm25,5,1,fever?,fact,0.6,0.6667,0.6316,1.0,1.0,0.9675,"['1', '1', '2', '3', '9']","['1', '3', '4']"\n"""
    )
    (note,) = (n for n in notes(tmp_path, counted) if "printed" in n)
    assert "count every chunk of a page" in note
    assert "--dialect healthcare" in note
