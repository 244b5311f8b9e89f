"""The same traces in the shape that each vendor documents: root, retriever, model; one question each."""

import json
from datetime import UTC, datetime

from karat.files import read_results

START = 1_700_000_000  # seconds

TRACES = [
    {
        "id": "a1" * 16,
        "question": "How long is the warranty?",
        "answer": "Two years.",
        "docs": [
            {"id": "manual-3", "text": "Two years.", "score": 0.9, "source": "manual.pdf"},
            {"id": "manual-4", "text": "Not for water.", "score": 0.4, "source": "manual.pdf"},
        ],
    },
    {
        "id": "b2" * 16,
        "question": "Which oil does it take?",
        "answer": "SAE 30.",
        "docs": [
            {"id": "manual-9", "text": "Check the oil.", "score": 0.8, "source": "manual.pdf"},
            {"id": "oil-1", "text": "It takes SAE 30.", "score": 0.7, "source": "oil.pdf"},
            {"id": "manual-1", "text": "Welcome.", "score": 0.1, "source": "manual.pdf"},
        ],
    },
]
"""Two questions with their hits and answers."""

TESTSET = [
    {"id": "q1", "question": "How long is the warranty?", "answers": ["two years"], "gold": [{"id": "manual-3"}]},
    {"id": "q2", "question": "Which oil does it take?", "answers": ["SAE 30"], "gold": [{"id": "oil-1"}]},
]


def canonical(traces=TRACES):
    """The results that the traces stand for."""
    return [
        {
            "id": trace["id"],
            "question": trace["question"],
            "retrieved": [
                {"id": doc["id"], "score": doc["score"], "doc": doc["source"], "text": doc["text"]}
                for doc in trace["docs"]
            ],
            "answer": trace["answer"],
            "model": "gpt-x",
            "seconds": {"retrieve": 1.0, "answer": 2.0, "total": 4.0},
            "tokens": 120,
        }
        for trace in traces
    ]


def span_id(trace, number):
    return f"{trace['id'][:14]}{number:02x}"


def iso(seconds):
    return datetime.fromtimestamp(START + seconds, UTC).isoformat()


def nano(seconds):
    return str(int((START + seconds) * 10**9))


def otlp_value(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": otlp_value(v)} for k, v in value.items()]}}
    return {"stringValue": value}


def otlp_span(trace, number, parent, name, attributes, times=(0, 1), **fields):
    return {
        "traceId": trace["id"],
        "spanId": span_id(trace, number),
        "parentSpanId": "" if parent is None else span_id(trace, parent),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": nano(times[0]),
        "endTimeUnixNano": nano(times[1]),
        "attributes": [{"key": key, "value": otlp_value(value)} for key, value in attributes.items()],
        "status": {},
    } | fields


def documents(docs, name="retrieval.documents"):
    """Documents as OpenInference flattens them."""
    attributes = {}
    for place, doc in enumerate(docs):
        start = f"{name}.{place}.document"
        attributes |= {f"{start}.id": doc["id"], f"{start}.content": doc["text"], f"{start}.score": doc["score"]}
        attributes[f"{start}.metadata"] = json.dumps({"source": doc["source"]})
    return attributes


def openinference(trace):
    """The spans of a trace by OpenInference's conventions."""
    question, answer = trace["question"], trace["answer"]
    prompt = f"Answer from these: {' '.join(doc['text'] for doc in trace['docs'])}\n{question}"
    return [
        otlp_span(trace, 0, None, "query", {
            "openinference.span.kind": "CHAIN", "input.value": question, "output.value": answer}, (0, 4)),
        otlp_span(trace, 1, 0, "retrieve", {
            "openinference.span.kind": "RETRIEVER", "input.value": question, **documents(trace["docs"])}, (0.5, 1.5)),
        otlp_span(trace, 2, 1, "embed", {
            "openinference.span.kind": "EMBEDDING", "embedding.embeddings.0.embedding.vector": [0.1, 0.2]}, (0.5, 0.7)),
        otlp_span(trace, 3, 0, "chat", {
            "openinference.span.kind": "LLM", "llm.model_name": "gpt-x", "llm.token_count.prompt": 100,
            "llm.token_count.completion": 20, "llm.token_count.total": 120,
            "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": prompt,
            "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": answer},
            (2, 4)),
    ]  # fmt: skip


def gen_ai(trace):
    """The same by OpenTelemetry's own conventions, which have no names for texts of documents."""
    said = [{"role": "assistant", "parts": [{"type": "text", "content": trace["answer"]}], "finish_reason": "stop"}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": trace["question"]}]}]
    found = [{"id": doc["id"], "score": doc["score"], "content": doc["text"], "metadata": {"source": doc["source"]}}
             for doc in trace["docs"]]  # fmt: skip
    return [
        otlp_span(trace, 0, None, "invoke_agent helper", {
            "gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(said)}, (0, 4)),
        otlp_span(trace, 1, 0, "retrieval kb", {
            "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": trace["question"],
            "gen_ai.retrieval.documents": found}, (0.5, 1.5)),
        otlp_span(trace, 3, 0, "chat gpt-x", {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.response.model": "gpt-x",
            "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20,
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "long"}]}]),
            "gen_ai.output.messages": json.dumps(said)}, (2, 4)),
    ]  # fmt: skip


