"""--map and map: wherever a table is read, and what is said of its columns."""

import json

import pytest

QUESTIONS = "nr,frage,datei,author\n1,What does the pump run on?,pump.md,x\n2,How long is the warranty?,warranty.md,y\n"
MAP = ("--map", "nr=id", "--map", "frage=question", "--map", "datei=file")


@pytest.fixture
def here(put, karat):
    put("docs/pump.md", "The pump runs on diesel fuel.\n")
    put("docs/warranty.md", "The warranty lasts two years from the day of purchase.\n")
    put("qa.csv", QUESTIONS)
    put("karat.yaml", "corpus: docs\ntestset: qa.csv\nmap: {nr: id, frage: question, datei: file}\n"
                      "systems: [{engine: bm25}]\nengines: [bm25]\noutputs: [csv]\n")  # fmt: skip
    assert karat("index", "docs", "-o", "my.index", "--engine", "bm25").code == 0


@pytest.mark.slow
def test_run_reads_the_test_set_by_the_map_of_its_file(karat, here):
    told = karat("run")
    assert told.code == 0, told.err
    assert "used nr, frage, datei; ignored author" in told.out


@pytest.mark.slow
def test_run_takes_a_map_from_the_command_line(karat, here, put):
    put("bare.yaml", "corpus: docs\ntestset: qa.csv\nsystems: [{engine: bm25}]\nengines: [bm25]\noutputs: [csv]\n")
    assert karat("run", "bare.yaml").code == 2
    assert karat("run", "bare.yaml", *MAP).code == 0


def test_a_mapped_column_that_is_not_there_is_refused(karat, here, put):
    put("karat.yaml", "corpus: docs\ntestset: qa.csv\nmap: {nummer: id, frage: question, datei: file}\n"
                      "systems: [{engine: bm25}]\nengines: [bm25]\noutputs: [csv]\n")  # fmt: skip
    told = karat("run")
    assert told.code == 2
    assert "there is no column 'nummer'" in told.sentence


@pytest.mark.slow
def test_check_says_which_columns_it_read(karat, here):
    told = karat("testset", "check", "qa.csv", "my.index", *MAP)
    assert "used nr, frage, datei; ignored author" in told.out


def test_explain_takes_a_map(karat, here):
    told = karat("search", "my.index", "--questions", "qa.csv", "--explain", "1", "--engine", "bm25", "--json", *MAP)
    assert told.code == 0, told.err
    assert json.loads(told.out)["question"]["id"] == "1"
