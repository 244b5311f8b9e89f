import polars as pl
import pytest

from karat.core.errors import InputError
from karat.files import read_results, read_testset


def refused(path, read=read_results):
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value).removeprefix(str(path))


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_one_row_a_hit_by_system(put):
    path = put("hits.csv", "query,doc,score,system,page\n1,a,0.5,x,3\n2,b,1,x,\n1,c,2,x,4\n1,a,0.1,y,3\n")
    (x, y), taken = read_results(path)
    assert (x.name, x.question_ids, x.offsets.tolist()) == ("x", ["1", "2"], [0, 2, 3])
    assert (x.doc_list, x.scores.tolist(), x.order, x.unique) == (["a", "c", "b"], [0.5, 2.0, 1.0], "score", True)
    assert x.fields == {"page": ["3", "4", None]}
    assert (y.name, y.doc_list) == ("y", ["a"])
    assert (taken.format, taken.what) == ("table", "x: 3 hits for 2 questions; y: 1 hit for 1 question")


def test_numeric_ids_are_text(tmp_path):
    path = tmp_path / "hits.parquet"
    pl.DataFrame({"qid": [7.0, 0.0, 7.5], "doc_id": [10, 11, 12], "score": [1, 2, 3]}).write_parquet(path)
    (run,), _ = read_results(path)
    assert (run.name, run.question_ids, run.doc_list) == ("hits", ["7", "0", "7.5"], ["10", "11", "12"])
    assert isinstance(run.docs, pl.Series)


def test_float_ids_of_text(put):
    (run,), _ = read_results(put("h.tsv", "qid\tdocid\tscore\n7.0\ta\t1\n8.0\ta\t1\n"))
    assert run.question_ids == ["7", "8"]


def test_ranks_stand_in_for_scores(put):
    (run,), taken = read_results(put("h.csv", "qid,docid,rank\n1,b,2\n1,a,1\n"))
    assert (run.scores.tolist(), run.order) == ([-2.0, -1.0], "score")
    assert taken.notes == ("no scores: hits are ordered by their rank", "used qid, docid, rank")
    (run,), taken = read_results(put("g.csv", "qid,docid\n1,b\n1,a\n"))
    assert (run.scores, run.order, run.doc_list) == (None, "given", ["b", "a"])


def test_doubled_rows_are_refused(put):
    path = put("h.csv", "query,doc,score\n1,a,1\n2,a,1\n1,a,2\n")
    assert refused(path) == (
        ' line 4: document "a" stands twice for question "1". Keep one row for each question and document.'
    )


@pytest.mark.parametrize("score", ["nan", "inf", "high", ""])
def test_scores_must_be_finite(put, score):
    path = put("h.csv", f"query,doc,score\n1,a,1\n1,b,{score}\n")
    assert refused(path).startswith(' line 3 field "score": ')


def test_missing_cells(put):
    assert refused(put("h.csv", "query,doc,score\n1,a,1\n1,,2\n")).startswith(' line 3 field "doc": no doc.')
    rows = "".join(f"1,d{n},1\n" for n in range(200))
    for name, row, cells in (("g.csv", "1,a,1,9,9", 5), ("f.csv", "1,a", 2)):
        problem = refused(put(name, f"query,doc,score\n{rows}{row}\n"))
        assert problem.startswith(f" line 202: the row has {cells} cells and the header has 3.")


def test_quoted_cells_are_read_in_columns_and_lines_counted(put):
    lines = "".join(f'1,"a ""{n}"", b\nc",1\n' for n in range(3))
    runs, _ = read_results(put("q.csv", f"query,doc,score\n{lines}"))
    assert runs[0].doc_list == [f'a "{n}", b\nc' for n in range(3)]
    assert refused(put("p.csv", 'query,doc,score,text\n1,"d\n1",1,x\n1,"",2,y\n')).startswith(" line 4 field")
    assert "quotation marks do not pair up" in refused(put("o.csv", 'query,doc,score,text\n1,"d"1,1,x\n'))


def test_map(put):
    path = put("h.csv", "frage,treffer,wert\n1,a,1\n")
    (run,), _ = read_results(path, columns={"frage": "question", "treffer": "doc", "wert": "score"})
    assert (run.question_ids, run.doc_list) == (["1"], ["a"])


def test_judgements(put):
    path = put("qrels.csv", "query_id,doc_id,relevance\n1,a,2\n1,b,0\n2,a,-1\n")
    testset, taken = read_testset(path)
    assert testset.qrels == {"1": {"a": 2, "b": 0}, "2": {"a": -1}}
    assert (taken.format, taken.what) == ("table", "2 questions, 3 judgements")
    doubled = put("d.csv", "query_id,doc_id,relevance\n1,a,2\n1,a,1\n")
    assert "stands twice (first in line 2)" in refused(doubled, read_testset)
    assert refused(put("e.csv", "query_id,doc_id,relevance\n1,a,.5\n"), read_testset).startswith(
        ' line 2 field "relevance": grade ".5" is not a whole number.'
    )


def test_hits_where_a_test_set_is_meant(put):
    assert "holds results (table:" in refused(put("h.csv", "query,doc,score\n1,a,0.5\n"), read_testset)


def test_damaged_parquet(tmp_path):
    path = tmp_path / "h.parquet"
    pl.DataFrame({"query": [1], "doc": ["a"], "score": [1.0]}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:60] + b"\xff" * 40)
    assert ": is a damaged Parquet file (" in refused(path)


@pytest.mark.parametrize(
    ("ids", "questions"),
    [(("7.0", "8.0"), ["7", "8"]), (("7.0", "8"), ["7.0", "8"]), (("7.0", "x"), ["7.0", "x"])],
    ids=["all floats", "some", "one is none"],
)
def test_hits_and_judgements_call_questions_and_documents_the_same(put, ids, questions):
    """Beyond the rows by which a format is told, too: the last id decides as the first does."""
    rows = [f"{ids[0]},{n}.0,1\n" for n in range(60)] + [f"{ids[1]},7.0,1\n"]
    (run,), _ = read_results(put("h.csv", "query_id,doc_id,score\n" + "".join(rows)))
    testset, _ = read_testset(put("q.csv", "query_id,doc_id,relevance\n" + "".join(rows)))
    docs = [f"{n}" for n in range(60)] + ["7"]
    assert (run.question_ids, run.doc_list) == (questions, docs)
    assert (list(testset.qrels), [d for q in testset.qrels.values() for d in q]) == (questions, docs)
    texts, _ = read_testset(put("t.csv", f"id,question,gold_id\n{ids[0]},a?,7.0\n{ids[1]},b?,7.0\n"))
    assert (list(texts.ids), [gold.id for question in texts for gold in question.gold]) == (questions, ["7", "7"])
