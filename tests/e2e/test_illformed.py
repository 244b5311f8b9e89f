"""Half of a character, from wherever text comes: it is replaced, and no row is lost for it."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from karat.experiment.store import runs_in
from karat.results.serial import load_study
from karat.testing import FakeLLM

HALF, MARK = "\ud83d", "\ufffd"
MINE = """
def search(question, k):
    return {"retrieved": [{"id": "watch", "text": "four \\ud83d hours", "score": 1.0}], "answer": "four \\ud83d hours"}
def answer(question, contexts):
    return {"answer": "four \\ud83d hours", "contexts": ["\\udc00"]}
"""
REPLY = {"hits": [{"id": "watch", "text": f"four {HALF}\0"}], "answer": f"four {HALF} hours"}


@pytest.fixture
def endpoint():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps(REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *about):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def written(station, put, folder):
    """The station with a half character in everything it reads."""

    def rows(name, change):
        lines = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        put(name, "".join(json.dumps(change(number, row)) + "\n" for number, row in enumerate(lines)))

    rows("corpus.jsonl", lambda n, row: {**row, "text": f"{row['text']} {HALF}", "title": HALF})
    rows("qa.jsonl", lambda n, row: {**row, "question": f"{HALF}{row['question']}", "answers": [f"a {HALF}"],
                                     "tags": {"of": HALF}})  # fmt: skip
    hits = [{"id": f"q{n}", "retrieved": [{"id": "watch", "text": HALF}], "answer": f"{HALF} so"} for n in range(6)]
    put("theirs.jsonl", "".join(json.dumps(row) + "\n" for row in hits))
    put("mine.py", MINE)
    return station.spec.replace("[csv]", "[csv, json, markdown, html, latex]")


def finished(karat, folder):
    told = karat("run", "-q")
    assert told.code == 0, told.err
    run = runs_in(folder / "runs")[-1].path
    study = load_study(run)
    assert (study.evaluation.scores.status != 3).all()
    return run, study


@pytest.mark.slow
def test_what_systems_and_files_say_is_replaced_and_no_row_is_lost(written, put, folder, karat, endpoint):
    systems = (
        "[pure_sparse, balanced, {name: mine, call: 'mine:search'}, {name: theirs, results: theirs.jsonl}, {name: http,"
        f" http: {{url: '{endpoint}', body: {{q: '{{question}}'}}, ids: '$.hits[*].id', texts: '$.hits[*].text',"
        " answer: '$.answer'}}]"
    )
    put("karat.yaml", written.replace("[pure_dense, balanced, pure_sparse, rrf]", systems))
    run, study = finished(karat, folder)
    for system in ("mine", "http"):
        assert {answer.text for answer in study.answers[system].values()} == {f"four {MARK} hours"}
    assert {answer.text for answer in study.answers["theirs"].values()} == {f"{MARK} so"}
    assert MARK in (run / "answers.jsonl").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("by", ["call:mine:answer", "chat"])
def test_what_answerers_and_judges_say_is_replaced_and_no_row_is_lost(written, put, folder, karat, by):
    def reply(request):
        judges = "grade" in str(request.messages)
        return '{"reason": "so \\ud83d", "grade": "fully"}' if judges else f"four {HALF} hours"

    with FakeLLM(reply) as llm:
        named = f"answer: '{by}'\njudge: [Responsiveness]\nmodel: {{name: fake, base_url: '{llm.base_url}'}}\n"
        put("karat.yaml", written.replace("[pure_dense, balanced, pure_sparse, rrf]", "[pure_sparse]") + named)
        run, study = finished(karat, folder)
    assert {answer.text for answer in study.answers["pure_sparse"].values()} == {f"four {MARK} hours"}
    assert f"so {MARK}" in (run / "judgements.jsonl").read_text(encoding="utf-8")


def test_what_a_notebook_holds_is_replaced():
    import pandas as pd

    import karat

    testset = [{"id": f"q{HALF}", "question": HALF, "gold": [{"id": f"d{HALF}"}], "answers": [HALF]}]
    results = {
        "lists": {f"q{HALF}": [f"d{HALF}"]},
        "scores": {f"q{HALF}": {f"d{HALF}": 1.0}},
        "records": [{"id": f"q{HALF}", "retrieved": [{"id": f"d{HALF}"}]}],
        "frame": pd.DataFrame({"query_id": [f"q{HALF}"], "doc_id": [f"d{HALF}"], "score": [1.0]}, dtype=object),
    }
    report = karat.score(testset, results, measures=["Hit@1"])
    assert {row["system"]: row["Hit@1"] for row in report.per_query.to_dicts()} == dict.fromkeys(results, 1.0)
    assert karat.score(testset, {f"q{HALF}": HALF}, measures=["ExactMatch"]).to_markdown()
