"""Every format of test sets and results, read and written, and every matcher."""

import json

import pytest

UUIDS = [f"<urn:uuid:{n:08d}-0000-4000-8000-000000000000>" for n in range(4)]
SQUAD = {"version": "v2.0", "data": [{"title": "Oxygen", "paragraphs": [
    {"context": "one", "qas": [{"id": "1", "question": "a?", "answers": [{"text": "A", "answer_start": 0}]}]},
    {"context": "two", "qas": [{"id": "2", "question": "b?", "answers": [], "is_impossible": True}]},
]}]}  # fmt: skip
HYBRID = {"metadata": {}, "questions": [
    {"question_id": "Q1", "question": "a?", "ground_truth": "A", "source_url": "http://x.org/1", "difficulty": "easy"},
    {"question_id": "Q2", "question": "b?", "ground_truth": "B", "source_url": ["http://x.org/1", "http://x.org/2"],
     "question_type": "multi"},
    {"question_id": "Q3", "question": "c?", "ground_truth": "no such thing", "source_url": "NONE"},
]}  # fmt: skip
MOMENTO = {"queries": [{
    "query_id": "1", "query_text": "a?", "retrieved_docs": {"m1": "one", "m2": "two"},
    "retrieved_doc_ids_ordered": ["m2", "m1"], "retrieved_doc_ids_for_eval": ["10", None],
    "answer": "A", "response_time": 1.5, "retrieval_metrics": {"mrr": 1.0}, "generation_metrics": {},
}], "response_times": [1.5]}  # fmt: skip
RAGAS = [
    {"user_input": "a?", "reference": "A", "reference_contexts": ["t", "u"], "reference_context_ids": ["c1", "c2"],
     "retrieved_contexts": ["u", "v"], "retrieved_context_ids": ["c2", "c3"], "response": "A!"},
    {"user_input": "b?", "reference": "B", "reference_contexts": ["quoted words"],
     "retrieved_contexts": ["many quoted words here"], "response": "C"},
]  # fmt: skip
GOLD = {"id": "g", "doc": "h.pdf", "page": "34", "url": "u", "chunk": "c", "quote": "q", "span": [3, 9], "grade": 2}
TESTSETS = {
    "canonical.jsonl": [
        {"id": "q17", "question": "Why?", "answers": ["A", "B"], "gold": [GOLD], "kind": "factual",
         "tags": {"difficulty": "easy"}, "answerable": True},
        {"id": 0, "question": "None?", "gold": [], "answerable": False},
    ],
    "healthcare.json": [
        {"query": "a?", "relevant_docs": ["34", " 35"], "query_type": "factual"},
        {"query": "b?", "relevant_docs": [7], "query_type": "listing"},
    ],
    "hybrid_rag.json": HYBRID,
    "liverag.tsv": "qid\tquestion\tanswer\tcontext\tdocument_ids\tquestion_type\n"
                   f"1\ta?\tA\t[]\t{json.dumps(UUIDS[:2])}\topen\n",
    "mapping.json": {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 0, "d4": 1}},
    "rag_benchmark.json": [{"question": "a?", "answer": "A", "relevant_chunk_ids": ["04_35_1826"],
                            "query_type": "literal"}],
    "ragas.jsonl": RAGAS,
    "records.json": [{"query": "a?", "relevant_docs": ["intro.pdf"]}, {"query": "b?", "relevant_docs": ["b.pdf"]}],
    "squad.json": SQUAD,
    "table.csv": 'id,question,gold_doc,gold_page,kind\n1,a?,h.pdf,"[""34"",""35""]",x\n2,b?,g.pdf,7,y\n',
    "trec_qrels.txt": "q1 0 d1 1\nq2 0 d2 2\nq2 0 d3 1\nq3 0 d4 -1\n",
    "trec_topics.tsv": "301\tinternational crime\n302\tpolio 5 8 7\n",
    "beir/queries.jsonl": [{"_id": "q1", "text": "a?"}, {"_id": "q2", "text": "b?"}],
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
    "momento/queries.csv": 'id,text,answer\n1,a?,A\n2,"b, c?",B\n',
    "momento/qrels.csv": "query_id,doc_id,relevance\n1,10,1\n1,11,0\n2,10,2\n",
}  # fmt: skip
RESULTS = {
    "canonical.jsonl": [
        {"id": "q1", "retrieved": [{"id": "d1", "score": 0.9, "doc": "h.pdf", "page": 3, "text": "one"}, {"id": "d2"}],
         "answer": "A", "confidence": 0.5, "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}},
        {"id": "q2", "error": "timeout"},
    ],
    "hybrid_rag.json": {"results": [
        {"question_id": "Q1", "question": "a?", "ground_truth": "A", "source_url": "http://x.org/1",
         "retrieved_urls": ["http://x.org/2", "http://x.org/1"], "generated_answer": "A", "method": "hybrid"},
    ]},
    "liverag.tsv": f"qid\tquestion\tanswer\tcontext\tdoc_ids\n1\ta?\ty\t[]\t"
                   f"{json.dumps([f'doc-{UUIDS[0]}::chunk-0', f'doc-{UUIDS[3]}::chunk-1'])}\n",
    "mapping.json": {"q1": {"d1": 1.5, "d2": 2.5}, "q2": {"d3": 0.25, "d4": 1.0}},
    "mapping_lists.json": {"q1": ["d1", "d2"], "q2": ["d4"]},
    "momento.json": MOMENTO,
    "ragas.jsonl": RAGAS,
    "records.json": [{"query": "a?", "retrieved": ["x", "y"]}, {"query": "b?", "retrieved": ["z"]}],
    "langchain.jsonl": [{"id": "q", "retrieved": [
        {"id": "c1", "score": 0.5, "page_content": "one", "metadata": {"source": "a.pdf", "page": 2}}]}],
    "table.csv": "query_id,doc_id,score,system\n1,a,0.9,dense\n2,b,0.8,dense\n2,c,0.7,dense\n1,a,7.1,bm25\n",
    "pages.csv": "config_name,query_id,query,retrieved_pages,relevant_pages\n"
                 "A,0,a?,\"['1', '2']\",\"['2', '3']\"\nB,0,a?,['2'],\"['3', '2']\"\n",
    "trec_run.run": "q1 Q0 d1 1 3.0 t\nq1 Q0 d9 2 2.0 t\nq2 Q0 d9 1 3.0 t\nq2 Q0 d3 2 2.0 t\n",
}  # fmt: skip


def put(folder, name, content):
    if isinstance(content, list) and name.endswith(".jsonl"):
        content = "".join(json.dumps(row) + "\n" for row in content)
    elif not isinstance(content, str):
        content = json.dumps(content, indent=1)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@pytest.fixture(scope="module")
def samples(ground):
    for name, content in TESTSETS.items():
        put(ground / "testsets", name, content)
    for name, content in RESULTS.items():
        put(ground / "results", name, content)


@pytest.mark.parametrize("name", sorted({name.partition("/")[0] for name in TESTSETS}))
def test_testsets(net, samples, name):
    stem = name.partition(".")[0]
    net(f"read_testset_{stem}", f"convert testsets/{name} testset_{stem}.jsonl --to canonical",
        [f"testset_{stem}.jsonl"], every_text=True)  # fmt: skip


@pytest.mark.parametrize("name", list(RESULTS))
def test_results(net, samples, name):
    stem = name.partition(".")[0]
    net(f"read_results_{stem}", f"convert results/{name} results_{stem}.jsonl --to canonical",
        [f"results_{stem}*.jsonl"], every_text=True)  # fmt: skip


@pytest.mark.parametrize("source", ["qa.jsonl", "rag.jsonl"])
@pytest.mark.parametrize("to", ["trec_run", "trec_qrels", "beir", "ragas", "liverag"])
def test_writing(net, source, to):
    out = {"beir": "{}_beir", "trec_run": "{}.run", "trec_qrels": "{}.qrels", "ragas": "{}.ragas.jsonl",
           "liverag": "{}.tsv"}[to].format(source.partition(".")[0])  # fmt: skip
    written = source in {"trec_run": ["rag.jsonl"], "trec_qrels": ["qa.jsonl"], "beir": ["qa.jsonl"]}.get(to, [source])
    files = [] if not written else ["qa_beir/*.jsonl", "qa_beir/qrels/*.tsv"] if to == "beir" else [out]
    net(f"write_{to}_{source.partition('.')[0]}", f"convert {source} {out} --to {to}", files, every_text=True)


def test_columns_by_name(net):
    maps = "--map nr=id --map frage=question --map quelle=gold_id"
    net("map", f"score questions.csv hits.csv {maps} --json")


MATCHERS = {
    "exact": ([{"id": "d1"}, {"id": "d2", "grade": 2}], [{"id": "d9"}, {"id": "d2"}, {"id": "d1"}]),
    "doc": ([{"doc": "a.pdf"}, {"doc": "b.pdf"}],
            [{"id": "c1", "doc": "x/a.pdf"}, {"id": "c2", "doc": "a.pdf"}, {"id": "c3", "doc": "c.pdf"}]),
    "uuid": ([{"doc": UUIDS[0]}, {"doc": UUIDS[1]}],
             [{"id": f"doc-{UUIDS[0]}::chunk-0"}, {"id": f"doc-{UUIDS[0]}::chunk-1"}, {"id": f"doc-{UUIDS[3]}::c"}]),
    "url": ([{"url": "https://A.org/x/"}], [{"id": "1", "url": "https://b.org"}, {"id": "2", "url": "http://a.org/x#p"}]),
    "page": ([{"page": "34"}, {"page": "35"}], [{"id": "c1", "page": "33"}, {"id": "c2", "page": "35"}]),
    "quote": ([{"quote": "the watch lasts four hours"}, {"quote": "kept by two people"}],
              [{"id": "c1", "text": "Snow is melted."}, {"id": "c2", "text": "At night the watch lasts four  hours"}]),
    "span": ([{"doc": "a.txt", "span": [10, 40]}, {"doc": "a.txt", "span": [100, 120]}],
             [{"id": "c1", "doc": "a.txt", "span": [30, 60]}, {"id": "c2", "doc": "a.txt", "span": [95, 130]}]),
    r"regex:d(\d+)": ([{"id": "gold-d7"}], [{"id": "d8-x"}, {"id": "d7-y"}]),
}  # fmt: skip


@pytest.mark.parametrize("match", ["given", "auto"])
@pytest.mark.parametrize("matcher", list(MATCHERS))
def test_matchers(net, ground, matcher, match):
    name = matcher.partition(":")[0]
    gold, hits = MATCHERS[matcher]
    put(ground / "match", f"{name}_qa.jsonl", [{"id": "q1", "question": "a?", "gold": gold},
                                               {"id": "q2", "question": "b?", "gold": gold[:1]}])  # fmt: skip
    put(ground / "match", f"{name}_hits.jsonl", [{"id": "q1", "retrieved": hits},
                                                 {"id": "q2", "retrieved": hits[::-1]}])  # fmt: skip
    option = f"--match '{matcher}'" if match == "given" else ""
    offset = "--page-offset 1" if name == "page" else ""
    net(f"match_{name}_{match}", f"score match/{name}_qa.jsonl match/{name}_hits.jsonl {option} {offset} "
        "-m Recall@2 -m nDCG@5 -m Precision@3 -m MRR --json")  # fmt: skip


@pytest.mark.parametrize("dialect", ["liverag", "hybrid-rag"])
def test_dialects_of_a_format(net, samples, ground, dialect):
    name = {"liverag": "liverag.tsv", "hybrid-rag": "hybrid_rag.json"}[dialect]
    hits = [{"id": "c1", "url": "http://x.org/2"}, {"id": "c2", "url": "http://X.org/1#part"}]
    put(ground / "results", "urls.jsonl", [{"id": q, "retrieved": hits, "answer": "A a"} for q in ("Q1", "Q2", "Q3")])
    results = "liverag.tsv" if dialect == "liverag" else "urls.jsonl"
    net(f"score_{dialect}", f"score testsets/{name} results/{results} --dialect {dialect} --json")
