"""What OpenInference's instrumentors record of a framework, as the OTLP file that a collector would write."""

import base64
import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

_IDS = ("traceId", "spanId", "parentSpanId")


def traced(instrumentor, ask, questions, name):
    """Ask every question while an instrumentor listens, and write what it heard to a file."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    instrumentor.instrument(tracer_provider=provider)
    try:
        for one in questions:
            ask(one["question"])
    finally:
        instrumentor.uninstrument()
    document = MessageToDict(encode_spans(kept.get_finished_spans()))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span.update({name: base64.b64decode(span[name]).hex() for name in _IDS if name in span})  # OTLP/JSON
    file = Path(f"{name}.otlp.json")
    file.write_text(json.dumps(document))
    return file
