"""A corpus of short passages that small pieces make many shards of."""

import json
import random

WORDS = ("lantern", "harbour", "signal", "winter", "engine", "ladder", "compass", "anchor", "granite", "petrel")
PIECE = 4096
"""Bytes of a piece, so small that few documents make many of them."""
NUMBERS = range(240)


def line(number, text=None):
    rng = random.Random(number)
    text = text or " ".join(rng.choices(WORDS, k=30)) + f" item{number}"
    return json.dumps({"id": f"p{number * 7919 % 1000:04d}", "text": text, "title": f"Sheet {number % 5}"}) + "\n"


def lines(numbers):
    return "".join(map(line, numbers))


def files_of(path):
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}
