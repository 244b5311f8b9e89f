"""A study written and read again is the same study."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from karat.core.docs import Chunk
from karat.core.errors import InputError
from karat.core.language import parse_all
from karat.core.scores import Floor, Scores
from karat.core.types import Gold, Question, TestSet
from karat.io.packed import packed
from karat.results.evaluation import Evaluation, InputInfo, Usage
from karat.results.serial import STUDY, load_study, save_study
from karat.results.study import Cell, Choice, Failure, FailureCount, HitTable, Study, StudyAnswer

LONG = "A context that several answers were given. " * 50
DETAIL = {
    "reason": "half of it </script> \ud800",
    "_": "map",  # a word that the file itself uses
    "claims": [{"claim": "it is forty", "verdict": "entailed", "contexts": [1, 2], "reason": None}],
    "flips": 0.25,
}


def made(details=DETAIL):
    scores = Scores(
        ("a", "b"), ("q1",), parse_all(["TokenF1"]), values=np.array([[[0.5]], [[np.nan]]]),
        status=np.array([[[0]], [[2]]], np.uint8), reasons={(1, 0, 0): "timed out"}, details={(0, 0, 0): details},
        floors={(0, 0): Floor(0.25, 0.75, 9)}, lists_end={"a": 10},
    )  # fmt: skip
    whole = StudyAnswer(
        "a",
        "q1",
        "forty",
        error=None,
        contexts=(LONG, "x"),
        used=("d1", "d2"),
        given=("d1", "d2", "d3"),
        model="m",
        tokens=12,
        cost_usd=0.5,
        confidence=0.7,
    )
    none = StudyAnswer("b", "q1", None, error="timed out", contexts=(LONG,), declined=True, seconds=0.25)
    return Study(
        "s",
        evaluation=Evaluation(testset=TestSet([Question("q1")]), scores=scores, summaries=()),
        configurations=(),
        main="TokenF1",
        k=5,
        failures=(Failure("a", "q1", "refused", detail="it declines."),),
        failure_counts=(FailureCount("a", "refused", questions=("q1",), gain=0.5, measure="TokenF1"),),
        answers={"a": {"q1": whole}, "b": {"q1": none}},
    )


def test_answers_failures_and_what_judges_show_come_back(tmp_path):
    before = made()
    save_study(before, tmp_path)
    after = load_study(tmp_path)
    assert after.answers == before.answers
    assert (after.failures, after.failure_counts) == (before.failures, before.failure_counts)
    assert after.evaluation.scores.details == before.evaluation.scores.details
    assert after.evaluation.scores.floors == {(0, 0): Floor(0.25, 0.75, 9)}
    assert after.evaluation.scores.lists_end == {"a": 10}
    assert after.evaluation.scores.reasons == before.evaluation.scores.reasons


def test_what_an_earlier_version_stored_besides_is_left_aside(tmp_path):
    save_study(made(), tmp_path)
    written = json.loads(gzip.decompress((tmp_path / STUDY).read_bytes()))
    written["study"]["router"] = {"_": "Routed", "mean": 0.5}
    (tmp_path / STUDY).write_bytes(gzip.compress(json.dumps(written).encode()))
    assert load_study(tmp_path).answers == made().answers


def test_a_kind_that_an_earlier_version_called_otherwise_is_read(tmp_path):
    inputs = (InputInfo("a.jsonl", "canonical", "1 question"),)
    before = made()
    save_study(replace(before, evaluation=replace(before.evaluation, taken=inputs)), tmp_path)
    written = json.loads(gzip.decompress((tmp_path / STUDY).read_bytes()))
    written["study"]["evaluation"]["taken"][0]["_"] = "taken".capitalize()
    (tmp_path / STUDY).write_bytes(gzip.compress(json.dumps(written).encode()))
    assert load_study(tmp_path).evaluation.taken == inputs


def test_times_that_an_earlier_version_stored_are_read(tmp_path):
    before = made()
    times = Usage(system="a", what="seconds", n=3, mean=2.0, p50=2.0, p95=2.9, std=1.0, min=1.0, max=3.0)
    save_study(replace(before, evaluation=replace(before.evaluation, usage=(times,))), tmp_path)
    written = json.loads(gzip.decompress((tmp_path / STUDY).read_bytes()))
    for name in ("std", "min", "max"):
        del written["study"]["evaluation"]["usage"][0][name]
    (tmp_path / STUDY).write_bytes(gzip.compress(json.dumps(written).encode()))
    assert load_study(tmp_path).evaluation.usage == (
        Usage(system="a", what="seconds", n=3, mean=2.0, p50=2.0, p95=2.9),
    )


def test_a_context_of_several_answers_is_written_once(tmp_path):
    save_study(made(), tmp_path)
    written = json.loads(gzip.decompress((tmp_path / STUDY).read_bytes()))
    assert written["texts"] == [LONG, "x"]
    assert json.dumps(written).count(LONG) == 1


def test_numbers_that_json_does_not_have_are_none(tmp_path):
    save_study(made({"values": (np.float64("nan"), np.int64(3), float("inf"))}), tmp_path)
    assert load_study(tmp_path).evaluation.scores.detail(0, 0, 0) == {"values": [None, 3, None]}


def test_a_system_without_a_mean_has_none_when_it_comes_back(tmp_path):
    best = Cell(system="a", measure="MRR", k=None, mean=0.5, low=None, high=None, n=1)
    choice = Choice(
        measure="MRR", cells=(replace(best, system="b", mean=float("nan"), n=0), best), best=best, equals=(), beaten=(),
        cross_validated=None, optimism=None, picks={}, oracle=None,
    )  # fmt: skip
    save_study(replace(made(), choice=choice), tmp_path)
    loaded = load_study(tmp_path).choice
    assert [cell.system for cell in loaded.ranked] == ["a"]
    assert np.isnan(loaded.cells[0].mean)
    assert loaded.cells[0].low is None


def test_a_study_of_before_there_were_answers_is_read(tmp_path):
    save_study(made(), tmp_path)
    path = tmp_path / STUDY
    written = json.loads(gzip.decompress(path.read_bytes()))
    del written["texts"], written["study"]["answers"], written["study"]["evaluation"]["scores"]["details"]
    path.write_bytes(gzip.compress(json.dumps(written).encode()))
    found = load_study(tmp_path)
    assert not found.answers
    assert not found.evaluation.scores.details


def test_a_number_of_no_text_is_an_unreadable_study(tmp_path):
    save_study(made(), tmp_path)
    path = tmp_path / STUDY
    written = json.loads(gzip.decompress(path.read_bytes()))
    written["texts"] = []
    path.write_bytes(gzip.compress(json.dumps(written).encode()))
    with pytest.raises(InputError, match="cannot be read"):
        load_study(tmp_path)


def test_hits_lists_and_many_objects_come_back_from_columns(tmp_path):
    ids = tuple(f"q{n}" for n in range(80))
    hits = HitTable(
        questions=ids, offsets=np.arange(81), rows=np.arange(80) % 3, scores=np.where(np.arange(80) % 2, 0.1, np.nan),
        chunks=[Chunk(f"c{n}", "d", f"text {n}", pages=(n,), meta={"a": "b"}) for n in range(3)],
        holds={5: ("gold",)}, legs={"bm25": (np.arange(80) % 4, np.full(80, 0.25))},
    )  # fmt: skip
    failures = tuple(Failure("a", q, "below_k", detail=f"it is {q}.", rank=n or None) for n, q in enumerate(ids))
    lists = {"a": [["x", "y"][: n % 3] for n in range(80)], "b": [[]] * 80}
    before = made()
    evaluation = replace(
        before.evaluation, testset=TestSet([Question(q, "what?", gold=(Gold(doc="d"),)) for q in ids]), ranked=lists,
        ranked_scores={"a": [[0.1] * (n % 3) for n in range(80)]},
    )  # fmt: skip
    answers = {"a": {q: StudyAnswer("a", q, "forty", contexts=(LONG,), seconds=0.1) for q in ids}}
    save_study(replace(before, evaluation=evaluation, hits={"a": hits}, failures=failures, answers=answers), tmp_path)
    after = load_study(tmp_path)
    assert (after.failures, after.answers) == (failures, answers)
    assert after.evaluation.testset.questions == evaluation.testset.questions
    assert {s: [list(row) for row in rows] for s, rows in after.evaluation.ranked.items()} == lists
    assert [list(row) for row in after.evaluation.ranked_scores["a"]] == evaluation.ranked_scores["a"]
    assert after.hits["a"] == hits
    first, second, odd = after.hits["a"]["q0"][0], after.hits["a"]["q1"][0], after.hits["a"]["q5"][0]
    assert (first.score, first.legs, first.chunk.pages) == (None, {}, (0,))
    assert (second.rank, second.score, second.legs, second.holds) == (1, 0.1, {"bm25": (1, 0.25)}, ())
    assert (odd.holds, odd.chunk.meta) == (("gold",), {"a": "b"})


@pytest.mark.parametrize("column", ["rows", "offsets", "scores"])
def test_columns_that_do_not_fit_are_refused(tmp_path, column):
    hits = HitTable(
        questions=("q1",), offsets=np.array([0, 1]), rows=np.array([0]), scores=np.array([0.5]),
        chunks=[Chunk("c", "d", "text")], holds={}, legs={},
    )  # fmt: skip
    save_study(replace(made(), hits={"a": hits}), tmp_path)
    written = json.loads(gzip.decompress((tmp_path / STUDY).read_bytes()))
    ((_, stored),) = written["study"]["hits"]["items"]
    stored[column] = packed(np.array([7, 9, 9], np.float64 if column == "scores" else np.int64))
    (tmp_path / STUDY).write_bytes(gzip.compress(json.dumps(written).encode()))
    with pytest.raises(InputError, match="the study cannot be read"):
        load_study(tmp_path)
