"""What files of one's own meet first: pages counted from 0, columns named after files, the next command, ceilings."""

import json

import pytest

PAGES = 6


def _files(folder, first):
    """A question a page of two files, whose gold counts pages from `first`, and results that find every one."""
    rows = [(doc, page) for doc in ("pump.pdf", "valve.pdf") for page in range(1, PAGES + 1)]
    lines = [f"Q{i},{doc},{page - 1 + first}" for i, (doc, page) in enumerate(rows)]
    (folder / "qa.csv").write_text("\n".join(["question,Source file,Page", *lines, ""]))
    hits = [
        {"question": f"Q{i}", "retrieved": [{"doc": doc, "page": page}, {"doc": doc, "page": PAGES + 1 - page}]}
        for i, (doc, page) in enumerate(rows)
    ]
    (folder / "rag.json").write_text(json.dumps(hits))


@pytest.mark.slow
def test_gold_pages_that_count_from_0_get_an_offset_that_helps(karat, folder):
    _files(folder, 0)
    told = karat("score", "qa.csv", "rag.json", "-m", "Recall@1")
    assert "if they count from 0 here, add --page-offset -1" in " ".join(told.out.split())
    assert "`--page-offset -1` would match 100% of the gold pages" in " ".join(told.out.split())
    assert "Recall@1  1.00" in karat("score", "qa.csv", "rag.json", "-m", "Recall@1", "--page-offset", "-1").out


@pytest.mark.slow
def test_pages_that_are_right_are_not_called_shifted(karat, folder):
    _files(folder, 1)
    told = karat("score", "qa.csv", "rag.json", "-m", "Recall@1")
    assert "shifted" not in told.out
    assert "--page-offset" not in told.out


def test_a_column_of_retrieved_files_and_a_next_command_that_scores_alike(karat, folder):
    _files(folder, 1)
    lines = [f"Q{i},\"['{doc}']\"" for i, doc in enumerate(["pump.pdf"] * PAGES + ["valve.pdf"] * PAGES)]
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("\n".join(["question,retrieved_files", *lines, ""]))
    told = karat("score", "qa.csv", "a.csv", "b.csv", "-m", "Recall@1", "--match", "doc")
    assert told.code == 0
    command = told.out.rpartition("significant: ")[2].strip()
    assert command == "karat compare a.csv b.csv --testset qa.csv -m Recall@1 --match doc"
    assert karat(*command.split()[1:]).code == 0
    assert "significant:" not in karat("score", "qa.csv", "a.csv", "b.csv", "--match", "doc", "--dialect", "trec").out


@pytest.mark.slow
def test_the_ceiling_of_a_run_leaves_out_gold_that_no_chunk_holds(karat, folder):
    (folder / "notes").mkdir()
    for name, text in (("a", "The pump is blue."), ("b", "The valve is red."), ("c", "Motors hum at night.")):
        (folder / "notes" / f"{name}.txt").write_text(text)
    gold = [("What colour is the pump?", "a.txt"), ("What colour is the valve?", "b.txt"), ("Where?", "gone.txt")]
    (folder / "qa.csv").write_text("question,file\n" + "".join(f"{q},{file}\n" for q, file in gold))
    told = karat("run", "notes", "qa.csv")
    assert told.code == 0
    assert "could reach with this gold: .667" in told.out


def test_a_question_of_results_files_names_its_first_gold_and_why_a_row_failed(karat, folder):
    gold = [{"id": q, "question": f"What is {q}?", "gold": [{"id": "d1"}], "answers": ["x"]} for q in ("q1", "q2")]
    (folder / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    rows = [{"id": "q1", "retrieved": ["d2", "d1"], "answer": "it is x"}, {"id": "q2", "error": "timeout after 30 s"}]
    (folder / "rag.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "ans.jsonl").write_text("".join(json.dumps({"id": r["id"], "answer": "said so"}) + "\n" for r in rows))
    (folder / "karat.yaml").write_text(
        "testset: qa.jsonl\nsystems: [{name: rag, results: rag.jsonl}, {name: ans, results: ans.jsonl}]\n"
    )
    assert karat("run").code == 5
    found = karat("show", "LAST", "q1", "--system", "rag")
    assert "✗ 1.  d2" in found.out
    assert "✓ 2.  d1" in found.out
    assert "it is x" in found.out
    assert [line.split()[-1] for line in found.out.splitlines() if line.startswith("rag ")] == ["2"]
    assert "timeout after 30 s" in karat("show", "LAST", "q2").out
    assert "said so" in karat("show", "LAST", "q1", "--system", "ans").out


def test_options_that_would_change_nothing_are_refused(karat, folder):
    _files(folder, 1)
    assert "--junit is for checking rules" in karat("gate", "LAST", "--save", "x", "--junit", "x.xml").sentence
    assert "--match is for --explain" in karat("search", "ix", "query", "--match", "doc").sentence
    assert "--match needs an index" in karat("testset", "check", "qa.csv", "--match", "doc").sentence
    assert "looks at no documents" in karat("init", "--schema", "docs").sentence
    assert karat("testset", "check", "qa.csv", "-").code in (0, 4)
    assert "--at-power 0" in karat("compare", "--power", "qa.csv", "--at-power", "0").sentence


def test_a_key_of_a_sweep_without_a_value_is_as_if_it_were_not_there(karat, folder):
    _files(folder, 1)
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("The pump is blue.")
    text = "corpus: notes\ntestset: qa.csv\nsweep: {{{}}}\n"
    (folder / "karat.yaml").write_text(text.format("alpha: [0.3, 0.5], fusion: "))
    assert karat("run", "--dry-run").code == 0
    (folder / "karat.yaml").write_text(text.format("alpha: "))
    assert "names nothing to vary" in karat("run", "--dry-run").sentence
