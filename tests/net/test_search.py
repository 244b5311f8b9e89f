"""What rests on an index: search with every engine and fusion, sweep, test sets."""

import pytest

FUSIONS = {
    "weighted": "--alpha 0.3 --normalise minmax",
    "weighted_zscore": "--fusion weighted --normalise zscore",
    "weighted_none": "--fusion weighted --normalise none --alpha 0.9",
    "rrf": "--fusion rrf --rrf-k 20",
    "combsum": "--fusion combsum",
    "combmnz": "--fusion combmnz",
    "isr": "--fusion isr --depth 30",
}
COSINES = 1e-6  # vectors are float32, and processors differ in the order in which they sum
QUESTION = '"how long is the night watch?"'


@pytest.mark.parametrize("engine", ["bm25", "dense", "hybrid"])
def test_engines(net, index, engine):
    within = 1e-9 if engine == "bm25" else COSINES
    asking = f"search {index} --questions demo/questions.jsonl --engine {engine} -k 10 -o {engine}.run"
    net(f"search_{engine}", asking, [f"{engine}.run"], within=within)
    net(f"search_{engine}_one", f"search {index} {QUESTION} --engine {engine} --json", within=within)


@pytest.mark.parametrize("fusion", list(FUSIONS))
def test_fusions(net, index, fusion):
    net(f"search_{fusion}", f"search {index} {QUESTION} --engine hybrid {FUSIONS[fusion]} -k 8 --json", within=COSINES)


def test_rewriting(net, index):
    net("search_spell", f'search {index} "How do I report a gnerator fault?" --engine bm25 --rewrite spell --json')


def test_score_of_an_index(net, index):
    asking = f"search {index} --questions demo/questions.jsonl -k 20 -o hybrid.jsonl"
    net("search_questions", asking, ["hybrid.jsonl"], within=COSINES)
    net("score_index", f"score demo/questions.jsonl hybrid.jsonl -m Recall@5 -m MRR --index {index} --by kind --json")


def test_explain(net, index):
    net("explain", f"search {index} --questions demo/questions.jsonl --explain q017 --json", within=COSINES)
    options = "--engine bm25 -k 10 -m nDCG@10 --json"
    net("explain_bm25", f"search {index} --questions demo/questions.jsonl --explain q017 {options}")


def test_check(net, index):
    net("check", f"testset check demo/questions.jsonl {index} --json")
    net("check_alone", "testset check qa.jsonl -v -o check.md", ["check.md"])


def test_sweep(net, index):
    options = "--alpha 0,0.5,1 -k 3,5 --fusion weighted,rrf --normalise max,zscore --rrf-k 20,60 --depth 30"
    net("sweep", f"sweep demo/questions.jsonl {index} {options} --engines bm25 --json")
    net("sweep_to_csv", f"sweep demo/questions.jsonl {index} --alpha 0,1 -k 5 --main nDCG@10 -o g.csv", ["g.csv"])


def test_generate(net, index):
    net(
        "generate", f"testset make {index} --samples 12 --offline -o made.jsonl --json", ["made.jsonl"], every_text=True
    )
    net("generate_check", f"testset check made.jsonl {index} --json")
    net("review", "testset review made.jsonl demo.index -o review.csv --json", ["review.csv"])
    net("freeze", "testset freeze made.jsonl --version 1.0 -o frozen.jsonl --json")
