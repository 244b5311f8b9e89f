"""Runs a command of karat again and again, each time stopped at another step of what it writes, and then to its end.

Standard input holds, as JSON, the folder to begin with, the words of the command, and where to stop it.
A step is a call that changes something on disk: opening a file for writing, writing to it, renaming, deleting, making
a folder, a statement to SQLite. `kill` ends the process just before a step, and in the middle of a write; `full` has
that step and all later ones that need room fail as they do on a disk that is full. Each trial is a fork of this
process, which never itself computes anything: the threads of native libraries do not survive a fork.
"""

import builtins
import errno
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from itertools import product
from pathlib import Path

time.perf_counter = lambda: 0.0  # so that what is timed is the same in every trial

KILLED = 137
MODES = ("kill", "full")
NO_ROOM = OSError(errno.ENOSPC, "No space left on device")
HEAVY = re.compile(r"(karat\.(?!models\._chat)|numpy|polars|faiss|scipy|typer|rich|wordllama|tokenizers)")
RUN = re.compile(r"\d{8}T\d{6}Z-(\w+)-[0-9a-f]{6}")


class Steps:
    """Counts the steps of this process below a folder, and stops at one."""

    def __init__(self, folder, mode="count", at=None):
        self.folder, self.mode, self.at, self.labels = os.path.realpath(folder), mode, at, []

    def is_mine(self, path):
        return isinstance(path, str | os.PathLike) and os.path.realpath(path).startswith(self.folder + os.sep)

    def step(self, label, error=NO_ROOM, needs_room=True):
        """Whether the step is to be done by half, and the process to be ended after that."""
        self.labels.append(label)
        if self.at is None or len(self.labels) - 1 < self.at:
            return False
        if self.mode == "full":
            if needs_room:
                raise error
            return False
        if len(self.labels) - 1 > self.at:
            return False
        if label.startswith("write "):
            return True
        os._exit(KILLED)


def hooked(steps):
    """Put the steps in the place of the real calls."""
    real_open, real_os_open, connect = builtins.open, os.open, sqlite3.connect

    def open_(file, mode="r", *more, **named):
        if not set(mode) & set("wax+") or not steps.is_mine(file):
            return real_open(file, mode, *more, **named)
        steps.step(f"open {os.path.basename(file)}")
        return Written(real_open(file, mode, *more, **named), steps, os.path.basename(file))

    def os_open(path, flags, *more, **named):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and steps.is_mine(path):
            steps.step(f"os.open {os.path.basename(path)}")
        return real_os_open(path, flags, *more, **named)

    builtins.open = io.open = open_
    os.open = os_open
    for name, needs_room in (("mkdir", True), ("replace", False), ("rename", False), ("unlink", False),
                             ("remove", False), ("rmdir", False), ("truncate", False)):  # fmt: skip
        setattr(os, name, counted(steps, name, getattr(os, name), needs_room))

    class Connection(sqlite3.Connection):
        def execute(self, statement, *values):
            if not statement.startswith("SELECT"):
                steps.step(f"sqlite {statement[:24]}", sqlite3.OperationalError("database or disk is full"))
            return super().execute(statement, *values)

        def executescript(self, script):
            steps.step("sqlite script", sqlite3.OperationalError("database or disk is full"))
            return super().executescript(script)

    sqlite3.connect = lambda *a, **named: connect(*a, **named, factory=Connection)
    if "faiss" in sys.modules:
        import faiss

        write = faiss.write_index
        faiss.write_index = lambda *a: (steps.step("faiss.write_index"), write(*a))[1]


def counted(steps, name, real, needs_room):
    def call(path, *more, **named):
        if "dir_fd" in named or steps.is_mine(path):
            steps.step(f"{name} {os.path.basename(path)}", needs_room=needs_room)
        return real(path, *more, **named)

    return call


class Written:
    """A file whose writes are steps."""

    def __init__(self, file, steps, name):
        self._file, self._steps, self._name = file, steps, name

    def write(self, content):
        try:
            half = self._steps.step(f"write {self._name}")
        except OSError:
            self._file.write(content[: len(content) // 2])
            raise
        if half:
            self._file.write(content[: len(content) // 2])
            self._file.flush()
            os._exit(KILLED)
        return self._file.write(content)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def __iter__(self):
        return iter(self._file)


def run(folder, words, mode="count", at=None):
    """Run the command in a fork: its exit code, what it complained of, its steps, and the modules it loaded."""
    errors, told = folder.parent / "stderr", folder.parent / "steps"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            sys.argv = ["karat", *words]
            note = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            steps = Steps(folder, mode, at)
            hooked(steps)
            before = set(sys.modules)
            from karat.cli.main import main

            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code or 0
            os.write(note, json.dumps([steps.labels, sorted(set(sys.modules) - before)]).encode())
        finally:
            sys.stderr.flush()
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, errors.read_text(), *json.loads(told.read_text() or "[[], []]")


def copied(template, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder, symlinks=True)
    return folder


def outcome(folder):
    """Digest of every file by its path; what a run that never began left is not one."""
    never = {path for path in folder.glob("runs/*T*Z-*") if not (path / "manifest.json").exists()}
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or never & set(path.parents):
            continue
        name = RUN.sub(r"RUN-\1", path.relative_to(folder).as_posix())
        files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return files


def main():
    """What was the same in two undisturbed runs is compared, but for manifests: these tell what each attempt spent."""
    asked = json.load(sys.stdin)
    template, words, wanted = Path(asked["folder"]), asked["words"], asked["steps"]
    with tempfile.TemporaryDirectory(prefix="karat-steps-") as place:
        calm = []
        for name in ("a", "b"):
            code, said, labels, modules = run(copied(template, Path(place) / "work"), words)
            assert code == 0, said
            for module in filter(HEAVY.match, modules):  # here once, and not in every fork
                with suppress(Exception):
                    import_module(module)
            calm.append(outcome(Path(place) / "work"))
            (Path(place) / "work").rename(Path(place) / name)
        names = {name for name in calm[0] if not name.endswith(("-wal", "-shm"))}
        same = {name for name in names if calm[0][name] == calm[1].get(name) and Path(name).name != "manifest.json"}
        chosen = range(len(labels)) if wanted is None else sorted({int(w * (len(labels) - 1)) for w in wanted})
        trials = []
        for mode, at in product(MODES, chosen):
            folder = copied(template, Path(place) / "work")
            code, said, *_ = run(folder, words, mode, at)
            again, said_again, *_ = run(folder, words)
            found = {n: d for n, d in outcome(folder).items() if not n.endswith(("-wal", "-shm"))}
            differ = sorted((names ^ found.keys()) | {n for n in same if found.get(n) != calm[0][n]})
            trials.append({"mode": mode, "at": at, "step": labels[at], "code": code, "said": said, "again": again,
                           "said_again": said_again, "differ": differ})  # fmt: skip
    json.dump({"steps": labels, "same": sorted(same), "trials": trials}, sys.stdout)


if __name__ == "__main__":
    main()
