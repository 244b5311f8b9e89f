import karat

report = karat.evaluate("questions.jsonl", "traces.otlp.jsonl")
print(report)
