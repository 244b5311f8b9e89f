import json

import pytest

from karat.core.errors import InputError
from karat.files import as_runs, as_testset, read_results


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        if isinstance(content, list) and name.endswith(".jsonl"):
            content = "".join(json.dumps(row) + "\n" for row in content)
        elif not isinstance(content, str):
            content = json.dumps(content)
        path.write_text(content, encoding="utf-8")
        return path

    return write


def refused(path):
    with pytest.raises(InputError) as caught:
        read_results(path)
    return str(caught.value).removeprefix(str(path))


def test_canonical(put):
    path = put("bm25.jsonl", [
        {"id": 7, "retrieved": [{"id": "c1", "score": 2.5, "text": "t", "doc": "d", "page": "3", "url": "u"},
                                {"id": "c2", "score": 1, "tokens": 12, "span": [0, 4]}],
         "answer": "A", "seconds": {"retrieve": 0.1, "answer": 2}, "tokens": 30, "cost_usd": 0.01, "status": "ok"},
        {"id": 8, "retrieved": []},
        {"id": 9, "status": "failed", "error": "timeout after 30 s"},
    ])  # fmt: skip
    (run,), taken = read_results(path)
    assert (run.name, run.question_ids, run.offsets.tolist()) == ("bm25", ["7", "8"], [0, 2, 2])
    assert run.asked == ("7", "8", "9")
    assert (run.docs, run.scores.tolist(), run.order) == (["c1", "c2"], [2.5, 1.0], "given")
    assert run.fields == {
        "text": ["t", None], "doc": ["d", None], "page": ["3", None], "url": ["u", None], "tokens": [None, 12],
        "span": [None, (0, 4)],
    }  # fmt: skip
    answer = run.answers["7"]
    assert (answer.text, answer.seconds, answer.tokens, answer.cost_usd) == (
        "A",
        {"retrieve": 0.1, "answer": 2},
        30,
        0.01,
    )
    assert run.failed == {"9": "timeout after 30 s"}
    assert (taken.format, taken.what) == ("canonical", "bm25: 2 hits and 1 answer for 3 questions (1 failed)")


OPENAI = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"tokens": OPENAI}, 15),
        ({"usage": OPENAI}, 15),
        ({"usage": {**OPENAI, "prompt_tokens_details": {"cached_tokens": 4}}}, 15),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "reasoning_tokens": 3}}, 15),
        ({"usage": {"input_tokens": 10, "output_tokens": 5}}, 15),
        ({"usage": json.dumps(OPENAI)}, 15),
        ({"tokens": {"total": 15, "prompt": 10, "completion": 5}}, 15),
        ({"tokens": {"rewrite": 3, "answer": 12}}, 15),
        ({"tokens": None, "usage": OPENAI}, 15),
        ({"prompt_tokens": 10, "completion_tokens": 5}, 15),
        ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}, 15),
        ({"usage": {"requests": "many"}}, None),
        ({"usage": {}}, None),
        ({"prompt_tokens": 10}, None),
    ],
)
def test_tokens_are_counted_once_however_they_are_given(put, fields, tokens):
    (run,), _ = read_results(put("a.jsonl", [{"id": "1", "answer": "A", **fields}]))
    assert run.answers["1"].tokens == tokens


def test_a_usage_that_cannot_be_read_names_its_field(put):
    path = put("a.jsonl", [{"id": "1", "answer": "A", "usage": "a lot"}])
    assert refused(path).startswith(' line 1 field "usage": tokens "a lot" is not a finite number')


@pytest.mark.parametrize(
    ("fields", "about"),
    [
        ({"cost_usd": -1}, 'field "cost_usd": cost_usd -1'),
        ({"total_tokens": "-5"}, 'field "total_tokens": tokens "-5"'),
        ({"latency_ms": -0.5}, 'field "latency_ms": total_ms -0.5'),
        ({"seconds": {"retrieve": -1}}, 'field "seconds": seconds -1'),
    ],
)
def test_nothing_costs_less_than_nothing(put, fields, about):
    assert refused(put("a.jsonl", [{"id": "1", "answer": "A", **fields}])).startswith(f" line 1 {about} is below 0")


@pytest.mark.parametrize("seconds", [{"retrieve": 0.25, "answer": 2}, '{"retrieve": 0.25, "answer": 2}'])
def test_seconds_keep_their_parts(put, seconds):
    (run,), _ = read_results(put("a.jsonl", [{"id": "1", "retrieved": ["d"], "seconds": seconds}]))
    assert run.answers["1"].seconds == {"retrieve": 0.25, "answer": 2.0}


