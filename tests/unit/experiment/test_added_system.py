"""A system added to karat.yaml: every other byte stays, in all the ways in which the list may be written."""

import pytest

from karat.core.errors import KaratError
from karat.experiment.spec import load_spec
from karat.experiment.spec.added import ChangedFileError, SpecFile

HEAD = "corpus: docs\ntestset: qa.jsonl\n"
SETTINGS = {"engine": "hybrid", "alpha": 0.35}
BLOCK = '- name: "a b"\n{0}  engine: hybrid\n{0}  alpha: 0.35\n'
FLOW = '{name: "a b", engine: hybrid, alpha: 0.35}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("systems:\n- rrf # one\n# end\nseed: 1\n", "systems:\n- rrf # one\n" + BLOCK.format("") + "# end\nseed: 1\n"),
        ("systems:\n    - rrf", "systems:\n    - rrf\n    " + BLOCK.format("    ")),
        ("systems: [rrf, balanced]  # two\n", f"systems: [rrf, balanced, {FLOW}]  # two\n"),
        ("systems: [\n  rrf,\n]\n", f"systems: [\n  rrf, {FLOW},\n]\n"),
        ("systems: []\nsweep: {alpha: 0.2}\n", f"systems: [{FLOW}]\nsweep: {{alpha: 0.2}}\n"),
        ("sweep: {alpha: 0.2}", "sweep: {alpha: 0.2}\nsystems:\n  " + BLOCK.format("  ")),
        ("systems:\n  - {preset: rrf}\n\n\nseed: 2\n",
         "systems:\n  - {preset: rrf}\n  " + BLOCK.format("  ") + "\n\nseed: 2\n"),
        ("systems:\n  - preset: rrf\n    description: >\n      1\n      2\n\nseed: 2\n",
         "systems:\n  - preset: rrf\n    description: >\n      1\n      2\n\n  " + BLOCK.format("  ") + "seed: 2\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_one_system_more_and_nothing_else(tmp_path, before, after, newline, mark):
    path = tmp_path / "karat.yaml"
    text = (mark + HEAD + before).replace("\n", newline)
    path.write_bytes(text.encode())
    file = SpecFile.read(path)
    file.add("a b", SETTINGS, file.mark)
    assert path.read_bytes().decode() == (mark + HEAD + after).replace("\n", newline)
    assert load_spec(path).systems()[-1].source.alpha == 0.35


@pytest.mark.parametrize("name", ["null", "1", "yes", "a: b", "#a", '"', "it's \\", "[x]", "&a", "- b", "ü"])
def test_names_that_yaml_reads_as_something_else_stay_names(tmp_path, name):
    path = tmp_path / "karat.yaml"
    path.write_text(HEAD + "systems:\n  - rrf\n", "utf-8")
    SpecFile.read(path).add(name, SETTINGS, SpecFile.read(path).mark)
    assert [one.name for one in load_spec(path).systems()] == ["rrf", name]


@pytest.mark.parametrize("text", ["{corpus: a, testset: b, systems: [rrf]}", "corpus: a\ntestset: b\nsystems: rrf\n"])
def test_a_file_that_must_be_written_anew_is_refused(tmp_path, text):
    path = tmp_path / "karat.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(KaratError):
        SpecFile.read(path).add("tuned", SETTINGS, SpecFile.read(path).mark)
    assert path.read_text("utf-8") == text


def test_a_list_that_stands_twice_is_not_changed_in_both(tmp_path):
    path = tmp_path / "karat.yaml"
    path.write_text(HEAD + "by: &x [rrf]\nsystems: *x\n", "utf-8")
    with pytest.raises(KaratError):
        SpecFile.read(path).add("tuned", SETTINGS, SpecFile.read(path).mark)
    assert "alpha" not in path.read_text("utf-8")


def test_names_of_the_sweep_are_taken(tmp_path):
    path = tmp_path / "karat.yaml"
    path.write_text(HEAD + "sweep: {alpha: 0.2}\n", "utf-8")
    with pytest.raises(KaratError, match="has a system"):
        SpecFile.read(path).with_system("hybrid alpha=0.2", SETTINGS)


def test_links_and_other_files_are_not_written(tmp_path):
    real = tmp_path / "real.yaml"
    real.write_text(HEAD + "systems: [rrf]\n", "utf-8")
    (tmp_path / "karat.yaml").symlink_to(real)
    (tmp_path / "karat.txt").write_text(HEAD, "utf-8")
    for name, words in (("karat.yaml", "is a link"), ("karat.txt", "no .yaml"), ("none.yaml", "does not exist")):
        with pytest.raises(KaratError, match=words):
            SpecFile.read(tmp_path / name)


def test_a_changed_file_stays_as_it_is(tmp_path):
    path = tmp_path / "karat.yaml"
    path.write_text(HEAD + "systems: [rrf]\n", "utf-8")
    file = SpecFile.read(path)
    path.write_text(HEAD + "systems: [balanced]\n", "utf-8")
    with pytest.raises(ChangedFileError):
        file.add("tuned", SETTINGS, file.mark)
    assert path.read_text("utf-8") == HEAD + "systems: [balanced]\n"
