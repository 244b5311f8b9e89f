"""karat show of a run that another process is at."""

import json
import time

from karat.experiment.progress_file import PROGRESS
from karat.experiment.store import new_run


def test_a_running_run_shows_how_far_it_is(folder, karat):
    run = new_run(folder, "running", {"karat": "0"})
    with run.held():
        state = {"what": "searching", "done": 25, "total": 100, "begun": time.time() - 10, "cost_usd": 1.5}
        (run.path / PROGRESS).write_text(json.dumps(state))
        shown = karat("show", run.id, "--runs-dir", str(folder))
        assert "searching" in shown.out
        assert "25 of 100" in shown.out
        assert "1.50 USD so far" in shown.out
        plain = json.loads(karat("show", run.id, "--runs-dir", str(folder), "--json").out)
        assert (plain["status"], plain["progress"]["done"], plain["progress"]["cost_usd"]) == ("running", 25, 1.5)
        assert "is running" in karat("show", run.id, "q1", "--runs-dir", str(folder)).sentence
