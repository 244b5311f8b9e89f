"""Clean tables of many shapes, from rankings that are drawn by a seed and scored without karat."""

import csv
import io
import json
import math
import random
import statistics

KINDS = ("factual", "multi hop", "yes/no", "steps")
SPELLINGS = (
    ("P@{k}", "R@{k}", "F1@{k}", "Hit@{k}", "MRR@{k}", "nDCG@{k}"),
    ("precision_at_{k}", "recall_at_{k}", "f1_at_{k}", "hit_rate_at_{k}", "mrr_at_{k}", "ndcg_at_{k}"),
    ("Precision@{k}", "Recall@{k}", "F1 Score@{k}", "Hit Rate@{k}", "RR@{k}", "ndcg@{k}"),
    ("avg_precision@{k}", "avg_recall@{k}", "avg_f1@{k}", "avg_success@{k}", "avg_mrr@{k}", "avg_ndcg@{k}"),
)
BARE = ("precision", "recall", "f1", "hit_rate", "mrr", "ndcg")
LITERAL = ("precision_at_k", "recall_at_k", "f1_score", "hit_rate_at_k", "mrr_at_k", "ndcg_at_k")


def scored(ranked, gold, k):
    """Precision, recall, F1, hit, reciprocal rank and nDCG at k."""
    top = [doc in gold for doc in ranked[:k]]
    p, r = sum(top) / k, sum(top) / len(gold)
    gain = sum(hit / math.log2(i + 2) for i, hit in enumerate(top))
    ideal = sum(1 / math.log2(i + 2) for i in range(min(k, len(gold))))
    f1 = 2 * p * r / (p + r) if p + r else 0.0
    return p, r, f1, float(any(top)), next((1 / (i + 1) for i, hit in enumerate(top) if hit), 0.0), gain / ideal


class Drawn:
    """Rankings of a few systems over some questions, and how a table of them is written."""

    def __init__(self, seed):
        rng = self.rng = random.Random(f"clean {seed}")
        self.systems = rng.sample(("dense", "bm25", "hybrid rrf", "e5-large", "colbert", "splade"), rng.randint(1, 4))
        self.cuts = sorted(rng.sample((1, 2, 3, 5, 7, 10, 15), rng.randint(1, 3)))
        self.digits, self.percent = rng.choice((2, 3, 4)), rng.random() < 0.3
        self.n, self.spelling = rng.randint(12, 140), rng.choice(SPELLINGS)
        self.kinds = [KINDS[q % rng.randint(2, 4)] for q in range(self.n)]
        docs = [f"d{i}" for i in range(40)]
        self.gold = [rng.sample(docs, rng.choice((1, 1, 2, 3, 6))) for _ in range(self.n)]
        self.ranked = {}
        for system in self.systems:
            skill = rng.uniform(0.05, 0.5)
            self.ranked[system] = [
                sorted(docs, key=lambda doc: rng.random() - (skill if doc in gold else 0))[:15] for gold in self.gold
            ]

    def values(self, system, k, kind=None):
        """Six lists of values, one a question."""
        rows = [scored(self.ranked[system][q], self.gold[q], k) for q in range(self.n) if kind in (None, self.kinds[q])]
        return list(zip(*rows, strict=True))

    def count(self, kind=None):
        return sum(kind in (None, own) for own in self.kinds)

    def text(self, value):
        scale, digits = (100, max(0, self.digits - 2)) if self.percent else (1, self.digits)
        return f"{scale * value:.{digits}f}" + ("%" if self.percent and self.digits == 3 else "")

    def mean(self, values):
        return self.text(statistics.fmean(values))

    def wide(self, kind=None, spelling=None, cuts=None):
        """A row a system."""
        for system in self.systems:
            yield (
                system,
                {
                    name.format(k=k): self.mean(values)
                    for k in cuts or self.cuts
                    for name, values in zip(spelling or self.spelling, self.values(system, k, kind), strict=True)
                },
            )


def as_csv(rows, delimiter=","):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_markdown(rows):
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([str(row[head]) for head in heads] for row in rows)]
    return "## Results\n\n" + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def wide_table(drawn):
    rows = [{"Model": s, **row, "n": drawn.n} for s, row in drawn.wide()]
    return [("table.tsv", as_csv(rows, "\t")), ("table.md", as_markdown(rows))][drawn.n % 2], {}


def with_settings(drawn):
    rows = [{"system": s, "n_queries": 8, "temperature": 0.7, **row} for s, row in drawn.wide()]
    return ("settings.csv", as_csv(rows)), {"n": drawn.n}


