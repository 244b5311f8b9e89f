"""LangChain and LangGraph: retrievers, stores, chains, graphs, agents; files, pages from 0, chunk ids, ids."""

from identities import TESTSETS, chunk_of, page_of
from island import documents, embed, embed_one
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.graph import START, MessagesState, StateGraph
from openinference.instrumentation.langchain import LangChainInstrumentor
from tracing import traced
from typing_extensions import TypedDict

import karat


class Words(Embeddings):
    embed_documents = staticmethod(embed)
    embed_query = staticmethod(embed_one)


class State(TypedDict):
    question: str
    context: list[Document]
    answer: str


def graph_of(schema, node):
    graph = StateGraph(schema)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile()


def agent_of(retriever):
    def say(state):
        found = retriever.invoke(state["messages"][-1].content)
        tool = ToolMessage("five documents", tool_call_id="1", artifact=found)
        return {"messages": [tool, AIMessage([{"type": "text", "text": "Yes."}])]}

    return graph_of(MessagesState, say)


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
        "chain": RunnablePassthrough.assign(context=fetch).assign(
            answer=lambda asked: asked["context"][0].page_content
        ),
        "message": RunnablePassthrough.assign(source_documents=fetch).assign(
            result=lambda _: AIMessage(
                "Yes.", usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
            )
        ),
        "graph": graph_of(
            State, lambda state, retriever=retriever: {"context": retriever.invoke(state["question"]), "answer": "Yes."}
        ),
        "agent": agent_of(retriever),
        "scored": lambda question, k, store=store: store.similarity_search_with_score(question, k),
        "dumped": lambda question, retriever=retriever: [one.model_dump() for one in retriever.invoke(question)],
    }
    reports[kind] = karat.evaluate(questions, systems)
    if kind != "ids":  # which are not recorded
        asked = {
            "retriever": retriever.invoke,
            "parallel": systems["parallel"].invoke,
            "chain": lambda text, chain=systems["chain"]: chain.invoke({"input": text}),
            "graph": lambda text, graph=systems["graph"]: graph.invoke({"question": text}),
        }
        traces = {name: traced(LangChainInstrumentor(), ask, questions, name) for name, ask in asked.items()}
        matching = (
            {"page_offset": 1} if kind == "pages" else None
        )  # as the report says: nothing records what counts from 0
        reports[f"traces of {kind}"] = karat.evaluate(questions, traces, matching=matching)


class Broken(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise ConnectionError("the store is away")


class Silent(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return None


def lost(state):
    raise ConnectionError("the store is away")


broken = {
    "ConnectionError: the store is away": [Broken(), RunnableLambda(lost), graph_of(State, lost)],
    "returned None": [Silent(), RunnableLambda(lambda text: None)],
}
