import dataclasses
import io
import re

import numpy as np
import pytest
from rich.cells import cell_len

from karat.report import console
from karat.report._spread import spread
from karat.report.outputs import text
from karat.results.evaluation import Note, Taken

EIGHT = ("bm25", "dense", "hybrid", "splade", "colbert-v2", "rerank_bm25", "Pure_Dense_FAISS_long", "x")


def test_one_system_shows_all_that_was_asked_for(make, warning):
    shown = console.render(make(by=("kind",), notes=(warning,)))
    for part in (
        "qa.jsonl",
        "taken for canonical: 60 questions, 3 kinds",
        "match",
        "doc (document): gold names documents",
        "bm25 60.0%",
        "n 58, 2 undefined, 0 failed",
        "Recall@5",
        "±std",
        "95% interval",
        "F1@5 > .5",
        "out of reach",
        ".3333",
        "By kind",
        "scenario (n 19)",
        "Usage",
        "bm25: Recall@5",
        "!  questions not in the run: bm25: 2 of 60",
    ):
        assert part in shown, part
    assert "*" not in shown.replace("@*", "")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("systems", [1, 3, 8])
def test_every_mean_and_interval_is_shown_whole_within_the_width(make, width, systems):
    evaluation = make(EIGHT[:systems], by=("kind",), failed=1)
    shown = console.render(evaluation, width=width)
    lines = shown.split("\n")
    assert max(map(cell_len, lines)) <= width
    assert "nan" not in shown.lower()
    for s in evaluation.summaries:
        if s.slice is None:
            assert f"{s.mean:.4f}".removeprefix("0") in shown
            assert f"[{s.low:.3f}, {s.high:.3f}]".replace("0.", ".") in shown


def test_the_best_is_starred_and_bold_and_overlap_is_told(make):
    values = np.zeros((3, 60, 1))
    values[0, :20], values[1, :45], values[2, :48] = 1, 1, 1
    shown = console.render(make(("low", "near", "top"), measures=["Hit@5"], values=values, undefined=0))
    (line,) = [x for x in shown.split("\n") if x.startswith("Hit@5  ")]
    assert re.search(r"\.3333  .*\.7500~ .*\.8000\* ", line)
    assert "*  best mean of its measure" in shown
    assert "~  its interval overlaps" in shown
    assert "highest Hit@5: top, .800 [" in shown
    coloured = console.render(make(("low", "near", "top"), measures=["Hit@5"], values=values, undefined=0), colour=True)
    assert re.search("\x1b\\[1m *\\.8000\\*", coloured)
    assert "\x1b" not in shown


def test_shares_are_percent_and_counts_counts(make):
    shown = console.render(make(measures=["AnyGold", "Retrieved"]))
    assert re.search(r"AnyGold +\d+\.\d%", shown)
    assert re.search(r"Retrieved +\d+\.\d\d ", shown)


def test_failed_rows_show_worst_to_best(make):
    one = console.render(make(failed=3))
    assert "worst to best" in one
    s = next(s for s in make(failed=3).summaries if s.measure == "Recall@5")
    assert f"{s.worst:.3f} to {s.best:.3f}".replace("0.", ".") in one
    several = console.render(make(("a", "b"), failed=3))
    assert "Recall@5 with every failed row at its worst to best: a ." in several
    assert "3 failed" in several


def test_counts_that_differ_are_told_apart(make):
    evaluation = make(("a", "b"), measures=["Recall@5", "MRR"], undefined=0)
    status = evaluation.scores.status.copy()
    status[1, :4, 1] = 1
    from karat.stats.summary import summarise

    scores = dataclasses.replace(evaluation.scores, status=status)
    shown = console.render(dataclasses.replace(evaluation, scores=scores, summaries=summarise(scores)))
    assert "Recall@5: n 60, 0 undefined, 0 failed" in shown
    assert "MRR: a: n 60, 0 undefined, 0 failed · b: n 56, 4 undefined, 0 failed" in shown


def test_full_shows_every_measure_of_a_slice(make):
    evaluation = make(by=("kind",))
    assert "more in the files" in console.render(evaluation)
    full = text.render(evaluation)
    assert "more in the files" not in full
    s = next(s for s in evaluation.summaries if s.value == "scenario" and s.measure == "F1@20")
    assert f"{s.mean:.4f}".removeprefix("0") in full
    assert "\x1b" not in full


def test_bands_of_several_systems_carry_their_meaning(make):
    shown = console.render(make(("a", "b"), answers=True))
    assert "Bands" in shown
    assert "the first relevant hit is often below rank 3" in shown
    assert re.search(r"TokenF1 +(Fair|Moderate) +(Fair|Moderate)", shown)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
def test_any_terminal_can_show_it(make, encoding):
    evaluation = dataclasses.replace(make(("a", "b")), notes=(Note("info", "вопрос → 問"),))
    shown = console.render(evaluation, encoding=encoding)
    shown.encode(encoding)
    assert ("±" in shown) == (encoding == "utf-8")
    assert "Recall@5" in shown


def test_the_spread_of_the_headline_is_told_for_every_system(make):
    evaluation = make(("a", "b"))
    shown = " ".join(console.render(evaluation).split())
    assert "Spread of Recall@5" in shown
    for s in evaluation.summaries:
        if s.measure == "Recall@5":
            assert f"{s.system} {spread(s)}." in shown


def test_a_long_path_keeps_its_end(make):
    taken = Taken("/data/" + "deep/" * 20 + "bm25.run", "trec", "hits")
    assert "/bm25.run" in console.render(dataclasses.replace(make(n=5), taken=(taken,)))


def test_hostile_names_stay_text(make):
    evil = "[bold red]x[/] \x1b]0;owned\x07\x1b[2J"
    evaluation = dataclasses.replace(
        make((evil, "b"), n=8), taken=(Taken("a\nb\x1b[31m", "trec", "\u202egnihtyna"),), notes=(Note("warning", evil),)
    )
    for colour in (False, True):
        shown = console.render(evaluation, colour=colour)
        assert "[bold red]x[/]" in shown
        assert "\x1b]" not in shown
        assert "\x1b[2J" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown


def test_show_writes_plain_text_into_a_pipe(make):
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    console.show(make(("a", "b"), n=8), pipe)
    pipe.flush()
    written = pipe.buffer.getvalue().decode("ascii")
    assert "Recall@5" in written
    assert "\x1b" not in written


def test_the_same_evaluation_is_the_same_text(make):
    assert console.render(make(EIGHT[:3], by=("kind",))) == console.render(make(EIGHT[:3], by=("kind",)))


def test_without_intervals_no_best_is_marked(make):
    evaluation = make(("a", "b"), n=20)
    bare = tuple(dataclasses.replace(s, low=None, high=None) for s in evaluation.summaries)
    shown = console.render(dataclasses.replace(evaluation, summaries=bare, verdicts={}))
    assert "best mean" not in shown
    assert "highest Recall@5" not in shown


def test_an_evaluation_of_nothing_is_still_told(make):
    evaluation = make(n=3, undefined=3, measures=["Recall@5", "MRR"])
    shown = console.render(evaluation)
    assert "n 0, 3 undefined, 0 failed" in shown
    assert "–" in shown
    assert "has no value (3 undefined, 0 failed)" in shown
