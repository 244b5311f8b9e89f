from island import embed_one
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding

import karat


class Words(BaseEmbedding):
    def _get_text_embedding(self, text):
        return embed_one(text)

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query):
        return embed_one(query)


files = SimpleDirectoryReader("corpus", file_metadata=lambda path: {"file_name": path}).load_data()
index = VectorStoreIndex.from_documents(files, embed_model=Words())

report = karat.evaluate("questions.jsonl", index.as_retriever(similarity_top_k=5))
print(report)
