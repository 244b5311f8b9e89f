"""What holds for every test."""

import os

import pytest
from hypothesis import HealthCheck, settings

# A worker of pytest-xdist runs on each core: threads of the libraries beside it would wait for each other there.
for library in ("OMP", "OPENBLAS", "RAYON"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# How long an example takes to draw says how busy the machine is, not whether the law holds.
settings.register_profile("karat", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("karat")

MARKED = ("sbert", "chroma", "browser", "slow", "local", "fuzz")


@pytest.fixture(scope="session", autouse=True)
def config(tmp_path_factory):
    """A folder for the user's settings that is nobody's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


def pytest_terminal_summary(terminalreporter, config):
    """Say which tests a plain run leaves out."""
    left_out = [mark for mark in MARKED if f"not {mark}" in config.option.markexpr]
    if left_out:
        terminalreporter.write_line(
            f"not run: tests marked {', '.join(left_out)} (pytest -m MARK runs them, and CI all)"
        )
