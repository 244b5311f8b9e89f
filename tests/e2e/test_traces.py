"""Traces on the command line: scored, converted, and made into a test set."""

import json

import pytest
from tests.builders import traces as made
from tests.builders.traces import TESTSET, TRACES


@pytest.fixture
def log(put):
    """A file of two traces, the second with an address in it, and a test set that asks the same."""
    spans = [*made.openinference(TRACES[0]), *made.openinference({**TRACES[1], "answer": "Ask bob@example.org."})]
    put("traces.json", json.dumps(made.otlp(spans)))
    put("testset.jsonl", "".join(json.dumps(row) + "\n" for row in TESTSET))


def test_score(karat, log):
    told = karat("score", "testset.jsonl", "traces.json", "-m", "MRR", "--json")
    assert told.code == 0, told.err
    assert '"mean": 0.75' in told.out


@pytest.mark.slow
def test_a_span_by_name(karat, log):
    told = karat("score", "testset.jsonl", "traces.json", "-m", "MRR", "--map", "span=embed")
    assert (told.code, "2 of 2 questions failed" in told.out) == (5, True)
    told = karat("score", "testset.jsonl", "traces.json", "-m", "MRR", "--map", "span=retriev")
    assert told.code == 2
    assert "has no span of that name. Did you mean retrieve?" in told.err
    assert karat("score", "testset.jsonl", "traces.json", "-m", "MRR", "--map", "span=retrieve").code == 0


def test_conversion_redacts(karat, log, folder):
    told = karat("convert", "traces.json", "rows.jsonl", "--redact", "email")
    assert (told.code, "redacted: 1 [email]" in told.out) == (0, True)
    assert "bob@" not in (folder / "rows.jsonl").read_text()


def test_what_redaction_leaves_in_gold_is_said(karat, put):
    docs = [{**TRACES[0]["docs"][0], "source": "mail/bob@example.org.eml"}]
    put("traces.json", json.dumps(made.otlp(made.openinference({**TRACES[0], "docs": docs}))))
    make = ("testset", "make", "traces.json", "--from", "traces", "-o", "q.jsonl", "--candidates", "1")
    told = karat(*make, "--redact", "email")
    assert told.code == 0, told.err
    said = "1 [email] stays in ids, documents and urls, which are not redacted"
    assert said in " ".join((told.out + told.err).split())


def test_a_test_set_from_traces(karat, log, folder):
    make = ("testset", "make", "traces.json", "--from", "traces", "-o", "q.jsonl")
    told = karat(*make, "--redact", "email", "--redact", "warranty")
    assert told.code == 0, told.err
    assert "2 distinct questions, 2 drawn: wrote q.jsonl" in told.out
    assert "karat testset review q.jsonl" in told.out
    written = (folder / "q.jsonl").read_text()
    assert ("bob@" in written, "How long is the [redacted]?" in written) == (False, True)
    assert json.loads(karat(*make, "--force", "--json").out)["available"] == 2
    assert karat("testset", "review", "q.jsonl").code == 0
    for wrong, sentence in (
        (("--offline",), "--offline is for questions made from documents"),
        (("--from", "trace"), "Did you mean traces"),
        (("--map", "span=nothing"), "has no span of that name"),
    ):
        told = karat(*make, "--force", *wrong)
        assert (told.code, sentence in told.err) == (2, True), told.err
    told = karat("testset", "make", "x.index", "--offline", "-o", "r.jsonl", "--redact", "email")
    assert (told.code, "--redact is for --from traces" in told.err) == (2, True)
