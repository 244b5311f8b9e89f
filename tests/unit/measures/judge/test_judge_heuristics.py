"""Judges without a model: words and figures, by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse


def judge(
    name, answer="In Paris.", *, question="Where is it?", references=("Paris",), contexts=("c",), answerable=True
):
    rows = AnswerTable(
        ("s",),
        ("q",),
        texts=[question],
        answers=[answer],
        references=[tuple(references)],
        contexts=[contexts],
        answerable=[answerable],
    )
    return parse(f"{name.rstrip(')')}{', ' if '(' in name else '('}by=heuristic)").of(rows)


def value(name, *given, **more):
    outcome = judge(name, *given, **more)
    assert not outcome.failed
    if not outcome.undefined:
        assert outcome.details[0]["by"] == "heuristic"
        assert outcome.details[0]["reason"]
    return None if np.isnan(outcome.values[0]) else float(outcome.values[0])


BRIDGE = ("The bridge opened in 1962.", "The bridge is 412 metres long.")


@pytest.mark.parametrize(
    ("answer", "unit", "liverag"),
    [
        ("The bridge opened in 1962. The bridge is 412 metres long.", 1.0, 1.0),
        ("The bridge opened in 1962 [1]. It is made of cheese.", 0.5, 0.0),
        ("The bridge opened in 1972.", 0.0, -1.0),
        ("Cheese is tasty.", 0.0, -1.0),
    ],
)
def test_faithfulness_counts_sentences_whose_words_and_figures_are_in_the_contexts(answer, unit, liverag):
    assert value("Faithfulness", answer, contexts=BRIDGE) == unit
    assert value("Faithfulness(scale=liverag)", answer, contexts=BRIDGE) == liverag


def test_faithfulness_says_which_context_supports_and_why_none_does():
    shown = judge("Faithfulness", "The bridge is 412 metres long. It opened in 1999.", contexts=BRIDGE).details[0]
    assert [(c["verdict"], c["contexts"]) for c in shown["claims"]] == [("supported", [2]), ("not_found", [])]
    assert shown["claims"][1]["reason"] == "no context holds 1999"
    assert "model" not in shown


@pytest.mark.parametrize("answer", [None, "", "I don't know.", "<think>Paris</think>"])
def test_faithfulness_of_nothing_is_undefined(answer):
    assert value("Faithfulness", answer) is None
    assert value("Faithfulness", "of the") is None
    assert value("Faithfulness", "It is.", contexts=None) is None
    assert value("Faithfulness", "Paris is large.", contexts=()) == 0.0


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("In Paris.", ("Paris",), 1.0),
        ("In Rome.", ("Paris",), 0.0),
        ("It costs 1,000 crowns.", ("1000 crowns",), 1.0),
        ("It costs 900 crowns.", ("1000 crowns",), 0.5),
        ("In Rome.", ("Paris", "Rome"), 1.0),
        ("", ("Paris",), 0.0),
        ("He did.", ("He did",), 1.0),
        ("Paris", (), None),
        ("Paris", ("...",), None),
    ],
)
def test_correctness_is_the_share_of_the_references_words_and_figures(answer, references, expected):
    assert value("Correctness", answer, references=references) == expected


def test_correctness_names_missing_sentences():
    reference = "The bridge opened in 1962. Marta Lindqvas designed it."
    shown = judge("Correctness", "The bridge opened in 1962.", references=(reference,)).details[0]
    assert shown["missing"] == ["Marta Lindqvas designed it."]


def test_context_relevance_is_the_mean_share_of_the_questions_words():
    question = "When was the Tolven bridge opened?"
    contexts = ("The Tolven bridge was opened in 1962.", "A bridge.", "Cheese.")
    outcome = judge("ContextRelevance", None, question=question, contexts=contexts)
    assert outcome.values[0] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert [c["value"] for c in outcome.details[0]["contexts"]] == pytest.approx([1, 1 / 3, 0])
    assert value("ContextRelevance", question="Who is it?", contexts=("x",)) is None
    assert value("ContextRelevance", contexts=()) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("In Paris.", 1.0), ("Two years.", 1.0), ("I don't know.", 0.0), ("Where is it?", 0.0), ("", 0.0)],
)
def test_responsiveness_sees_only_the_worst(answer, expected):
    assert value("Responsiveness", answer) == expected
    assert value("Responsiveness", answer, answerable=False) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is in Paris.", 2.0),
        ("It is in Paris, where I have never been but which is said to be rather lovely in spring.", 1.0),
        ("I don't know.", 0.0),
        ("", 0.0),
        ("In Rome.", -1.0),
    ],
)
def test_relevance_on_liverags_scale(answer, expected):
    assert value("Relevance", answer, references=("in Paris",)) == expected
    assert value("Relevance", answer, references=()) is None


def test_the_name_says_that_it_is_a_heuristic():
    assert parse("faithfulness(BY=heuristic)").name == "Faithfulness(by=heuristic)"


def test_faithfulness_ranks_labelled_sentences_better_than_plain_coverage():
    lines = (Path(__file__).parents[3] / "data" / "support.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    ids, n = tuple(row["id"] for row in rows), len(rows)
    contexts = [tuple(row["contexts"]) for row in rows]
    answered = AnswerTable(
        ("s",),
        ids,
        texts=[""] * n,
        answers=[row["answer"] for row in rows],
        references=[()] * n,
        contexts=contexts,
        answerable=[True] * n,
    )
    supported = np.array([row["label"] == "supported" for row in rows])

    def auc(name):
        values = parse(name).of(answered).values
        differences = values[supported][:, None] - values[~supported][None, :]
        return float(np.mean((differences > 0) + 0.5 * (differences == 0)))

    assert auc("Faithfulness(by=heuristic)") > max(0.9, auc("SupportCoverage"))
