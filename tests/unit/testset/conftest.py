"""A small corpus, and a check of it."""

import pytest

from karat.core.docs import Chunk, Chunks, Doc, Page
from karat.core.types import Question, TestSet
from karat.testset.check import CheckContext
from karat.testset.check_testset import check_testset

PAGES = (
    "The galley opens at six. Breakfast is porridge.",
    "The generator burns diesel. Oil is changed weekly.",
    "Sledges carry at most ninety kilograms.",
    "Radio contact is made every evening at eight.",
    "The doctor keeps morphine in the locked cabinet.",
    "Bears are scared away with flares and noise.",
    "Ice thickness is drilled before vehicles cross.",
    "Laundry takes place on Saturday in the annex.",
    "Telescope shutters close when wind exceeds gales.",
    "Greenhouse lettuce ripens after forty days.",
    "Fuel drums are rolled, never lifted, by two people.",
    "Library books return before the ship departs.",
)


def book(pages=PAGES, name="docs/handbook.pdf", labels=None):
    """A document with one page a text, and a chunk for each page."""
    text, marks, chunks = "", [], []
    for number, page in enumerate(pages, 1):
        start, text = len(text), text + page + "\n"
        label = labels[number - 1] if labels else None
        marks.append(Page(number, start, start + len(page), label))
        chunks.append(
            Chunk(
                f"{name}#{number:02}", name, page, pages=(number,), span=(start, start + len(page)),
                labels=(label,) if label else (),
            )
        )  # fmt: skip
    return Doc(name, text, pages=tuple(marks)), chunks


def examined(name, questions, chunks=None, docs=None, **options):
    """What one check finds."""
    if chunks is None:
        doc, chunks = book()
        docs = [doc]
    found = check_testset(CheckContext(TestSet(questions), Chunks.ordered(chunks), docs, **options), only=[name])
    assert all(f.check == name for f in found.findings)
    assert not any("failed" in f.title for f in found.findings), found.findings
    return found.findings


def asked(*golds, text="When does the galley open?", **fields):
    return [Question("q1", text, gold=golds, **fields)]


@pytest.fixture
def pages():
    return PAGES


@pytest.fixture(name="book")
def the_book():
    return book


@pytest.fixture(name="examined")
def the_examined():
    return examined


@pytest.fixture(name="asked")
def the_asked():
    return asked
