"""What a running run says of itself, and what one may take of it."""

import json
import math
import time

import pytest

from karat.experiment import progress_file
from karat.experiment.progress_file import PROGRESS, RunProgress, progress_written


def test_the_cost_so_far_stands_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(progress_file, "_EVERY", 0.0)
    with progress_written(tmp_path, lambda *step: None) as say:
        say("judging", 1, 4)
        assert RunProgress.of(tmp_path) == RunProgress("judging", 1, 4, None)
        say.spent = lambda: [{"cost_usd": 0.25}, {"cost_usd": None}, {"cost_usd": 0.5}]
        say("judging", 2, 4)
        assert RunProgress.of(tmp_path).cost_usd == 0.75
    assert RunProgress.of(tmp_path) is None


def test_the_time_left_is_that_of_what_this_process_has_done(tmp_path):
    state = {"what": "judging", "done": 950, "total": 1000, "first": 900, "begun": time.time() - 10}
    (tmp_path / PROGRESS).write_text(json.dumps(state))
    assert 9 < RunProgress.of(tmp_path).seconds_left < 15


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"what": 7, "done": 1, "total": 2, "begun": 0}',
     '{"what": "x", "done": 3, "total": 2, "begun": 0}',
     '{"what": "x", "done": -1, "total": 2, "begun": 0}', '{"what": "x", "done": 1e9, "total": 2e9, "begun": 0}',
     '{"what": "x", "done": 1}', "[" * 4000, "x" * 5000],
)  # fmt: skip
def test_progress_that_is_none_is_none(tmp_path, text):
    (tmp_path / PROGRESS).write_text(text)
    assert RunProgress.of(tmp_path) is None


@pytest.mark.parametrize("odd", ["Infinity", "NaN", "1e999", "9" * 400, "-1e308", "-1", "true", "[]"])
def test_numbers_that_are_none_are_left_out(tmp_path, odd):
    state = '{"what": "x", "done": 1, "total": 9007199254740991, "first": 0, '
    (tmp_path / PROGRESS).write_text(f'{state}"begun": {odd}, "cost_usd": {odd}}}')
    progress = RunProgress.of(tmp_path)
    assert (progress.seconds_left is None or math.isfinite(progress.seconds_left), progress.cost_usd) == (True, None)
    assert "x: 1 of " in progress.sentence


def test_progress_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "other").write_text('{"what": "x", "done": 1, "total": 2, "begun": 0}')
    (tmp_path / PROGRESS).symlink_to(tmp_path / "other")
    assert RunProgress.of(tmp_path) is None
