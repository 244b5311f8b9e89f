from island import serve

import karat

address = serve()  # yours is running already

report = karat.evaluate("questions.jsonl", address)
print(report)
