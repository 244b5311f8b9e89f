"""One corpus and its questions under several kinds of names: files, pages of two files, chunk ids, ids of records."""

import json
from pathlib import Path

from island import documents


def page_of(name):
    """Which page of which of two files a document is; both files have pages of the same numbers."""
    place = list(documents).index(name)
    return ("north.pdf", "south.pdf")[place % 2], place // 2 + 1


def chunk_of(name):
    return f"chunk {list(documents).index(name):02}"


def _questions(gold_of):
    questions = [json.loads(line) for line in Path("questions.jsonl").read_text().splitlines()]
    return [
        {**one, "gold": [{**gold_of(gold["doc"]), "grade": gold["grade"]} for gold in one["gold"]]} for one in questions
    ]


QUOTED = _questions(lambda name: {"quote": " ".join(documents[name].split()[:7])})
TESTSETS = {
    "files": _questions(lambda name: {"doc": name}),
    "pages": _questions(lambda name: dict(zip(("doc", "page"), page_of(name), strict=True))),
    "chunks": _questions(lambda name: {"chunk": chunk_of(name)}),
    "ids": _questions(lambda name: {"id": name}),
}
