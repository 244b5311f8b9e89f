"""Runs sent to trackers: what is sent, what is not, and what becomes of a server that fails."""

import csv
import io
import json
from base64 import b64encode
from dataclasses import replace

import pytest
from studies import study_of, study_with
from tracking_server import TrackingServer

import karat
from karat.core.docs import Chunk
from karat.core.errors import KaratError, UsageError
from karat.core.scores import Status
from karat.experiment.tracked import send, tracked
from karat.models.endpoint import JsonEndpoint
from karat.report.trackers.mlflow import LONGEST_NAME, figures_of, mapped, params_of
from karat.results.evaluation import Note, StepHit, StepRecord
from karat.results.study import Configuration, StudyAnswer, StudyHit
from karat.stats.summary import summarise

CANARY = "marmalade"


@pytest.fixture
def study(make):
    """Two systems over eight questions whose texts, answers and notes hold the canary; one failed row each."""
    questions = [
        karat.core.types.Question(f"q{i}", f"{CANARY} {i}?", answers=(CANARY,), gold=(karat.core.types.Gold(id="d1"),))
        for i in range(8)
    ]
    measures = ("Recall@5", "P(rel=2)@5")
    evaluation = make(
        ("one", "two"), measures=measures, questions=questions, failed=1, answers=True, notes=[Note("info", CANARY)]
    )
    answers = {"one": {"q3": StudyAnswer("one", "q3", CANARY, tokens=7, cost_usd=0.5, seconds=1.5)}}
    configurations = (Configuration("one", {"alpha": 0.5, "legs": ("dense", "bm25"), "rewrite": None}),)
    return study_with(evaluation, name="night", configurations=configurations, answers=answers)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("URI", "USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    monkeypatch.setattr(JsonEndpoint, "wait_after", lambda *_: None)


def test_names_stay_apart():
    names = [
        "Recall@5", "Recall_at_5", "Recall", "Recall_low", "Recall_", "Recall_n", "Recall@n", "Recall@", "Recall_at",
        "P(rel=2)@5", "P_with_rel_is_2_end__at_5", "ü", "_xfc_", "__", "_", ".", "..", "a/../b", "a.b", "a:b",
        "N(beta=0.5)", "x" * 300, "x" * 301, "ü" * 100,
    ]  # fmt: skip
    written = [mapped(name) + end for name in names for end in ("", "_low", "_high", "_n", "_n_failed", "_n_undefined")]
    assert len(set(written)) == len(written)
    assert all(character.isascii() and (character.isalnum() or character in "_-. ") for character in "".join(written))
    assert max(map(len, written)) <= LONGEST_NAME + len("_n_undefined")
    assert not any(name.startswith(".") for name in written)


def test_metrics_are_the_figures_of_the_summary(study):
    one, _ = tracked(study).systems
    figures = dict(figures_of(one))
    rows = list(csv.DictReader(io.StringIO(tracked(study).files["summary.csv"].decode())))
    (row,) = (row for row in rows if (row["system"], row["measure"], row["slice"]) == ("one", "Recall@5", ""))
    shown = {
        "": "mean",
        "_low": "low",
        "_high": "high",
        "_n": "n",
        "_n_failed": "n_failed",
        "_n_undefined": "n_undefined",
    }
    assert {end: str(figures[f"Recall_at_5{end}"]) for end in shown} == {end: row[name] for end, name in shown.items()}
    assert row["n"] == "5"
    assert figures["usage/seconds_n"] == 8
    assert figures["usage/seconds_total"] == pytest.approx(8 * figures["usage/seconds_mean"])
    assert params_of(one) == {"alpha": "0.5", "legs": '["dense", "bm25"]'}


def test_counts_that_are_0_are_left_out(make):
    evaluation = make(undefined=0, measures=("MRR",))
    names = {name for name, _ in figures_of(tracked(study_with(evaluation)).systems[0])}
    assert {name for name in names if not name.startswith("usage")} == {"MRR", "MRR_low", "MRR_high", "MRR_n"}


def test_a_run_is_sent_once_and_holds_no_text(study):
    server = TrackingServer()
    with server.running() as url:
        first = send(study, "mlflow", run="20260101-night", place=url)
        sent = len(server.sent)
        again = send(study, "mlflow", run="20260101-night", place=url)
    assert first.startswith("sent 20260101-night to 127.0.0.1:")
    assert "MLflow allows no such names as Recall@5, which is called Recall_at_5 there." in first
    assert "already: nothing was sent" in again
    assert len(server.sent) == sent + 2  # it looked
    assert CANARY.encode() not in b"".join(body for _, _, body in server.sent)
    assert set(server.active) == {"20260101-night", "one", "two"}
    whole, one = server.active["20260101-night"], server.active["one"]
    tags = server.tags(whole)
    assert (tags["karat.sent"], tags["karat.testset"], tags["karat.dialect"]) == ("complete", "qa.jsonl", "karat")
    assert server.tags(one)["mlflow.parentRunId"] == whole["info"]["run_id"]
    assert server.tags(one)["karat.verdict"] == study.evaluation.verdicts["one"]
    assert one["data"]["metrics"] == dict(figures_of(tracked(study).systems[0]))
    assert {run["info"]["status"] for run in server.active.values()} == {"FINISHED"}
    assert {name.rpartition("/")[2] for name in server.files} == {"summary.csv", "report.md"}


def test_texts_are_sent_when_asked_for_and_take_the_place_of_what_was_there(study, undrawn):
    server = TrackingServer()
    with server.running() as url:
        send(study, "mlflow", run="r", place=url)
        told = send(study, "mlflow", run="r", place=url, with_texts=True)
    assert "What was there of it before differed, and is among the deleted runs." in told
    names = {name.rpartition("/")[2]: content for name, content in server.files.items()}
    assert set(names) == {"summary.csv", "report.md", "rows.csv", "report.html", "results.json"}
    assert CANARY.encode() in names["rows.csv"]
    assert len(server.active) == 3
    assert len(server.runs) == 6


def test_what_was_sent_in_part_is_marked_and_completed(study):
    """Wherever it stops: in the end there is one of each, and whole."""
    whole = TrackingServer()
    with whole.running() as url:
        send(study, "mlflow", run="r", place=url)
    last = len(whole.sent) - 1
    for most in (*range(1, last, 2), last):
        server = TrackingServer()
        server.most = most
        with server.running() as url:
            with pytest.raises(KaratError, match=r"failed: HTTP 400: BAD_REQUEST: no more\. .* completed, not doubled"):
                send(study, "mlflow", run="r", place=url)
            marks = [server.tags(run).get("karat.sent") for run in server.active.values() if "r" in server.active]
            assert "complete" not in marks
            server.most = None
            send(study, "mlflow", run="r", place=url)
        metrics = {name: (run["data"]["metrics"], run["info"]["status"]) for name, run in server.active.items()}
        assert metrics == {name: (run["data"]["metrics"], "FINISHED") for name, run in whole.active.items()}
        assert len(server.runs) == 3
        assert server.files == whole.files


def test_credentials_go_into_one_header_and_no_sentence(study, monkeypatch):
    server = TrackingServer()
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ada")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "s3cret-word")
    encoded = b64encode(b"ada:s3cret-word").decode()
    server.reply = lambda *_: (401, f"wrong: s3cret-word {encoded}")
    with (
        server.running() as url,
        pytest.raises(KaratError, match=r"refuses access \(HTTP 401\)\. Set ML") as told,
    ):
        send(study, "mlflow", place=url)
    assert server.headers["Authorization"] == f"Basic {encoded}"
    server.reply = lambda *_: (400, f"wrong: s3cret-word {encoded}")
    with server.running() as url, pytest.raises(KaratError) as refused:
        send(study, "mlflow", place=url)
    assert "s3cret" not in f"{told.value} {refused.value}"
    assert encoded not in str(refused.value)
    monkeypatch.delenv("MLFLOW_TRACKING_USERNAME")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "tok-123")
    with server.running() as url, pytest.raises(KaratError):
        send(study, "mlflow", place=url)
    assert server.headers["Authorization"] == "Bearer tok-123"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((200, "<html>hello</html>"), "replied with what no tracking server of MLflow does"),
        ((200, ["x"]), "replied with what no tracking server of MLflow does"),
        ((200, {"experiment": 3}), "replied with what no tracking server of MLflow does"),
        ((404, "<html>gone</html>"), "no tracking server of MLflow is at this address"),
        ((200, {"experiment": {"lifecycle_stage": "deleted"}}), "the experiment 'night' was deleted"),
        ((302, ""), "karat does not follow"),
    ],
)
def test_what_is_no_tracking_server_is_told(study, reply, said):
    server = TrackingServer()
    server.reply = lambda *_: reply
    with server.running() as url, pytest.raises(KaratError, match=said):
        send(study, "mlflow", place=url)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        (None, "say where to"),
        ("mlruns", "must be the address of a server"),
        ("sqlite:///here.db", "must be the address of a server"),
        ("http://ada:hunter22@host:5000", "leave them out, and set MLFLOW_TRACKING_USERNAME"),
        ("http://127.0.0.1:1", "cannot be reached"),
    ],
)
def test_an_address_that_cannot_be(study, uri, said):
    with pytest.raises(KaratError, match=said) as told:
        send(study, "mlflow", place=uri)
    assert "hunter22" not in str(told.value)


