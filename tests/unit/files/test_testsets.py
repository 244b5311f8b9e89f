import gzip
import json

import pytest

from karat.core.errors import InputError, UsageError
from karat.core.types import Gold
from karat.files import read_results, read_testset


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and name.endswith(".jsonl"):
            content = "".join(json.dumps(row) + "\n" for row in content)
        elif not isinstance(content, str | bytes):
            content = json.dumps(content, indent=1)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        read_testset(path, **options)
    return str(caught.value).removeprefix(str(path))


def test_canonical_keeps_every_field(put):
    gold = {"id": "g", "doc": "h.pdf", "page": "34", "url": "u", "chunk": "c", "quote": "q", "span": [3, 9], "grade": 2}
    path = put(
        "qa.jsonl",
        [
            {"id": "q17", "question": "Why?", "answers": ["A", "B"], "gold": [gold], "kind": "factual",
             "tags": {"difficulty": "easy"}, "answerable": True},
            {"id": 0, "question": "None?", "gold": [], "answerable": False},
        ],
    )  # fmt: skip
    testset, taken = read_testset(path)
    first, second = testset.questions
    assert first.gold == (Gold(id="g", doc="h.pdf", page="34", url="u", chunk="c", quote="q", span=(3, 9), grade=2),)
    assert (first.text, first.answers, first.kind, first.tags) == (
        "Why?",
        ("A", "B"),
        "factual",
        {"difficulty": "easy"},
    )
    assert (second.id, second.answerable, second.gold) == ("0", False, ())
    assert (taken.format, taken.what) == ("canonical", "2 questions, 1 kind")
    assert taken.notes == ("1 of 2 questions are unanswerable",)


def test_healthcare_pages_and_numbers_from_zero(put):
    path = put("test_queries.json", [
        {"query": "a?", "relevant_docs": ["34", " 35"], "query_type": "factual"},
        {"query": "b?", "relevant_docs": [7], "query_type": "listing"},
    ])  # fmt: skip
    testset, taken = read_testset(path)
    assert [q.id for q in testset] == ["0", "1"]
    assert testset.questions[0].gold == (Gold(page="34"), Gold(page="35"))
    assert testset.questions[1].gold == (Gold(page="7"),)
    assert [q.kind for q in testset] == ["factual", "listing"]
    assert taken.format == "healthcare"
    assert "relevant_docs are page numbers" in taken.notes


def test_pages_separated_by_commas(put):
    testset, taken = read_testset(put("q.csv", 'query,relevant_docs\na?,"34, 35"\nb?,7\n'))
    assert [q.gold for q in testset] == [(Gold(page="34"), Gold(page="35")), (Gold(page="7"),)]
    assert taken.format == "healthcare"


def test_one_record_over_several_lines(put):
    testset, _ = read_testset(put("q.json", '{\n"id": 1,\n"gold": ["d"]\n}\n'))
    assert [(q.id, q.gold) for q in testset] == [("1", (Gold(id="d"),))]


def test_relevant_docs_that_are_no_pages_are_documents(put):
    testset, taken = read_testset(put("q.json", [{"query": "a?", "relevant_docs": ["intro.pdf"]}]))
    assert testset.questions[0].gold == (Gold(doc="intro.pdf"),)
    assert taken.format == "records"


def test_hybrid_rag_urls(put):
    path = put("questions.json", {
        "metadata": {"n": 3},
        "questions": [
            {"question_id": "Q1", "question": "a?", "ground_truth": "A", "source_url": "http://x/1",
             "question_type": "factual", "difficulty": "easy"},
            {"question_id": "Q2", "question": "b?", "ground_truth": "B", "source_url": ["http://x/1", "http://x/2"],
             "question_type": "multi"},
            {"question_id": "Q3", "question": "c?", "ground_truth": "no such thing", "source_url": "NONE",
             "question_type": "adversarial"},
        ],
    })  # fmt: skip
    testset, taken = read_testset(path)
    one, two, three = testset.questions
    assert (one.gold, one.answers, one.kind, one.tags) == (
        (Gold(url="http://x/1"),),
        ("A",),
        "factual",
        {"difficulty": "easy"},
    )
    assert two.gold == (Gold(url="http://x/1"), Gold(url="http://x/2"))
    assert (three.gold, three.answerable) == ((), False)
    assert taken.format == "hybrid_rag"


