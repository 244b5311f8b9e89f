"""`import karat` and `karat --help` are light and leave no trace."""

import os
import statistics
import subprocess
import sys
import time

import pytest

HEAVY = ("numpy", "polars", "pandas", "rich", "scipy", "pyarrow", "rapidfuzz", "sacrebleu", "pydantic", "yaml", "httpx")
IMPORT = "import karat"
HELP = """
import sys
from karat.cli.main import main
sys.argv = ["karat", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
DEMO = HELP.replace('"--help"', '"demo", "-q"')
WATCH = """
import logging, os, signal, sys, warnings
seen = []
def hook(event, args):
    if event == "open":
        mode, flags = args[1] or "", args[2] or 0
        if set(mode) & set("wax+") or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append(f"open {args[0]}")
    elif event.startswith(("socket.", "os.putenv", "os.unsetenv", "os.mkdir", "os.rename", "os.remove", "os.system",
                           "subprocess.", "shutil.", "sqlite3.", "urllib.")):
        seen.append(f"{event} {args}")
signals = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
filters, handlers = list(warnings.filters), list(logging.root.handlers)
sys.addaudithook(hook)
"""
TELL = """
seen += ["a signal handler"] if signals != {s: signal.getsignal(s) for s in signals} else []
seen += ["a log handler"] if handlers != logging.root.handlers else []
seen += ["warning filters"] if filters != list(warnings.filters) else []
print("SEEN", seen, file=sys.stderr)
"""


def run(code, folder):
    """A snippet in an interpreter of its own, in an empty folder that is also home."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV")}
    env = {**keep, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("code", [IMPORT, HELP], ids=["import", "help"])
def test_nothing_heavy_is_imported(code, tmp_path):
    told = run(f"{code}\nimport sys\nprint('LOADED', *{{m.partition('.')[0] for m in sys.modules}})", tmp_path).stdout
    loaded = told.rpartition("LOADED")[2].split()
    assert "karat" in loaded
    assert sorted(set(loaded) & set(HEAVY)) == []


def traces(code, folder):
    seen = run(WATCH + code + TELL, folder).stderr.rpartition("SEEN ")[2].strip()
    return seen, os.listdir(folder)


@pytest.mark.parametrize("code", [IMPORT, HELP], ids=["import", "help"])
def test_no_file_no_socket_no_environment(code, tmp_path):
    assert traces(code, tmp_path) == ("[]", [])


def test_the_demo_opens_no_socket_and_writes_its_run_alone(tmp_path):
    seen, left = traces(DEMO, tmp_path)
    assert left == ["runs"]
    assert "socket." not in seen
    assert "urllib." not in seen


@pytest.mark.parametrize(
    "code",
    [
        "open('x', 'w').close()",
        "os.environ['X'] = '1'",
        "import socket; socket.socket().close()",
        "logging.basicConfig()",
        "warnings.simplefilter('ignore')",
        "signal.signal(signal.SIGINT, signal.SIG_DFL)",
    ],
)
def test_the_watch_sees_what_it_watches_for(code, tmp_path):
    assert traces(code, tmp_path)[0] != "[]"


def test_help_takes_at_most_eight_bare_interpreters(tmp_path):
    """Medians of interleaved runs, tried again where the machine was busy."""

    def seconds(code):
        begun = time.perf_counter()
        run(code, tmp_path)
        return time.perf_counter() - begun

    ratios = []
    for _ in range(4):
        pairs = [(seconds("pass"), seconds(IMPORT), seconds(HELP)) for _ in range(7)]
        bare, imported, helped = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios.append((helped / bare, imported / bare))
        if helped <= 8 * bare and imported <= 8 * bare:
            return
    pytest.fail(f"help and import over a bare interpreter: {ratios}")
