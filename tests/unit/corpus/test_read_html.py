"""HTML: what is kept of a page, in which order, and where its sections begin."""

import pytest

from karat.core.docs import Section
from karat.corpus import read
from karat.corpus.readers.html import shallow_markup


def page(tmp_path, markup, name="page.html"):
    path = tmp_path / name
    path.write_bytes(markup if isinstance(markup, bytes) else markup.encode())
    return read(path)


def text(tmp_path, body):
    (doc,) = page(tmp_path, f"<!doctype html><html><body>{body}</body></html>").docs
    return doc.text


PAGE = """<!DOCTYPE html>
<!-- saved from url=(0027)https://example.org/saved -->
<html><head><title> Night
 watch </title><link rel="canonical" href="https://example.org/watch"><style>p {}</style></head>
<body><header><a href="/">Home</a></header><nav><ul><li>Menu</li></ul></nav>
<main><h1 id="top">Watches</h1><p>They last <b>four</b> hours.</p>
<section id="relief"><h2>Relief</h2><p>At dawn.<br>Sharp.</p></section>
<h2><a name="gear"></a>Gear</h2>
<ul><li>A lamp</li><li><p>A coat</p></li></ul>
<table><tr><th>Item</th><th>Count</th></tr><tr><td><p>Lamp</p></td><td></td><td>2</td></tr></table>
<pre>code  here
  indented</pre><script>bad()</script><p hidden>gone</p><p style="display: none">gone</p>
<template><p>gone</p></template></main>
<footer>Imprint</footer></body></html>"""


def test_a_whole_page(tmp_path):
    reading = page(tmp_path, PAGE)
    (doc,) = reading.docs
    assert doc.text == (
        "Watches\nThey last four hours.\nRelief\nAt dawn.\nSharp.\nGear\n- A lamp\n- A coat\n"
        "Item | Count\nLamp | | 2\ncode  here\n  indented"
    )
    assert doc.title == "Night watch"
    assert doc.url == "https://example.org/watch"
    assert doc.sections == (
        Section("Watches", 1, 0),
        Section("Relief", 2, 30),
        Section("Gear", 2, 53),
    )
    assert [doc.text[s.start :].split("\n")[0] for s in doc.sections] == ["Watches", "Relief", "Gear"]
    assert reading.problems == ()


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta property="og:url" content="https://e.org/og">', "https://e.org/og"),
        ("<!-- saved from url=(0014)https://e.org/ -->", "https://e.org/"),
        ('<link rel="canonical" href="javascript:alert(1)">', None),
        ("", None),
    ],
)
def test_the_address_of_a_page(tmp_path, head, expected):
    (doc,) = page(tmp_path, f"<html><head>{head}</head><body>x</body></html>").docs
    assert doc.url == expected


def test_the_title_is_the_first_heading_or_the_file_when_the_page_has_none(tmp_path):
    assert page(tmp_path, "<html><body><h1>Big</h1>x").docs[0].title == "Big"
    assert page(tmp_path, "<html><body>x").docs[0].title == "page"


@pytest.mark.parametrize(
    ("markup", "encoding", "said"),
    [
        ("<html><head><meta charset='windows-1251'></head><body>Вахта</body></html>", "cp1251", None),
        ("<html><head><meta charset='windows-1251'></head><body>Вахта</body></html>", "utf-8", None),
        ("<html><head></head><body>Вахта длится четыре часа</body></html>", "cp1251", "read as Windows-1251"),
        ("<html><head></head><body>Вахта</body></html>", "utf-8-sig", None),
        ("<html><head><meta charset=utf-8></head><body>Вахта длится</body></html>", "cp1251", "read as Windows-1251"),
        ("<html><head></head><body>Вахта</body></html>", "utf-16", "read as UTF-16"),
    ],
)
def test_encodings(tmp_path, markup, encoding, said):
    reading = page(tmp_path, markup.encode(encoding))
    assert reading.docs[0].text.startswith("Вахта")
    assert [said in str(problem) and not problem.fatal for problem in reading.problems] == ([True] if said else [])


def test_one_bad_byte_in_a_page_that_says_it_is_utf_8_leaves_the_rest_as_it_is(tmp_path):
    markup = '<html><head><meta charset="utf-8"></head><body>Une équipe à midi</body></html>'
    reading = page(tmp_path, markup.encode().replace(b"midi", b"midi\xff"))
    assert reading.docs[0].text == "Une équipe à midi\ufffd"
    assert ["could not be decoded as UTF-8" in str(problem) for problem in reading.problems] == [True]


def test_a_table_that_lays_out_the_page_is_no_table_of_data(tmp_path):
    body = "<table><tr><td><h2>Menu</h2>a</td><td><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    assert text(tmp_path, body) == "Menu\na\n1 | 2"


def test_headers_and_asides_of_the_article_itself_stay(tmp_path):
    body = "<aside>Adverts</aside><article><header><h1>T</h1>by A</header><aside>A note</aside>Words</article>"
    assert text(tmp_path, body) == "T\nby A\nA note\nWords"
    assert text(tmp_path, "<header><h1>Site</h1></header><p>Words</p>") == "Site\nWords"


def test_a_page_that_is_nothing_but_its_frame_is_kept_whole(tmp_path):
    assert text(tmp_path, "<footer>The only words</footer>") == "The only words"


def test_a_page_made_by_scripts_is_empty(tmp_path):
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / "page.html").write_text("<html><body><div id=app></div><script>render()</script></body></html>")
    (problem,) = read(tmp_path).problems
    assert problem.kind == "empty"
    assert problem.fatal
    assert problem.reason == "holds no text; it may be made by scripts."


def test_white_space_and_entities(tmp_path):
    assert text(tmp_path, "<p>a &amp;\n\t b&nbsp;&lt;c&gt;</p>d <i>e</i>f") == "a & b <c>\nd ef"


def test_deep_nesting_neither_hangs_nor_loses_words(tmp_path):
    deep = "<div>" * 30_000 + "inside" + "</div>" * 30_000 + "<p>after</p>"
    reading = page(tmp_path, f"<html><body>before{deep}</body></html>")
    assert reading.docs[0].text.split() == ["before", "inside", "after"]
    (problem,) = reading.problems
    assert problem.kind == "nested"
    assert problem.reason == "30,000 elements are open at once; those far inside are read as plain text."


def test_unclosed_inline_elements_do_not_multiply(tmp_path):
    body = "".join(f"<p><font size={n}>w{n} " for n in range(2_000))
    (doc,) = page(tmp_path, f"<html><body>{body}").docs
    assert doc.text.split() == [f"w{n}" for n in range(2_000)]
    assert "<font" not in shallow_markup(body)[0]
    assert shallow_markup("<p><b>x</b></p>") == ("<p><b>x</b></p>", 0)


def test_a_page_named_txt_is_read_as_html(tmp_path):
    reading = page(tmp_path, "<!DOCTYPE html><html><body><p>Words</p></body></html>", "page.txt")
    assert reading.docs[0].text == "Words"
    assert reading.problems[0].reason == "is named .txt but holds HTML; read as html."
