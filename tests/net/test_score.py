"""karat score: every dialect, every measure that needs no model, and every form of output."""

import pytest

ANSWERS = """
    Recall@800t AnswerRelevance BLEU chrF CitationPrecision CitationRecall Completeness EM EntityCoverage
    HallucinationRate NumberSupport Refusal ROUGE-1 ROUGE-2 ROUGE-L SemanticSimilarity SentenceSupport SupportCoverage
    SupportDensity TokenF1 TokenF1(bag=set) TokenF1(norm=squad) UnsupportedTrigrams Faithfulness(by=heuristic)
    Correctness(by=heuristic) ContextRelevance(by=heuristic) Relevance(by=heuristic) Responsiveness(by=heuristic)
"""
RANKING = """
    AllGold AnyGold AQWV@10 AQWV(fa=retrieved) bpref Correct F1@5 GMAP Gold Hit@1 infAP IPrec@{0.1,0.5} MAP MRR@5
    nDCG@10 nDCG(condensed)@10 P(rel=2)@5 Precision@{1,3} Recall@{1,3} RBP(p=.5) Retrieved Rprec 11pt_avg set_F
    nDCG(ideal=retrieved)@10 nDCG(gain=binary)@5 MRR
"""


def measures(names):
    return " ".join(f"-m '{name}'" for name in names.split())


@pytest.mark.parametrize("dialect", ["karat", "trec", "rag-benchmark", "momento", "squad"])
def test_dialects(net, dialect):
    net(f"score_{dialect}", f"score qa.jsonl bm25.run rag.jsonl --dialect {dialect} --collection 100 --json")


def test_ranking_measures(net):
    net("score_ranking", f"score qa.jsonl bm25.run rag.jsonl {measures(RANKING)} --collection 100 --by kind --json")


def test_answer_measures(net):
    net("score_answers", f"score qa.jsonl rag.jsonl {measures(ANSWERS)} --json")


def test_a_measure_of_ones_own(net):
    net("score_own_measure", "score qa.jsonl rag.jsonl -m my_measures:politeness --json")


def test_healthcare(net):
    net("score_healthcare", "score pages.csv pages.csv --dialect healthcare -o health.csv --json", ["health.csv"])


def test_options(net):
    line = "score qa.jsonl bm25.run -m 'Recall@k' -m MRR -k 7 --rel 2 --ties double --repeats count --missing skip"
    net("score_options", f"{line} --json")


def test_bands(net):
    net("score_bands", "score qa.jsonl rag.jsonl --bands --missing zero -v")


def test_a_folder_of_outputs(net):
    net("score_outputs", "score qa.jsonl bm25.run rag.jsonl -o out --export trec --export liverag --by kind",
        wrote=["out/*.csv", "out/*.parquet", "out/results.json", "out/report.md", "out/*.trec"])  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "json", "md", "tex", "txt", "parquet"])
def test_a_file_of_output(net, ending):
    net(f"score_to_{ending}", f"score qa.jsonl bm25.run rag.jsonl -m MRR -m TokenF1 -o to.{ending}", [f"to.{ending}"])


def test_refusals(net):
    net("score_zero_overlap", "score qa.jsonl pages.csv --json")
    net("score_unknown_measure", "score qa.jsonl bm25.run -m nDGC@10")
    net("score_no_such_file", "score qa.jsonl none.run")


def test_measures(net):
    net("measures", "measures --json")
    net("measures_one", "measures 'nDCG@10' --json")
