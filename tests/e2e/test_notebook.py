"""karat in a notebook: text is text, a run is one line, and what a cell returns is a small table."""

import json
import os
import re
from html import unescape
from textwrap import dedent

import nbformat
import pytest
from nbclient import NotebookClient

HOSTILE = "<script>alert(1)</script>"
CELLS = {
    "score": f"""
        import karat
        report = karat.score(
            {{"q1": ["a"], "q2": ["c"]}},
            {{{HOSTILE!r}: {{"q1": ["b", "a"], "q2": ["c"]}}, "b": {{"q1": ["a"], "q2": ["c"]}}}},
            measures=["MRR", "Hit@1"],
        )""",
    "text": "report.save('report.txt'); print(len(str(report)))",
    "print": "print(report)",
    "shown": "report.print()",
    "report": "report",
    "run": "run = karat.run('.', runs_dir='runs')",
    "ran": "run",
    "study": "run.study",
    "values": """
        outcomes = [verdict.outcome for verdict in run.gate("MRR >= .9", "MRR < .5").verdicts]
        print(run.best, float(run.mean("MRR")), run.per_query.height, *outcomes)""",
    "testset": "karat.load_testset('qa.jsonl')",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each cell of a notebook showed when it was executed."""
    folder = tmp_path_factory.mktemp("notebook")
    lines = [{"id": f"q{n}", "question": f"Where is {word}?", "gold": [word]} for n, word in enumerate(("ice", "fuel"))]
    (folder / "qa.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    docs = folder / "docs.jsonl"
    docs.write_text("".join(json.dumps({"id": w, "text": f"Here is {w}."}) + "\n" for w in ("ice", "fuel", "tea")))
    (folder / "karat.yaml").write_text(
        "corpus: docs.jsonl\ntestset: qa.jsonl\nchunk: whole\nsystems: [pure_sparse, pure_dense]\n"
        "main: MRR\noutputs: [text, markdown, csv]\n"
    )
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(dedent(text).strip()) for text in CELLS.values()]
    )
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place, allow_errors=True)
    client.execute(env={**os.environ, "HOME": str(folder), "PYTHONWARNINGS": "error"})
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}, folder


def printed(cell):
    """The text of a cell that printed and did nothing else."""
    assert {one.output_type for one in cell} == {"stream"}, cell
    return "".join(one.text for one in cell if one.name == "stdout")


def returned(cell):
    """What a cell that ends in an object shows of it: text, and a table."""
    (shown,) = cell
    assert shown.output_type == "execute_result"
    return shown.data["text/plain"], shown.data["text/html"]


def test_the_text_of_a_report_is_text(outputs):
    cells, folder = outputs
    assert int(printed(cells["text"])) > 200
    for name in ("print", "shown"):
        text = printed(cells[name])
        assert "MRR" in text
        assert HOSTILE in text
        assert ".75 [" in text
    assert "MRR" in (folder / "report.txt").read_text()


def test_scoring_and_running_show_one_line_at_most(outputs):
    cells, folder = outputs
    assert len(cells["score"]) <= 1
    assert len(cells["run"]) <= 1
    (text,) = folder.glob("runs/*/report.txt")
    assert "pure_sparse" in text.read_text()


def test_what_a_run_found_is_within_reach(outputs):
    cells, _ = outputs
    assert printed(cells["values"]).split() == ["pure_sparse", "1.0", "4", "pass", "fail"]


@pytest.mark.parametrize("name", ["report", "ran", "study", "testset"])
def test_an_object_is_a_line_and_a_small_table(outputs, name):
    cells, _ = outputs
    line, table = returned(cells[name])
    assert len(line) < 500
    assert line.count("\n") < 2
    assert table.count("<table") == 1
    assert len(table) < 10_000
    assert "<script" not in table.lower()


def test_names_of_others_are_escaped_in_a_table(outputs):
    cells, _ = outputs
    _, table = returned(cells["report"])
    assert HOSTILE in unescape(re.sub(r"<[^>]*>", "", table))
