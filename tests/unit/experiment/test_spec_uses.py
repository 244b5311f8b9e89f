"""What a karat.yaml runs and asks is told before it does, and refused on demand, with its place."""

import pytest

from karat.core.errors import InputError
from karat.experiment.spec import spec_of

PLAIN = "testset: qa.jsonl\ncorpus: docs\nsystems: [balanced]\nmeasures: [Recall@5]\n"


def uses(text):
    return [(use.kind, use.name) for use in spec_of(PLAIN + text).uses]


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("main: mine:early\n", "code", "mine:early"),
        ("judge: [Correctness, 'sub/judge.py:mine(x=1)@5']\nmodel: {name: m, base_url: 'http://127.0.0.1:8080/v1'}\n",
         "code", "sub/judge.py:mine(x=1)@5"),
        ("answer: {by: 'call:mine:answer'}\n", "code", "mine:answer"),
        ("answer: {by: 'http:http://10.0.0.5:80/a'}\n", "host", "10.0.0.5:80"),
        ("answer: {by: http, http: {url: 'https://Answers.example/a?q={question}'}}\n", "host", "answers.example"),
        ("model: gpt-4o-mini\nanswer: chat\n", "host", "api.openai.com"),
        ("model: {name: m, base_url: 'http://127.0.0.1:8080/v1'}\nanswer: chat\n", "host", "127.0.0.1:8080"),
        ("model: m\njudge_model: {name: j, base_url: 'https://judge.example/v1'}\nanswer: chat\n",
         "host", "judge.example"),
        ("embedder: openai:small\n", "host", "api.openai.com"),
        ("embedder: sbert:./model\n", "model", "sbert:./model"),
        ("embedder: [{name: 'openai:m', base_url: 'http://127.0.0.1:9/v1'}]\n", "host", "127.0.0.1:9"),
        ("settings: {dense: {embedder: {name: openai, target: m, base_url: 'https://e.example/v1'}}}\n",
         "host", "e.example"),
        ("cross_encoder: ./judge\n", "model", "./judge"),
        ("pool: {by: ray, address: 'ray://head.example:10001'}\n", "host", "ray://head.example:10001"),
        ("pool: {by: ray, address: auto}\n", "host", "auto"),
    ],
)  # fmt: skip
def test_what_runs_or_is_asked_is_named(text, kind, name):
    assert (kind, name) in uses(text)
    with pytest.raises(InputError, match=r"line \d.*which --no-code refuses") as refused:
        spec_of(PLAIN + text).refuse_code()
    assert name in str(refused.value)


@pytest.mark.parametrize(
    ("system", "kind", "name"),
    [
        ("{name: a, call: 'mine:search'}", "code", "mine:search"),
        ("{name: a, http: {url: 'https://${HOST}/s?q={question}', ids: '$.ids'}}", "host", "${HOST}"),
        ("{name: a, http: {url: 'http://127.0.0.1:9/s?q={question}', ids: '$.ids'}}", "host", "127.0.0.1:9"),
        ("{name: a, engine: 'chroma:http://c.example:8000#docs'}", "host", "c.example:8000"),
        ("{name: a, engine: 'pgvector:postgresql://me@c.example/kb#docs'}", "host", "c.example:5432"),
        ("{name: a, engine: 'pgtext:host=c.example dbname=kb#docs'}", "host", "c.example:5432"),
        ("{name: a, engine: 'pgvector:${DSN}#docs'}", "host", "pgvector:${DSN}#docs"),
        ("{name: a, engine: hybrid, legs: ['estext:https://c.example#docs', bm25]}", "host", "c.example"),
        ("{name: a, preset: balanced, rerank: ./cross}", "model", "./cross"),
        ("{name: a, engine: 'faiss:x.faiss', embedder: 'openai:m'}", "host", "api.openai.com"),
    ],
)
def test_what_a_system_runs_or_asks_is_named(system, kind, name):
    spec = spec_of(f"testset: qa.jsonl\ncorpus: docs\nsystems:\n- {system}\n")
    assert [(use.kind, use.name) for use in spec.uses] == [(kind, name)]
    with pytest.raises(InputError, match=r"line 4, systems\[0\]"):
        spec.refuse_code()


def test_a_spec_of_data_alone_uses_nothing():
    text = "embedder: [wordllama, multilingual]\nanswer: extractive\nsweep: {alpha: 0:1:0.5}\npool: {by: ray}\n"
    assert uses(text) == []
    spec_of(PLAIN + text).refuse_code()
