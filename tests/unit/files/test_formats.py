import re
from pathlib import Path

import pytest

import karat.files
from karat.core.errors import KaratError, UsageError
from karat.files import _read, formats
from karat.files._format import Fit, Format
from karat.files._runs import described
from karat.io.input import Input
from karat.results.evaluation import InputInfo

MODULES = sorted(p.stem for p in Path(karat.files.__file__).parent.glob("*.py") if not p.stem.startswith("_"))


@pytest.mark.parametrize("module", MODULES)
def test_file_name_is_registered_name(module):
    entry = formats().get(module)
    assert entry.name == module
    assert entry.reader("testset") or entry.reader("results")
    assert "\\n" not in entry.about


def test_names_are_found_in_any_spelling():
    assert formats().get("Hybrid-RAG").name == "hybrid_rag"
    with pytest.raises(UsageError, match="unknown format 'liverg'"):
        formats().get("liverg")


def test_the_example_of_the_guide_works(tmp_path):
    guide = Path(__file__).parents[3] / "docs" / "extend" / "README.md"
    code = re.search(r"## Format\n.*?```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    exec(code[1], names)
    entry = names["FORMAT"]
    assert isinstance(entry, Format)
    path = tmp_path / "a.txt"
    path.write_text("#myrun\nq1\td1,d2\nq2\td3\n")
    given = Input.open(path)
    fit = entry.sniff(given, "results")
    assert fit is not None
    assert fit.confidence == 0.95
    assert entry.sniff(given, "testset") is None
    assert entry.read_results is not None
    (run,), notes = entry.read_results(given)
    assert notes == []
    assert (run.question_ids, run.doc_list, described([run])) == (
        ["q1", "q2"],
        ["d1", "d2", "d3"],
        "a: 3 hits for 2 questions",
    )


def test_names_are_complete():
    for name in karat.files.__all__:
        assert callable(getattr(karat.files, name))
    with pytest.raises(AttributeError):
        karat.files.nothing  # noqa: B018


def test_a_reader_that_returns_no_notes_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("#old\n")
    old = Format(
        name="old", about="a reader as it was", sniff=lambda input, kind: Fit(1.0, "it begins so"),
        read_results=lambda input: ([], InputInfo("a.txt", "old", "nothing")),
    )  # fmt: skip
    monkeypatch.setattr(_read, "formats", lambda: [old])
    with pytest.raises(KaratError, match=r"format 'old' returned InputInfo where its notes belong.*extend/README"):
        _read.read_results(path)