def test_no_password_goes_over_plain_http(study, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "ada")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "s3cret-word")
    with pytest.raises(UsageError, match=r"MLFLOW_TRACKING_PASSWORD would go to example\.org:80 over plain"):
        send(study, "mlflow", place="http://example.org")


def test_the_address_comes_from_the_user_alone(study, monkeypatch):
    """A run that names one is sent where the environment says."""
    from dataclasses import replace

    server = TrackingServer()
    named = replace(
        study, manifest={"spec": {"tracking_uri": "http://127.0.0.1:1"}, "tracking_uri": "http://127.0.0.1:1"}
    )
    with server.running() as url:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", url)
        send(named, "mlflow", run="r")
    assert set(server.active) == {"r", "one", "two"}


def test_a_server_that_keeps_files_elsewhere_gets_none(study):
    """A path that a server names is never written to."""
    server = TrackingServer(artifacts="s3://elsewhere")
    with server.running() as url:
        told = send(study, "mlflow", place=url)
    assert "Without summary.csv, report.md: the server takes no files itself" in told
    assert server.files == {}


@pytest.mark.slow
def test_a_report_is_sent_as_its_own_digest():
    server = TrackingServer()
    with server.running() as url:
        for grade in (1.0, 1.0, 0.5):
            gold, hits = {"q1": {"a": 1}}, {"q1": {"b": grade, "a": 0.7}}
            report = karat.score(gold, {"bm25": hits}, measures="MRR")
            report.to_mlflow(url)
    wholes = [name for name in server.active if name != "bm25"]
    assert len(server.runs) == 4  # two runs of one system: the same scoring was sent once
    assert len(wholes) == 2
    assert server.active["bm25"]["data"]["metrics"]["MRR"] == 1.0


