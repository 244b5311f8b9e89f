"""Haystack: pipelines with and without an answer, and components, over files, pages from 1, chunk ids and ids."""

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.embedders import MockTextEmbedder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from identities import TESTSETS, chunk_of, page_of
from island import documents, embed_one

import karat


@component
class Generator:
    @component.output_types(replies=list[str], meta=list[dict])
    def run(self, prompt: str):
        return {"replies": ["Yes."], "meta": [{"usage": {"prompt_tokens": 3, "completion_tokens": 1}}]}


@component
class Searcher:
    def __init__(self, store):
        self.retriever = InMemoryEmbeddingRetriever(store, top_k=5)

    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return self.retriever.run(embed_one(query))


def about(kind, name):
    """What a converter of Haystack's would write: pages are counted from 1."""
    file, page = page_of(name)
    return {
        "files": {"file_path": name},
        "pages": {"file_path": file, "page_number": page},
        "chunks": {"file_path": "island.txt", "chunk_id": chunk_of(name)},
        "ids": {},
    }[kind]


def searching(store):
    pipeline = Pipeline()
    pipeline.add_component("embedder", MockTextEmbedder(embedding_fn=embed_one))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=5))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def answering(store):
    pipeline = searching(store)
    pipeline.add_component("prompt", PromptBuilder("{{ documents }} {{ question }}", required_variables="*"))
    pipeline.add_component("generator", Generator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "generator.prompt")
    return pipeline


def building(store):
    pipeline = answering(store)
    pipeline.add_component("joiner", DocumentJoiner(sort_by_score=False))
    pipeline.add_component("answers", AnswerBuilder())
    pipeline.connect("retriever.documents", "joiner.documents")
    pipeline.connect("joiner.documents", "answers.documents")
    pipeline.connect("generator.replies", "answers.replies")
    return pipeline


reports = {}
for kind, questions in TESTSETS.items():
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(id=name, content=text, embedding=embed_one(text), meta=about(kind, name))
            for name, text in documents.items()
        ]
    )
    component_ = Searcher(store)
    systems = {
        "pipeline": searching(store),
        "answering pipeline": answering(store),
        "building pipeline": building(store),
        "component": component_,
        "dumped": lambda question, one=component_: [hit.to_dict() for hit in one.run(query=question)["documents"]],
        "dumped flat": lambda question, one=component_: [
            hit.to_dict(flatten=False) for hit in one.run(query=question)["documents"]
        ],
    }
    reports[kind] = karat.evaluate(questions, systems)


@component
class Broken:
    @component.output_types(documents=list[Document])
    def run(self, query: str):
        raise ConnectionError("the store is away")


@component
class Silent:
    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return None


def alone(part):
    pipeline = Pipeline()
    pipeline.add_component("part", part)
    return pipeline


broken = {
    "the store is away": [Broken(), alone(Broken())],
    "returned None": [Silent()],
}