def otlp(spans):
    """A document of OTLP/JSON."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "rag"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def phoenix(trace):
    """Rows of a dataframe of Phoenix."""
    rows = []
    for span in openinference(trace):
        attributes = {one["key"]: plain(one["value"]) for one in span["attributes"]}
        kind = attributes.pop("openinference.span.kind")
        found = [
            {"document.id": doc["id"], "document.content": doc["text"], "document.score": doc["score"],
             "document.metadata": {"source": doc["source"]}}
            for doc in trace["docs"]
        ]  # fmt: skip
        row = {
            "name": span["name"], "span_kind": kind, "parent_id": span["parentSpanId"] or None,
            "start_time": iso((int(span["startTimeUnixNano"]) - START * 10**9) / 1e9),
            "end_time": iso((int(span["endTimeUnixNano"]) - START * 10**9) / 1e9),
            "status_code": "OK", "status_message": "", "context.span_id": span["spanId"],
            "context.trace_id": span["traceId"],
            "attributes.input.value": attributes.get("input.value"),
            "attributes.output.value": attributes.get("output.value"),
            "attributes.retrieval.documents": found if kind == "RETRIEVER" else None,
            "attributes.llm.model_name": attributes.get("llm.model_name"),
            "attributes.llm.token_count.total": attributes.get("llm.token_count.total"),
        }  # fmt: skip
        rows.append(row)
    return rows


def plain(value):
    ((kind, inner),) = value.items()
    if kind == "intValue":
        return int(inner)
    return [plain(item) for item in inner["values"]] if kind == "arrayValue" else inner


def phoenix_nested(trace):
    """Spans of Phoenix's API."""
    return [
        {
            "id": "U3Bhbjox", "name": span["name"], "span_kind": attributes["openinference.span.kind"],
            "context": {"trace_id": span["traceId"], "span_id": span["spanId"]},
            "parent_id": span["parentSpanId"] or None, "status_code": "UNSET", "events": [],
            "start_time": iso((int(span["startTimeUnixNano"]) - START * 10**9) / 1e9),
            "end_time": iso((int(span["endTimeUnixNano"]) - START * 10**9) / 1e9),
            "attributes": attributes,
        }
        for span in openinference(trace)
        for attributes in [{one["key"]: plain(one["value"]) for one in span["attributes"]}]
    ]  # fmt: skip


def langchain_documents(trace):
    return [
        {"id": doc["id"], "page_content": doc["text"], "metadata": {"source": doc["source"], "score": doc["score"]},
         "type": "Document"}
        for doc in trace["docs"]
    ]  # fmt: skip


def langfuse(trace):
    """A trace of Langfuse with its observations."""
    question, answer = trace["question"], trace["answer"]
    return {
        "id": trace["id"], "timestamp": iso(0), "name": "rag", "input": {"question": question},
        "output": {"answer": answer}, "latency": 4.0, "tags": [],
        "observations": [
            {"id": "o1", "traceId": trace["id"], "type": "SPAN", "name": "run", "startTime": iso(0), "endTime": iso(4),
             "parentObservationId": None, "level": "DEFAULT", "input": None, "output": None},
            {"id": "o2", "traceId": trace["id"], "type": "RETRIEVER", "name": "search", "startTime": iso(0.5),
             "endTime": iso(1.5), "parentObservationId": "o1", "level": "DEFAULT", "input": question,
             "output": langchain_documents(trace)},
            {"id": "o3", "traceId": trace["id"], "type": "GENERATION", "name": "chat", "startTime": iso(2),
             "endTime": iso(4), "parentObservationId": "o1", "level": "DEFAULT", "model": "gpt-x",
             "input": [{"role": "user", "content": "a long prompt"}],
             "output": {"role": "assistant", "content": answer},
             "usageDetails": {"input": 100, "output": 20, "total": 120}},
        ],
    }  # fmt: skip


def langsmith(trace):
    """Runs of LangSmith."""
    question, answer = trace["question"], trace["answer"]
    root, retriever, model = (f"{trace['id'][:8]}-0000-4000-8000-{number:012d}" for number in range(3))
    common = {"error": None, "trace_id": root, "extra": {}, "status": "success"}
    return [
        {"id": root, "parent_run_id": None, "run_type": "chain", "name": "RunnableSequence", "start_time": iso(0),
         "end_time": iso(4), "inputs": {"input": question}, "outputs": {"output": answer}, "total_tokens": 120,
         "prompt_tokens": 100, "completion_tokens": 20} | common,
        {"id": retriever, "parent_run_id": root, "run_type": "retriever", "name": "VectorStoreRetriever",
         "start_time": iso(0.5), "end_time": iso(1.5), "inputs": {"query": question},
         "outputs": {"documents": langchain_documents(trace)}} | common,
        {"id": model, "parent_run_id": root, "run_type": "llm", "name": "ChatOpenAI", "start_time": iso(2),
         "end_time": iso(4),
         "inputs": {"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages",
                                   "HumanMessage"], "kwargs": {"content": "a long prompt", "type": "human"}}]]},
         "outputs": {"generations": [[{"text": answer, "type": "ChatGeneration"}]]}, "total_tokens": 120,
         "prompt_tokens": 100, "completion_tokens": 20} | common | {"extra": {"metadata": {"ls_model_name": "gpt-x"}}},
    ]  # fmt: skip


