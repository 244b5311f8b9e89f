import karat

index = karat.index("corpus", "island.index", chunk="whole", titles=False, engines="dense")

report = karat.evaluate("questions.jsonl", index)
print(report)
