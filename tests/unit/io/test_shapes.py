"""Shapes of frameworks and stores: an object and its JSON dump give the same hit; nothing else is made of it."""

from dataclasses import dataclass
from types import SimpleNamespace as Made

import pytest

from karat.files import as_runs
from karat.io.shapes import hit_of, record_of, with_plain_answer

META = {"source": "a.pdf", "page": 2}
NODE = {"id_": "n1", "text": "t", "metadata": {"file_name": "a.pdf"}, "relationships": {"1": {"node_id": "D"}}}


def made(value):
    """The same as objects: what an attribute holds of its own stays a dict where frameworks keep one."""
    return Made(**value)


@pytest.mark.parametrize(
    ("value", "hit"),
    [
        ({"id": "u", "page_content": "t", "metadata": META},
         {"id": "u", "page_content": "t", "metadata": META}),
        ({"id": "h", "content": "t", "meta": META, "score": 0.5},
         {"id": "h", "content": "t", "meta": META, "score": 0.5}),
        ({"id": 7, "payload": {"text": "t"}, "score": 0.5, "vector": [1.0]},
         {"id": 7, "metadata": {"text": "t"}, "score": 0.5}),
        ({"uuid": "w", "properties": {"text": "t"}, "metadata": {"certainty": 0.9}},
         {"id": "w", "metadata": {"text": "t"}, "score": 0.9}),
        ({"_id": "e", "_score": 3.5, "_source": {"text": "t"}},
         {"id": "e", "metadata": {"text": "t"}, "score": 3.5}),
        ({"id": "p", "score": 0.5, "metadata": {"text": "t"}, "values": [0.1]},
         {"id": "p", "score": 0.5, "metadata": {"text": "t"}}),
    ],
)  # fmt: skip
def test_an_object_and_its_dump_are_the_same_hit(value, hit):
    dumped = {name: part for name, part in hit_of(value).items() if name not in ("_id", "values")}
    assert hit_of(made(value)) == dumped == hit


def test_a_node_of_llama_index_keeps_its_document_behind_its_file():
    hit = {"id": "n1", "text": "t", "metadata": {"file_name": "a.pdf", "ref_doc_id": "D"}, "score": 0.5}
    assert hit_of({"node": NODE, "score": 0.5, "class_name": "NodeWithScore"}) == hit
    node = Made(node_id="n1", text="t", metadata={"file_name": "a.pdf"}, ref_doc_id="D")
    assert hit_of(Made(node=node, score=0.5)) == hit
    assert hit_of(NODE)["id"] == "n1"


@pytest.mark.parametrize(
    "hit",
    [
        {"content": "t", "meta": {}, "doc id": "x", "documnt": "y"},
        {"id": "u", "score": 1.0, "metadata": {}, "Doc-ID": "d1", "pgae": 3},
        {"page_content": "t", "metadata": {}, "Page Number": 3},
    ],
)
def test_what_a_dump_names_beside_its_shape_is_kept(hit):
    assert hit_of(hit) == hit  # so that a misspelled name is still told
    assert hit_of({"_id": "e", "_source": {}, "Doc-ID": "d1"})["Doc-ID"] == "d1"


def test_what_a_record_says_itself_is_never_replaced_by_a_shape():
    for shaped in (
        {"messages": [{"role": "assistant", "content": "no"}]},
        {"debug": {"documents": []}},
        {"points": 3},
        {"matches": []},
        {"status": "ok", "result": "found"},
        {"input": "q", "output": "no", "context": "prompt"},
    ):
        record = {"retrieved": ["d1"], "answer": "yes", **shaped}
        assert {**record, **(record_of(record) or {})} == record
    assert record_of({"messages": [{"role": "user", "content": "what?"}]}) is None


def test_a_dump_of_langchain_is_unwrapped():
    wrapped = {"lc": 1, "type": "constructor", "id": ["langchain"], "kwargs": {"page_content": "t", "metadata": META}}
    assert hit_of(wrapped) == {"page_content": "t", "metadata": META}


@pytest.mark.parametrize("value", [None, "d1", 7, 0.5, ["a"], ("a", 1.0), {"id": "a"}, {"doc": "d", "score": 1.0}, {}])
def test_what_has_no_shape_is_left_as_it_is(value):
    assert hit_of(value) is None


HITS = [{"_id": "e", "_source": {"text": "t"}, "_score": 2.0}]


@pytest.mark.parametrize(
    ("reply", "record"),
    [
        ({"took": 3, "_shards": {}, "hits": {"total": 1, "hits": HITS}}, HITS),
        ({"result": HITS, "status": "ok", "time": 0.1}, HITS),
        ({"result": {"points": HITS}, "status": "ok"}, HITS),
        ({"points": HITS}, HITS),
        ({"matches": HITS, "namespace": ""}, HITS),
        ({"objects": HITS}, HITS),
        ({"data": {"Get": {"Passage": HITS}}}, HITS),
        ({"ids": [["a", "b"]], "documents": [["x", "y"]], "metadatas": [[{"page": 1}, {}]], "distances": [[0.1, 0.2]]},
         [{"id": "a", "text": "x", "metadata": {"page": 1}}, {"id": "b", "text": "y", "metadata": {}}]),
        ({"ids": ["a"], "documents": ["x"], "metadatas": None}, [{"id": "a", "text": "x"}]),
        ({"retriever": {"documents": [{"content": "t", "meta": {}}]}}, [{"content": "t", "meta": {}}]),
    ],
)  # fmt: skip
def test_replies_of_stores_tell_their_hits(reply, record):
    assert record_of(reply)["retrieved"] == record


