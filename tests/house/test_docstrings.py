"""Examples in docstrings are run: one that is wrong misleads whoever reads it first."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import karat

ROOT = Path(karat.__file__).parent
MODULES = [
    ".".join(("karat", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(ROOT.rglob("*.py"))
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.M)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert found.failed == 0
