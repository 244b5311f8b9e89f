"""Workbooks: what stands in their cells, read by two other libraries."""

import io
import math

import fastexcel
import openpyxl
import pytest
from studies import study_with

import karat
from karat.core.errors import UsageError
from karat.experiment.compare import comparison_writer
from karat.experiment.outputs import write_report
from karat.io.frames import read_workbook
from karat.io.source import Source
from karat.report import frame
from karat.report.outputs.xlsx import of_study, render
from karat.report.render.workbook import MOST_CHARACTERS, MOST_COLUMNS, Sheet, workbook
from karat.results.study import Failure

ABOUT = Sheet("About", ("what", "value"), [("made of", "nothing")])


def opened(content):
    return openpyxl.load_workbook(io.BytesIO(content))


def column(content):
    return [row[0] for row in opened(content)["A"].iter_rows(min_row=2)]


TEXTS = [
    "=1+1", "=cmd|' /C calc'!A0", "+1", "-x", "@sum", "007", "1e5", "TRUE", "http://example.org", "mailto:a@b",
    "{=A1}", " lead", "two\nlines", "😀", "_x0041_", "#N/A", "'quoted", "<r><t>rich</t></r>", "<r>a & b<t></r>",
    "<r></r></is></c><c r='Z9'><f>1+1</f></c><c><is><r></r>",
]  # fmt: skip


def test_texts_stay_texts():
    content = workbook([Sheet("A", ("=title",), [[text] for text in TEXTS]), ABOUT])
    cells = column(content)
    assert {cell.data_type for cell in cells} == {"s"}
    assert [cell.value.replace("_x005F_", "_") for cell in cells] == TEXTS  # openpyxl leaves the escape in place
    assert [cell.hyperlink for cell in cells] == [None] * len(TEXTS)
    assert opened(content)["A"]["A1"].value == "=title"
    assert fastexcel.read_excel(content).load_sheet("A").to_polars()["=title"].to_list() == TEXTS


def test_numbers_stay_numbers_to_the_last_digit():
    numbers = [0.1 + 0.2, -1 / 3, 0, 7, 2**53, 1e-300, None, math.nan]
    cells = [cell.value for cell in column(workbook([Sheet("A", ("n",), [[n] for n in numbers]), ABOUT]))]
    assert cells[:6] == numbers[:6]
    assert all(value is None for value in cells[6:])
    assert [c.value for c in column(workbook([Sheet("A", ("n",), [[2**60], [math.inf]]), ABOUT]))] == [
        "1152921504606846976", "inf",
    ]  # fmt: skip


def test_what_a_cell_cannot_hold_is_cut_and_said():
    content = workbook([Sheet("A", ("t",), [["x" * MOST_CHARACTERS], ["x" * 40_000], ["😀" * 20_000]]), ABOUT])
    whole, long, wide = (cell.value for cell in column(content))
    assert whole == "x" * MOST_CHARACTERS
    assert len(long) == MOST_CHARACTERS
    assert long.endswith("x … [cut: 40,000 characters]")
    assert MOST_CHARACTERS - 1 <= len(wide.encode("utf-16-le")) // 2 <= MOST_CHARACTERS
    assert wide.endswith("😀 … [cut: 20,000 characters]")
    notes = [[cell.value for cell in row] for row in opened(content)["About"].iter_rows(min_row=3)]
    assert notes == [
        [
            "workbook",
            "A, t: 2 texts longer than the 32,767 characters that a cell holds, and cut there. "
            "Write .csv, .parquet or .json for all of it.",
        ]
    ]


def test_more_rows_than_a_sheet_holds_go_on_in_the_next():
    content = workbook([Sheet("A", ("n",), [[n] for n in range(7)]), ABOUT], most_rows=4)
    book = opened(content)
    assert book.sheetnames == ["A", "A 2", "A 3", "About"]
    assert [[row[0].value for row in book[name].iter_rows()] for name in book.sheetnames[:3]] == [
        ["n", 0, 1, 2], ["n", 3, 4, 5], ["n", 6],
    ]  # fmt: skip
    assert book["About"]["B3"].value == "A has more rows than a sheet holds; it goes on in A 2."
    assert opened(workbook([Sheet("A", ("n",), [[1]] * 3), ABOUT], most_rows=4)).sheetnames == ["A", "About"]
    with pytest.raises(UsageError, match="A has 16,385 columns, and a sheet holds 16,384"):
        workbook([Sheet("A", ["n"] * (MOST_COLUMNS + 1), []), ABOUT])


