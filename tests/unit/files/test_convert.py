import gzip
import json

import pytest

from karat.core.errors import InputError, UsageError
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.files import convert, read_any, read_results, read_testset, write

FULL = TestSet(
    [
        Question(
            "q1",
            "\u201cWhat?\u201d",
            answers=("A", "B"),
            gold=(Gold(doc="a.pdf", page="3", grade=2), Gold(quote="x\ty")),
            kind="k",
            tags={"question_level": "easy"},
        ),
        Question("q2", "Why?", answers=(), gold=(Gold(id="g", doc="d", url="u", chunk="c", span=(1, 4)),)),
        Question("q3", "None?", answers=("none",), gold=(), answerable=False),
    ]
)
PLAIN = TestSet(
    [
        Question("1", "a?", answers=("A",), gold=(Gold(id="d1"), Gold(id="d2"))),
        Question("2", "b\tc?", answers=("B",), gold=(Gold(id="d3"),)),
    ]
)


def rows_of(testset):
    return [(q.id, q.text, q.answers, q.gold, q.kind, q.tags, q.answerable) for q in testset]


@pytest.mark.parametrize("name", ["qa.jsonl", "qa.jsonl.gz", "deep/er/qa.jsonl"])
def test_canonical_test_set_round_trip(tmp_path, name):
    assert write(FULL, tmp_path / name) == []
    testset, taken = read_testset(tmp_path / name)
    assert rows_of(testset) == rows_of(FULL)
    assert testset.digest == FULL.digest
    assert taken.format == "canonical"


def test_gzip_bytes_do_not_depend_on_time(tmp_path):
    write(FULL, tmp_path / "a.jsonl.gz")
    write(FULL, tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).count(b"\n") == 3


def results():
    return [
        {"id": "1", "question": "a?",
         "retrieved": [{"id": "c1", "score": 2.0, "text": "t1"}, {"id": "c2", "score": 1.0}],
         "answer": "A", "seconds": {"total": 1.5}, "tokens": 7, "cost_usd": 0.5, "contexts": ["t1"], "model": "m"},
        {"id": "2", "question": "b?", "status": "failed", "error": "timeout"},
        {"id": "3", "question": "c?", "retrieved": [], "answer": None},
    ]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "given.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in results()))
    (run,), _ = read_results(path)
    return run


def same(one, other, *, scores=True, costs=True):
    assert (one.question_ids, one.doc_list, one.offsets.tolist()) == (
        other.question_ids,
        other.doc_list,
        other.offsets.tolist(),
    )
    assert (one.failed, one.texts) == (other.failed, other.texts)
    if scores:
        assert (one.scores.tolist(), one.fields) == (other.scores.tolist(), other.fields)
    if costs:
        assert one.answers == other.answers


def test_canonical_results_round_trip(tmp_path, run):
    assert write(run, tmp_path / "given2.jsonl") == []
    (again,), _ = read_results(tmp_path / "given2.jsonl")
    same(run, again)


ANSWERED = [
    {"id": "1", "retrieved": ["a", "b"], "answer": "A", "confidence": 0.8, "context_ids": ["b"]},
    {"id": "2", "retrieved": ["a"], "answer": None, "answer_error": "no reply"},
]


def test_what_is_known_of_answers_survives_canonical_results(tmp_path):
    (tmp_path / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ANSWERED))
    (first,), _ = read_results(tmp_path / "given.jsonl")
    assert (first.answers["1"].confidence, first.answers["1"].used) == (0.8, ("b",))
    assert (first.answers["2"].text, first.answers["2"].error) == (None, "no reply")
    assert write(first, tmp_path / "again.jsonl") == []
    (again,), _ = read_results(tmp_path / "again.jsonl")
    same(
        Run("again", question_ids=first.question_ids, offsets=first.offsets, _docs=first.docs, answers=first.answers),
        again,
        scores=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.tsv", "out.live.jsonl", "out.ragas.jsonl"])
def test_an_answer_that_failed_is_no_empty_one_in_other_formats(tmp_path, name):
    (tmp_path / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ANSWERED))
    (first,), _ = read_results(tmp_path / "given.jsonl")
    lost = write(first, tmp_path / name)
    assert {"how sure systems are of their answers", "which hits answers used"} <= set(lost)
    (again,), _ = read_results(tmp_path / name)
    assert (again.answers["2"].text, again.answers["2"].error) == (None, "no reply")
    assert again.answers["1"].error is None
    assert again.failed == {}


@pytest.mark.parametrize("name", ["out.tsv", "out.ragas.jsonl", "out.run"])
def test_formats_without_steps_say_so(tmp_path, name):
    row = {"id": "1", "answer": "A", "steps": [{"query": "x", "retrieved": ["a"]}]}
    (tmp_path / "given.jsonl").write_text(json.dumps(row) + "\n")
    (first,), _ = read_results(tmp_path / "given.jsonl")
    assert "steps" in write(first, tmp_path / name)