def test_jsonl_has_a_line_a_system_and_question(study, tmp_path, capsys):
    target = tmp_path / "rows.jsonl"
    assert send(study, "jsonl", run="r", place=str(target)) == f"wrote {target}: 16 lines"
    text = target.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert CANARY not in text
    assert (rows[3]["run"], rows[3]["system"], rows[3]["question"], rows[3]["ranked"]) == (
        "r",
        "one",
        "q3",
        ["d3", "d0"],
    )
    assert rows[3]["usage"] == {"seconds_answer": 1.5, "tokens": 7, "cost_usd": 0.5}
    assert rows[2]["scores"]["Recall@5"] == {"value": None, "status": "failed", "reason": "timed out"}
    assert send(study, "jsonl", run="r", with_texts=True) == ""
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (told[3]["text"], told[3]["answer"]) == (f"{CANARY} 3?", "yes")


def test_seconds_of_a_line_are_of_the_whole_question(study, capsys):
    answer = study.answers["one"]["q3"]
    answers = {"one": {"q3": answer, "q4": replace(answer, question="q4", seconds=None)}}
    timed = replace(study, seconds={"one": (0.25,) * 8}, answers=answers)
    send(timed, "jsonl", run="r")
    rows = [json.loads(line)["usage"] for line in capsys.readouterr().out.splitlines()]
    assert rows[3] == {"seconds": 1.75, "seconds_retrieve": 0.25, "seconds_answer": 1.5, "tokens": 7, "cost_usd": 0.5}
    assert rows[4] == {"seconds_retrieve": 0.25, "tokens": 7, "cost_usd": 0.5}


