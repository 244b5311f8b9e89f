import chromadb
from island import documents, embed

import karat

island = chromadb.EphemeralClient().create_collection("island")
island.add(ids=list(documents), documents=list(documents.values()), embeddings=embed(documents.values()))

report = karat.evaluate("questions.jsonl", lambda question, k: island.query(embed([question]), n_results=k))
print(report)
