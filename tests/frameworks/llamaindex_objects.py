"""LlamaIndex: retrievers, query engines and chat engines, over files, page labels, chunk ids and ids of nodes."""

from identities import TESTSETS, chunk_of, page_of
from island import documents, embed_one
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import TextNode
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from tracing import traced

import karat


class Words(BaseEmbedding):
    def _get_text_embedding(self, text):
        return embed_one(text)

    _get_query_embedding = _get_text_embedding

    async def _aget_query_embedding(self, query):
        return embed_one(query)


def about(kind, name):
    """What a reader of LlamaIndex's would write: PDFReader labels pages by texts."""
    file, page = page_of(name)
    return {
        "files": {"file_name": name, "file_path": f"/srv/island/{name}"},
        "pages": {"file_name": file, "page_label": str(page)},
        "chunks": {"file_name": "island.txt", "chunk_id": chunk_of(name)},
        "ids": {},
    }[kind]


model = MockLLM(max_tokens=4)
reports = {}
for kind, questions in TESTSETS.items():
    nodes = [
        TextNode(id_=name, text=text, metadata=about(kind, name), embedding=embed_one(text))
        for name, text in documents.items()
    ]
    index = VectorStoreIndex(nodes, embed_model=Words())
    retriever = index.as_retriever(similarity_top_k=5)
    systems = {
        "retriever": retriever,
        "query engine": index.as_query_engine(llm=model, similarity_top_k=5),
        "streaming engine": index.as_query_engine(llm=model, similarity_top_k=5, streaming=True),
        "chat engine": index.as_chat_engine(chat_mode="context", llm=model, similarity_top_k=5),
        "nodes": lambda question, retriever=retriever: [hit.node for hit in retriever.retrieve(question)],
        "async": retriever.aretrieve,
        "dumped": lambda question, retriever=retriever: [hit.model_dump() for hit in retriever.retrieve(question)],
    }
    reports[kind] = karat.evaluate(questions, systems)
    asked = {"retriever": retriever.retrieve, "query engine": systems["query engine"].query}
    traces = {name: traced(LlamaIndexInstrumentor(), ask, questions, name) for name, ask in asked.items()}
    reports[f"traces of {kind}"] = karat.evaluate(questions, traces)


class Broken(BaseRetriever):
    def _retrieve(self, query):
        raise ConnectionError("the store is away")


class Silent(BaseRetriever):
    def _retrieve(self, query):
        return None


broken = {
    "ConnectionError: the store is away": [
        Broken(),
        RetrieverQueryEngine.from_args(Broken(), llm=model),
        ContextChatEngine.from_defaults(Broken(), llm=model),
    ],
    "TypeError: 'NoneType' object is not iterable": [Silent()],  # LlamaIndex itself
}
