from island import documents, embed, embed_one
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

import karat


class Words(Embeddings):
    embed_documents = staticmethod(embed)
    embed_query = staticmethod(embed_one)


store = InMemoryVectorStore(Words())
store.add_documents([Document(text, metadata={"source": name}) for name, text in documents.items()])

report = karat.evaluate("questions.jsonl", store.as_retriever(search_kwargs={"k": 5}))
print(report)
