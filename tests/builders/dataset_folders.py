"""Datasets on disk, as `save_to_disk` and clones of dataset repositories lay them out, written by polars alone."""

import json

import polars as pl

QUERIES = [
    {"_id": "7", "text": "How long is the warranty?"},
    {"_id": "q 2", "text": "Which oil does the pump take?"},
    {"_id": "q3", "text": "Who mapped Ghent?"},
]
QRELS = [("7", "d1", 2), ("7", "d2", 0), ("q 2", "d2", 1), ("q 2", "10", 1)]
DOCS = [
    {"_id": "d1", "title": "Warranty", "text": "The warranty of the pump lasts two years."},
    {"_id": "d2", "title": "Oil", "text": "The pump takes oil of the grade SAE 30, changed every spring."},
    {"_id": "10", "title": "", "text": "Sanderus mapped Ghent. Oil was traded there."},
]


def judgements(rows=QRELS):
    return [{"query-id": query, "corpus-id": doc, "score": grade} for query, doc, grade in rows]


def saved(folder, rows, shards=1, split=None):
    """A dataset as `save_to_disk` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"data-{n:05}-of-{shards:05}.arrow" for n in range(shards)]
    size = -(-len(rows) // shards)
    for n, name in enumerate(names):
        pl.DataFrame(rows[n * size : (n + 1) * size]).write_ipc_stream(folder / name)
    state = {"_data_files": [{"filename": name} for name in names], "_format_type": None, "_split": split}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text('{"features": {}}')
    return folder


def saved_dict(folder, **splits):
    """A DatasetDict as `save_to_disk` leaves it."""
    for name, rows in splits.items():
        saved(folder / name, rows, split=name)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": list(splits)}))
    return folder


def parquet(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(path)


def jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def beir(folder, header=True, **splits):
    """A BEIR folder; without splits its judgements are those of test."""
    jsonl(folder / "corpus.jsonl", DOCS)
    jsonl(folder / "queries.jsonl", QUERIES)
    (folder / "qrels").mkdir()
    for split, rows in (splits or {"test": QRELS}).items():
        head = "query-id\tcorpus-id\tscore\n" if header else ""
        (folder / "qrels" / f"{split}.tsv").write_text(head + "".join(f"{q}\t{d}\t{g}\n" for q, d, g in rows))
    return folder


def mteb(folder, write=parquet, qrels="qrels"):
    """An MTEB folder, of Parquet or JSONL."""
    ending = "parquet" if write is parquet else "jsonl"
    write(folder / f"corpus/corpus-00000-of-00002.{ending}", DOCS[:2])
    write(folder / f"corpus/corpus-00001-of-00002.{ending}", DOCS[2:])
    write(folder / f"queries/queries-00000-of-00001.{ending}", QUERIES)
    write(folder / f"{qrels}/test-00000-of-00002.{ending}", judgements(QRELS[:1]))
    write(folder / f"{qrels}/test-00001-of-00002.{ending}", judgements(QRELS[1:]))
    write(folder / f"{qrels}/train-00000-of-00001.{ending}", judgements([("q3", "10", 1)]))
    (folder / "README.md").write_text("---\nconfigs: []\n---\n")
    return folder


def canonical(path):
    """The same questions in karat's own JSONL."""
    rows = []
    for query in QUERIES[:2]:
        gold = [{"id": doc, "grade": grade} for id_, doc, grade in QRELS if id_ == query["_id"]]
        rows.append({"id": query["_id"], "question": query["text"], "gold": gold})
    jsonl(path, rows)
    return path
