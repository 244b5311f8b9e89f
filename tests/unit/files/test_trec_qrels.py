import pytest

from karat.core.errors import InputError
from karat.files import read_results, read_testset


def read(tmp_path, text):
    path = tmp_path / "qrels.txt"
    path.write_bytes(text.encode())
    return read_testset(path)


def refused(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return str(caught.value).removeprefix(str(tmp_path / "qrels.txt"))


@pytest.mark.parametrize(
    "text",
    [
        "1 0 a 1\n1 0 b 0\n2 0 a -1\n1 0 c 3\n",
        "1\t0\ta\t1\r\n1\t0\tb\t0\r\n2\t0\ta\t-1\r\n1\t0\tc\t3",
        "1  0\ta   1\n\n1 0 b 0 \n2 0 a -1\n1 0 c 3.0\n",
        "\ufeff1 Q0 a 1\n1 Q0 b 0\n2 Q0 a -1\n1 Q0 c 3\n",
    ],
)
def test_blanks_of_any_kind(tmp_path, text):
    testset, taken = read(tmp_path, text)
    assert testset.qrels == {"1": {"a": 1, "b": 0, "c": 3}, "2": {"a": -1}}
    assert testset.is_plain
    assert (taken.format, taken.what) == ("trec_qrels", "2 questions, 4 judgements")


def test_quotation_marks_are_letters(tmp_path):
    assert read(tmp_path, '1 0 "a 1\n1 0 b" 0\n')[0].qrels == {"1": {'"a': 1, 'b"': 0}}


def test_doubled_judgement(tmp_path):
    assert refused(tmp_path, "1 0 a 1\n2 0 a 1\n1 0 a 0\n") == (
        ' line 3: a judgement of "a" for question "1" stands twice (first in line 1). Keep one row for each pair.'
    )


@pytest.mark.parametrize("grade", ["0.5", "nan", "x", "99999999999999999999"])
def test_grades(tmp_path, grade):
    assert refused(tmp_path, f"1 0 a 1\n1 0 b {grade}\n").startswith(f' line 2 field "grade": grade "{grade}" is ')


def test_missing_field(tmp_path):
    assert refused(tmp_path, "1 0 a 1\n1 0 b\n").startswith(" line 2: has 3 fields where a judgement has four")
    assert refused(tmp_path, "1 0 a 1\n1 0 b c 1\n").startswith(" line 2: has 5 fields where a judgement has four")


def test_not_utf8(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"1 0 a 1\n1 0 caf\xe9 1\n")
    with pytest.raises(InputError, match=r"line 2: .*UTF-8"):
        read_testset(path)


def test_run_and_qrels_swapped(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 2.5 tag\n")
    with pytest.raises(InputError, match="holds a test set"):
        read_results(tmp_path / "q")
    with pytest.raises(InputError, match="holds results"):
        read_testset(tmp_path / "r")
