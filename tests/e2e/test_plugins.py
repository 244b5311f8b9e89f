"""Measures of other packages and of the user's own files, at the command line."""

import csv
import io
import json
from pathlib import Path

import pytest

MODULE = '''
from karat import measure


@measure(name="Sharp", best_for="tests", prefer="Recall@k", aliases=("keenness",))
def sharp(judged, k=None, *, param: int = 1, way: str = "plain"):
    """Found units of the top k, divided by `param` times R."""
    return judged.found_within(k) / (param * judged.relevant)


@measure(name="Brittle", best_for="tests")
def brittle(judged, k=None):
    """Raises."""
    raise RuntimeError("no licence")
'''


@pytest.fixture
def install(folder):
    """Puts a distribution with entry points beside the installed ones, as pip would lay it out."""

    def write(entries, module=MODULE):
        site = folder / "site"
        info = site / "acme-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (site / "acme.py").write_text(module)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
        (info / "entry_points.txt").write_text(f"[karat.measures]\n{lines}")
        return site

    return write


@pytest.mark.slow
def test_a_plugin_is_listed_explained_and_scored(files, install, process):
    site = install({"Sharp": "acme:sharp"})
    listed = process("measures", path=site)
    assert listed.code == 0, listed.err
    assert "Sharp[@k] (plug-in)" in listed.out
    explained = process("measures", "keenness@5", "--json", path=site)
    assert json.loads(explained.out)["parameters"] == ["param=1", "way=plain", "rel=int", "condensed"]
    words = [
        "score",
        "qa.jsonl",
        "bm25.run",
        "-m",
        "Sharp(param=2)@5",
        "-m",
        "sharp(rel=2)@1",
        "-m",
        "Recall@5",
        "--json",
    ]
    told = process(*words, path=site)
    assert told.code == 0, told.err
    found = {s["measure"]: s["mean"] for s in json.loads(told.out)["summaries"]}
    assert found["Sharp(param=2)@5"] == pytest.approx(found["Recall@5"] / 2)
    assert "Sharp(rel=2)@1" in found
    assert "unknown measure 'Sharp'" in process("score", "qa.jsonl", "bm25.run", "-m", "Sharp@5").sentence


def test_a_wrong_parameter_of_a_plugin_is_refused(files, install, process):
    told = process("score", "qa.jsonl", "bm25.run", "-m", "Sharp(param=two)@5", path=install({"Sharp": "acme:sharp"}))
    assert (told.code, told.sentence) == (2, "Sharp: param=two is not a whole number.")


@pytest.mark.parametrize(
    ("entries", "module", "sentence"),
    [
        ({"Recall": "acme:sharp"}, MODULE, "the plug-in acme:sharp registers the measure 'Recall', which karat has"),
        (
            {"Sharp": "acme:sharp"},
            "import missing_package\n",
            "the plug-in acme:sharp (measure 'Sharp') cannot be loaded",
        ),
        ({"Sharp": "acme:sharpest"}, MODULE, "the plug-in acme:sharpest (measure 'Sharp') cannot be loaded"),
        ({"Sharp": "acme:x"}, "x = 3\n", "the plug-in acme:x is no measure: found int"),
    ],
    ids=["built-in name", "does not import", "has no such name", "no measure"],
)
def test_a_bad_plugin_is_one_sentence(files, install, process, entries, module, sentence):
    told = process("measures", path=install(entries, module))
    assert told.code == 2
    assert told.sentence.startswith(sentence)


def test_a_broken_plugin_does_not_stand_in_the_way_of_built_in_measures(files, install, process):
    site = install({"Sharp": "acme:sharp"}, "import missing_package\n")
    assert process("score", "qa.jsonl", "bm25.run", path=site).code == 0


def test_a_plugin_that_raises_fails_its_rows_and_spares_the_others(files, install, process):
    site = install({"Brittle": "acme:brittle"})
    told = process("score", "qa.jsonl", "bm25.run", "-m", "Brittle@5", "-m", "MRR", "--json", path=site)
    assert told.code == 5, told.err
    found = {s["measure"]: (s["n"], s["n_failed"]) for s in json.loads(told.out)["summaries"]}
    assert found == {"Brittle@5": (0, 3), "MRR": (3, 0)}


def test_a_measure_of_the_users_own_file(files, folder, karat):
    (folder / "my_measures.py").write_text(
        "def politeness(answer, question):\n"
        "    'Whether it says please.'\n"
        "    return float('please' in answer)\n\n\n"
        "def fussy(answer):\n"
        "    if answer == 'press red':\n"
        "        raise ValueError('too curt')\n"
        "    return len(answer) or None\n"
    )
    told = karat("score", "qa.jsonl", "answers.jsonl", "-m", "my_measures:politeness", "--json")
    assert told.code == 0
    (summary,) = json.loads(told.out)["summaries"]
    assert (summary["measure"], summary["mean"]) == ("politeness", pytest.approx(1 / 3))
    told = karat("score", "qa.jsonl", "answers.jsonl", "-m", "my_measures:fussy", "-o", "out")
    assert told.code == 5
    assert "n 1, 1 undefined, 1 failed" in told.out
    rows = list(csv.DictReader(io.StringIO(Path("out/rows.csv").read_text(encoding="utf-8"))))
    assert [(r["question_id"], r["status"], r["reason"]) for r in rows] == [
        ("q1", "ok", ""),
        ("q2", "failed", "ValueError: too curt"),
        ("q3", "undefined", "the measure gave no value"),
    ]
    assert "Whether it says please." in karat("measures", "my_measures:politeness").out
    assert karat("score", "qa.jsonl", "answers.jsonl", "-m", "my_measures:polite").code == 2
