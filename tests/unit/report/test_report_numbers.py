import pytest

from karat.core.language import parse
from karat.report import _escape
from karat.report._numbers import NONE, amount, count, figure, interval, number, percent, short

NAN, INF = float("nan"), float("inf")


def test_numbers_have_four_decimals_and_no_minus_zero():
    assert [number(v) for v in (2 / 3, 1, -0.00001, -12.5)] == [".6667", "1.0000", ".0000", "-12.5000"]


@pytest.mark.parametrize("write", [number, short, count, percent, amount])
def test_what_is_no_number_is_a_dash(write):
    assert [write(v) for v in (None, NAN, INF, -INF)] == [NONE] * 4


def test_short_drops_the_leading_zero():
    assert [short(v) for v in (0.6667, -0.25, 1, 0, -39.5)] == [".667", "-.250", "1.000", ".000", "-39.500"]


def test_percent_is_all_or_nothing_only_when_it_is():
    assert [percent(v) for v in (0, 0.0001, 0.5, 0.99999, 1)] == ["0%", "<0.1%", "50.0%", ">99.9%", "100%"]


def test_counts_stay_whole_when_they_are():
    assert [count(v) for v in (3.0, 2.5, 6.9999999999, 12345.0, -0.0)] == ["3", "2.50", "7", "12,345", "0"]


def test_a_measure_is_written_in_its_unit():
    assert figure(parse("AnyGold"), 0.444) == "44.4%"
    assert figure(parse("Retrieved"), 3.25) == "3.25"
    assert figure(parse("Recall@5"), 0.444) == ".4440"
    assert interval(parse("Recall@5"), 0.1, 0.25) == "[.100, .250]"
    assert interval(parse("Recall@5"), None, None) == ""


def test_clean_leaves_one_printable_line():
    assert _escape.clean("a\tb\x1b[31mred\x1b[0m\nnext\u202egnp\x00") == "a bred next gnp"
    assert _escape.clean("x" * 50, 10) == "x" * 9 + "…"
    assert _escape.clean("क्\u200dष") == "क्\u200dष"
    _escape.clean("\ud800").encode("utf-8")


def test_latex_and_markdown_print_text_as_it_stands():
    assert _escape.latex(r"a_b & 50% \x") == r"a\_b \& 50\% \textbackslash{}x"
    assert _escape.markdown("a|b *c* <script>") == r"a\|b \*c\* \<script\>"
