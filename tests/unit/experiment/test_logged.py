import json

import pytest
from tests.builders import traces as made
from tests.builders.traces import TRACES

from karat.core.errors import UsageError
from karat.experiment.logged import sample_traces
from karat.files import read_testset


@pytest.fixture
def log(tmp_path):
    """Forty questions, the first asked twice, with an address in the second."""
    spans = []
    for number in range(40):
        question = "Who is bob@example.org?" if number == 1 else f"What is topic {number or 'nought'}?"
        trace = {**TRACES[0], "id": f"{number + 1:032x}", "question": question, "answer": f"Answer {number}."}
        spans += made.openinference(trace)
        if not number:
            spans += made.openinference({**trace, "id": "f" * 32})
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(made.otlp(spans)))
    return path


def test_questions_are_drawn_by_a_seed(log):
    first, again, other = (sample_traces(log, samples=10, seed=seed) for seed in (1, 1, 2))
    ids = [question.id for question in first.testset]
    assert ids == [question.id for question in again.testset] != [question.id for question in other.testset]
    assert (len(set(ids)), first.available) == (10, 40)
    assert ids == sorted(ids)  # in the order in which they were asked
    question = first.testset.questions[0]
    assert question.answers[0].startswith("Answer ")
    assert (question.gold, question.tags) == ((), {"source": "traces", "to_review": "answer"})
    assert len(sample_traces(log, samples=99).testset) == 40


def test_candidates_and_redaction(log, tmp_path):
    out = tmp_path / "q.jsonl"
    logged = sample_traces(log, samples=40, candidates=1, redact=["email"], output=out)
    testset, taken = read_testset(out)
    assert [gold.id for gold in testset.questions[0].gold] == ["manual-3"]
    assert testset.questions[1].text == "Who is [email]?"
    assert "bob@" not in out.read_text()
    assert logged.notes[-1] == "redacted: 1 [email]"
    assert any("of a question that was asked before" in note for note in logged.notes)
    assert taken.format == "canonical"


def test_what_is_refused(log, tmp_path):
    for options in ({"samples": 0}, {"candidates": -1}, {"redact": ["("]}, {"output": tmp_path / "q.csv"}):
        with pytest.raises(UsageError):
            sample_traces(log, **options)
    out = tmp_path / "q.jsonl"
    sample_traces(log, output=out)
    with pytest.raises(UsageError, match="exists"):
        sample_traces(log, output=out)
    plain = tmp_path / "r.jsonl"
    plain.write_text('{"id": "q1", "retrieved": ["a"]}\n')
    with pytest.raises(UsageError, match="no question as text"):
        sample_traces(plain)
