"""The pages of docs/reference are what the code gives."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(ROOT))
    try:
        yield importlib.import_module("docs.generator.pages").PAGES
    finally:
        sys.path.remove(str(ROOT))


def test_the_reference_says_what_the_code_says(pages):
    stale = [name for name, make in pages.items() if (REFERENCE / name).read_text(encoding="utf-8") != make()]
    assert stale == [], "the code has changed: run `python -m docs.generator` and commit the pages"


def test_every_page_of_the_reference_is_generated(pages):
    assert {path.name for path in REFERENCE.iterdir()} == set(pages)
