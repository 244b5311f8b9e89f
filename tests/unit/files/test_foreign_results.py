"""Results as other tools write them: blanks, NaN, trailing text, workbooks, momento's runs, empty systems."""

import json

import polars as pl
import pytest

import karat
from karat.core.errors import InputError, UsageError
from karat.core.run import Run
from karat.core.types import Gold
from karat.files import as_runs, as_testset, read_results, read_testset


@pytest.mark.slow
@pytest.mark.parametrize("count", [99_000, 101_000])
@pytest.mark.parametrize("odd", [" d7", "d7 ", "\td7\u00a0", 7])
def test_ids_are_cleaned_alike_whatever_the_size_of_a_run(count, odd):
    docs = {f"d{n}": float(n) for n in range(100, 100 + count)}
    docs[odd] = 0.5
    (run,), _ = as_runs({"q": docs})
    assert run.doc_list[-1] == ("7" if odd == 7 else "d7")
    (run,), _ = as_runs({"q": list(docs)})
    assert run.doc_list[-1] == ("7" if odd == 7 else "d7")


def test_ids_that_are_the_same_without_blanks_are_refused_in_large_runs():
    docs = {f"d{n}": float(n) for n in range(101_000)}
    with pytest.raises(InputError, match="are the same"):
        as_runs({"q": {**docs, " d5": 1.0}})


def test_an_id_with_a_blank_inside_stays():
    (run,), _ = as_runs({"q": {"a b": 1.0, "c": 0.5}})
    assert run.doc_list == ["a b", "c"]


@pytest.mark.parametrize("cell", ["", "nan", "[]", "[nan]"])
def test_an_empty_cell_of_documents_is_an_empty_list(tmp_path, cell):
    path = tmp_path / "r.csv"
    path.write_text(f'qid,doc_ids,answer\n1,"[""a""]",A\n2,{cell},B\n')
    (run,), taken = read_results(path)
    assert (run.question_ids, run.doc_list, run.offsets.tolist()) == (["1", "2"], ["a"], [0, 1, 1])
    assert len(run.answers) == 2
    assert any("empty list of hits" in note for note in taken.notes) == (cell != "[]")


def test_a_column_of_empty_cells_beside_answers_holds_no_rankings(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("qid,doc_ids,answer\n1,,A\n2,,B\n")
    (run,), _ = read_results(path)
    assert (run.has_rankings, len(run.answers)) == (False, 2)


def test_text_after_the_tag_of_a_run_is_ignored_aloud(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2.5 my run, second try\nq1 Q0 b 2 1.5 my\nq2 Q0 a 1 3 my run\n")
    (run,), taken = read_results(path)
    assert (run.question_ids, list(run.docs), run.scores.tolist()) == (["q1", "q2"], ["a", "b", "a"], [2.5, 1.5, 3.0])
    assert taken.notes == ("text after the tag in 2 lines: ignored, as trec_eval does",)


def test_an_id_with_a_blank_is_no_text_after_the_tag(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 2.5 tag\nq1 Q0 my doc 2 1.5 tag\n")
    with pytest.raises(InputError, match=r"line 2: has 7 fields.*Ids may not hold blanks"):
        read_results(path)


def test_qrels_with_a_fifth_field_are_refused_as_by_trec_eval(tmp_path):
    path = tmp_path / "a.qrels"
    path.write_text("q1 0 a 1\nq1 0 b 0 doubtful\n")
    with pytest.raises(InputError, match="line 2: has 5 fields"):
        read_testset(path)


def test_a_workbook(tmp_path):
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ("id", "question", "file", "page", "author"),
        (7, "a?", "h.pdf", 34, "x"),
        (8, "b?", "g.pdf", "iv", None),
    ):
        book.active.append(row)
    book.create_sheet("other").append(("not", "read"))
    book.save(tmp_path / "qa.xlsx")
    testset, taken = read_testset(tmp_path / "qa.xlsx")
    assert [(q.id, q.gold) for q in testset] == [
        ("7", (Gold(doc="h.pdf", page="34"),)),
        ("8", (Gold(doc="g.pdf", page="iv"),)),
    ]
    assert 'sheet "Sheet" read; not read: other' in taken.notes
    assert "used id, question, file, page; ignored author" in taken.notes


def test_empty_rows_of_a_workbook_are_passed_over_and_errors_name_the_row_of_the_sheet(tmp_path):
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("id", "question", "file"), (7, "a?", "h.pdf"), (None, None, None), (None, "  ", None), (8, "b?", "g")):
        book.active.append(row)
    book.save(tmp_path / "qa.xlsx")
    testset, _ = read_testset(tmp_path / "qa.xlsx")
    assert [q.id for q in testset] == ["7", "8"]
    book.active.append((7, "c?", "g"))
    book.save(tmp_path / "qa.xlsx")
    with pytest.raises(InputError, match=r"row 6: .*first in row 2"):
        read_testset(tmp_path / "qa.xlsx")


def test_a_workbook_of_hits_names_the_row_of_the_sheet(tmp_path):
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("query", "doc", "score"), ("q1", "a", 2.0), (None, None, None), ("q1", "a", 1.0)):
        book.active.append(row)
    book.save(tmp_path / "hits.xlsx")
    with pytest.raises(InputError, match=r"row 4: .*stands twice"):
        read_results(tmp_path / "hits.xlsx")


