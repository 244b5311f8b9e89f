"""Runs sent to a real tracking server of MLflow, with its database and its folder of files."""

import csv
import io
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from urllib.request import urlopen

import pytest

import karat
from karat.core.errors import KaratError
from karat.report.trackers import mlflow
from karat.report.trackers.mlflow import mapped

CANARY = "marmalade"
USER, PASSWORD = "ada", "right-pass-word-1"
KILLED_AT = 6  # of some fifteen requests: before the metrics of the first system
SECONDS = 240
SYSTEMS = {"first": ["d1", "d2"], "second": ["d9", "d1"]}


@pytest.fixture(scope="module")
def report():
    """Texts hold the canary; 7 digits and more are in the means."""
    testset = [
        {"id": f"q{i}", "question": f"{CANARY} {i}?", "answers": [CANARY], "gold": [f"d{i % 3}"], "kind": "ab"[i % 2]}
        for i in range(30)
    ]
    results = {
        name: [{"id": f"q{i}", "retrieved": [*hits, f"d{i % 3}"], "answer": f"{CANARY}."} for i in range(30)]
        for name, hits in SYSTEMS.items()
    }
    return karat.score(testset, results, measures=["MRR", "Recall@{1,2}", "nDCG@3", "TokenF1"], by="kind")


class Server:
    """A tracking server with accounts over a folder; it takes long to start, and so there is one for all."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        (folder / "auth.ini").write_text(
            f"[mlflow]\ndefault_permission = READ\ndatabase_uri = sqlite:///{folder}/auth.db\n"
            f"admin_username = {USER}\nadmin_password = {PASSWORD}\n"
            "authorization_function = mlflow.server.auth:authenticate_request_basic_auth\n"
        )

    def start(self):
        if self.process is not None:
            return
        command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{self.folder}/runs.db"]
        command += ["--artifacts-destination", str(self.folder / "files"), "--app-name", "basic-auth"]
        command += ["--host", "127.0.0.1", "--port", self.url.rpartition(":")[2], "--workers", "1"]
        own = {
            "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_FLASK_SERVER_SECRET_KEY": "x" * 20, "MLFLOW_AUTH_CONFIG_PATH": str(self.folder / "auth.ini"),
        }  # fmt: skip
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.folder, start_new_session=True, env={**os.environ, **own}
            )
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                with urlopen(f"{self.url}/health", timeout=2):
                    return
            except OSError:
                assert self.process.poll() is None, (self.folder / "server.log").read_text()[-3000:]
                assert time.monotonic() < deadline
                time.sleep(0.2)

    def kill(self):
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.kill()


@pytest.fixture
def server(running, monkeypatch):
    running.start()
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", USER)
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", PASSWORD)
    return running


def rows(folder, query):
    with closing(sqlite3.connect(folder / "runs.db")) as database:
        return database.execute(query).fetchall()


def active(folder):
    return dict(rows(folder, "select name, run_uuid from runs where lifecycle_stage = 'active'"))


def everything(folder):
    """All bytes that a server keeps."""
    kept = [file for file in folder.rglob("*") if file.is_file()]
    assert any(file.name == "summary.csv" for file in kept)
    return b"".join(file.read_bytes() for file in kept)


def check_figures(folder):
    """Every mean, interval end and count equals that of summary.csv, to the last digit."""
    stored = {
        (name, key): value
        for name, key, value in rows(
            folder,
            "select r.name, m.key, m.value from metrics m join runs r using (run_uuid) "
            "where r.lifecycle_stage = 'active'",
        )
    }
    text = next(folder.rglob("summary.csv")).read_text(encoding="utf-8")
    compared = 0
    for row in csv.DictReader(io.StringIO(text)):
        for end, column in (("", "mean"), ("_low", "low"), ("_high", "high"), ("_n", "n")):
            if not row["slice"] and row[column]:
                value = stored[row["system"], mapped(row["measure"]) + end]
                assert (int(value) if column == "n" else value).__repr__() == row[column]
                compared += 1
    assert compared == 2 * 5 * 4
    print(f"{compared} figures of MLflow equal those of summary.csv")


def test_a_wrong_password_is_one_sentence_without_it(server, report, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "wrong-pass-word-1")
    with pytest.raises(KaratError, match=r"refuses access \(HTTP 401\)\. Set MLFLOW_TRACKING_USERNAME") as told:
        report.to_mlflow(server.url)
    print(told.value)
    assert "wrong-pass" not in str(told.value)


def test_a_server_killed_between_two_calls_is_sent_the_rest(server, report, monkeypatch):
    ask, calls = mlflow._TrackingServer._asked, 0

    def asked(self, *words, **options):
        nonlocal calls
        calls += 1
        if calls == KILLED_AT:
            server.kill()
        return ask(self, *words, **options)

    with monkeypatch.context() as patch:
        patch.setattr(mlflow._TrackingServer, "_asked", asked)
        with pytest.raises(KaratError, match="cannot be reached") as told:
            report.to_mlflow(server.url)
    print(told.value)
    assert len(active(server.folder)) == 2  # the whole and the first system
    assert rows(server.folder, "select value from tags where key = 'karat.sent'") == [("partial",)]
    server.start()
    assert report.to_mlflow(server.url).startswith("sent ")
    assert len(rows(server.folder, "select 1 from runs")) == 3
    assert rows(server.folder, "select value from tags where key = 'karat.sent'") == [("complete",)]
    assert rows(server.folder, "select distinct status from runs") == [("FINISHED",)]
    check_figures(server.folder)


def test_a_run_is_sent_once_and_without_texts(server, report):
    """After the one that was killed: it is there already."""
    report.to_mlflow(server.url)
    assert "already: nothing was sent" in report.to_mlflow(server.url)
    assert len(active(server.folder)) == 3
    assert CANARY.encode() not in everything(server.folder)
    report.to_mlflow(server.url, with_texts=True)
    assert CANARY.encode() in everything(server.folder)
    assert len(active(server.folder)) == 3
