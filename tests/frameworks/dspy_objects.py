"""DSPy: retrievers and modules. Their passages are texts without names: `hits` names them, or the module itself."""

import dspy
import numpy as np
from identities import QUOTED, TESTSETS, chunk_of, page_of
from island import documents, embed

import karat

names = list(documents)
retriever = dspy.retrievers.Embeddings(list(documents.values()), lambda texts: np.array(embed(texts)), k=5)
NAMED = {
    "files": lambda name: {"doc": name},
    "pages": lambda name: dict(zip(("doc", "page"), page_of(name), strict=True)),
    "chunks": lambda name: {"chunk": chunk_of(name)},
    "ids": lambda name: name,
}


class Rag(dspy.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, question):
        found = retriever(question)
        hits = [NAMED[self.kind](names[place]) for place in found.indices]
        return dspy.Prediction(retrieved=hits, context=found.passages, answer=found.passages[0])


reports = {
    kind: karat.evaluate(
        questions,
        {
            "retriever": karat.system(
                retriever, hits=lambda found, kind=kind: [NAMED[kind](names[place]) for place in found.indices]
            ),
            "module": Rag(kind),
        },
    )
    for kind, questions in TESTSETS.items()
}
reports["quotes"] = karat.evaluate(QUOTED, retriever)  # texts are enough where gold is quoted


class Broken(dspy.Module):
    def forward(self, question):
        raise ConnectionError("the store is away")


class Silent(dspy.Module):
    def forward(self, question):
        return None


broken = {
    "ConnectionError: the store is away": [Broken()],
    "returned None": [Silent()],
    "AttributeError": [karat.system(retriever, hits=lambda found: found.nowhere)],
}
