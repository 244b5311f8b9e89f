"""LangChain: retrievers, stores, chains and messages, over files, pages from 0, chunk ids and ids."""

from identities import TESTSETS, chunk_of, page_of
from island import documents, embed, embed_one
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

import karat


class Words(Embeddings):
    embed_documents = staticmethod(embed)
    embed_query = staticmethod(embed_one)


def about(kind, name):
    """What a loader of LangChain's would write: PyPDFLoader counts pages from 0, and labels them."""
    file, page = page_of(name)
    return {
        "files": {"source": f"/srv/island/{name}"},
        "pages": {"source": f"/srv/island/{file}", "page": page - 1, "page_label": str(page), "total_pages": 7},
        "chunks": {"source": "island.txt", "chunk_id": chunk_of(name)},
        "ids": {},
    }[kind]


reports = {}
for kind, questions in TESTSETS.items():
    store = InMemoryVectorStore(Words())
    store.add_documents([Document(text, id=name, metadata=about(kind, name)) for name, text in documents.items()])
    retriever = store.as_retriever(search_kwargs={"k": 5})
    fetch = RunnableLambda(lambda asked, retriever=retriever: retriever.invoke(asked["input"]))
    systems = {
        "retriever": retriever,
        "store": store,
        "lambda": RunnableLambda(retriever.invoke),
        "parallel": RunnableParallel(context=retriever, question=RunnablePassthrough()).assign(answer=lambda _: "Yes."),
        "chain": RunnablePassthrough.assign(context=fetch).assign(answer=lambda asked: asked["context"][0].page_content),
        "message": RunnablePassthrough.assign(source_documents=fetch).assign(
            result=lambda _: AIMessage("Yes.", usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5})
        ),
        "scored": lambda question, k, store=store: store.similarity_search_with_score(question, k),
        "dumped": lambda question, retriever=retriever: [one.model_dump() for one in retriever.invoke(question)],
    }
    reports[kind] = karat.evaluate(questions, systems)
