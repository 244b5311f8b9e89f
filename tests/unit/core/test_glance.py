"""What objects show of themselves: a line, a small table, and nothing of others that a page or terminal would obey."""

import re
from html import unescape

from karat.core.glance import CELL, LINE, ROWS, NotebookView

HOSTILE = '<img src=x onerror="alert(1)">&\x1b[2J\u202e'


class Many(NotebookView):
    def __init__(self, name, rows, columns=2):
        self.name, self.rows, self.columns = name, rows, columns

    def _line(self):
        return f"{self.name}; {self.rows} rows"

    def _table(self):
        return ["name"] * self.columns, ((self.name, 0.5) for _ in range(self.rows))


def test_a_line_is_short_and_printable():
    assert repr(Many("a", 3)) == "Many(a; 3 rows)"
    line = repr(Many(HOSTILE * 500, 3))
    assert len(line) <= LINE + len("Many()")
    assert line.isprintable()


def test_a_table_is_small_and_says_that_there_is_more():
    assert Many("a", ROWS)._repr_html_().count("<td>") == 2 * ROWS
    assert "…" not in Many("a", ROWS)._repr_html_()
    shown = Many("a", 10**6)._repr_html_()
    assert shown.count("<td>") == 2 * ROWS
    assert shown.endswith("<p>…</p>")
    assert Many("a", 1, columns=99)._repr_html_().endswith("<p>…</p>")
    assert len(Many("x" * 10**6, 1)._repr_html_()) < 2 * LINE + 3 * CELL


def test_text_of_others_is_escaped():
    shown = Many(HOSTILE, 1)._repr_html_()
    tags = set(re.findall(r"<[^>]*>", shown))
    assert {tag.strip("</>") for tag in tags} == {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert '<img src=x onerror="alert(1)">&' in unescape(re.sub(r"</?(?:p|table|thead|tbody|tr|th|td)>", "", shown))
    assert not set(shown) & {"\x1b", "\u202e"}


def test_numbers_are_written_as_in_every_table():
    class Figures(Many):
        def _table(self):
            return ("a",), [(0.5,), (None,), (float("nan"),), (12345,), ("",)]

    cells = re.findall("<td>(.*?)</td>", Figures("", 0)._repr_html_())
    assert cells == [".5000", "–", "–", "12,345", ""]
