"""Printed numbers: what a cell holds, also where it is made to hold up the reader."""

import pytest

from karat.diagnose.verify.numbers import Number, has_decimal_commas, pointed, read_cell


@pytest.mark.parametrize(
    ("cell", "value", "decimals"),
    [("0.2487 ± 0.18", 0.2487, 4), ("57.9%", 0.579, 3), ("1,234.5", 1234.5, 1), ("0,579", 0.579, 3)],
)
def test_a_number_and_its_digits(cell, value, decimals):
    number, _ = read_cell(cell)
    assert (number.value, number.decimals) == (pytest.approx(value), decimals)


@pytest.mark.parametrize(
    "cell", ["1" * 200_000 + "x", "1," * 100_000, "0,1" * 100_000, "1." * 100_000], ids=["1", "1,", "0,1", "1."]
)
def test_a_cell_that_goes_on_and_on_is_no_number_and_takes_no_time(cell):
    assert read_cell(cell) is None
    assert pointed(cell) == cell
    assert not has_decimal_commas([cell], share=True)


def test_more_decimals_than_a_number_has_cut_nothing_off():
    number, _ = read_cell("0.1e-320083")
    assert not number.truncates(0.4083)
    assert not Number(0.5, 2).truncates(1e308)
