"""A run with an index to tune: made passages, questions from their words, and a karat.yaml with comments."""

import json
import random

WORDS = [
    "pump", "oil", "valve", "week", "filter", "engine", "deck", "rope", "anchor",
    "sail", "harbour", "night", "watch", "fuel", "tank", "radio", "water", "snow",
]  # fmt: skip
SPEC = """\
# my experiment
name: boats
corpus: corpus.jsonl   # documents
testset: qa.jsonl
chunk: whole
systems:
  - balanced   # half and half
  - name: mine
    engine: hybrid
    alpha: 0.8
  # - engine: other
k: [1, 3, 5]
main: Recall@3
outputs: [csv]  # no charts: they are not the subject
"""


def write_tunable(folder, *, questions=40, passages=80):
    """The files of an experiment whose alphas differ."""
    draw = random.Random(3)
    docs = [{"id": f"d{i}", "text": f"{' '.join(draw.choices(WORDS, k=12))} item{i % 20}"} for i in range(passages)]
    asked = []
    for n in range(questions):
        doc = draw.choice(docs)
        text = " ".join(draw.sample(doc["text"].split(), 4))
        asked.append({"id": f"q{n}", "question": text, "gold": [{"doc": doc["id"]}], "kind": ("fact", "list")[n % 2]})
    for name, rows in (("corpus.jsonl", docs), ("qa.jsonl", asked)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "karat.yaml").write_text(SPEC, "utf-8")
    return folder / "karat.yaml"
