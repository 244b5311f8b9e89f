"""Virtual environments of their own, with karat and packages that the tests themselves do without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 600


def made_environment(place, packages, extra=None):
    """The Python of an environment with karat and packages; LookupError where it cannot be made."""
    uv = shutil.which("uv")
    if uv is None:
        raise LookupError("uv is not installed")
    variables = {key: value for key, value in os.environ.items() if key not in ("UV_COMPILE_BYTECODE", "VIRTUAL_ENV")}
    karat = f"karat[{extra}] @ {ROOT.as_uri()}" if extra else str(ROOT)
    for words in (
        ("venv", "--allow-existing", "--python", sys.executable, place),
        ("pip", "install", "--python", place, "--editable", karat, *packages),
    ):
        done = subprocess.run([uv, *words], env=variables, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise LookupError(done.stderr.strip()[-500:])
    return place / "bin" / "python"
