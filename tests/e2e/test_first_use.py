"""What files of one's own meet first: pages counted from 0, columns named after files, the next command, ceilings."""

import json

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


def test_gold_pages_that_count_from_0_get_an_offset_that_helps(karat, folder):
    _files(folder, 0)
    told = karat("score", "qa.csv", "rag.json", "-m", "Recall@1")
    assert "if they count from 0 here, add --page-offset -1" in " ".join(told.out.split())
    assert "`--page-offset -1` would match 100% of the gold pages" in " ".join(told.out.split())
    assert "Recall@1  1.00" in karat("score", "qa.csv", "rag.json", "-m", "Recall@1", "--page-offset", "-1").out


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


def test_the_ceiling_of_a_run_leaves_out_gold_that_no_chunk_holds(karat, folder):
    (folder / "notes").mkdir()
    for name, text in (("a", "The pump is blue."), ("b", "The valve is red."), ("c", "Motors hum at night.")):
        (folder / "notes" / f"{name}.txt").write_text(text)
    gold = [("What colour is the pump?", "a.txt"), ("What colour is the valve?", "b.txt"), ("Where?", "gone.txt")]
    (folder / "qa.csv").write_text("question,file\n" + "".join(f"{q},{file}\n" for q, file in gold))
    told = karat("run", "notes", "qa.csv")
    assert told.code == 0
    assert "could reach with this gold: .667" in told.out
