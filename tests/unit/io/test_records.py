import csv

from karat.files import read_testset


def test_a_long_cell_is_read_and_the_limit_of_the_program_stays(tmp_path):
    path = tmp_path / "qa.csv"
    long = "x" * 200_000
    path.write_text(f'id,question,gold\nq1,"{long}, why?",d1\nq2,"{long}, who?",d2\n', encoding="utf-8")
    before = csv.field_size_limit()
    testset, _ = read_testset(path)
    assert [len(question.text) for question in testset] == [200_006, 200_006]
    assert csv.field_size_limit() == before
