"""Pages that hold nothing to search for are named when documents are indexed."""

import pytest

from karat.report.build.index import document
from karat.report.render import console
from karat.systems.index import index

CONTENTS = "\n".join(f"{n} Chapter about water .......... {n * 7}" for n in range(1, 13))
BACK = "\n".join(
    f"{word}, {n}, {n + 12}-{n + 14}" for n, word in enumerate(["Bears", "Boats", "Coal", "Drums", "Ice"], 3)
)
MENU = "Home | About | Contact | Imprint | Search | Login\nSkip to main content"
PROSE = "The ferry leaves from the north pier at noon. A ticket costs twelve crowns, and bicycles travel free."


@pytest.fixture
def made(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in {"contents": CONTENTS, "back": BACK, "menu": MENU, "prose": PROSE}.items():
        (docs / f"{name}.txt").write_text(text, encoding="utf-8")
    return index([docs], tmp_path / "x.index", chunk="whole", engines="bm25")


def test_boilerplate_is_counted_by_document(made):
    named = {p.place: p.reason for p in made.problems if p.kind == "boilerplate"}
    assert {place.removesuffix(".txt") for place in named} == {"contents", "back", "menu"}
    assert "1 of 1 chunk looks like boilerplate: a table of contents (1)" in named["contents.txt"]
    assert "a back-of-book index (1)" in named["back.txt"]
    assert "a list of links (1)" in named["menu.txt"]
    assert not any(p.fatal for p in made.problems)


def test_it_is_shown(made):
    assert "boilerplate" in console.render(document(made.about, "x.index", "hybrid"))
