"""The same gold and the same hits, whatever they come from, give the same scores."""

import csv
import json

import polars as pl
import pytest

import karat

PAGES = {
    ("pump.pdf", 1): "The pump of the harbour runs at four bar and is checked on Monday by the keeper.",
    ("pump.pdf", 2): "The reserve tank holds oil for a week of storm and is filled before winter begins.",
    ("pump.pdf", 3): "A blocked valve is opened with the long spanner that hangs beside the door.",
    ("pier.pdf", 1): "Lamps on the pier are green when the harbour is open and red when it is closed.",
    ("pier.pdf", 2): "Ropes are coiled to the left and dried in the loft before they are stored.",
    ("rules.md", None): "Nobody sails after dusk without the word of the keeper or of the mate.",
    ("food.md", None): "Bread is baked on Friday and shared by all who stand the night watch.",
}
GOLD = (
    ("At how many bar does the pump run?", "pump.pdf", "1", "runs at four bar"),
    ("How long does the oil last in a storm?", "pump.pdf", "2", None),
    ("Who may sail after dusk?", "rules.md", None, None),
    ("What colour is the lamp when the harbour is closed?", "pier.pdf", "1", "red when it is closed"),
    ("When is bread baked?", "food.md", None, "baked on Friday"),
    ("Where do the ropes of the pump hang?", "pump.pdf", "3", None),
)
FIELDS = ("question", "doc", "page", "quote")
ROWS = [{"id": f"q{i}", **dict(zip(FIELDS, row, strict=True))} for i, row in enumerate(GOLD)]
MEASURES = ["Recall@1", "Recall@5", "MRR", "nDCG@5"]
SEARCH = """
import json
import pathlib
LISTS = json.loads(pathlib.Path("hits.json").read_text())
def search(question, k):
    return LISTS[question][:k]
"""


def gold_of(row):
    return {name: row[name] for name in ("doc", "page", "quote") if row[name] is not None}


def page_from_0(chunk):
    return chunk.pages[0] - 1 if chunk.pages else None


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("corpus.jsonl", "w") as file:
        for number, ((doc, page), text) in enumerate(PAGES.items()):
            row = {"id": f"c{number}", "doc_id": doc, "text": text} | ({} if page is None else {"page_number": page})
            file.write(json.dumps(row) + "\n")
    with open("gold.jsonl", "w") as file:
        for row in ROWS:
            file.write(json.dumps({"id": row["id"], "question": row["question"], "gold": [gold_of(row)]}) + "\n")
    return tmp_path


def means(report, system):
    return [report.mean(measure, system=system) for measure in MEASURES]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "records", "frame", "pandas"])
def test_the_same_gold_in_any_form(corpus, form):
    hits = {
        row["id"]: [
            {"id": f"h{i}", "doc": doc, "page": page, "text": text}
            for i, ((doc, page), text) in enumerate(PAGES.items())
        ]
        for row in ROWS
    }
    results = [{"id": qid, "retrieved": found} for qid, found in hits.items()]
    expected = means(karat.score("gold.jsonl", results, measures=MEASURES), "results")
    columns = {"id": "id", "question": "question", "gold_doc": "doc", "gold_page": "page", "gold_quote": "quote"}
    flat = [{name: row[field] for name, field in columns.items()} for row in ROWS]
    frame = pl.DataFrame(flat)
    if form in ("csv", "tsv"):
        with open(f"gold.{form}", "w", newline="") as file:
            writer = csv.DictWriter(file, list(columns), delimiter="," if form == "csv" else "\t")
            writer.writeheader()
            writer.writerows(flat)
    elif form == "parquet":
        frame.write_parquet("gold.parquet")
    given = {"records": flat, "frame": frame, "pandas": frame.to_pandas()}.get(form, f"gold.{form}")
    assert means(karat.score(given, results, measures=MEASURES), "results") == expected
    assert 0 < expected[2] < 1


@pytest.mark.slow
def test_the_same_hits_from_any_source(corpus):
    index = karat.index("corpus.jsonl", "corpus.index", engines=["bm25"])
    hits = {row["question"]: list(index.search(row["question"], k=5, engine="bm25")) for row in ROWS}
    chunks = {question: [chunk for _, chunk in found] for question, found in hits.items()}
    plain = {
        question: [{"id": f"other-{c.id}", "doc": c.doc, "page": list(c.pages) or None, "text": c.text} for c in found]
        for question, found in chunks.items()
    }
    dumped = {
        question: [
            {"page_content": c.text, "metadata": {"source": f"data/{c.doc}", "page": page_from_0(c)}} for c in found
        ]
        for question, found in chunks.items()
    }  # fmt: skip
    for name, lists in (("plain", plain), ("langchain", dumped)):
        with open(f"{name}.jsonl", "w") as file:
            for row in ROWS:
                file.write(json.dumps({"id": row["id"], "retrieved": lists[row["question"]]}) + "\n")
    (corpus / "hits.json").write_text(json.dumps(plain))
    (corpus / "my_search.py").write_text(SEARCH)
    (corpus / "karat.yaml").write_text(
        "corpus: corpus.jsonl\ntestset: gold.jsonl\nmeasures: [Recall@1, Recall@5, MRR, nDCG@5]\n"
        "systems:\n  - {name: own, engine: bm25}\n  - {name: file, results: plain.jsonl}\n"
        "  - {name: dump, results: langchain.jsonl}\n  - {name: function, call: 'my_search:search'}\n"
        "outputs: [json]\n"
    )
    run = karat.run("karat.yaml")
    expected = means(run, "own")
    assert 0 < expected[0] < 1
    assert {name: means(run, name) for name in ("file", "dump", "function")} == dict.fromkeys(
        ("file", "dump", "function"), expected
    )
    ids = {row["id"]: [c.id for c in chunks[row["question"]]] for row in ROWS}
    alone = {"file": "plain.jsonl", "dump": "langchain.jsonl"}
    assert {
        name: means(karat.score("gold.jsonl", path, measures=MEASURES), path.removesuffix(".jsonl"))
        for name, path in alone.items()
    } == dict.fromkeys(alone, expected)
    assert means(karat.score("gold.jsonl", {"ids": ids}, measures=MEASURES, index=index), "ids") == expected
