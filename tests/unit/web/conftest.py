"""A small run with known scores, in a folder and in a browser."""

import pytest
from viewed import Browser, run_with, small_study


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    run_with(folder, small_study(), "small")
    return folder


@pytest.fixture(scope="module")
def run(runs_dir):
    (path,) = runs_dir.iterdir()
    return path


@pytest.fixture(scope="module")
def browser(runs_dir):
    return Browser(runs_dir)
