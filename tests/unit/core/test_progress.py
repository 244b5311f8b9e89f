"""Progress: one line that each step replaces, in a notebook one output of the cell."""

import sys
from types import SimpleNamespace

import pytest

from karat.core.progress import NotebookLine, ProgressLine, _pace, shown_in_notebook


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Display:
    """IPython's display: an output for each call, which its handle can replace."""

    def __init__(self):
        self.outputs = []

    def __call__(self, shown, *, raw, display_id):
        assert (raw, display_id) == (True, True)
        self.outputs.append([shown["text/plain"]])
        return SimpleNamespace(update=lambda shown, raw: self.outputs[-1].append(shown["text/plain"]))


@pytest.fixture
def notebook(monkeypatch):
    """A process that takes itself for the kernel of a notebook."""
    display = Display()
    shell = SimpleNamespace(kernel=object())
    fake = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    display.shell = shell
    return display


def test_the_pace_is_told_once_it_is_known():
    assert _pace(50, 200, 10.0) == ", 5.0/s, 30 s left"
    assert _pace(10, 1000, 100.0) == ", 0.1/s, 165 min left"
    assert _pace(1, 2, 0.1) == _pace(0, 9, 5.0) == _pace(9, 9, 5.0) == ""


def test_what_was_done_before_a_step_began_says_nothing_of_the_pace():
    clock = Clock()
    progress = ProgressLine(clock)
    progress.line("answering", 900, 1000)
    clock.now = 10.0
    assert progress.line("answering", 950, 1000).endswith("950 of 1,000, 5.0/s, 10 s left  answering")


def test_a_unit_stands_behind_the_counts_and_a_narrow_line_keeps_its_label():
    clock = Clock()
    progress = ProgressLine(clock)
    progress.line("reading and chunking [MB]", 0, 398)
    clock.now = 10.0
    counts = "100 of 398 MB, 10.0 MB/s, 30 s left  reading and chunking"
    assert progress.line("reading and chunking [MB]", 100, 398) == f"[######..................] {counts}"
    clock.now = 20.0
    assert progress.line("reading and chunking [MB]", 200, 398, 60) == counts.replace("100", "200").replace("30", "20")
    assert progress.line("reading a [1].md", 1, 4) == "[######..................] 1 of 4  reading a [1].md"


def test_a_line_is_replaced_no_oftener_than_it_can_be_read():
    clock = Clock()
    progress = ProgressLine(clock)
    assert progress.line("reading", 1, 4) == "[######..................] 1 of 4  reading"
    assert progress.line("reading", 2, 4) is None
    assert progress.line("writing") == "writing ..."
    clock.now = 0.2
    assert progress.line("writing") == "writing ..."


def test_all_steps_of_a_long_call_are_one_output():
    clock, display = Clock(), Display()
    line = NotebookLine("karat.run", display, clock)
    line("at once")
    clock.now = 2.0
    for done in range(1, 4):
        clock.now += 1
        line("searching", done, 4)
    line("writing")
    line.end("done")
    (shown,) = display.outputs
    assert len(shown) == 5
    assert shown[0].startswith("karat.run: [######")
    assert shown[-2:] == ["karat.run: writing ...", "karat.run: done after 5.0 s"]


def test_a_call_that_is_done_at_once_shows_nothing():
    display = Display()
    line = NotebookLine("karat.score", display, Clock())
    line("reading")
    line.end("done")
    assert display.outputs == []


@shown_in_notebook("progress")
def work(what, *, progress=None):
    """Works."""
    if progress is None:
        return "silent"
    if isinstance(progress, NotebookLine):
        progress.begun -= 10
    progress(what)
    if what == "breaking":
        raise ValueError(what)
    return "shown"


def test_a_notebook_shows_what_asks_for_no_progress_itself(notebook):
    steps = []
    assert work("reading") == "shown"
    assert work("reading", progress=steps.append) == "shown"
    assert steps == ["reading"]
    (shown,) = notebook.outputs
    assert shown[0] == "karat.work: reading ..."
    assert shown[1].startswith("karat.work: done after 10.")
    assert work.__doc__ == "Works."


def test_a_call_that_breaks_says_so(notebook):
    with pytest.raises(ValueError, match="breaking"):
        work("breaking")
    assert notebook.outputs[0][-1].startswith("karat.work: stopped after")


def test_elsewhere_nothing_is_shown(notebook, monkeypatch):
    del notebook.shell.kernel
    assert work("reading") == "silent"  # IPython in a terminal
    monkeypatch.delitem(sys.modules, "IPython")
    assert work("reading") == "silent"
    assert notebook.outputs == []
