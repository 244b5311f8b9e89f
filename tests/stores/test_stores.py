"""Stores searched as they are, datasets read, a server that runs are sent to: the real thing, an environment each.

KARAT_STORES names the folder where the environments stand or are made; then none may be left out. Without it they are
made for this run, and one that cannot be made is skipped.
"""

import os
import subprocess
from pathlib import Path

import pytest
from environments import made_environment

HERE = Path(__file__).parent
BUILDERS = HERE.parent / "builders"
PACKAGES = {
    "pgvector": ("pgserver",),
    "lancedb": (),
    "milvus": (),
    "mlflow": ("mlflow[auth]>=3",),
    "qdrant": (),
    "datasets": ("datasets",),
    "irds": (),
}
EXTRAS = {"datasets": None, "irds": "ir-datasets"}  # others are called as the store is
SECONDS = 600
pytestmark = pytest.mark.stores


@pytest.mark.parametrize("name", PACKAGES)
def test_the_real_thing_does_what_is_said_of_it(name, tmp_path):
    given = os.environ.get("KARAT_STORES")
    packages = ("pytest>=8.2", *PACKAGES[name])
    try:
        python = made_environment((Path(given) if given else tmp_path) / name, packages, extra=EXTRAS.get(name, name))
    except (LookupError, OSError, subprocess.TimeoutExpired) as problem:
        if given:
            raise
        pytest.skip(f"no environment for {name}: {problem}")
    options = ("-c", os.devnull, "--rootdir", HERE, "--noconftest", "-p", "no:cacheprovider", "-q", "-rP")
    done = subprocess.run(
        [python, "-m", "pytest", *options, HERE / f"{name}_checks.py"],
        env={**os.environ, "HOME": str(tmp_path), "PYTEST_ADDOPTS": "", "PYTHONPATH": str(BUILDERS)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    print(done.stdout[-3000:])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
