"""The layers of the house, read from the source: who may import whom."""

import ast
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "karat"
LAYERS = (
    ("cli",),
    ("web", "testing"),
    ("experiment",),
    ("testset",),
    ("systems", "diagnose"),
    ("answer", "corpus", "files", "fuse", "match", "measures", "report", "retrieve", "stats"),
    ("models", "pool", "results"),
    ("io",),
    ("core",),
)
DEPTH = {room: depth for depth, rooms in enumerate(LAYERS) for room in rooms}
OUTSIDE_THE_ROOMS = {"__init__", "__main__"}  # the public names, and the way in by python -m


def imports_of(tree, module):
    """(imported module, whether for type checking only) of every import, wherever it stands."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in node.body
        for inner in ast.walk(child)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = module.rsplit(".", node.level)[0] if node.level else ""
            origin = ".".join(filter(None, (package, node.module)))
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            yield name, id(node) in typing_only


def breaches(sources):
    """What `{module: source}` imports against the contract, one sentence each."""
    found = []
    for module, source in sources.items():
        room = module.split(".")[1]
        if room in OUTSIDE_THE_ROOMS:
            continue
        if room not in DEPTH:
            found.append(f"{module}: {room} is no room of the house")
            continue
        for name, typing_only in imports_of(ast.parse(source), module):
            top, _, rest = name.partition(".")
            if top != "karat":
                if room == "core" and not typing_only and top not in sys.stdlib_module_names and top != "numpy":
                    found.append(f"{module} imports {top}: core is the standard library and numpy")
                continue
            other, *inner = rest.split(".")
            if other == room:
                continue
            if DEPTH.get(other, -1) <= DEPTH[room]:
                found.append(f"{module} imports {name}: {room} does not open on {other or 'the package itself'}")
            elif any(part.startswith("_") and not part.startswith("__") for part in inner[:1]):
                found.append(f"{module} imports {name}, which is private to {other}")
    return found


def the_house():
    return {
        ".".join(("karat", *path.relative_to(SRC).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in SRC.rglob("*.py")
    }


def test_every_room_opens_only_on_what_lies_below():
    sources = the_house()
    assert len(sources) > 50
    assert breaches(sources) == []


@pytest.mark.parametrize(
    ("module", "source", "sentence"),
    [
        ("karat.match.x", "from karat.measures.compute import compute", "match does not open on measures"),
        ("karat.match.x", "from karat import measures", "match does not open on measures"),
        ("karat.core.x", "def f():\n    import karat.files", "core does not open on files"),
        ("karat.core.x", "import polars", "core is the standard library and numpy"),
        (
            "karat.stats.x",
            "if TYPE_CHECKING:\n    from karat.report.outputs.json import render",
            "stats does not open on report",
        ),
        ("karat.files.x", "from ..match import judge", "files does not open on match"),
        ("karat.experiment.x", "from karat.match._judge import judge", "private to match"),
        ("karat.experiment.x", "from karat.cli import main", "experiment does not open on cli"),
        ("karat.helpers.x", "", "helpers is no room"),
        ("karat.match.x", "import karat", "match does not open on the package itself"),
    ],
)
def test_a_breach_is_seen(module, source, sentence):
    (found,) = breaches({module: source})
    assert sentence in found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("karat.match.x", "from karat.match._judge import judge\nfrom karat.core.run import Run\nimport polars"),
        ("karat.core.x", "import json\nimport numpy as np\nif TYPE_CHECKING:\n    import polars as pl"),
        ("karat.cli.x", "from karat.experiment.score import score"),
        ("karat.core.x", "from . import errors"),
    ],
)
def test_what_is_allowed_is_not_a_breach(module, source):
    assert breaches({module: source}) == []
