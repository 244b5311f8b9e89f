import pytest

from karat.io import cells
from karat.io.cells import CellError


@pytest.mark.parametrize(
    ("given", "text"), [(7, "7"), ("7", "7"), (7.0, "7"), (0, "0"), (" q 1 ", "q 1"), (7.5, "7.5")]
)
def test_ids_are_text(given, text):
    assert cells.id_text(given) == text


@pytest.mark.parametrize("given", [None, "", "  ", True, float("nan"), float("inf"), [], {}])
def test_what_is_no_id(given):
    with pytest.raises(CellError):
        cells.id_text(given)


@pytest.mark.parametrize(
    ("given", "items"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['8', 'N/A', '8']", ["8", "N/A", "8"]),
        ("['<urn:uuid:1>']", ["<urn:uuid:1>"]),
        ("<urn:uuid:1>", ["<urn:uuid:1>"]),
        ("['it\\'s', \"b, c\"]", ["it's", "b, c"]),
        ("['8' 'N/A'\n 'x']", ["8", "N/A", "x"]),
        ("[1 2 3]", [1, 2, 3]),
        ("[np.str_('8'), np.int64(9)]", ["8", 9]),
        ("('a',)", ["a"]),
        ("[34, 35.0, None, nan]", [34, 35.0, None, None]),
        ("[]", []),
        ("", None),
        (None, None),
        (float("nan"), None),
        (34, [34]),
        (("a", "b"), ["a", "b"]),
    ],
)
def test_list_valued_cells(given, items):
    assert cells.as_list(given) == items


@pytest.mark.parametrize(
    "cell", ["['a', 'b'", "[a, b]", "['a' 'b', 'c']", "[__import__('os')]", "[1, [2]", "['\\xZZ']"]
)
def test_damaged_lists(cell):
    with pytest.raises(CellError, match="is not a list"):
        cells.as_list(cell)


@pytest.mark.parametrize(("given", "grade"), [(3, 3), (3.0, 3), ("3", 3), ("3.0", 3), (-1, -1), (" 2 ", 2)])
def test_whole_grades(given, grade):
    assert cells.whole_number(given) == grade


@pytest.mark.parametrize("given", [1.5, "1.5", "x", None, True, float("nan"), float("inf"), 1 << 40, 10**400, ""])
def test_grades_that_are_not_whole(given):
    with pytest.raises(CellError, match=r"grade .* is"):
        cells.whole_number(given)


@pytest.mark.parametrize("given", [float("nan"), float("inf"), "-inf", "abc", None, True, 10**400])
def test_scores_must_be_finite(given):
    with pytest.raises(CellError, match="not a finite number"):
        cells.finite_number(given)


def test_truth():
    assert [cells.truth_value(v) for v in (True, "true", "Yes", 1, "0", False, "no")] == [True] * 4 + [False] * 3
    with pytest.raises(CellError):
        cells.truth_value("perhaps")


def test_endless_numbers_are_no_ids():
    with pytest.raises(CellError, match="thousands of digits"):
        cells.id_text(10**5000)


@pytest.mark.parametrize(
    ("given", "said"), [("0,95", 'Write "0.95"'), ("-3,5", 'Write "-3.5"'), ("much", "Give every hit")]
)
def test_a_decimal_comma_is_named(given, said):
    with pytest.raises(CellError) as error:
        cells.finite_number(given)
    assert said in error.value.remedy
