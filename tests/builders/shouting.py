"""Stages for the tests of the pool."""

import errno
import os
import signal
import time
from contextlib import suppress

from karat.core.errors import InputError, UsageError


class Upper:
    """Writes what it reads in capitals; what else a text says it does."""

    def __init__(self, settings, progress):
        self.settings, self.progress = settings, progress

    def run(self, shard, folder):
        text = shard.path.read_text()
        self.progress("shouting", 1, 2)
        if text == "die" or (text == "die once" and not (shard.path.parent / "died").exists()):
            (shard.path.parent / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "usage":
            raise UsageError("not so.")
        if text == "input":
            raise InputError("is odd", place="a.txt", row=3, remedy="Mend it.")
        if text == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        if text == "bug":
            raise ZeroDivisionError
        if text == "slow":
            (shard.path.parent / "pid").write_text(str(os.getpid()))
            time.sleep(60)
        if text.startswith("threads"):
            text = os.environ.get("RAYON_NUM_THREADS", "all")
        if text.startswith("slow until"):
            begin(shard.path.parent)
        if text.startswith("no room") and node() == (shard.path.parent / "full").read_text():
            (shard.path.parent / "small" / "large").write_bytes(b" " * 2**21)
        (folder / "deep").mkdir()
        (folder / "deep" / "text").write_text(self.settings["before"] + text.upper())
        with (shard.path.parent / "log").open("a") as log:
            log.write(f"{shard.path.name} {os.getpid()}\n")
        return len(text)


def begin(folder):
    """Say that a shard is begun and on which node, then wait until all may go on, or one that waits."""
    with (folder / "begun").open("a") as begun:
        begun.write(f"{node()}\n")
    while not (folder / "go").exists():
        with suppress(FileNotFoundError):
            (folder / "once").unlink()
            return
        time.sleep(0.02)


def node():
    """The node of a Ray cluster that this runs on."""
    from ray import get_runtime_context

    return get_runtime_context().get_node_id()