@pytest.mark.parametrize("field", ["ground_truth_url", "ground_truth_urls"])
def test_hybrid_rag_test_cases(put, field):
    path = put("cases.json", {"test_cases": [{"question": "a?", field: "http://x", "ground_truth_answer": "A"}]})
    testset, taken = read_testset(path)
    (question,) = testset.questions
    assert (question.id, question.gold, question.answers) == ("a?", (Gold(url="http://x"),), ("A",))
    assert "no ids: the text of a question serves as its id" in taken.notes


def test_rag_benchmark_chunks(put):
    path = put(
        "qa.json", [{"question": "a?", "answer": "A", "relevant_chunk_ids": ["04_35_1826"], "query_type": "literal"}]
    )
    testset, taken = read_testset(path)
    (question,) = testset.questions
    assert (question.gold, question.answers, question.kind) == ((Gold(chunk="04_35_1826"),), ("A",), "literal")
    assert taken.format == "rag_benchmark"


@pytest.mark.parametrize("cell", ["['<urn:uuid:1>']", '["<urn:uuid:1>"]', "<urn:uuid:1>"])
def test_liverag_documents_and_categories(put, cell):
    quoted = '"' + cell.replace('"', '""') + '"'
    path = put(
        "refs.tsv",
        "qid\tquestion\tanswer\tcontext\tdocument_ids\tquestion_type\tquestion_factuality\tuser_expertise-level\tquestion_length\n"
        f'1\ta?\tA\t"[""long ""]"\t{quoted}\topen\tfactoid\tnovice\t12\n',
    )
    testset, taken = read_testset(path)
    (question,) = testset.questions
    assert (question.id, question.gold, question.answers) == ("1", (Gold(doc="<urn:uuid:1>"),), ("A",))
    assert question.kind == "open"
    assert question.tags == {"question_factuality": "factoid", "user_expertise-level": "novice"}
    assert taken.format == "liverag"


def test_liverag_live_questions(put):
    testset, taken = read_testset(put("live.jsonl", [{"id": 1, "question": "a?"}, {"id": 2, "question": "b?"}]))
    assert [(q.id, q.text, q.gold) for q in testset] == [("1", "a?", ()), ("2", "b?", ())]
    assert taken.format == "liverag"
    assert taken.notes == ("questions only: no gold and no answers",)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_momento_tables(put, tmp_path, ending):
    if ending == "csv":
        put("m/queries.csv", 'id,text,answer\n1,a?,A\n2,"b, c?",B\n')
        put("m/qrels.csv", "query_id,doc_id,relevance\n1,10,1\n1,11,0\n2,10,2\n")
    else:
        put("m/queries.jsonl", [{"id": 1, "text": "a?", "answer": "A"}, {"id": 2, "text": "b, c?", "answer": "B"}])
        put(
            "m/qrels.jsonl",
            [{"query_id": q, "doc_id": d, "relevance": g} for q, d, g in ((1, 10, 1), (1, 11, 0), (2, 10, 2))],
        )
    testset, taken = read_testset(tmp_path / "m")
    one, two = testset.questions
    assert one.gold == (Gold(id="10"), Gold(id="11", grade=0))
    assert (two.text, two.answers, two.gold) == ("b, c?", ("B",), (Gold(id="10", grade=2),))
    assert taken.format == "momento"


def test_momento_tables_must_belong_together(put, tmp_path):
    put("m/queries.csv", "id,text,answer\n1,a?,A\n")
    put("m/qrels.csv", "query_id,doc_id,relevance\n9,10,1\n")
    assert refused(tmp_path / "m") == ": question '9' of qrels.csv is not in queries.csv. Give matching files."


