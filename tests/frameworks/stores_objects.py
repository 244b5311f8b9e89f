"""Chroma and Qdrant: what their clients reply, over files, pages, chunk ids and ids."""

import uuid

import chromadb
from identities import TESTSETS, chunk_of, page_of
from island import documents, embed, embed_one
from qdrant_client import QdrantClient, models

import karat

names, vectors = list(documents), embed(documents.values())


def about(kind, name):
    file, page = page_of(name)
    return {
        "files": {"file_name": name},
        "pages": {"source": file, "page_number": page},
        "chunks": {"source": "island.txt", "chunk_id": chunk_of(name)},
        "ids": {"title": name},
    }[kind]


reports = {}
chroma, qdrant = chromadb.EphemeralClient(), QdrantClient(":memory:")
for kind, questions in TESTSETS.items():
    told = [about(kind, name) for name in names]
    collection = chroma.create_collection(kind)
    collection.add(ids=names, embeddings=vectors, metadatas=told, documents=list(documents.values()))
    systems = {
        "chroma": lambda text, k, one=collection: one.query([embed_one(text)], n_results=k),
        "chroma, documents left out": lambda text, k, one=collection: one.query(
            [embed_one(text)], n_results=k, include=["metadatas", "distances"]
        ),
    }
    if kind != "ids":  # Qdrant's ids are numbers and UUIDs
        qdrant.create_collection(kind, models.VectorParams(size=256, distance=models.Distance.COSINE))
        qdrant.upload_collection(kind, vectors, told, ids=[str(uuid.uuid4()) for _ in names])
        systems |= {
            "qdrant": lambda text, k, kind=kind: qdrant.query_points(kind, embed_one(text), limit=k),
            "qdrant points": lambda text, k, kind=kind: qdrant.query_points(kind, embed_one(text), limit=k).points,
            "qdrant dumped": lambda text, k, kind=kind: qdrant.query_points(
                kind, embed_one(text), limit=k
            ).model_dump(),
        }
    reports[kind] = karat.evaluate(questions, systems)

broken = {
    "does not exist": [lambda text, k: chroma.get_collection("nowhere").query([embed_one(text)])],
    "not found": [lambda text, k: qdrant.query_points("nowhere", embed_one(text), limit=k)],
}
