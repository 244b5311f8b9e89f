import json
from pathlib import Path

from island import search

import karat

questions = [json.loads(line) for line in Path("questions.jsonl").read_text().splitlines()]
rows = [{"id": one["id"], "retrieved": search(one["question"], 5)} for one in questions]
Path("results.jsonl").write_text("\n".join(map(json.dumps, rows)))

report = karat.evaluate("questions.jsonl", "results.jsonl")
print(report)
