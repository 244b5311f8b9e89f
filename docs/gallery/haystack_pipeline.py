from haystack import Document, Pipeline
from haystack.components.embedders import MockTextEmbedder
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from island import documents, embed_one

import karat

db = InMemoryDocumentStore()
db.write_documents([Document(content=t, embedding=embed_one(t), meta={"file_path": n}) for n, t in documents.items()])
pipeline = Pipeline()
pipeline.add_component("embedder", MockTextEmbedder(embedding_fn=embed_one))
pipeline.add_component("retriever", InMemoryEmbeddingRetriever(db, top_k=5))
pipeline.connect("embedder.embedding", "retriever.query_embedding")

report = karat.evaluate("questions.jsonl", pipeline)
print(report)
