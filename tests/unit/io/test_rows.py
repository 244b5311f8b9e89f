import csv

from karat.files import read_testset
from karat.io.rows import next_row


def test_a_long_cell_is_read_and_the_limit_of_the_program_stays(tmp_path):
    path = tmp_path / "qa.csv"
    long = "x" * 200_000
    path.write_text(f'id,question,gold\nq1,"{long}, why?",d1\nq2,"{long}, who?",d2\n', encoding="utf-8")
    before = csv.field_size_limit()
    testset, _ = read_testset(path)
    assert [len(question.text) for question in testset] == [200_006, 200_006]
    assert csv.field_size_limit() == before


def test_the_limit_stays_between_two_rows():
    rows = csv.reader(["a,b", "c" * 200_000])
    before = csv.field_size_limit()
    assert next_row(rows, 1 << 20) == ["a", "b"]
    assert csv.field_size_limit() == before
    assert next_row(rows, 1 << 20) == ["c" * 200_000]
    assert next_row(rows, 1 << 20) is None
