"""Names and sizes: a thing is found by its name, and a file stays readable."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import karat
from karat.core.measure import MEASURES
from karat.core.registry import key_of
from karat.files import formats
from karat.match import MATCHERS

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "karat"
SOURCES = sorted(SRC.rglob("*.py"))
FORBIDDEN = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
FOLDERS = ("src", "tests", "docs", "benchmarks", ".ci")
TEXT = {".py", ".md", ".toml", ".jsonl", ".json", ".csv", ".tsv", ".run", ".txt", ".yml", ".yaml", ""}
# put together from parts, so that this file does not hold what it looks for
MACHINE = re.compile(
    r"(?<![\w./:<-])(?:"
    + "|".join("/" + folder + "/" for folder in ("work", "tmp", "opt", "home", "root", "Users"))
    + ")"
    r"|(?<!\w)[A-Z]:" + re.escape("\\") + r"(?:Users|Temp)"
)


def test_no_file_is_past_400_lines():
    long = {
        str(p.relative_to(ROOT)): n for p in SOURCES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_no_file_or_folder_is_named_after_nothing():
    names = {p.stem.strip("_") for p in SOURCES} | {p.parent.name.strip("_") for p in SOURCES}
    assert len(names) > 50
    assert names & FORBIDDEN == set()


def tracked():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path
    yield from (p for p in sorted(ROOT.iterdir()) if p.is_file() and p.suffix in TEXT and not p.name.startswith(".git"))


def test_no_text_names_a_place_on_one_machine():
    found, read = [], 0
    for path in tracked():
        read += 1
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert read > 100
    assert found == []


@pytest.mark.parametrize(
    "line", ["cd " + "/wo" + "rk/main", 'x = "' + "/tm" + 'p/a"', "C:" + "\\" + "Users\\me", "(" + "/ho" + "me/x)"]
)
def test_a_place_on_one_machine_is_seen(line):
    assert MACHINE.search(line)


@pytest.mark.parametrize("line", ["https://example.org/" + "home/x", "docs/" + "work/plan", "a/" + "opt/b"])
def test_an_address_is_no_place_on_a_machine(line):
    assert not MACHINE.search(line)


@pytest.mark.parametrize("registry", [MEASURES, MATCHERS, formats()], ids=["measures", "matchers", "formats"])
def test_a_file_is_named_as_what_it_registers(registry):
    built_in = registry._built_in()
    assert len(built_in) >= 7
    for key, module in built_in.items():
        assert key_of(registry.get(key).name) == key, module


def test_every_measure_says_what_it_is_and_what_it_is_for():
    for spec in MEASURES:
        assert spec.summary.endswith("."), spec.name
        assert spec.best_for, spec.name
        assert spec.prefer or spec.direction == "none", spec.name


def test_no_two_measures_share_a_name():
    names = [key_of(name) for spec in MEASURES for name in {key_of(n) for n in (spec.name, *spec.aliases)}]
    assert sorted(names) == sorted(set(names))


def test_the_public_names_are_complete_importable_and_documented():
    assert sorted(karat.__all__) == list(karat.__all__)
    assert dir(karat) == karat.__all__
    for name in karat.__all__:
        assert inspect.getdoc(getattr(karat, name)), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = karat.nothing


@pytest.mark.parametrize("package", ["karat"])
def test_names_made_on_demand_are_those_the_type_checker_sees(package):
    """A lazy package says its names three times; they must agree."""
    module = importlib.import_module(package)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (checked,) = (n for n in tree.body if isinstance(n, ast.If))
    seen = {
        alias.name: node.module.removeprefix(f"{package}.")
        for node in checked.body
        for alias in node.names
        if node.module != "typing"
    }
    assert seen == module._HOME
    assert sorted(seen) == sorted(module.__all__)


def test_every_module_has_a_docstring():
    bare = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree):
            bare.append(str(path.relative_to(SRC)))
    assert bare == []