def test_beir_prefers_test_and_says_so(put, tmp_path):
    put("b/corpus.jsonl", [{"_id": "d1", "title": "t", "text": "x"}])
    put("b/queries.jsonl", [{"_id": "q1", "text": "a?"}, {"_id": "q2", "text": "b?"}])
    put("b/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    put("b/qrels/train.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    testset, taken = read_testset(tmp_path / "b")
    (question,) = testset.questions
    assert (question.id, question.text, question.gold) == ("q1", "a?", (Gold(id="d1"), Gold(id="d2", grade=0)))
    assert taken.notes == (
        "judgements from qrels/test.tsv (not train.tsv)", "1 of 2 queries are not judged there and are left out",
    )  # fmt: skip


def test_squad_names_what_is_no_list_of_paragraphs(put):
    path = put("dev.json", {"version": "1.1", "data": [{"title": "Pump", "paragraphs": "x"}]})
    assert '"paragraphs" of Pump is not a list of objects' in refused(path)


def test_squad_paragraphs_are_documents(put):
    path = put("dev.json", {"version": "v2.0", "data": [{"title": "Oxygen", "paragraphs": [
        {"context": "one", "qas": [{"id": "1", "question": "a?", "answers": [{"text": "A", "answer_start": 0},
                                                                          {"text": "A", "answer_start": 0}]}]},
        {"context": "two", "qas": [{"id": "2", "question": "b?", "answers": [], "is_impossible": True}]},
    ]}]})  # fmt: skip
    testset, taken = read_testset(path)
    one, two = testset.questions
    assert (one.gold, one.answers) == ((Gold(doc="Oxygen/1"),), ("A",))
    assert (two.gold, two.answerable) == ((), False)
    assert taken.format == "squad"


def test_ragas_ids_beside_contexts(put):
    path = put("ragas.jsonl", [
        {"user_input": "a?", "reference": "A", "reference_contexts": ["t", "u"],
         "reference_context_ids": ["c1", "c2"]},
        {"user_input": "b?", "reference": "B", "reference_contexts": ["quoted words"]},
    ])  # fmt: skip
    testset, taken = read_testset(path)
    one, two = testset.questions
    assert one.gold == (Gold(id="c1", quote="t"), Gold(id="c2", quote="u"))
    assert two.gold == (Gold(quote="quoted words"),)
    assert (two.answers, taken.format) == (("B",), "ragas")


def test_columns_of_a_table(put):
    path = put("qa.csv", 'id,question,gold_doc,gold_page,kind\n1,a?,h.pdf,"[""34"",""35""]",x\n2,b?,g.pdf,7,y\n')
    testset, _ = read_testset(path)
    assert testset.questions[0].gold == (Gold(doc="h.pdf", page="34"), Gold(doc="h.pdf", page="35"))
    assert testset.questions[1].gold == (Gold(doc="g.pdf", page="7"),)


def test_flat_gold_columns(put):
    testset, taken = read_testset(put("qa.csv", "id,question,doc,page\n1,a?,h.pdf,34\n2,b?,g.pdf,7\n"))
    assert [q.gold for q in testset] == [(Gold(doc="h.pdf", page="34"),), (Gold(doc="g.pdf", page="7"),)]
    assert taken.notes == ("used id, question, doc, page",)
    assert "line 3: no gold" in refused(put("qb.csv", "id,question,doc,page\n1,a?,h.pdf,34\n2,b?,,\n"))


def test_parquet_and_float_ids(tmp_path):
    import polars as pl

    path = tmp_path / "qa.parquet"
    pl.DataFrame({"qid": [7.0, 0.0], "question": ["a?", "b?"], "document_ids": [["d1"], ["d2", "d3"]]}).write_parquet(
        path
    )
    testset, _ = read_testset(path)
    assert [(q.id, len(q.gold)) for q in testset] == [("7", 1), ("0", 2)]


def test_float_ids_of_a_csv(put):
    path = put("qa.csv", "qid,question,answer\n7.0,a?,A\n8.0,b?,B\n")
    assert [q.id for q in read_testset(path)[0]] == ["7", "8"]
    path = put("v.csv", "qid,question,answer\n7.0,a?,A\n7.1,b?,B\n")
    assert [q.id for q in read_testset(path)[0]] == ["7.0", "7.1"]


def test_trec_topics(put):
    testset, taken = read_testset(put("topics.tsv", "301\tinternational crime\n302\tpolio 5 8 7\n"))
    assert [(q.id, q.text) for q in testset] == [("301", "international crime"), ("302", "polio 5 8 7")]
    assert taken.format == "trec_topics"


def test_gzip_of_any(put):
    path = put("qa.jsonl.gz", gzip.compress(b'{"id": 1, "gold": ["d"]}\n'))
    testset, _ = read_testset(path)
    assert testset.questions[0].gold == (Gold(id="d"),)


def test_map_renames_columns(put):
    path = put("qa.csv", "Frage,Quelle\na?,http://x\n")
    testset, _ = read_testset(path, columns={"Frage": "question", "Quelle": "gold_url"})
    assert testset.questions[0].gold == (Gold(url="http://x"),)
    with pytest.raises(UsageError, match=r"there is no field 'gold_ulr'\. Did you mean gold_url\?"):
        read_testset(path, columns={"Quelle": "gold_ulr"})
    path = put("qa2.csv", "question,gold_url\na?,http://x\n")
    assert read_testset(path, columns={"qestion": "question"})[1].notes[-1] == (
        "--map qestion=question: there is no column 'qestion' here. Did you mean question?"
    )


def test_page_number_wins_and_is_reported(put):
    path = put("qa.jsonl", [
        {"id": 1, "gold": [{"doc": "a", "page_number": "34", "page": 33}]},
        {"id": 2, "gold": [{"doc": "a", "page_number": "34", "page": 12}]},
    ])  # fmt: skip
    testset, taken = read_testset(path)
    assert [q.gold[0].page for q in testset] == ["34", "34"]
    assert taken.notes[0].startswith("page_number ")
    assert "differs by more than one once" in taken.notes[1]


def test_rows_of_several_systems_hold_a_test_set(put):
    rows = "config_name,query_id,query,retrieved_pages,relevant_pages\n"
    path = put("rows.csv", rows + "A,0,a?,['1'],\"['2', '3']\"\nB,0,a?,['2'],\"['3', '2']\"\n")
    testset, _ = read_testset(path)
    assert testset.questions[0].gold == (Gold(page="2"), Gold(page="3"))
    path = put("differ.csv", rows + "A,0,a?,['1'],['2']\nB,0,a?,['2'],['9']\n")
    assert refused(path).startswith(' line 3: question "0" has another gold than in line 2.')


def test_reference_is_never_taken_from_a_system(put):
    path = put(
        "rows.csv", "question,expected_url,retrieved_top1_url,answer,expected_answer,method\na?,u,v,said,,dense\n"
    )
    testset, taken = read_testset(path)
    assert testset.questions[0].answers == ()
    assert any("system's answer" in note for note in taken.notes)


def test_one_row_without_gold_is_an_error(put):
    rows = [{"id": n, "question": "?", "gold": ["d"]} for n in range(13)] + [{"id": 99, "question": "?"}]
    assert refused(put("qa.jsonl", rows)) == (
        ' line 14: no gold. Add "gold" (or "relevant_docs", "source_url", ...), '
        'or mark the question "answerable": false.'
    )


def test_misspelled_gold_is_an_error(put):
    path = put("qa.json", [{"query": "a?", "relevent_docs": ["34"]}])
    assert refused(path) == ' record 1: no gold. The field "relevent_docs" is not known. Did you mean relevant_docs?'
    path = put("qa.jsonl", [{"id": 1, "gold": [{"doc": "a", "pgae": "3"}]}])
    assert refused(path) == ' line 1 field "gold": the field "pgae" is not known. Did you mean page?'
    path = put("qb.jsonl", [{"id": 1, "gold": [{"title": "a"}]}])
    assert refused(path).startswith(' line 1 field "gold": the entry names no unit (fields: title).')


def test_answers_without_gold_are_fine(put):
    testset, taken = read_testset(put("qa.jsonl", [{"id": 1, "question": "a?", "answers": ["A"]}]))
    assert len(testset) == 1
    assert taken.notes == ("no gold: only answers can be scored",)


def test_duplicate_ids_name_both_rows(put):
    path = put("qa.jsonl", [{"id": 7, "gold": ["d"]}, {"id": "8", "gold": ["d"]}, {"id": "7", "gold": ["d"]}])
    assert refused(path) == ' line 3: question id "7" stands twice (first in line 1). Give every question its own id.'
    path = put("same.jsonl", [{"question": "a?", "gold": ["d"]}, {"question": "a?", "gold": ["e"]}])
    assert 'There are no ids: give every question an "id".' in refused(path)


def test_grade_must_be_whole(put):
    path = put("qa.jsonl", [{"id": 7, "gold": [{"id": "d", "grade": 1.5}]}])
    assert refused(path) == ' line 1 field "gold": grade 1.5 is not a whole number. Use 0, 1, 2, ...'
    path = put("qb.jsonl", [{"id": 7, "gold": [{"id": "d", "grade": 3.0}]}])
    assert read_testset(path)[0].questions[0].gold[0].grade == 3


def test_results_where_a_test_set_is_meant(put):
    path = put("res.jsonl", [{"id": 1, "retrieved": ["d"], "answer": "A"}])
    assert refused(path) == (
        ": holds results (canonical: retrieved) where a test set should be. The test set comes first, then the results."
    )


def test_unknown_forms(put, tmp_path):
    assert "csv with the fields a, b is no known form of a test set" in refused(put("x.csv", "a,b\n1,2\n"))
    assert "text that starts with 'hello' is no known form" in refused(put("x.txt", "hello\n"))
    assert "(it holds x.csv, x.txt)" in refused(tmp_path)
    assert "JSON without records is no known form" in refused(put("x.json", "[]"))


def test_broken_json(put):
    assert refused(put("a.jsonl", '{"id": 1, "gold": ["d"]}\n{"id": 2, "gold": [\n')).startswith(
        " line 2: not valid JSON ("
    )
    assert refused(put("a.json", '[{"id": 1},\n {"id": }]')).startswith(
        " line 2: not valid JSON (Expecting value, column 9)"
    )
    assert 'the field "id" stands twice in one object' in refused(put("b.jsonl", '{"id": 1, "id": 2, "gold": []}\n'))
    assert "nested too deeply" in refused(put("c.json", "[" * 100000))
    assert "too many digits" in refused(put("d.jsonl", '{"id": ' + "1" * 5000 + ', "gold": ["d"]}\n'))


def test_half_a_character_is_replaced_and_loses_no_row(put):
    path = put(
        "e.jsonl",
        '{"id": "a\\ud800", "question": "x\\u0000", "gold": ["d"]}\n{"id": "b", "gold": ["\\ud83d\\ude42"]}\n',
    )
    testset, _ = read_testset(path)
    assert [(q.id, q.text, q.gold[0].id) for q in testset] == [("a\ufffd", "x\ufffd", "d"), ("b", "", "\U0001f642")]
    tagged = put("e.csv", 'id,question,gold,tags\n1,a?,"[""d\\ud800""]","{""t"": ""\\udc00""}"\n')
    (question,) = read_testset(tagged)[0]
    assert (question.gold[0].id, question.tags) == ("d\ufffd", {"t": "\ufffd"})


def test_broken_tables(put):
    assert refused(put("a.csv", "id,question,gold\n1,a?\n")).startswith(
        " line 2: the row has 2 cells and the header has 3."
    )
    assert "quotation marks" in refused(put("b.csv", 'id,question,gold\n1,"a?,d\n'))
    assert "names the column 'id' twice" in refused(put("c.csv", "id,id,gold\n1,2,d\n"))
    assert refused(put("d.csv", 'id,question,gold\n1,"two\nlines",d\n2,,"[x"\n')).startswith(
        ' line 4 field "gold": "[x" is not'
    )


def test_a_field_that_only_later_records_have_is_read(put):
    rows = [{"id": f"q{i}", "question": f"What is {i}?", "gold": [{"id": f"d{i}"}]} for i in range(60)]
    path = put("qa.jsonl", [*rows, {"id": "q60", "question": "What is not?", "answerable": False}])
    testset, taken = read_testset(path)
    assert [q.id for q in testset if not q.answerable] == ["q60"]
    assert "1 of 61 questions are unanswerable" in taken.notes
    late = {"id": "q61", "question": "And?", "relevant_docs": ["d1"]}
    assert read_testset(put("qa.jsonl", [*rows, late]))[0]["q61"].gold[0].label == "d1"


def test_a_row_of_a_spreadsheet_without_any_cell_is_passed_over(tmp_path):
    path, hits = tmp_path / "qa.csv", tmp_path / "hits.csv"
    path.write_text("\ufeffQuestion;Document;Page\n;;\nWo?;a.pdf;1\n ; ;\nWann?;b.pdf;2\n;;\n", encoding="utf-8")
    assert [q.text for q in read_testset(path)[0].questions] == ["Wo?", "Wann?"]
    hits.write_text("query;doc;score\nWo?;a.pdf;2.0\n;;\nWann?;b.pdf;1.0\n;;\n", encoding="utf-8")
    (run,), _ = read_results(hits)
    assert list(run.question_ids) == ["Wo?", "Wann?"]
