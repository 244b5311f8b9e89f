"""Refusals told from negative findings, hedges and partial answers, over answers labelled by hand."""

import json
from pathlib import Path

import pytest

from karat.core.text.refusals import declines

DATA = Path(__file__).parents[3] / "data"
MEASURES_MD = Path(__file__).parents[4] / "docs" / "explanation" / "measures.md"


def _precision_and_recall(name: str) -> tuple[float, float]:
    rows = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    refused = [row for row in rows if row["label"] == "refuse"]
    hits = sum(declines(row["text"]) for row in refused)
    return hits / sum(declines(row["text"]) for row in rows), hits / len(refused)


@pytest.mark.parametrize("text", ["No evidence of fracture was seen.", "No data was lost."])
def test_a_negative_finding_is_an_answer(text):
    assert not declines(text)


def test_on_answers_the_rule_was_not_tuned_on():
    precision, recall = _precision_and_recall("refusals_heldout.jsonl")
    assert precision >= 0.97
    assert recall >= 0.85
    assert f"precision {precision:.2f}, recall {recall:.2f}" in MEASURES_MD.read_text(encoding="utf-8")


def test_the_two_halves_share_no_answer():
    texts = [
        {json.loads(line)["text"] for line in (DATA / name).read_text(encoding="utf-8").splitlines()}
        for name in ("refusals_heldout.jsonl", "refusals_tuning.jsonl")
    ]
    assert not texts[0] & texts[1]
    assert sum(map(len, texts)) >= 200