def mlflow(trace):
    """A trace of MLflow 3."""
    question, answer = trace["question"], trace["answer"]

    def span(number, parent, name, kind, times, inputs, outputs, **more):
        return {
            "trace_id": f"tr-{trace['id']}", "span_id": span_id(trace, number),
            "parent_span_id": None if parent is None else span_id(trace, parent), "name": name,
            "start_time_unix_nano": int(nano(times[0])), "end_time_unix_nano": int(nano(times[1])), "events": [],
            "status": {"code": "OK", "message": ""},
            "attributes": {
                "mlflow.traceRequestId": json.dumps(f"tr-{trace['id']}"), "mlflow.spanType": json.dumps(kind),
                "mlflow.spanInputs": json.dumps(inputs), "mlflow.spanOutputs": json.dumps(outputs), **more,
            },
        }  # fmt: skip

    found = langchain_documents(trace)
    said = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
    return {
        "info": {"trace_id": f"tr-{trace['id']}", "state": "OK", "request_preview": question},
        "data": {"spans": [
            span(0, None, "predict", "CHAIN", (0, 4), {"question": question}, answer),
            span(1, 0, "retrieve", "RETRIEVER", (0.5, 1.5), {"query": question}, found),
            span(2, 0, "chat", "CHAT_MODEL", (2, 4), {"messages": [{"role": "user", "content": "a prompt"}]}, said,
                 **{"mlflow.chat.tokenUsage": json.dumps({"input_tokens": 100, "output_tokens": 20,
                                                          "total_tokens": 120}), "mlflow.llm.model": '"gpt-x"'}),
        ]},
    }  # fmt: skip


ONE = TRACES[0]


def lines(rows):
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def all_of(spans_of):
    """What a vendor makes of all traces."""
    return [span for trace in TRACES for span in spans_of(trace)]


def reranker(docs, *, given=None, number=5, times=(1.6, 1.9), parent=0):
    attributes = {"openinference.span.kind": "RERANKER", "reranker.query": ONE["question"]}
    attributes |= documents(docs, "reranker.output_documents")
    attributes |= documents(given or [], "reranker.input_documents")
    return otlp_span(ONE, number, parent, "rerank", attributes, times)


def another(query, docs, number, times, **attributes):
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": query, **documents(docs), **attributes}
    return otlp_span(ONE, number, 0, "second", attributes, times)


SHAPES = {
    "otlp": ("otlp", json.dumps(otlp(all_of(openinference)))),
    "otlp, indented": ("otlp", json.dumps(otlp(all_of(openinference)), indent=2)),
    "otlp, lines": ("otlp", lines(otlp([span]) for span in all_of(openinference))),
    "otlp, gen_ai": ("otlp", json.dumps(otlp(all_of(gen_ai)))),
    "otlp, list": ("otlp", json.dumps([otlp(openinference(trace)) for trace in TRACES])),
    "phoenix": ("phoenix", lines(all_of(phoenix))),
    "phoenix, list": ("phoenix", json.dumps(all_of(phoenix))),
    "phoenix, by columns": ("phoenix", json.dumps(
        {name: {str(i): row[name] for i, row in enumerate(all_of(phoenix))} for name in phoenix(TRACES[0])[0]}
    )),
    "phoenix, API": ("phoenix", json.dumps({"data": all_of(phoenix_nested), "next_cursor": None})),
    "langfuse": ("langfuse", lines(langfuse(trace) for trace in TRACES)),
    "langfuse, API": ("langfuse", json.dumps({"data": [langfuse(trace) for trace in TRACES], "meta": {}})),
    "langfuse, one": ("langfuse", json.dumps(langfuse(TRACES[0]))),
    "langsmith": ("langsmith", lines(all_of(langsmith))),
    "langsmith, list": ("langsmith", json.dumps(all_of(langsmith))),
    "langsmith, API": ("langsmith", json.dumps({"runs": all_of(langsmith), "cursors": {}})),
    "mlflow": ("mlflow", lines(map(mlflow, TRACES))),
    "mlflow, list": ("mlflow", json.dumps(list(map(mlflow, TRACES)))),
    "mlflow, one": ("mlflow", json.dumps(mlflow(TRACES[0]), indent=1)),
}  # fmt: skip
"""Each documented shape of the same traces: the format it is told as, and the file."""


def writer(folder):
    """Writes files of traces into a folder, and tells where they are."""

    def write(content, name="traces.json"):
        path = folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def run_of(path, **options):
    """The one run of a file, and what the file was read as."""
    (run,), taken = read_results(path, **options)
    return run, taken


def with_spans(put, *spans, columns=None):
    """The run of some spans of OTLP."""
    return run_of(put(otlp(spans)), columns=columns)
