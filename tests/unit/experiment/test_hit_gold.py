"""Hits of results files: which of them hold gold is kept with a run, whatever matches them."""

import json

import karat
from karat.results.serial import load_study

QUESTIONS = [
    {
        "id": "q1",
        "question": "one?",
        "gold": [{"doc": "a.md"}, {"doc": "b.md", "grade": 2}, {"doc": "z.md", "grade": 0}],
    },
    {"id": "q2", "question": "two?", "gold": [{"doc": "c.md"}]},
]
HITS = [
    {"id": "q1", "retrieved": [
        {"id": "x", "doc": "x.md"}, {"id": "1", "doc": "b.md"}, {"id": "2", "doc": "b.md"}, {"id": "3", "doc": "z.md"},
        {"id": "4", "doc": "a.md"}]},
    {"id": "q2", "retrieved": [{"id": "5", "doc": "a.md"}]},
]  # fmt: skip


def test_the_gold_of_hits_that_are_no_chunks_of_an_index_is_stored(tmp_path):
    for name, rows in (("qa.jsonl", QUESTIONS), ("mine.jsonl", HITS)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "karat.yaml").write_text("testset: qa.jsonl\nsystems: [{results: mine.jsonl}]\noutputs: []\n", "utf-8")
    run = karat.run(tmp_path / "karat.yaml", runs_dir=tmp_path / "runs")
    study = load_study(run.folder.path)
    assert [hit.holds for hit in study.hits["mine"]["q1"]] == [(), ("b.md",), ("b.md",), (), ("a.md",)]
    assert [hit.holds for hit in study.hits["mine"]["q2"]] == [()]
    assert dict(study.evaluation.hit_gold) == {}
