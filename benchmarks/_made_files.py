"""Made files of any size, written block by block: passages, questions with gold, results, test sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks._passages import word_list, zipf

_BLOCK = 50_000
_VOCABULARY = 200_000


def texts(count: int, words: int, seed: int = 3) -> Iterator[list[str]]:
    """Passages in blocks; each block follows from the seed and its number alone."""
    known = np.array(word_list(_VOCABULARY, np.random.default_rng(seed)), dtype=object)
    share = zipf(_VOCABULARY)
    for start in range(0, count, _BLOCK):
        rng = np.random.default_rng((seed, start))
        size = min(_BLOCK, count - start)
        sizes = np.maximum(5, rng.normal(words, words / 4, size).astype(int))
        tokens = known[rng.choice(_VOCABULARY, sizes.sum(), p=share)]
        yield [" ".join(text) for text in np.split(tokens, np.cumsum(sizes)[:-1])]


def write_passages(path: Path, count: int, words: int = 40) -> None:
    """Records with ids p00000000, p00000001 ..."""
    number = 0
    with path.open("w", encoding="utf-8") as out:
        for block in texts(count, words):
            for text in block:
                out.write(f'{{"id": "p{number:08}", "text": "{text}"}}\n')
                number += 1


def change_passages(path: Path, share: float) -> None:
    """Give so many of the records, one after another in the middle of the file, other texts."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    first, many = len(lines) // 2, int(len(lines) * share)
    for number in range(first, first + many):
        record = json.loads(lines[number])
        record["text"] = f"revised {record['text']}"
        lines[number] = json.dumps(record) + "\n"
    path.write_text("".join(lines), "utf-8")


def write_questions(path: Path, passages: Path, count: int, chunks: int, seed: int = 5) -> None:
    """Questions of five words of a passage and three others; gold is that passage and another."""
    rng = np.random.default_rng(seed)
    gold = np.sort(rng.integers(0, chunks, count))
    with passages.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        wanted = iter(enumerate(gold.tolist()))
        number, row = next(wanted, (None, None))
        for place, line in enumerate(lines):
            while place == row:
                words = json.loads(line)["text"].split()
                chosen = [words[i] for i in rng.integers(0, len(words), 5).tolist()]
                other = f"p{int(rng.integers(0, chunks)):08}"
                record = {
                    "id": f"q{number}",
                    "question": " ".join(chosen),
                    "gold": [{"id": f"p{row:08}"}, {"id": other}],
                }
                out.write(json.dumps(record) + "\n")
                number, row = next(wanted, (None, None))


def write_trec(folder: Path, rows: int, depth: int = 1000, seed: int = 7) -> None:
    """`run.trec` of so many lines and `qrels` of ten judgements a question."""
    rng = np.random.default_rng(seed)
    scores = [f"{1000 - i / 3:.4f}" for i in range(depth)]
    with (folder / "run.trec").open("w") as run, (folder / "qrels").open("w") as qrels:
        for question in range(rows // depth):
            docs = rng.permutation(4 * depth)[:depth].tolist()
            run.write("".join(f"q{question} Q0 d{d} {i} {scores[i]} made\n" for i, d in enumerate(docs)))
            judged = rng.choice(4 * depth, 10, replace=False).tolist()
            qrels.write(
                "".join(f"q{question} 0 d{d} {g}\n" for d, g in zip(judged, rng.integers(0, 3, 10), strict=True))
            )


def write_results(folder: Path, questions: int, depth: int = 10, seed: int = 9) -> None:
    """`qa.jsonl` with gold and references, `rag.jsonl` with hits that have ids, scores and texts, and answers."""
    rng = np.random.default_rng(seed)
    with (folder / "qa.jsonl").open("w") as qa, (folder / "rag.jsonl").open("w") as rag:
        for q in range(questions):
            docs = rng.integers(0, 100_000, depth).tolist()
            gold = [docs[int(rng.integers(0, depth))], int(rng.integers(0, 100_000))]
            qa.write(
                json.dumps({"id": f"q{q}", "question": f"what is {q}", "gold": [{"id": f"d{g}"} for g in gold]}) + "\n"
            )
            hits = [{"id": f"d{d}", "score": 1 - i / 100, "text": f"passage {d}"} for i, d in enumerate(docs)]
            rag.write(json.dumps({"id": f"q{q}", "hits": hits}) + "\n")


def write_testset(path: Path, count: int, seed: int = 11) -> None:
    """Questions of about ten words with a reference and gold."""
    number = 0
    with path.open("w", encoding="utf-8") as out:
        for block in texts(count, 10, seed):
            for text in block:
                record = {
                    "id": f"q{number}",
                    "question": f"{text}?",
                    "answer": text.split()[0],
                    "gold": [{"id": f"d{number}"}],
                }
                out.write(json.dumps(record) + "\n")
                number += 1
