"""Each dialect on an input of its kind, and files turned into others and back."""

import csv
import json
import os
import re

import pytest

from karat.measures.dialects import DIALECTS

UUIDS = [f"<urn:uuid:{n:08d}-0000-4000-8000-000000000000>" for n in range(4)]
HEALTH = [{"query": "fever?", "relevant_docs": ["34", "35"], "query_type": "fact"}]
PAGES = [
    {
        "id": "1",
        "question": "fever?",
        "retrieved": [{"id": f"c{i}", "page": p} for i, p in enumerate(["34", "34", "78", "35", "102"])],
    }
]


def means(told):
    return {s["measure"]: s["mean"] for s in json.loads(told.out)["summaries"] if s["slice"] is None}


def inputs(name, put):
    """A test set and results such as the users of a dialect have."""
    if name == "liverag":
        put("refs.tsv", f"qid\tquestion\tanswer\tcontext\tdocument_ids\n1\twhat?\tx\t[]\t{json.dumps(UUIDS[:2])}\n")
        hits = json.dumps([f"doc-{UUIDS[0]}::chunk-0", f"doc-{UUIDS[0]}::chunk-1", f"doc-{UUIDS[3]}::chunk-0"])
        put("results.tsv", f"qid\tquestion\tanswer\tcontext\tdoc_ids\n1\twhat?\ty\t[]\t{hits}\n")
        return "refs.tsv", "results.tsv"
    if name == "hybrid-rag":
        rows = [{"question_id": "1", "question": "?", "ground_truth": "two years", "source_url": "https://A.org/x/"}]
        put("qa.json", {"metadata": {}, "questions": rows})
        hits = [{"id": "c1", "url": "https://b.org"}, {"id": "c2", "url": "http://a.org/x#part"}]
        put("r.jsonl", [{"id": "1", "retrieved": hits, "answer": "years years two"}])
        return "qa.json", "r.jsonl"
    if name == "healthcare":
        put("qa.json", json.dumps(HEALTH))
        put("r.jsonl", PAGES)
        return "qa.json", "r.jsonl"
    return "qa.jsonl", "answers.jsonl"


EXPECTED = {
    "karat": {"Recall@5": (1 + 0.5 + 1) / 3, "EM": 1 / 3},
    "squad": {"Recall@5": (1 + 0.5 + 1) / 3, "EM(norm=squad)": 1 / 3},
    "trec": {"Recall@5": (1 + 0.5 + 1) / 3},
    "hybrid-rag": {"MRR": 0.5, "Recall@10": 1.0, "TokenF1(bag=set, norm=hybrid-rag)": 1.0},
    "liverag": {"Recall": 0.5, "Precision": 0.5, "nDCG(ideal=retrieved)@10": 1.0, "Retrieved": 2, "Gold": 2,
                "AnyGold": 1, "AllGold": 0},
    "rag-benchmark": {"Hit@5": 1.0, "MRR@5": 1.0},
    "momento": {"Recall@5": (1 + 0.5 + 1) / 3, "AQWV(beta=40, fa=retrieved)": (1 + 0.5 + 1) / 3,
                "nDCG(gain=binary)@1": 1.0},
    "healthcare": {"Precision@5": 0.6, "Recall@5": 1.0, "MRR": 1.0, "Hit@5": 1.0},
    "crag": {"CRAG(unanswerable=missing)": (1 + 1 + 0) / 3, "EM": 1 / 3},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(EXPECTED))
def test_a_dialect_scores_and_says_what_it_does_differently(name, files, put, karat):
    pair = inputs(name, put)
    told = karat("score", *pair, "--dialect", name, "--json")
    assert told.code == 0, told.err
    found = means(told)
    for measure, value in EXPECTED[name].items():
        assert found[measure] == pytest.approx(value), measure
    shown = re.sub(r"\s+", " ", karat("score", *pair, "--dialect", name).out)
    for sentence in DIALECTS[name].differs:
        assert shown.count(sentence) == 1
    for left_out in DIALECTS[name].left_out(("embedder",)):
        assert left_out in shown