def test_details_of_judges_are_texts(tmp_path):
    study = study_of([0.5], details={(0, 0, 0): {"why": CANARY}})
    for with_texts in (False, True):
        send(study, "jsonl", place=str(tmp_path / "x.jsonl"), with_texts=with_texts)
        assert (CANARY in (tmp_path / "x.jsonl").read_text()) == with_texts


def test_an_unknown_tracker_is_told():
    with pytest.raises(UsageError, match=r"unknown tracker 'mflow'\. Did you mean mlflow\? There are jsonl, mlflow"):
        send(study_of([0.5]), "mflow")


def test_figures_that_are_not_finite_are_left_out_and_counted():
    from dataclasses import replace

    study = study_of([0.5, 0.25], missing={(0, 1, 0): (Status.failed, "broke")})
    (mean,) = summarise(study.evaluation.scores)
    study = replace(study, evaluation=replace(study.evaluation, summaries=(replace(mean, low=0.1, high=float("inf")),)))
    server = TrackingServer()
    with server.running() as url:
        assert "1 figure left out: MLflow holds finite numbers" in send(study, "mlflow", run="r", place=url)
    assert set(server.active["a"]["data"]["metrics"]) == {"MRR", "MRR_low", "MRR_n", "MRR_n_failed"}


def test_lines_hold_no_text_that_serves_as_an_id_and_no_steps(make, tmp_path):
    text = f"{CANARY} stands here"
    questions = [karat.core.types.Question(f"{CANARY} {i}?", f"{CANARY} {i}?") for i in range(8)]
    evaluation = make(("one", "two"), measures=("MRR",), questions=questions)
    asked = evaluation.scores.questions
    step = StepRecord(query=CANARY, hits=(StepHit(id=text),))
    evaluation = replace(
        evaluation,
        ranked={"one": [(text,)] * len(asked), "two": [("d 1 of many",)] * len(asked)},
        steps={"one": {asked[0]: (step,)}},
    )
    hits = {
        "one": dict.fromkeys(asked, (StudyHit(1, None, Chunk(text, "", text)),)),
        "two": dict.fromkeys(asked, (StudyHit(1, None, Chunk("d 1 of many", "d", text)),)),
    }
    study = study_with(evaluation, hits=hits)
    send(study, "jsonl", place=str(tmp_path / "x.jsonl"))
    written = (tmp_path / "x.jsonl").read_text()
    assert CANARY not in written
    lines = [json.loads(line) for line in written.splitlines()]
    assert len({line["question"] for line in lines}) == 8  # still apart, and the same in both systems
    assert {tuple(line["ranked"]) for line in lines if line["system"] == "two"} == {("d 1 of many",)}
    send(study, "jsonl", place=str(tmp_path / "y.jsonl"), with_texts=True)
    line = json.loads((tmp_path / "y.jsonl").read_text().splitlines()[0])
    assert (line["question"], line["ranked"]) == (asked[0], [text])
    assert line["steps"][0]["query"] == CANARY


def test_texts_that_serve_as_ids_are_not_written_of_hits_and_systems_that_no_report_shows(tmp_path, capsys):
    """A report shows ten hits of six systems."""
    question = {"id": "q1", "question": "What?", "gold": [{"quote": f"{CANARY} stands here"}]}
    (tmp_path / "qa.jsonl").write_text(json.dumps(question))
    hits = [*({"id": f"d{n}", "text": "nothing"} for n in range(12)), {"text": f"Here {CANARY} stands here."}]
    systems = []
    for number in range(8):
        row = {"id": "q1", "retrieved": hits if number == 0 else hits[::-1]}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(row))
        systems.append({"name": f"s{number}", "results": f"{number}.jsonl"})
    spec = {"testset": "qa.jsonl", "match": "quote", "systems": systems, "measures": ["MRR"], "outputs": []}
    (tmp_path / "karat.yaml").write_text(json.dumps(spec))
    found = karat.run(tmp_path / "karat.yaml").study
    capsys.readouterr()
    send(found, "jsonl", run="r")
    written = capsys.readouterr().out
    assert len(written.splitlines()) == 8
    assert CANARY not in written
