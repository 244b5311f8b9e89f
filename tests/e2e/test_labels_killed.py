"""The server killed while two people label: what was acknowledged is there."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException

import pytest
from viewed_runs import SMALL, write_small

from karat.files import read_marks
from karat.results.marks import LABELS_FILE

pytestmark = pytest.mark.slow


def labelling(port, token, name, acknowledged):
    """Labels one question after the other until the server is gone."""
    headers = {"X-Karat-Token": token, "Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    for n in range(100_000):
        body = {"kind": "question", "question": f"q{n % 3}", "value": "bad", "note": f"{n}", "by": name}
        try:
            connection.request("POST", f"/api/run/{SMALL}/labels", json.dumps(body), headers)
            reply = connection.getresponse()
            text = reply.read()
        except (OSError, HTTPException):
            return
        assert reply.status == 200, text
        acknowledged.append(json.loads(text)["label"]["id"])


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path):
    runs = tmp_path / "runs"
    write_small(runs)
    command = [sys.executable, "-m", "karat", "view", "--no-open", "--runs-dir", str(runs)]
    acknowledged = {"ann": [], "ben": []}
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
            port, token = re.search(r":(\d+)/\?token=(\S+)", server.stdout.readline()).groups()
            people = [
                threading.Thread(target=labelling, args=(int(port), token, name, ids))
                for name, ids in acknowledged.items()
            ]
            before = sum(map(len, acknowledged.values()))
            for one in people:
                one.start()
            end = time.monotonic() + 60
            while sum(map(len, acknowledged.values())) < before + 30 and time.monotonic() < end:
                time.sleep(0.01)
            os.kill(server.pid, signal.SIGKILL)
            for one in people:
                one.join()
    assert all(len(ids) > 3 for ids in acknowledged.values())
    stored = [mark.id for mark in read_marks(runs / SMALL / LABELS_FILE).every]
    assert len(stored) == len(set(stored))
    assert {*acknowledged["ann"], *acknowledged["ben"]} <= set(stored)
    assert len(stored) <= sum(map(len, acknowledged.values())) + 6  # at most one unacknowledged each, each time