def test_what_is_no_confidence_is_left_aside_and_counted(put):
    given = [0.5, "0.25", 87, "high", -1, None]
    path = put("a.jsonl", [{"id": i, "answer": "A", "confidence": value} for i, value in enumerate(given)])
    (run,), taken = read_results(path)
    assert [run.answers[str(i)].confidence for i in range(6)] == [0.5, 0.25, None, None, None, None]
    assert taken.notes == ("in 3 rows the confidence is no number from 0 to 1: left aside",)


def test_an_answer_fails_alone_and_says_nothing(put):
    path = put("a.jsonl", [{"id": 1, "retrieved": ["c"], "answer": "half an ans", "answer_error": {"message": "cut"}}])
    (run,), _ = read_results(path)
    assert (run.answers["1"].text, run.answers["1"].error, run.failed, run.doc_list) == (None, "cut", {}, ["c"])


def test_hits_without_an_id_are_named_by_what_they_have(put):
    hits = [{"doc": "a.pdf", "page_number": "34", "page": 33}, {"url": "http://x"},
            {"metadata": {"source": "b.pdf"}},
            {"page_content": "words", "metadata": {"source": "c.pdf", "page": 2}},
            {"text": "only text"}, "plain", 5]  # fmt: skip
    (run,), taken = read_results(put("r.jsonl", [{"id": 1, "retrieved": hits}]))
    assert run.docs == ["a.pdf#page=34", "http://x", "b.pdf", "c.pdf#page=3", "only text", "plain", "5"]
    assert run.scores is None
    assert run.fields["page"] == ["34", None, None, "3", None, None, None]
    assert taken.notes[0].startswith("page_number ")


def test_nodes_of_a_query_engine(put):
    node = {"node": {"id_": "n1", "text": "t", "metadata": {"file_name": "a.md"}}, "score": 1.0}
    (run,), _ = read_results(put("nodes.jsonl", [{"question": "Who?", "answer": "Ada", "nodes": [node]}]))
    assert [answer.text for answer in run.answers.values()] == ["Ada"]
    assert list(run.fields["doc"]) == ["a.md"]


def test_liverag_rows(put):
    path = put(
        "res.tsv",
        "qid\tquestion\tanswer\tcontext\tdoc_ids\ttotal_time_ms\tsystem_name\n"
        "1\ta?\tA\t\"['t1', 't2']\"\t\"['doc-<urn:uuid:1>::chunk-0', 'doc-<urn:uuid:1>::chunk-1']\"\t1500\tBasicRAG\n"
        "2\tb?\t\t[]\t[]\t1\tBasicRAG\n",
    )
    (run,), taken = read_results(path)
    assert (run.name, taken.format) == ("BasicRAG", "liverag")
    assert run.docs == ["doc-<urn:uuid:1>::chunk-0", "doc-<urn:uuid:1>::chunk-1"]
    assert run.fields == {"text": ["t1", "t2"]}
    assert (run.answers["1"].contexts, run.answers["1"].seconds) == (("t1", "t2"), {"total": 1.5})
    assert run.answers["2"].text == ""
    assert run.texts == {"1": "a?", "2": "b?"}


def test_liverag_live(put):
    path = put("live.jsonl", [{"id": 1, "question": "a?", "final_prompt": "p", "answer": "A", "passages": [
        {"passage": "t1", "doc_IDs": ["d1"]}, {"passage": "t2", "doc_IDs": ["d2", "d3"]}]}])  # fmt: skip
    (run,), taken = read_results(path)
    assert (run.docs, run.fields["text"]) == (["d1", "d2", "d3"], ["t1", "t2", "t2"])
    assert run.answers["1"].contexts == ("t1", "t2")
    assert "1 passages name several documents" in taken.notes[0]


SWEPT = """query_id,alpha,k,retrieved
q1,0,1,"['a']"
q2,{second},1,"['b']"
"""


def test_settings_part_systems_where_questions_repeat_and_no_column_names_a_system(tmp_path):
    (tmp_path / "sweep.csv").write_text(SWEPT.format(second=0) + "q1,0.5,1,\"['c']\"\nq2,0.5,1,\"['d']\"\n")
    runs, _ = read_results(tmp_path / "sweep.csv")
    assert [(run.name, run.settings["alpha"], len(run.asked)) for run in runs] == [
        ("sweep alpha=0", 0, 2), ("sweep alpha=0.5", 0.5, 2)
    ]  # fmt: skip


