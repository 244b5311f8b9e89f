"""What holds for every test."""

import fcntl
import gc
import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

# A worker of pytest-xdist runs on each core: threads of the libraries beside it would wait for each other there.
for library in ("OMP", "OPENBLAS", "RAYON"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

# How long an example takes to draw says how busy the machine is, not whether the law holds.
settings.register_profile("karat", suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=6)
settings.register_profile("ci", settings.get_profile("karat"), max_examples=50)  # --hypothesis-profile=ci
settings.register_profile("thorough", settings.get_profile("karat"), max_examples=200)
settings.load_profile("karat")

# What is imported and collected stays: it is not searched for garbage, neither now nor again with every test.
gc.disable()

MARKED = ("sbert", "chroma", "browser", "slow", "local", "fuzz", "frameworks", "stores", "ray")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """For `--dist loadgroup`: what shares a server or a browser stays together, and what takes longest comes first."""
    for item in items:
        shared = next(filter(item.get_closest_marker, ("browser", "chroma", "local", "sbert")), None)
        if shared:
            item.add_marker(pytest.mark.xdist_group(shared))
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("fuzz", "local", "slow"))))


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def config(tmp_path_factory):
    """A folder for the user's settings that is nobody's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


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
COMMAND = """
import sys
from karat.cli.main import main
sys.argv = {words}
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.fixture
def unpainted(monkeypatch):
    """No picture is painted: charts are specified as ever, and whether they can be painted is for the charts' tests."""
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda spec, **options: "<svg></svg>")
    monkeypatch.setattr("vl_convert.svg_to_png", lambda svg, **options: b"\x89PNG")
    monkeypatch.setattr("karat.report.render.html._runtime", lambda: "")


@pytest.fixture
def undrawn(unpainted, monkeypatch):
    """No chart is specified either, but each has its files: what they show is for the charts' tests and the demo."""
    from karat.report.charts._chart import in_order

    blank = SimpleNamespace(to_dict=lambda: {"mark": "bar"})
    charts = [replace(chart, make=lambda study: blank) for chart in in_order()]
    monkeypatch.setattr("karat.report.charts._draw.in_order", lambda: charts)


class Alone:
    """Snippets in an interpreter of its own, in a folder that is also home."""

    @staticmethod
    def command(*words):
        """The snippet that is a command of karat."""
        return COMMAND.format(words=["karat", *words])

    @staticmethod
    def run(code, folder):
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV")}
        env = {**keep, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
        return subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True
        )

    @classmethod
    def watched(cls, code, folder):
        """What a snippet prints, which traces it leaves in the process, and what in the folder."""
        done = cls.run(WATCH + code + TELL, folder)
        return SimpleNamespace(
            out=done.stdout, seen=done.stderr.rpartition("SEEN ")[2].strip(), left=os.listdir(folder)
        )


@pytest.fixture(scope="session")
def alone():
    return Alone


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory):
    """What `karat demo --json` printed, left and did, and the folder it ran in: once for all workers, so read only."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, result = shared / "karat-demo", shared / "karat-demo.json"
    with (shared / "karat-demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result.exists():
            folder.mkdir()
            result.write_text(json.dumps(vars(Alone.watched(Alone.command("demo", "--json"), folder))))
    return SimpleNamespace(**json.loads(result.read_text()), folder=folder)


def pytest_terminal_summary(terminalreporter, config):
    """Say which tests a plain run leaves out."""
    left_out = [mark for mark in MARKED if f"not {mark}" in config.option.markexpr]
    if left_out:
        terminalreporter.write_line(
            f"not run: tests marked {', '.join(left_out)} (pytest -m MARK runs them, and CI all)"
        )