def test_several_systems_in_one_file(tmp_path, run):
    other = Run.from_scores("other", {"1": {"a": 1.0, "b": 2.0}})
    write([run, other], tmp_path / "both.jsonl")
    (one, two), _ = read_results(tmp_path / "both.jsonl")
    same(run, one)
    assert (two.name, two.doc_list, two.scores.tolist()) == ("other", ["b", "a"], [2.0, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.tsv", "out.live.jsonl", "out.ragas.jsonl"])
def test_results_in_other_formats(tmp_path, run, name):
    lost = write(run, tmp_path / name)
    assert lost[0] == "scores (the order of the hits is kept)"
    (again,), _ = read_results(tmp_path / name)
    same(run, again, scores=False, costs=False)
    assert again.answers["1"].text == "A"


def test_liverag_rows_keep_time(tmp_path, run):
    write(run, tmp_path / "out.tsv")
    (again,), taken = read_results(tmp_path / "out.tsv")
    assert (again.name, taken.format, again.answers["1"].seconds) == ("given", "liverag", {"total": 1.5})


def test_trec_qrels_round_trip(tmp_path):
    lost = write(PLAIN, tmp_path / "out.qrels")
    assert lost == ["the texts of the questions", "reference answers"]
    assert (tmp_path / "out.qrels").read_text() == "1 0 d1 1\n1 0 d2 1\n2 0 d3 1\n"
    assert read_testset(tmp_path / "out.qrels")[0].qrels == PLAIN.qrels


def test_trec_qrels_say_what_is_lost(tmp_path):
    lost = write(FULL, tmp_path / "out.trec")
    assert "kinds" in lost
    assert "1 question without gold" in lost
    assert "blanks in ids (written as _ in 1 row)" in lost
    clash = TestSet(qrels={"q": {"a b": 1, "a_b": 1}})
    with pytest.raises(UsageError, match="are the same id once blanks are replaced"):
        write(clash, tmp_path / "clash.qrels")
    assert not (tmp_path / "clash.qrels").exists()


def test_trec_runs_say_where_blanks_in_ids_are_replaced(tmp_path):
    run = Run.from_scores("my system", {"q": {"hand book.pdf#1": 2.0, "b": 1.0}})
    assert write(run, tmp_path / "out.run") == ["blanks in ids (written as _ in 1 row)"]
    assert (tmp_path / "out.run").read_text() == "q Q0 hand_book.pdf#1 1 2.0 my_system\nq Q0 b 2 1.0 my_system\n"
    clash = Run.from_scores("s", {"q": {"a b": 1.0, "a_b": 2.0}})
    with pytest.raises(UsageError, match="'a_b' and 'a b' are the same id once blanks are replaced"):
        write(clash, tmp_path / "clash.run")
    assert not (tmp_path / "clash.run").exists()


def test_beir_round_trip(tmp_path):
    lost = write(PLAIN, tmp_path / "folder")
    assert lost == ["reference answers", "corpus.jsonl (a test set holds no documents)"]
    testset, taken = read_testset(tmp_path / "folder")
    assert [(q.id, q.text, q.gold) for q in testset] == [(q.id, q.text, q.gold) for q in PLAIN]
    assert taken.format == "beir"


def test_ragas_round_trip(tmp_path):
    assert write(PLAIN, tmp_path / "x.ragas.jsonl") == []
    assert rows_of(read_testset(tmp_path / "x.ragas.jsonl")[0]) == rows_of(PLAIN)


def test_liverag_round_trip(tmp_path):
    testset = TestSet(
        [
            Question(
                "1",
                'a "b"\tc?',
                answers=("A\nB",),
                gold=(Gold(doc="d1"), Gold(doc="d2")),
                kind=None,
                tags={"user_level": "x"},
            )
        ]
    )
    write(testset, tmp_path / "x.tsv")
    assert rows_of(read_testset(tmp_path / "x.tsv")[0]) == rows_of(testset)
    lost = write(testset, tmp_path / "x.jsonl", format="liverag")
    assert lost == ["reference answers", "tags", "the gold"]
    assert [(q.id, q.text) for q in read_testset(tmp_path / "x.jsonl")[0]] == [("1", 'a "b"\tc?')]


def test_convert(tmp_path, run):
    taken, wrote, lost = convert(tmp_path / "given.jsonl", tmp_path / "out.tsv")
    assert (taken.format, wrote, lost[0]) == ("canonical", "liverag", "scores (the order of the hits is kept)")
    write(PLAIN, tmp_path / "qa.jsonl")
    taken, wrote, lost = convert(tmp_path / "qa.jsonl", tmp_path / "out.txt")
    assert (taken.format, wrote) == ("canonical", "trec_qrels")
    with pytest.raises(InputError, match="holds a test set"):
        convert(tmp_path / "qa.jsonl", tmp_path / "out.run")
    with pytest.raises(UsageError, match="is the input itself"):
        convert(tmp_path / "qa.jsonl", tmp_path / ".." / tmp_path.name / "qa.jsonl")
    with pytest.raises(UsageError, match="the name does not say which format to write"):
        convert(tmp_path / "qa.jsonl", tmp_path / "qa.xlsx")
    with pytest.raises(UsageError, match="unknown format 'beer'"):
        convert(tmp_path / "qa.jsonl", tmp_path / "qa.xlsx", format="beer")
    with pytest.raises(UsageError, match="the format squad cannot be written"):
        convert(tmp_path / "qa.jsonl", tmp_path / "qa.json", format="squad")


def test_read_any(tmp_path, run):
    write(PLAIN, tmp_path / "qa.jsonl")
    assert isinstance(read_any(tmp_path / "qa.jsonl")[0], TestSet)
    assert isinstance(read_any(tmp_path / "given.jsonl")[0], list)


def test_nothing_is_left_of_a_failed_write(tmp_path):
    class Broken(TestSet):
        def __iter__(self):
            yield Question("1")
            raise RuntimeError("interrupted")

    (tmp_path / "qa.jsonl").write_text("before")
    with pytest.raises(RuntimeError):
        write(Broken([Question("1")]), tmp_path / "qa.jsonl")
    assert [p.name for p in tmp_path.iterdir()] == ["qa.jsonl"]
    assert (tmp_path / "qa.jsonl").read_text() == "before"


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        write(PLAIN, tmp_path / "file" / "qa.jsonl")