def test_a_dialect_of_claims_asks_for_them(files, put, karat):
    told = karat("score", *inputs("ragchecker", put), "--dialect", "ragchecker")
    assert told.code == 2
    assert "ClaimPrecision(empty=zero) needs claims and their verdicts. Name a claims file with --claims" in told.err


def test_recall_of_rag_benchmark_is_printed_under_its_name_here(files, karat):
    for spelling in ("Recall@5", "recall_at_5", "R@5"):
        told = karat("score", "qa.jsonl", "bm25.run", "--dialect", "rag-benchmark", "-m", spelling, "--json")
        assert means(told) == {"Hit@5": 1.0}


def test_liverag_exports_its_tables(put, karat):
    told = karat("score", *inputs("liverag", put), "--dialect", "liverag", "--export", "liverag", "-o", "out/")
    assert told.code == 0, told.err
    made = sorted(n for n in os.listdir("out") if n.endswith(".tsv"))
    assert [re.sub(r"eval\d{8}\.", "eval.", n) for n in made] == [
        "results.eval.karat.aggregated.tsv",
        "results.eval.karat.rows.tsv",
    ]
    tables = []
    for name in made:
        with open(f"out/{name}", encoding="utf-8", newline="") as file:
            tables.append(list(csv.DictReader(file, delimiter="\t")))
    ((total,), (row,)) = tables
    assert float(total["avg_context_recall"]) == float(row["context_recall"]) == 0.5
    assert float(row["context_precision"]) == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("target", ["out.jsonl", "out.run", "out.tsv"])
def test_results_come_back_as_they_were(files, karat, target):
    there = karat("convert", "bm25.run", target)
    assert there.code == 0, there.err
    assert f"wrote {target} as" in there.out
    one = karat("score", "qa.jsonl", "bm25.run", "-m", "MRR, nDCG@10, Recall@{1,5}", "--json")
    two = karat("score", "qa.jsonl", target, "-m", "MRR, nDCG@10, Recall@{1,5}", "--json")
    assert two.code == 0, two.err
    assert means(one) == means(two)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["out.jsonl"], ["out.txt", "--to", "trec_qrels"], ["beir", "--to", "beir"]])
def test_a_test_set_comes_back_as_it_was(files, karat, words):
    assert karat("convert", "qa.jsonl", *words).code == 0
    one = karat("score", "qa.jsonl", "bm25.run", "-m", "nDCG@10, Recall(rel=2)@5", "--json")
    two = karat("score", words[0], "bm25.run", "-m", "nDCG@10, Recall(rel=2)@5", "--json")
    assert two.code == 0, two.err
    assert means(one) == means(two)


def test_a_conversion_says_what_it_loses_and_what_it_cannot(files, karat):
    told = karat("convert", "answers.jsonl", "out.run")
    assert told.code == 0
    assert "lost: answers" in told.err
    assert karat("convert", "answers.jsonl", "quiet.run", "-q").out == ""
    told = karat("convert", "bm25.run", "out.unknown")
    assert (told.code, "--to" in told.sentence) == (2, True)
    assert not os.path.exists("out.unknown")


def test_gz_and_map(files, put, karat):
    put("q.csv", "nr,frage,quelle\n1,wie?,d1\n2,was?,d2\n")
    put("packed.run.gz", "1 Q0 d1 1 3.0 t\n2 Q0 d9 1 3.0 t\n")
    maps = [w for pair in ("nr=id", "frage=question", "quelle=gold_id") for w in ("--map", pair)]
    told = karat("score", "q.csv", "packed.run.gz", *maps, "-m", "Hit@1", "--json")
    assert told.code == 0, told.err
    assert means(told) == {"Hit@1": 0.5}
