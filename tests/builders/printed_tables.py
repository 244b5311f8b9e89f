"""Rows and tables that are right, to be made wrong in one way at a time: seeded, and computed without karat."""

import csv
import math
import random
import statistics

K = 5
METRICS = ("precision_at_k", "recall_at_k", "f1_score", "mrr", "hit_rate_at_k", "ndcg_at_k")


def scored(pages, gold, k):
    """The metrics of the healthcare document: precision and nDCG credit every chunk of a page, recall a page once."""
    top = pages[:k]
    precision = sum(page in gold for page in top) / k
    recall = sum(page in top for page in gold) / len(gold)
    first = next((i for i, page in enumerate(pages, 1) if page in gold), None)
    gain = sum(1 / math.log2(i + 2) for i, page in enumerate(top) if page in gold)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(len(gold), k)))
    return {
        "precision_at_k": precision,
        "recall_at_k": recall,
        "f1_score": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "mrr": 1 / first if first else 0.0,
        "hit_rate_at_k": float(any(page in gold for page in top)),
        "ndcg_at_k": gain / ideal,
    }


def healthcare(seed=0, *, systems=("dense", "bm25"), questions=40, k=K, repeats=False, most_gold=3):
    """Rows as the healthcare evaluation writes them; without `repeats` no page stands twice in a list."""
    rng = random.Random(seed)
    rows = []
    golds = [[str(p) for p in rng.sample(range(1, 60), rng.randint(1, most_gold))] for _ in range(questions)]
    for alpha, system in enumerate(systems):
        for q in range(questions):
            others = [str(p) for p in range(1, 60) if str(p) not in golds[q]]
            pages = rng.sample(golds[q], rng.randint(0, len(golds[q]))) + rng.sample(others, k)
            pages = pages[:k]
            rng.shuffle(pages)
            again = [*pages[:-1], pages[0]]
            if repeats and scored(again, golds[q], k)["ndcg_at_k"] <= 1:
                pages = again
            rows.append(
                {"config_name": system, "alpha": alpha, "k": k, "query_id": q + 1, "query": f"what is {q}?",
                 "query_type": "fact" if q % 2 else "steps", **scored(pages, golds[q], k),
                 "retrieved_pages": repr(pages), "relevant_pages": repr(golds[q])}
            )  # fmt: skip
    return rows


def summary(rows, by="config_name", metrics=METRICS, digits=None, statistics_=("mean", "std"), n=True):
    """One row a system: mean and std of each metric, and the number of rows."""
    made = []
    for name in dict.fromkeys(row[by] for row in rows):
        own = [row for row in rows if row[by] == name]
        line = {by: name}
        for metric in metrics:
            values = [row[metric] for row in own if row[metric] is not None]
            for what in statistics_:
                value = statistics.fmean(values) if what == "mean" else statistics.stdev(values)
                line[f"{metric}_{what}"] = value if digits is None else f"{value:.{digits}f}"
        if n:
            line["n"] = len(own)
        made.append(line)
    return made


def hybrid_rag(seed=0, *, questions=40):
    """Rows that keep the first hit alone; gold is one address, or several as a list in one cell."""
    rng = random.Random(seed)
    words = ["the", "red", "door", "opens", "in", "a", "morning", "when", "keys", "turn", "twice"]
    rows = []
    for method in ("dense", "sparse"):
        for q in range(questions):
            gold = [f"https://example.org/{q}/{i}" for i in range(2 if q % 3 == 0 else 1)]
            rank = rng.choice([0, 1, 1, 2, 3, 7])
            answer, expected = rng.sample(words, 5), rng.sample(words, 4)
            common = len(set(answer) & set(expected))
            p, r = common / len(set(answer)), common / len(set(expected))
            rows.append(
                {"question": f"question {q}?", "method": method,
                 "expected_url": gold[0] if len(gold) == 1 else repr(gold),
                 "retrieved_top1_url": gold[0] if rank == 1 else "https://example.org/none",
                 "answer": " ".join(answer), "expected_answer": " ".join(expected),
                 "mrr": 1 / rank if rank else 0.0,
                 "recall@10": 0.0 if not rank else 1.0 if len(gold) == 1 else rng.choice([0.5, 1.0]),
                 "answer_f1": 2 * p * r / (p + r) if p + r else 0.0}
            )  # fmt: skip
    return rows


def judged(seed=0, *, questions=60, systems=("a", "b")):
    """Scores of a judge with two decimals, and its replies."""
    rng = random.Random(seed)
    return [
        {"system": system, "qid": f"q{q}", "faithfulness": round(rng.random(), 2), "reply": "ok", "error": ""}
        for system in systems
        for q in range(questions)
    ]


def write(path, rows):
    """Rows as CSV; a missing value is an empty cell."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    return path
