import io
import sys

from karat.cli._output import counted_on_terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_counts_up_and_is_wiped(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    say = counted_on_terminal(quiet=False)
    say("reading", 1, 4)
    say("reading", 4, 4)
    say("writing\x1b[2J", 0, 1)
    say("", 0, 0)
    lines = terminal.getvalue().split("\r\x1b[2K")
    assert lines[1].startswith("[######..................] 1 of 4")
    assert lines[2].startswith("[########################] 4 of 4")
    assert lines[3] == "writing?[2J ..."
    assert lines[4] == ""


def test_nothing_is_shown_where_nobody_looks(monkeypatch):
    for terminal, quiet in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", terminal)
        counted_on_terminal(quiet)("reading", 1, 4)
        assert terminal.getvalue() == ""
