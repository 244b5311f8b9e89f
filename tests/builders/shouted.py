"""Shards for the stages of `shouting`, and what came of them."""

import time

from karat.pool import Shard


def shard(folder, text, name="a"):
    path = folder / name
    path.write_text(text)
    return Shard(path=path, rows=len(text), digest=text, name=f"shard {name}")


def outputs(pairs):
    return {source.path.name: (output.path / "deep" / "text").read_text() for source, output in pairs}


def log(tmp_path):
    path = tmp_path / "log"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
