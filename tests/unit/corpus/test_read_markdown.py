"""Markdown: front matter, headings, and what is kept of the markup."""

import pytest

from karat.core.docs import Section
from karat.corpus import read


def doc_of(tmp_path, text, name="note.md"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    (doc,) = read(path).docs
    return doc


NOTE = """---
title: "Night watch"
url: https://example.org/watch
author: A. B.
tags:
  - x
---

# Watches

They last [four hours](https://e.org/a_(b) "t"), see ![the clock](clock.png).

Relief
------

```sh
# not a heading
```

## Relief ##
#hashtag
"""


def test_a_whole_file(tmp_path):
    doc = doc_of(tmp_path, NOTE)
    assert doc.text == (
        "# Watches\n\nThey last four hours, see the clock.\n\nRelief\n------\n\n```sh\n# not a heading\n```\n\n"
        "## Relief ##\n#hashtag\n"
    )
    assert doc.title == "Night watch"
    assert doc.url == "https://example.org/watch"
    assert doc.meta == {"url": "https://example.org/watch", "author": "A. B."}
    assert doc.sections == (
        Section("Watches", 1, 0),
        Section("Relief", 2, 49),
        Section("Relief", 2, 91),
    )
    assert [doc.text[s.start :].split("\n")[0] for s in doc.sections] == ["# Watches", "Relief", "## Relief ##"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a][b] and `[c](d)`\n\n[b]: https://e.org\n", "a and `[c](d)`\n\n"),
        ("[a\nb](c) <!-- hid\nden --> d", "a\nb  d"),
        ("[![badge](b.svg)](https://ci)", "badge"),
        ("an [unclosed](link and [x] and (y)", "an [unclosed](link and [x] and (y)"),
        ("[^1]: a footnote\n", "[^1]: a footnote\n"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("---\nno front matter", "---\nno front matter"),
        ("---\nNote: a rule\nand a line\n---\nb", "---\nNote: a rule\nand a line\n---\nb"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_markup(tmp_path, text, expected):
    assert doc_of(tmp_path, text).text == expected


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("# *One* `two`\n", ["One two"]),
        ("    # code\n", []),
        ("~~~\n# no\n```\n# no\n~~~\n# yes\n", ["yes"]),
        ("- item\n---\n", []),
        ("| a |\n---\n", []),
        ("#\n##   \n", []),
        ("# a {#own}\n", ["a"]),
        ("```\n# never closed\n", []),
        ("Заголовок\n===\n", ["Заголовок"]),
    ],
)
def test_headings(tmp_path, text, titles):
    assert [section.title for section in doc_of(tmp_path, text).sections] == titles


def test_an_anchor_that_the_author_gave_is_no_part_of_the_title(tmp_path):
    assert doc_of(tmp_path, "# A heading {#own}\n").sections[0].title == "A heading"


def test_the_title_is_the_first_top_heading_else_the_file(tmp_path):
    assert doc_of(tmp_path, "## Sub\n\n# Top\n").title == "Top"
    assert doc_of(tmp_path, "words").title == "note"


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["[", "](", "![", "`", "<!--", "[a](", "# ", "   #"])
def test_hostile_repetition_is_read_in_time(tmp_path, piece):
    doc = doc_of(tmp_path, "x " + piece * 50_000 + "\n\nend --> ` [a](b)")
    assert doc.text.startswith("x")
    assert doc.text.endswith(" a")


def test_front_matter_of_several_lines(tmp_path):
    head = "---\n# a comment\ntags:\n  - a\n- b\ntitle: >-\n  The night\n\n  watch\nsummary: |\n---\n"
    doc = doc_of(tmp_path, head + "It lasts four hours.")
    assert (doc.title, doc.text, doc.meta) == ("The night watch", "It lasts four hours.", {})


def test_blank_and_front_matter_only_files_are_empty(tmp_path):
    (tmp_path / "a.md").write_text("---\ntitle: x\n---\n\n")
    (tmp_path / "b.md").write_text(" \n")
    (tmp_path / "c.md").write_text("x")
    reading = read(tmp_path)
    assert [(p.kind, p.reason) for p in reading.problems] == [("empty", "holds no text.")] * 2