def with_spread(drawn):
    rows = []
    for system in drawn.systems:
        row = {"method": system}
        for k in drawn.cuts:
            for name, values in zip(SPELLINGS[0], drawn.values(system, k), strict=True):
                name = name.format(k=k)
                row |= {name: drawn.mean(values), f"{name} std": drawn.text(statistics.stdev(values)),
                        f"{name} min": drawn.text(min(values)), f"{name} max": drawn.text(max(values))}  # fmt: skip
        rows.append(row)
    return ("spread.csv", as_csv(rows, ";")), {"n": drawn.n}


def long_table(drawn):
    rows = [
        {"retriever": s, "metric": name, "value": value, "num_queries": drawn.n}
        for s, row in drawn.wide() for name, value in row.items()
    ]  # fmt: skip
    return ("long.csv", as_csv(rows)), {}


def transposed(drawn):
    columns = dict(drawn.wide())
    names = list(next(iter(columns.values())))
    return ("report.md", as_markdown([{"Metric": n, **{s: row[n] for s, row in columns.items()}} for n in names])), {}


def by_kind(drawn):
    kinds = sorted(set(drawn.kinds))
    rows = [{"question_type": kind, "system": s, **row} for kind in kinds for s, row in drawn.wide(kind)]
    rows += [{"question_type": "All", "system": s, **row} for s, row in drawn.wide()]
    return ("kinds.csv", as_csv(rows)), {"n": drawn.n}


def by_cut(drawn):
    spelling = LITERAL if drawn.n % 2 else BARE
    rows = [
        {"config": s, "top_k": k, **row} for k in drawn.cuts for s, row in drawn.wide(spelling=spelling, cuts=[k])
    ]  # fmt: skip
    return ("cuts.csv", as_csv(rows)), {"k": 5}


def unknown_cut(drawn):
    spelling = LITERAL if drawn.n % 2 else BARE
    rows = [{"approach": s, **row} for s, row in drawn.wide(spelling=spelling, cuts=drawn.cuts[:1])]
    return ("bare.md", as_markdown(rows)), {}


def nested(drawn):
    document = {}
    for system, row in drawn.wide():
        kinds = {kind: {} for kind in sorted(set(drawn.kinds))}
        for kind in kinds:
            kinds[kind] = {name: float(v.rstrip("%")) for name, v in dict(drawn.wide(kind))[system].items()}
        overall = {name: float(v.rstrip("%")) for name, v in row.items()}
        document[system] = {"overall": overall, "by_question_type": kinds, "num_questions": drawn.n}
    return ("nested.json", json.dumps({"metadata": {"seed": 7}, "results": document})), {"n": drawn.n}


def statistics_first(drawn):
    document = {"mean": {}, "std": {}, "max": {}}
    for k in drawn.cuts:
        for name, values in zip(SPELLINGS[1], drawn.values(drawn.systems[0], k), strict=True):
            for statistic, of in (("mean", statistics.fmean), ("std", statistics.stdev), ("max", max)):
                document[statistic][name.format(k=k)] = round(of(values), drawn.digits)
    return ("statistics.json", json.dumps(document, indent=1)), {"n": drawn.n}


def rows_and_aggregate(drawn):
    details, k = [], drawn.cuts[-1]
    for system in drawn.systems:
        for q in range(drawn.n):
            values = scored(drawn.ranked[system][q], drawn.gold[q], k)
            details.append({"system": system, "question_id": f"q{q}", "kind": drawn.kinds[q],
                            "retrieved_ids": drawn.ranked[system][q], "gold_ids": drawn.gold[q],
                            "metrics": {n.format(k=k): v for n, v in zip(SPELLINGS[0], values, strict=True)}}
            )  # fmt: skip
    drawn.percent = False
    aggregate = {s: {n: float(v) for n, v in row.items()} for s, row in drawn.wide(spelling=SPELLINGS[0], cuts=[k])}
    return ("eval.json", json.dumps({"aggregate": aggregate, "per_query": details})), {}


def total_of_systems(drawn):
    rows = [{"name": s, **row} for s, row in drawn.wide()]
    pooled = {
        name.format(k=k): drawn.mean([v for s in drawn.systems for v in drawn.values(s, k)[i]])
        for k in drawn.cuts
        for i, name in enumerate(drawn.spelling)
    }
    return ("total.tsv", as_csv([*rows, {"name": "Average", **pooled}], "\t")), {"n": drawn.n}


SHAPES = (
    wide_table, with_settings, with_spread, long_table, transposed, by_kind, by_cut, unknown_cut, nested,
    statistics_first, rows_and_aggregate, total_of_systems,
)  # fmt: skip
