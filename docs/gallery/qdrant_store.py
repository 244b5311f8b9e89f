from island import documents, embed, embed_one
from qdrant_client import QdrantClient, models

import karat

client = QdrantClient(":memory:")
client.create_collection("island", models.VectorParams(size=256, distance=models.Distance.COSINE))
client.upload_collection("island", embed(documents.values()), [{"source": name} for name in documents])

report = karat.evaluate("questions.jsonl", lambda text, k: client.query_points("island", embed_one(text), limit=k))
print(report)
