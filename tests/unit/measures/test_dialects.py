"""Dialects: what each computes, and that all it names can be computed."""

import pytest

from karat.core.errors import UsageError
from karat.core.language import expand, parse
from karat.match import MATCHERS
from karat.measures.dialects import DIALECTS, dialect_named

ALL = {"rankings": True, "answers": True, "references": True, "contexts": True}


def test_which_there_are():
    names = {"karat", "squad", "trec", "hybrid-rag", "liverag", "rag-benchmark", "momento", "healthcare", "ragchecker"}
    assert names | {"alce", "crag", "trec-rag"} <= set(DIALECTS)


def test_squad_scores_as_its_script():
    squad = DIALECTS["squad"]
    assert (squad.match, squad.norm, squad.missing) == ("doc", "squad", "zero")
    assert [squad.meant(parse(name)).name for name in squad.answers] == ["EM(norm=squad)", "TokenF1(norm=squad)"]
    assert squad.meant(parse("EM(norm=unicode)")).name == "EM"
    assert squad.meant(parse("Recall@5")).name == "Recall@5"


def test_the_form_of_the_test_set_names_a_normaliser_where_the_dialect_does_not():
    assert DIALECTS["karat"].meant(parse("EM"), "squad").name == "EM(norm=squad)"
    assert DIALECTS["rag-benchmark"].meant(parse("TokenF1"), "squad").name == "TokenF1(bag=set, norm=rag-benchmark)"


@pytest.mark.parametrize("name", list(DIALECTS))
def test_every_measure_and_matcher_of_a_dialect_exists(name):
    dialect = DIALECTS[name]
    measures = [parse(one) for text in dialect.measures(**ALL) for one in expand(text)]
    assert len({m.name for m in measures}) == len(measures)
    assert dialect.match == "auto" or dialect.match in MATCHERS
    assert dialect.about
    assert dialect.differs or name == "karat"
    assert all(sentence.endswith(".") for sentence in dialect.differs)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("hybrid-rag", "MRR"),
        ("liverag", "Recall"),
        ("rag-benchmark", "Hit@{1,3,5,10,20}"),
        ("momento", "Precision@{1,3,5,10,20}"),
        ("healthcare", "F1@5"),
    ],
)
def test_the_main_measure_comes_first(name, first):
    assert dialect_named(name).measures(**ALL)[0] == first


def test_what_the_results_do_not_hold_is_not_computed():
    karat = DIALECTS["karat"]
    rankings = karat.measures(rankings=True, answers=False, references=False, contexts=False)
    assert "MAP" in rankings
    assert "EM" not in rankings
    answers = karat.measures(rankings=False, answers=True, references=True, contexts=False)
    assert answers == ["EM", "TokenF1", "ROUGE-L"]
    grounded = karat.measures(rankings=False, answers=True, references=False, contexts=True)
    assert "SupportCoverage" in grounded
    assert "EM" not in grounded


def test_k_takes_the_place_of_the_cuts():
    measures = DIALECTS["karat"].measures(**ALL, k=7)
    assert "Recall@7" in measures
    assert not any("{" in m for m in measures)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("Recall@5", "Hit@5"),
        ("R@3", "Hit@3"),
        ("recall_at_5", "Hit@5"),
        ("R_5", "Hit@5"),
        ("recall_at_k", "Hit@9"),
        ("Recall(rel=2)@5", "Hit(rel=2)@5"),
        ("Recall@80t", "Hit@80t"),
        ("Recall", "Hit"),
        ("MRR@5", "MRR@5"),
    ],
)
def test_recall_of_rag_benchmark_is_hit_in_every_spelling(theirs, ours):
    asked = parse(theirs, k=9)
    assert DIALECTS["rag-benchmark"].meant(asked).name == ours
    assert DIALECTS["karat"].meant(asked) == asked


def test_names_are_read_loosely_and_unknown_ones_answered():
    assert dialect_named(" Hybrid_RAG ").name == "hybrid-rag"
    with pytest.raises(UsageError, match=r"unknown dialect 'livrag'\. Did you mean liverag\? There are karat, squad"):
        dialect_named("livrag")
