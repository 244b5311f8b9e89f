import base64
import json
import random

import polars as pl
import pytest
from tests.builders import traces as made
from tests.builders.traces import (
    ONE,
    SHAPES,
    TESTSET,
    TRACES,
    all_of,
    another,
    lines,
    reranker,
    run_of,
    with_spans,
    writer,
)

import karat
from karat.core.errors import InputError, UsageError
from karat.experiment.inputs import align
from karat.files import convert, read_results, read_testset


@pytest.fixture
def put(tmp_path):
    return writer(tmp_path)


def same(run, other):
    """Whether two runs hold the same rows, but for the ids of questions."""
    assert [run.texts[q] for q in run.question_ids] == [other.texts[q] for q in other.question_ids]
    assert list(run.docs) == list(other.docs)
    assert run.scores.tolist() == other.scores.tolist()
    assert run.offsets.tolist() == other.offsets.tolist()
    assert run.fields == other.fields
    for one, two in zip(run.answers.values(), other.answers.values(), strict=True):
        assert (one.text, one.model, one.tokens, one.error) == (two.text, two.model, two.tokens, two.error)
        assert one.seconds == pytest.approx(two.seconds, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_told_by_content_and_holds_the_same_results(put, name):
    format, content = SHAPES[name]
    run, taken = run_of(put(content, "x.dat"))
    assert taken.format == format
    wanted = made.canonical(TRACES[:1] if name.endswith("one") else TRACES)
    expected, _ = run_of(put(lines(wanted), "canonical.jsonl"))
    same(run, expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SHAPES if not name.endswith("one")])
def test_scores_are_those_of_the_same_results(put, name):
    testset = put(lines(TESTSET), "testset.jsonl")
    measures = ["nDCG@3", "Recall@1", "MRR", "token_f1", "tokens", "seconds"]
    wanted = karat.score(testset, put(lines(made.canonical()), "x.jsonl"), measures=measures[:4])
    scored = karat.score(testset, put(SHAPES[name][1], "x.dat"), measures=measures[:4])
    for measure in measures[:4]:
        assert scored.mean(measure) == pytest.approx(wanted.mean(measure), abs=1e-9)
    assert scored.mean("MRR") == pytest.approx(0.75)


