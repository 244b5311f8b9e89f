"""A system that returned nothing does not stop the others: it is scored as it is, and reported."""

import pytest

import karat
from karat.core.errors import NoOverlapError

GOLD = {"1": ["d1"], "2": ["d3"]}
FULL = {"1": ["d1"], "2": ["d2"]}


def test_empty_lists_score_zero_beside_other_systems():
    report = karat.score(GOLD, {"a": FULL, "b": {"1": [], "2": []}}, measures=["Recall@5"])
    assert (report.mean("Recall@5", system="a"), report.mean("Recall@5", system="b")) == (0.5, 0.0)
    assert any("b" in note and "no hits" in note for note in map(str, report.notes))


def test_a_run_says_so_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.py").write_text("def none(question): return []\ndef one(question): return ['d1']\n")
    (tmp_path / "qa.jsonl").write_text('{"id": "1", "question": "Why?", "gold": ["d1"]}\n')
    systems = "[{name: a, call: 'ours:one'}, {name: b, call: 'ours:none'}]"
    (tmp_path / "karat.yaml").write_text(f"testset: qa.jsonl\nmeasures: [MRR]\nsystems: {systems}\noutputs: []\n")
    notes = [note.text for note in karat.run("karat.yaml").evaluation.notes]
    assert "b: returned no hits for any question." in notes
    assert not any(note.startswith("a: returned") for note in notes)


def test_a_system_without_rows_has_no_scores_beside_other_systems():
    report = karat.score(GOLD, {"a": FULL, "b": {}}, measures=["Recall@5"])
    assert report.mean("Recall@5", system="a") == 0.5
    assert report.mean("Recall@5", system="b") is None
    assert any("b" in note and "no results" in note for note in map(str, report.notes))


@pytest.mark.parametrize("given", [{"1": [], "2": []}, {"a": {"1": []}, "b": {"1": []}}])
def test_nothing_at_all_is_an_error(given):
    with pytest.raises(NoOverlapError):
        karat.score(GOLD, given)
