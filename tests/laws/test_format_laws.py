"""Formats say the same: gold and hits are read alike from every format that can carry them."""

import csv
import io
import json

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.files import as_runs, as_testset

WORDS = st.text("abcdefghij .-", min_size=1, max_size=12).map(str.strip).filter(
    lambda text: text and text.lower() not in ("-", "na") and text[0].isalpha()
)  # fmt: skip
ENTRY = st.fixed_dictionaries(
    {"doc": WORDS.map(lambda w: f"{w}.pdf")},
    optional={"page": st.integers(1, 400).map(str), "quote": WORDS, "url": WORDS.map(lambda w: f"http://e.org/{w}")},
)
ENTRIES = st.lists(ENTRY, min_size=1, max_size=3).filter(lambda found: len({tuple(sorted(e)) for e in found}) == 1)


def flat(rows):
    """One row a question with a column for each field: single values plain, several as lists of equal length."""
    fields = [name for name in ("doc", "page", "quote", "url") if any(name in e for row in rows for e in row)]
    return [
        {"id": f"q{number}", "question": f"What {number}?"}
        | {f"gold_{name}": _cell([entry.get(name) for entry in entries]) for name in fields}
        for number, entries in enumerate(rows, 1)
    ]


def _cell(values):
    if values[0] is None:
        return None
    return values if len(values) > 1 else values[0]


def table(rows, delimiter):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(rows[0])
    for row in rows:
        cells = ["" if cell is None else json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()]
        writer.writerow(cells)
    return text.getvalue()


def as_lists(rows):
    return [{k: v if v is None or k in ("id", "question") else v if isinstance(v, list) else [v] for k, v in r.items()}
            for r in rows]  # fmt: skip


def forms(rows, folder):
    """The same rows in every form that is read."""
    (folder / "a.csv").write_text(table(rows, ","), encoding="utf-8")
    (folder / "a.tsv").write_text(table(rows, "\t"), encoding="utf-8")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "a.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    frame = pl.DataFrame(as_lists(rows), infer_schema_length=None)
    frame.write_parquet(folder / "a.parquet")
    yield from (folder / f"a.{ending}" for ending in ("csv", "tsv", "jsonl", "json", "parquet"))
    yield rows
    yield frame
    yield pd.DataFrame(rows)


@pytest.mark.slow
@given(st.lists(ENTRIES, min_size=1, max_size=4))
def test_the_same_gold_is_the_same_test_set_in_every_format(tmp_path_factory, rows):
    written = [{"id": r["id"], "question": r["question"], "gold": e} for r, e in zip(flat(rows), rows, strict=True)]
    expected = as_testset(written)[0]
    for form in forms(flat(rows), tmp_path_factory.mktemp("law")):
        read = as_testset(form)[0]
        assert read.questions == expected.questions
        assert read.digest == expected.digest


HIT = st.fixed_dictionaries(
    {"doc": WORDS.map(lambda w: f"{w}.pdf"), "page": st.integers(1, 400), "text": WORDS, "score": st.integers(1, 99)}
)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "langchain", "table", "csv"])
@given(hits=st.lists(HIT, min_size=1, max_size=5, unique_by=(lambda h: h["doc"], lambda h: h["score"])))
def test_the_same_hits_are_the_same_columns_in_every_format(tmp_path_factory, form, hits):
    hits = sorted(hits, key=lambda hit: -hit["score"])
    rows = [{"id": f"c{n}", **hit} for n, hit in enumerate(hits)]
    (expected,), _ = as_runs([{"id": "q", "retrieved": rows}])
    folder = tmp_path_factory.mktemp("law")
    given_ = {
        "jsonl": lambda: _written(folder / "r.jsonl", json.dumps({"id": "q", "retrieved": rows}) + "\n"),
        "langchain": lambda: [{"id": "q", "retrieved": [_langchain(row) for row in rows]}],
        "table": lambda: pl.DataFrame([_row(row) for row in rows]),
        "csv": lambda: _written(folder / "r.csv", pl.DataFrame([_row(row) for row in rows]).write_csv()),
    }[form]()
    (run,), _ = as_runs(given_)
    assert (run.question_ids, run.doc_list) == (expected.question_ids, expected.doc_list)
    assert run.scores.tolist() == expected.scores.tolist()
    carried = ("page", "text") if form in ("table", "csv") else ("doc", "page", "text")
    assert {name: list(run.fields[name]) for name in carried} == {name: expected.fields[name] for name in carried}
    scored = as_runs({"q": {row["id"]: row["score"] for row in rows}})[0][0]
    assert (scored.doc_list, scored.scores.tolist()) == (run.doc_list, run.scores.tolist())


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def _langchain(row):
    meta = {"source": row["doc"], "page": row["page"] - 1}
    return {"id": row["id"], "score": row["score"], "page_content": row["text"], "metadata": meta}


def _row(row):
    return {"query": "q", "chunk_id": row["id"], "score": row["score"], "page": row["page"], "text": row["text"]}
