"""The gallery: every script is short, is what its page shows, and gives the numbers of the plain function."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from gallery import GALLERY, copied, ran
from nbclient import NotebookClient

SCRIPTS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "island")
PLAIN = ("async_function", "elasticsearch_reply", "http_endpoint", "karat_index", "results_file", "traces_file")
PAGE = GALLERY / "README.md"
MOST_LINES = 14
MOST_TO_HAND_OVER = 2  # and one that prints


def code_of(script):
    return (GALLERY / f"{script}.py").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the gallery to run in, without what earlier scripts imported from theirs."""
    place = copied(tmp_path)
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    yield place
    sys.modules.pop("island", None)


def test_every_script_gives_the_numbers_of_the_plain_function(folder, capsys):
    values = {}
    for script in ("function", *PLAIN):
        (values[script],) = ran(folder / f"{script}.py")["report"].values()
        assert "Recall@5" in capsys.readouterr().out
    plain = values.pop("function")
    assert len(plain) == 13
    for measure in ("Recall@5", "MRR", "nDCG@5", "MAP"):
        assert len({one[measure] for one in plain.values()}) > 2  # a corpus where everything is found shows nothing
    for script, questions in values.items():
        expected = {question: pytest.approx(one, abs=1e-9, rel=0) for question, one in plain.items()}
        assert questions == expected, script


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_short_and_hands_its_system_over_in_two_lines(script):
    lines = [line for line in code_of(script).splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    assert lines[-1] == "print(report)"
    assert lines[-2].startswith("report = karat.evaluate(")
    assert sum("karat." in line for line in lines) <= MOST_TO_HAND_OVER + (script == "karat_index")


def test_the_page_shows_every_script_as_it_is():
    shown = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert sorted(shown) == sorted(map(code_of, SCRIPTS))
    assert all(f"({script}.py)" in PAGE.read_text(encoding="utf-8") for script in SCRIPTS)


@pytest.mark.slow
def test_the_notebook_runs_and_keeps_no_output(folder):
    notebook = nbformat.read(folder / "evaluate.ipynb", as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute()
    shown = "".join(str(output) for cell in cells for output in cell.outputs)
    assert "Recall@5" in shown
    assert "LookupError: the index is away" in shown


def test_every_script_that_needs_a_package_is_run_with_it():
    text = (Path(__file__).parents[1] / "frameworks" / "test_agreement.py").read_text(encoding="utf-8")
    assert [one for one in SCRIPTS if one not in ("function", *PLAIN) and f'"{one}"' not in text] == []