def test_the_workbook_of_a_study(make, tmp_path):
    evaluation = make(("one", "two"), n=12, measures=("MRR", "Recall@5"), failed=1, by=("kind",))
    failure = Failure("one", "q4", "below_k", detail="it stands at rank 9, below 5.")
    study = study_with(evaluation, failures=(failure,), manifest={"karat": "0.4.0"})
    target = tmp_path / "report.xlsx"
    assert write_report(study, target) == [target]
    assert target.read_bytes() == of_study(study)
    book = opened(target.read_bytes())
    assert book.sheetnames == ["Summary", "Questions", "Pairs", "Failures", "About"]
    for sheet, frozen in (("Summary", frame.summary(evaluation)), ("Questions", frame.rows(evaluation, flat=True))):
        cells = [[cell.value for cell in row] for row in book[sheet].iter_rows()]
        assert cells == [frozen.columns, *map(list, frozen.iter_rows())]
        assert book[sheet].freeze_panes == "A2"
        assert book[sheet].auto_filter.ref == book[sheet].dimensions
    failures = [[cell.value for cell in row] for row in book["Failures"].iter_rows(min_row=2)]
    assert failures[0] == ["one", "q4", "below the cut-off", None, "it stands at rank 9, below 5."]
    assert failures[1:] == [
        [system, "q2", "score failed", measure, "timed out"]
        for system in ("one", "two")
        for measure in ("MRR", "Recall@5")
    ]
    about = dict(row for row in book["About"].iter_rows(min_row=2, values_only=True))
    assert (about["karat"], about["test set"], about["its digest"]) == ("0.4.0", "qa.jsonl", evaluation.testset.digest)
    assert about["one.run"] == "read as trec: one: 240 hits for 12 questions."
    assert book["Summary"].column_dimensions["A"].width >= 8


def test_a_scoring_has_no_pairs(make):
    assert opened(render(make(n=3))).sheetnames == ["Summary", "Questions", "Failures", "About"]


def test_score_and_compare_write_workbooks(tmp_path):
    gold = {f"q{i}": {"a": 1} for i in range(8)}
    runs = {
        "x": [{"id": q, "retrieved": ["a"], "seconds": 0.1, "tokens": 5} for q in gold],
        "y": [{"id": q, "retrieved": ["b", "a"], "seconds": 0.3} for q in gold],
    }
    report = karat.score(gold, runs, measures="MRR")
    report.save(tmp_path / "score.xlsx")
    assert opened((tmp_path / "score.xlsx").read_bytes())["Summary"]["H2"].value == 1.0
    comparison_writer(tmp_path / "compare.xlsx")(karat.compare(report))
    book = opened((tmp_path / "compare.xlsx").read_bytes())
    assert book.sheetnames == ["Summary", "Pairs", "About"]
    titles, one, time, *none = book["Pairs"].iter_rows(values_only=True)
    assert (time[0], round(time[titles.index("difference")], 9), none) == ("seconds", 0.2, [])
    means = [row[-2:] for row in book["Summary"].iter_rows(values_only=True)]
    assert means == [("seconds_p50", "tokens_mean"), (0.1, 5), (0.3, None)]
    pair = dict(zip(titles, one, strict=True))
    assert (pair["a"], pair["b"], pair["n"], pair["difference"], pair["losses"]) == ("x", "y", 8, -0.5, 8)
    assert opened((tmp_path / "compare.xlsx").read_bytes())["About"]["B2"].value == "8"


def test_without_the_library_the_extra_is_named(make, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(UsageError, match=r"writing \.xlsx needs xlsxwriter, .* pip install 'karat\[xlsx\]'"):
        render(make(n=3))


def test_an_empty_column_is_read_in_silence(tmp_path, caplog):
    path = tmp_path / "t.xlsx"
    path.write_bytes(workbook([Sheet("A", ("id", "note", "question"), [["1", None, "Why?"]])]))
    frame_, _, _ = read_workbook(Source(path))
    assert (frame_.columns, caplog.messages) == (["id", "note", "question"], [])
