"""Batches through SIGKILL: at every step of a process and again at random, nothing is paid twice, nothing is lost."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from karat.testing import BatchScript, FakeLLM

EXPIRES_ONCE = (BatchScript(end="expired", answered=0.5), BatchScript())
SCRIPTS = {
    "plain": (BatchScript(),),
    "expires once": EXPIRES_ONCE,
    "lost and unlisted at first": (BatchScript(lost=("create",), hidden=2),),
}


@pytest.fixture(scope="module")
def forks():
    """Runs the asking process, to be killed at a step or not, against a server."""
    script = Path(__file__).with_name("killing.py")
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:

        def run(llm, path, at=None):
            driver.stdin.write(json.dumps({"url": llm.base_url, "path": str(path), "at": at}) + "\n")
            driver.stdin.flush()
            return json.loads(driver.stdout.readline())

        yield run
        driver.stdin.close()


def check(llm, end, script):
    assert end["replies"] == [f"answer to question {n}" for n in range(4)]
    assert len(llm.batches) == len(SCRIPTS[script])
    assert sorted(request.user for request in llm.paid) == [f"question {n}" for n in range(4)]
    billed = 4 * (3 * 1.0 + 5 * 2.0) * 0.5 / 1e6  # 10 bytes are 3 tokens to read, 20 bytes are 5 to write
    assert end["kept"] == pytest.approx(billed, abs=1e-15)
    return billed


def server(script):
    return FakeLLM(lambda request: f"answer to {request.user}", batches=SCRIPTS[script])


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_kill_at_any_step_costs_nothing(tmp_path, forks, script):
    with server(script) as llm:
        calm = forks(llm, tmp_path / "calm.sqlite")
        assert calm["cost"] == pytest.approx(check(llm, calm, script), abs=1e-15)
    requests = ("POST /files", "POST /batches", "GET /batches/batch_1", "GET /files/batch_1-output/content")
    assert {*requests, "within a record", "a record", "a reply is kept"} <= set(calm["steps"])
    for at, label in enumerate(calm["steps"]):
        path = tmp_path / f"{at}.sqlite"
        with server(script) as llm:
            killed = forks(llm, path, at)
            assert killed == {"signal": signal.SIGKILL}, label
            check(llm, forks(llm, path), script)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_kills_again_and_again_cost_nothing(tmp_path, forks, seed):
    draw, path, script = random.Random(seed), tmp_path / "calls.sqlite", "expires once"
    with server(script) as llm:
        for _ in range(12):
            end = forks(llm, path, draw.randrange(25))
        check(llm, forks(llm, path), script)
        assert end["signal"] in (0, signal.SIGKILL)