@pytest.mark.slow
def test_conversion_loses_nothing(put, tmp_path):
    for format, content in SHAPES.values():
        taken, written, lost = convert(put(content, "x.dat"), tmp_path / "rows.jsonl")
        assert (taken.format, written, lost) == (format, "canonical", [])
        same(run_of(tmp_path / "rows.jsonl")[0], run_of(put(content, "x.dat"))[0])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_dataframe_of_phoenix_as_a_table(tmp_path, ending):
    rows = all_of(made.phoenix)
    path = tmp_path / f"spans.{ending}"
    if ending == "csv":  # as pandas prints lists of dicts
        rows = [{key: str(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows]
        pl.DataFrame(rows).write_csv(path)
    else:
        pl.DataFrame(rows).write_parquet(path)
    run, taken = run_of(path)
    assert (taken.format, list(run.docs)) == ("phoenix", ["manual-3", "manual-4", "manual-9", "oil-1", "manual-1"])
    assert run.fields["doc"][3] == "oil.pdf"


def test_spans_as_python_has_them():
    from karat.files import as_runs

    for rows in (all_of(made.phoenix), all_of(made.langsmith), [made.otlp(all_of(made.openinference))]):
        (run,), (taken,) = as_runs(rows)
        assert taken.format in ("phoenix", "langsmith", "otlp")
        assert len(run) == 5


def test_order_and_spelling_of_ids_do_not_matter(put):
    spans = all_of(made.openinference)
    for span in spans:
        for name in ("traceId", "spanId", "parentSpanId"):
            span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    random.Random(1).shuffle(spans)
    run, _ = run_of(put(lines(made.otlp([span]) for span in spans)))
    expected, _ = run_of(put(SHAPES["otlp"][1], "y.json"))
    same(run, expected)
    assert run.question_ids == expected.question_ids == [trace["id"] for trace in TRACES]


HTTP = {"http.request.method": "POST", "url.path": "/ask", "input.value": json.dumps({"query": "k=3"})}


def test_a_root_that_is_a_request(put):
    chain, retriever, _, model = made.openinference(ONE)
    request = made.otlp_span(ONE, 9, None, "POST /ask", HTTP, (0, 5), kind=2)
    chain["parentSpanId"] = request["spanId"]
    run, _ = with_spans(put, model, retriever, chain, request)
    assert run.texts == {ONE["id"]: ONE["question"]}
    assert run.answers[ONE["id"]].text == ONE["answer"]
    assert run.answers[ONE["id"]].seconds["total"] == pytest.approx(5)


def test_without_chains_the_retriever_asks_and_the_last_model_answers(put):
    _, retriever, _, model = made.openinference(ONE)
    request = made.otlp_span(ONE, 0, None, "POST /ask", HTTP, (0, 5), kind=2)
    first = made.otlp_span(ONE, 8, 0, "rewrite", {
        "openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "warranty length"}, (0, 0.4))  # fmt: skip
    run, _ = with_spans(put, request, first, retriever, model)
    assert (run.texts[ONE["id"]], run.answers[ONE["id"]].text) == (ONE["question"], ONE["answer"])


@pytest.mark.parametrize("given", [None, ONE["docs"]])
def test_a_reranker_replaces_what_it_was_given(put, given):
    run, _ = with_spans(put, *made.openinference(ONE), reranker(ONE["docs"][1:], given=given))
    assert (list(run.docs), run.steps) == (["manual-4"], {})
    assert run.answers[ONE["id"]].seconds["retrieve"] == pytest.approx(1.3)
    chain, retriever, *others = made.openinference(ONE)
    del retriever["attributes"][2:]  # what it returned is not said
    run, _ = with_spans(put, chain, retriever, *others, reranker(ONE["docs"][1:], given=given))
    assert (list(run.docs), run.steps) == (["manual-4"], {})


def test_several_retrievals_make_steps(put, tmp_path):
    more = [TRACES[1]["docs"][0], ONE["docs"][0]]
    run, taken = with_spans(put, *made.openinference(ONE), another("warranty years", more, 6, (1.6, 1.8)))
    assert list(run.docs) == ["manual-3", "manual-4", "manual-9"]
    first, second = run.steps[ONE["id"]]
    assert [hit["id"] for hit in second["retrieved"]] == ["manual-9", "manual-3"]
    assert (first["query"], first["tool"], second["query"]) == (ONE["question"], "retrieve", "warranty years")
    assert second["seconds"] == pytest.approx(0.2)
    assert any(note.startswith("1 trace with several retrievals: steps") for note in taken.notes)
    convert(tmp_path / "traces.json", tmp_path / "rows.jsonl")
    again, _ = run_of(tmp_path / "rows.jsonl")
    assert again.steps == run.steps
    assert convert(tmp_path / "traces.json", tmp_path / "rows.ragas.jsonl")[2][-1] == ("steps")
    testset = tmp_path / "testset.jsonl"
    testset.write_text(lines(TESTSET))
    assert karat.score(testset, tmp_path / "traces.json", measures=["MRR"]).mean("MRR") == 0.5
    aligned, _ = align(karat.load_testset(testset), run)
    assert aligned.steps == {"q1": run.steps[ONE["id"]]}


def test_a_reranker_that_was_given_other_documents_is_a_step_of_its_own(put):
    spans = [*made.openinference(ONE), another("oil", TRACES[1]["docs"], 6, (1.6, 1.8))]
    run, _ = with_spans(put, *spans, reranker(ONE["docs"][1:], given=ONE["docs"], times=(1.9, 2)))
    assert [step["tool"] for step in run.steps[ONE["id"]]] == ["second", "rerank"]
    assert list(run.docs) == ["manual-9", "oil-1", "manual-1", "manual-4"]


def test_of_retrievers_inside_a_retriever_the_outer_one_counts(put):
    chain, retriever, embedding, model = made.openinference(ONE)
    inner = another("rephrased", TRACES[1]["docs"], 6, (0.6, 0.8))
    inner["parentSpanId"] = embedding["spanId"]
    run, _ = with_spans(put, chain, retriever, embedding, model, inner)
    assert (list(run.docs), run.steps) == (["manual-3", "manual-4"], {})
    del retriever["attributes"][2:]  # a retriever that does not say what it returned
    run, _ = with_spans(put, chain, retriever, embedding, model, inner)
    assert list(run.docs) == ["manual-9", "oil-1", "manual-1"]


def mistyped(kind):
    spans = made.openinference(ONE)
    found = [{"id": doc["id"], "content": doc["text"], "score": doc["score"]} for doc in ONE["docs"]]
    output = {"input.value": json.dumps({"q": ONE["question"]}), "output.value": json.dumps(found)}
    spans[1] = made.otlp_span(ONE, 1, 0, "search_docs", {**kind, **output}, (0.5, 1.5))
    return spans


@pytest.mark.parametrize("kind", [{}, {"openinference.span.kind": "CHAIN"}, {"openinference.span.kind": "TOOL"}])
def test_a_retriever_of_another_kind_is_named(put, kind):
    run, taken = with_spans(put, *mistyped(kind))
    assert not len(run)
    assert f"1 trace without retrieval ({ONE['id']})" in taken.notes
    run, taken = with_spans(put, *mistyped(kind), columns={"span": "search_docs"})
    assert list(run.docs) == ["manual-3", "manual-4"]
    assert not any("--map" in note for note in taken.notes)


def test_a_named_span_counts_alone(put):
    spans = [*made.openinference(ONE), reranker(ONE["docs"][1:])]
    run, _ = with_spans(put, *spans, columns={"span": "retrieve"})
    assert list(run.docs) == ["manual-3", "manual-4"]
    run, _ = with_spans(put, *spans, columns={"span": "rerank"})
    assert list(run.docs) == ["manual-4"]


def test_a_name_that_no_span_has(put):
    with pytest.raises(UsageError, match=r"no span of that name. Did you mean retrieve\? Its spans are") as caught:
        with_spans(put, *made.openinference(ONE), columns={"span": "retrieved"})
    assert '"chat" (1)' in str(caught.value)


def test_the_name_of_a_span_is_for_traces(put):
    traces = put(made.otlp(mistyped({})))
    testset = put(lines(TESTSET), "testset.jsonl")
    assert karat.score(testset, traces, measures=["MRR"], columns={"span": "search_docs"}).mean("MRR") == 0.5
    with pytest.raises(UsageError, match=r"--map span=search: there are no traces here"):
        karat.score(testset, put(lines(made.canonical()), "r.jsonl"), measures=["MRR"], columns={"span": "search"})


def test_tokens_that_a_parent_repeats_count_once(put):
    chain, retriever, embedding, model = made.openinference(ONE)
    chain["attributes"].append({"key": "llm.token_count.total", "value": {"intValue": "150"}})
    second = made.otlp_span(ONE, 7, 0, "chat", {"openinference.span.kind": "LLM", "llm.token_count.total": 30}, (1, 2))
    inner = made.otlp_span(ONE, 8, 7, "openai", {"openinference.span.kind": "LLM", "llm.token_count.total": 30}, (1, 2))
    run, _ = with_spans(put, chain, retriever, embedding, model, second, inner)
    assert run.answers[ONE["id"]].tokens == 150
    del chain["attributes"][-1]
    run, _ = with_spans(put, chain, retriever, embedding, model, second, inner)
    assert run.answers[ONE["id"]].tokens == 150


def test_traces_are_no_test_set(put):
    with pytest.raises(InputError, match="holds results"):
        read_testset(put(SHAPES["otlp"][1]))
    with pytest.raises(InputError, match="none of 1 trace makes a row: 1 trace without a question"):
        with_spans(put, made.otlp_span(ONE, 0, None, "tick", {}))
    with pytest.raises(InputError, match="no spans"):
        read_results(put({"resourceSpans": []}))