def test_settings_of_single_questions_part_no_system(tmp_path):
    (tmp_path / "adaptive.csv").write_text(SWEPT.format(second=0.5))
    (run,), _ = read_results(tmp_path / "adaptive.csv")
    assert (run.name, len(run.asked)) == ("adaptive", 2)


ROWS = "config_name,alpha,k,query_id,query,precision_at_k,mrr,retrieval_time_ms,retrieved_pages,relevant_pages\n"


def test_healthcare_rows(put):
    path = put("rows.csv", ROWS + "Dense,1.0,5,0,a?,0.2,1.0,28,\"['8', 'N/A', '8']\",['8']\n"
               "Hybrid,0.7,5,0,a?,0.4,0.5,15,\"['9', '8']\",['8']\n"
               "Hybrid,0.3,5,0,a?,0.0,0.0,15,['7'],['8']\n")  # fmt: skip
    runs, taken = read_results(path)
    assert [run.name for run in runs] == ["Dense", "Hybrid alpha=0.7", "Hybrid alpha=0.3"]
    assert (runs[0].docs, runs[0].fields["page"]) == (["8", "N/A", "8"], ["8", None, "8"])
    assert runs[0].answers["0"].seconds == {"retrieve": 0.028}
    assert runs[0].answers["0"].text is None
    assert taken.format == "healthcare"


def test_hybrid_rag_rows(put):
    path = put("rows.csv", "question,expected_url,retrieved_top1_url,answer,expected_answer,mrr,recall@10,method\n"
               "a?,u1,u1,A,B,1.0,0.5,dense\na?,u1,u2,A2,B,0.0,0.5,sparse\n")  # fmt: skip
    runs, taken = read_results(path)
    assert [(run.name, run.docs, run.question_ids) for run in runs] == [
        ("dense", ["u1"], ["a?"]),
        ("sparse", ["u2"], ["a?"]),
    ]
    assert runs[0].fields == {"url": ["u1"]}
    assert runs[1].answers["a?"].text == "A2"
    assert taken.notes[0].startswith("only the first hit of each question is in the file")


def test_ragas(put):
    path = put("r.jsonl", [
        {"user_input": "a?", "retrieved_contexts": ["t1", "t2"], "retrieved_context_ids": ["c1", "c2"], "response": "A",
         "reference": "R"},
        {"user_input": "b?", "retrieved_contexts": ["t3"], "response": "B", "reference": "R"},
    ])  # fmt: skip
    (run,), taken = read_results(path)
    assert (run.question_ids, run.docs, taken.format) == (["a?", "b?"], ["c1", "c2", "t3"], "ragas")
    assert run.fields["text"] == ["t1", "t2", "t3"]
    assert run.answers["a?"].text == "A"


def test_squad_predictions(put):
    for content in ({"56be": "Denver", "57aa": ""}, {"56be": "Denver"}):
        (run,), taken = read_results(put("pred.json", content))
        assert {qid: a.text for qid, a in run.answers.items()} == content
        assert (run.name, taken.format, run.has_rankings) == ("pred", "squad", False)


def test_json_mapping(put):
    (run,), taken = read_results(put("run.json", {"q1": {"d1": 1.5, "d2": 2}, "q2": {}}))
    assert (taken.format, run.order, run.doc_list, run.scores.tolist()) == (
        "mapping",
        "score",
        ["d1", "d2"],
        [1.5, 2.0],
    )
    (run,), _ = read_results(put("list.json", {"q1": ["d1", "d2"], "q2": ["d3"]}))
    assert (run.order, run.docs) == ("given", ["d1", "d2", "d3"])


def test_scores_that_rise_are_reported(put):
    path = put("r.jsonl", [{"id": 1, "retrieved": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}])
    assert read_results(path)[1].notes == ("scores do not fall within the lists: the order of the lists is kept",)


def test_a_row_with_nothing_in_it(put):
    path = put("r.jsonl", [{"id": 1, "retrieved": ["a"]}, {"id": 2, "retreived": ["a"]}])
    assert refused(path) == (
        " line 2: neither retrieved ids nor an answer nor an error. "
        'The field "retreived" is not known. Did you mean retrieved?'
    )
    path = put("s.jsonl", [{"id": 1, "retrieved": ["a"]}, {"id": 2, "retrieved": None}])
    assert refused(path).startswith(" line 2: neither retrieved ids nor an answer nor an error. Add")