def test_a_workbook_without_its_reader_says_what_to_do(tmp_path, monkeypatch):
    import sys
    import zipfile

    with zipfile.ZipFile(tmp_path / "qa.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(UsageError, match=r"pip install 'karat\[xlsx\]'.*CSV"):
        read_testset(tmp_path / "qa.xlsx")


@pytest.mark.parametrize("name", ["a.xls", "a.docx"])
def test_other_office_files_are_named(tmp_path, name):
    import zipfile

    if name == "a.xls":
        (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    else:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("word/document.xml", "<x/>")
    with pytest.raises(InputError, match=r"\.xlsx or CSV" if name == "a.xls" else "zip archive"):
        read_testset(tmp_path / name)


def test_a_damaged_workbook_is_a_sentence(tmp_path):
    pytest.importorskip("fastexcel")
    import zipfile

    with zipfile.ZipFile(tmp_path / "qa.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(InputError, match="cannot be read as a workbook"):
        read_testset(tmp_path / "qa.xlsx")


def test_one_run_under_two_names_is_two_systems():
    run = Run.from_lists("mine", {"q": ["a"]})
    runs, _ = as_runs({"a": run, "b": run})
    assert [one.name for one in runs] == ["a", "b"]
    assert run.name == "mine"
    scored = Run.from_scores("mine", {"q": {"a": 1.0}})
    assert [one.scores.tolist() for one in as_runs({"a": scored, "b": scored})[0]] == [[1.0], [1.0]]


def test_an_empty_system_among_several_is_reported():
    runs, takens = as_runs({"a": {"q": {"d": 1.0}}, "b": {}, "c": []})
    assert [(run.name, len(run)) for run in runs] == [("a", 1), ("b", 0), ("c", 0)]
    assert [taken.what for taken in takens[1:]] == [
        "b: nothing retrieved for 0 questions",
        "c: nothing retrieved for 0 questions",
    ]


MOMENTO = {
    "queries": [
        {
            "query_id": "1", "query_text": "a?", "retrieved_docs": {"m1": "one", "m2": "two"},
            "retrieved_doc_ids_ordered": ["m2", "m1"], "retrieved_doc_ids_for_eval": ["10", None],
            "answer": "A", "response_time": 1.5, "retrieval_metrics": {"mrr": 1.0}, "generation_metrics": {},
        }
    ],
    "response_times": [1.5],
}  # fmt: skip


def test_a_run_of_momento_is_read_by_its_ids(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(MOMENTO, indent=1))
    (run,), _ = read_results(path)
    assert run.doc_list == ["10", "m1"]
    assert run.fields["text"] == ["two", "one"]
    assert run.fields["chunk"] == ["m2", "m1"]
    assert (run.answers["1"].text, run.answers["1"].seconds) == ("A", {"total": 1.5})
    del MOMENTO["queries"][0]["retrieved_doc_ids_for_eval"]
    path.write_text(json.dumps(MOMENTO))
    assert read_results(path)[0][0].doc_list == ["m2", "m1"]


def test_further_fields_of_results_are_known():
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    row = {"id": "q", "retrieved": ["a"], "answer": "A", "contexts": ["t"], "confidence": 0.5, "usage": usage,
           "citations": ["a"], "steps": [{"query": "x", "retrieved": []}]}  # fmt: skip
    (run,), (taken,) = as_runs([row])
    answer = run.answers["q"]
    assert (answer.tokens, answer.confidence, answer.contexts) == (15, 0.5, ("t",))
    assert taken.notes == ("used id, retrieved, answer, contexts, confidence, usage, steps; not scored citations",)


def test_a_table_says_which_columns_were_used_and_ignored(tmp_path):
    path = tmp_path / "qa.csv"
    path.write_text("question,file,page,author,date\na?,h.pdf,3,x,y\n")
    assert "used question, file, page; ignored author, date" in read_testset(path)[1].notes
    frame = pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [1.0], "lang": ["en"]})
    assert as_runs(frame)[1][0].notes == ("used query, doc, score; ignored lang",)
    judged = pl.DataFrame({"query": ["q"], "doc": ["d"], "grade": [1], "lang": ["en"]})
    assert as_testset(judged)[1].notes == ("used query, doc, grade; ignored lang",)


def test_a_judgement_with_its_page_and_quote_is_one_entry():
    rows = {"query": ["q", "q"], "doc": ["d", "d"], "page": ["3", "4"], "quote": ["x", None], "grade": [2, 1]}
    testset, taken = as_testset(pl.DataFrame(rows))
    assert testset.questions[0].gold == (Gold(doc="d", page="3", quote="x", grade=2), Gold(doc="d", page="4"))
    assert taken.what == "1 question, 2 judgements"


def test_the_result_beside_source_documents_is_the_answer_as_langchain_writes_it():
    hits = [{"page_content": "Two years.", "metadata": {"source": "m.pdf", "page": 0}}]
    gold = [{"question": "How long?", "answers": ["two years"], "gold": [{"doc": "m.pdf", "page": "1"}]}]
    dump = [{"question": "How long?", "source_documents": hits, "result": "Two years."}]
    assert karat.score(gold, dump, measures=["EM", "MRR"]).mean("EM") == 1
    both = [{**dump[0], "answer": "three years"}]
    assert karat.score(gold, both, measures="EM").mean("EM") == 0
