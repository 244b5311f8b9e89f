"""karat index: every reader of documents and every chunker, and what is then found."""

import json

import pytest

CHUNKS = ["tokens:60:10", "sentences:80:1", "section", "section:50", "page", "whole"]
PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
}
QUESTION = '"how long is the night watch?"'


@pytest.fixture(scope="module")
def corpora(ground):
    """The passages in every form of records that is read."""
    folder = ground / "corpora"
    folder.mkdir()
    rows = [{"id": name, "title": name.title(), "text": text} for name, text in PASSAGES.items()]

    def put(name, text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    put("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    put("rows.csv", "id,title,text\n" + "".join(f'{r["id"]},{r["title"]},"{r["text"]}"\n' for r in rows))
    put("beir/corpus.jsonl", "".join(json.dumps({"_id": r["id"], "title": "", "text": r["text"]}) + "\n" for r in rows))
    put("beir/queries.jsonl", '{"_id": "q1", "text": "How long is the night watch?"}\n')
    put("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\twatch\t1\n")
    paragraphs = [{"context": r["text"], "qas": []} for r in rows]
    put("squad.json", json.dumps({"version": "v2.0", "data": [{"title": "Station", "paragraphs": paragraphs}]}))
    put("texts/a.txt", "\n\n".join(PASSAGES.values()))
    put("texts/b.md", "# Station\n\n" + "\n\n".join(f"## {r['title']}\n\n{r['text']}" for r in rows))
    put("texts/c.html", "<h1>Station</h1>" + "".join(f"<p>{r['text']}</p>" for r in rows) + "</body></html>")
    return folder


@pytest.mark.parametrize("form", ["rows.jsonl", "rows.csv", "beir", "squad.json", "texts"])
def test_readers(net, corpora, form):
    stem = form.partition(".")[0] + "_" + form.partition(".")[2] if "." in form else form
    net(f"index_{stem}", f"index corpora/{form} -o {stem}.index --engine bm25 --json")
    net(f"index_{stem}_search", f"search {stem}.index {QUESTION} --json")


@pytest.mark.parametrize("chunk", CHUNKS)
def test_chunkers(net, chunk):
    name = chunk.replace(":", "_")
    net(f"index_{name}", f"index demo/docs/guides demo/docs/site -o {name}.index --chunk {chunk} --engine bm25 --json")
    net(f"index_{name}_search", f"search {name}.index {QUESTION} --json")