def test_missing_and_doubled_ids(put):
    path = put("r.jsonl", [{"id": 1, "retrieved": ["a"]}, {"retrieved": ["a"]}])
    assert refused(path) == ' line 2: no id. Give every row the id of its question ("id").'
    path = put("s.jsonl", [{"id": 1, "retrieved": ["a"]}, {"id": "1", "retrieved": ["b"]}])
    assert refused(path).startswith(' line 2: question id "1" stands twice')


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity", '"high"', "true"])
def test_scores_must_be_finite(put, score):
    path = put("r.jsonl", f'{{"id": 1, "retrieved": [{{"id": "a", "score": {score}}}]}}\n')
    assert "is not a finite number" in refused(path)


def test_unknown_status(put):
    path = put("r.jsonl", [{"id": 1, "retrieved": ["a"], "status": "purple"}])
    assert refused(path) == ' line 1 field "status": status "purple" is not known. Write "ok" or "failed".'
    path = put("s.jsonl", [{"id": 1, "retrieved": ["a"], "status": "timeout"}])
    (run,), _ = read_results(path)
    assert (run.failed, len(run)) == ({"1": "status timeout"}, 0)


def test_some_rows_without_a_system(put):
    path = put("r.jsonl", [{"id": 1, "system": "a", "retrieved": ["d"]}, {"id": 1, "retrieved": ["d"]}])
    assert refused(path) == ' line 2: no system. Fill in "system" in every row, or in none.'


def test_uneven_lists(put):
    path = put("r.jsonl", [{"id": 1, "retrieved_ids": ["a", "b"], "retrieved_pages": ["1"]}])
    assert "the lists of hits do not pair up (id 2, page 1)" in refused(path)
    path = put("s.jsonl", [{"id": 1, "doc_ids": ["a", "b"], "contexts": ["one"]}])
    (run,), taken = read_results(path)
    assert (run.fields, run.answers["1"].contexts) == ({}, ("one",))
    assert "not as many contexts as ids" in taken.notes[0]


def test_a_test_set_where_results_are_meant(put):
    path = put("qa.json", [{"question": "a?", "answer": "A", "relevant_chunk_ids": ["c"]}])
    assert refused(path).startswith(
        ": holds a test set (rag_benchmark: gold chunks in relevant_chunk_ids) where results"
    )
    path = put("qa.jsonl", [{"id": "1", "question": "a?", "answers": ["A"], "gold": ["c"]}])
    assert refused(path).startswith(": holds a test set (canonical: gold) where results should be.")


def test_a_hit_may_stand_on_several_pages_and_a_gold_entry_on_one():
    results = [
        {
            "id": "q1",
            "retrieved": [
                {"id": "c1", "doc": "a.pdf", "page": ["34", "35"]},
                {"page": [7, 8]},
                {"id": "c3", "page": [9]},
            ],
        }
    ]
    (run,), _ = as_runs(results)
    assert run.fields["page"] == [("34", "35"), ("7", "8"), "9"]
    assert run.doc_list == ["c1", "7-8", "c3"]
    with pytest.raises(InputError, match=r"is a list. Write one entry for each page"):
        as_testset([{"id": "q1", "question": "?", "gold": [{"doc": "a.pdf", "page": ["34", "35"]}]}])


def test_scores_that_do_not_pair_up_with_ids_are_left_aside_aloud():
    rows = [{"id": 1, "retrieved_ids": ["a", "b"], "scores": [2.0]}]
    (run,), (taken,) = as_runs(rows)
    assert run.scores is None
    assert "in 1 rows there are not as many scores as ids: left aside there" in taken.notes


def test_hits_and_scores_in_a_cell_of_a_table_are_read_as_in_json(put):
    (run,), _ = read_results(put("a.csv", 'id,retrieved\nq1,"{""d1"": 0.5, ""d2"": 0.75}"\n'))
    assert (list(run.docs), run.scores.tolist()) == (["d2", "d1"], [0.75, 0.5])


def test_fields_of_hits_stand_in_the_order_of_the_file():
    hit = {"id": "1", "url": "http://x", "text": "t", "doc": "d", "tokens": 3}
    ((run,), _) = as_runs([{"id": "q", "retrieved": [hit, {**hit, "id": "2", "page": "4"}]}])
    assert list(run.fields) == ["url", "text", "doc", "tokens", "page"]