def test_replies_that_answer():
    nodes = [{"node": NODE, "score": 0.5}]
    said = {"response": "so", "source_nodes": nodes}  # in names that are known
    assert record_of({**said, "metadata": {}}) == said
    response = record_of(Made(response="so", source_nodes=nodes, metadata={}))
    assert response == {"answer": "so", "retrieved": nodes}
    message = Made(content="so", response_metadata={"model_name": "m"}, usage_metadata={"total_tokens": 5})
    assert record_of(message) == {"answer": "so", "usage": {"total_tokens": 5}, "model": "m"}
    chain = record_of({"query": "q", "result": "so", "source_documents": []})
    assert chain["answer"] == "so"


def test_a_ranker_stands_behind_its_retriever_and_an_answer_tells_its_own_documents():
    first, last = [{"content": "a", "meta": {}}], [{"content": "b", "meta": {}}]
    reply = {"retriever": {"documents": first}, "ranker": {"documents": last}, "llm": {"replies": ["so"]}}
    assert record_of(reply) == {"retrieved": last, "answer": "so"}
    answered = {"retriever": {"documents": first}, "builder": {"answers": [Made(data="so", documents=last)]}}
    assert record_of(answered) == {"retrieved": last, "answer": "so"}


@pytest.mark.parametrize(
    "reply",
    [
        {"ids": [["a"], ["b"]], "documents": [["x"], ["y"]]},  # to two questions
        {"ids": [["a", "b"]], "documents": [["x"]]},
        {"ids": [["a"]], "documents": "x"},
        {"ids": ["a"], "metadatas": [[{}]], "documents": ["x", "y"]},
        {"ids": [["a"]], "metadatas": [None]},
    ],
)
def test_columns_of_chroma_that_do_not_pair_up_are_no_reply(reply):
    assert record_of(reply) is None


def test_an_agent_says_its_answer_last_and_its_tools_keep_the_documents():
    tool = Made(type="tool", content="...", artifact=[{"page_content": "t", "metadata": {}}])
    said = Made(type="ai", content="so", response_metadata={}, usage_metadata={"total_tokens": 9})
    record = record_of({"messages": [Made(type="human", content="q"), tool, said]})
    assert record == {"answer": "so", "retrieved": tool.artifact, "usage": {"total_tokens": 9}}


def test_objects_of_the_users_own_are_read_by_the_names_they_have():
    @dataclass
    class Reply:
        answer: str
        hits: list
        mood: str = "fine"

    assert record_of(Reply("so", ["a"])) == {"answer": "so", "hits": ["a"]}
    assert record_of(Made(anything=1)) is None
    assert record_of(Reply) is None


@pytest.mark.parametrize(
    "hits",
    [
        [{"node": NODE, "score": 0.5}],
        [{"page_content": "t", "metadata": {"file_name": "a.pdf"}}],
        {"ids": [["n1"]], "documents": [["t"]], "metadatas": [[{"file_name": "a.pdf"}]]},
        {"hits": {"hits": [{"_id": "n1", "_source": {"text": "t", "file_name": "a.pdf"}}]}, "_shards": {}},
    ],
)
def test_rows_of_results_may_hold_dumps(hits):
    (run,), _ = as_runs([{"id": "q1", "retrieved": hits}])
    assert list(run.fields["doc"]) == ["a.pdf"]
    assert list(run.fields["text"]) == ["t"]


def test_contexts_that_are_documents_are_hits():
    (run,), _ = as_runs([{"id": "q1", "answer": "so", "context": [{"page_content": "t", "metadata": META}]}])
    assert (list(run.fields["doc"]), list(run.fields["page"]), run.answers["q1"].contexts) == (["a.pdf"], ["3"], ("t",))


@pytest.mark.parametrize(
    ("record", "plain"),
    [
        ({"answer": "Yes."}, {"answer": "Yes."}),
        ({"answer": None, "x": 1}, {"answer": None, "x": 1}),
        (
            {"answer": {"id": "m", "content": "Yes.", "response_metadata": {}, "usage_metadata": {"input_tokens": 3}}},
            {"answer": "Yes.", "usage": {"input_tokens": 3}},
        ),
        (
            {"response": Made(content=[{"type": "thinking"}, {"type": "text", "text": "Yes."}], response_metadata={})},
            {"response": "Yes."},
        ),
        ({"answer": ["Yes.", "No."]}, {"answer": ["Yes.", "No."]}),
    ],
)
def test_an_answer_that_is_a_message_is_its_text(record, plain):
    assert with_plain_answer(record) == plain
