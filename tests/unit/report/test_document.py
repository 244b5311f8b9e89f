"""Documents: what is shown at which detail, how cells are written, and the same in every medium."""

import io

import pytest
from rich.cells import cell_len

from karat.report.document import (
    Card,
    Cards,
    Column,
    Detail,
    Document,
    Heading,
    Link,
    Listing,
    ListItem,
    Notice,
    Table,
    Text,
    Value,
    bullets,
    write_cell,
)
from karat.report.render import console, html, latex, markdown

HOSTILE = (
    "[bold red]x[/] a|b`c` </script><img src=x onerror=alert(1)> 50% & \\x_y \x1b]0;owned\x07\x1b[2J\u202e {{7 * 7}}"
)
VALUE = Value(0.5123, 0.4671, 0.5563, std=0.41, mark="*", best=True, note="of 3")
COLUMNS = [
    Column("system"), Column("F1@5", "value"), Column("p", "p"), Column("n", "count"), Column("share", "percent"),
    Column("seconds", "amount", detail=Detail.FULL),
]  # fmt: skip
ROWS = [["a", VALUE, 0.0312, 1200, 0.7123, 0.0243], ["b", Value(0.25, 0.24, 0.26), 0.0001, 3, None, None]]
TABLE = Table("Figures", COLUMNS, ROWS, footnotes=["A footnote."])


def page(*blocks, title="Title"):
    return Document(title, blocks)


@pytest.mark.parametrize(
    ("cell", "kind", "written"),
    [
        (Value(0.5123, 0.4671, 0.5563), "value", (".51", "[.47, .56]")),
        (Value(0.5123, 0.5071, 0.5163), "value", (".512", "[.507, .516]")),
        (Value(0.5123), "value", (".5123", "")),
        (Value(0.031, -0.01, 0.07, signed=True), "value", ("+.03", "[-.01, .07]")),
        (Value(-0.031, signed=True, digits=3), "value", ("-.031", "")),
        (Value(0.444, 0.4, 0.5, unit="share"), "value", ("44%", "[40%, 50%]")),
        (Value(3.25, unit="count"), "value", ("3.25", "")),
        (Value(float("nan")), "value", ("–", "")),
        (None, "count", ("–", "")),
        (1200, "count", ("1,200", "")),
        (0.0004, "p", ("< .001", "")),
        (0.9999, "percent", (">99.9%", "")),
        ("unknown", "amount", ("unknown", "")),
        (Link("q3", "#q3"), "text", ("q3", "")),
    ],
)
def test_a_cell_is_written_one_way(cell, kind, written):
    found = write_cell(cell, kind)
    assert (found.text, found.beside) == written


def test_every_medium_has_the_same_columns_figures_and_footnotes():
    document = page(TABLE)
    texts = [
        console.render(document, Detail.FULL, width=160),
        markdown.render(document).replace("\\", "").replace("**", ""),
        latex.render(document).replace("\\textless{}", "<").replace("\\%", "%"),
        html.render(document).replace("&lt;", "<"),
    ]
    for text in texts:
        for part in ("F1@5", ".51", "[.47, .56]", "of 3", ".250", ".031", "< .001", "1,200", "71.2%", "0.0243"):
            assert part in text, (part, text[:200])
        assert "A footnote." in text


def test_the_best_is_marked_in_every_medium():
    document = page(TABLE)
    assert "\x1b[1m.51*" in console.render(document, colour=True)
    assert "**.51**\\*" in markdown.render(document)
    assert "\\textbf{.51}$^{*}$" in latex.render(document)
    assert '<td class="n best" data-v="0.5123"><b>.51*</b>' in html.render(document)


def test_detail_decides_what_is_shown():
    document = page(
        Heading("Empty"),
        Heading("Always", detail=Detail.QUIET),
        Notice("Heed.", "warning", "guard", detail=Detail.QUIET),
        Text("Usual."),
        Heading("Deep", detail=Detail.FULL),
        Text("Deep down.", detail=Detail.FULL),
        Cards([Card("Title", "figure", "words")]),
    )
    shown = {detail: [getattr(b, "text", "cards") for b in document.at(detail)] for detail in Detail}
    assert shown[Detail.QUIET] == ["Always", "Heed."]
    assert shown[Detail.BRIEF] == ["Always", "Heed.", "Usual."]
    assert shown[Detail.FULL] == ["Always", "Heed.", "Usual.", "Deep", "Deep down."]
    assert shown[Detail.PAGE][-1] == "cards"


def test_rows_and_items_that_wait_for_more_detail_are_counted():
    table = Table("", [Column("a")], [[str(i)] for i in range(5)], most=2)
    items = Listing([ListItem("-", str(i), ("few",), more=("all",), remedy="do") for i in range(5)], most=2)
    brief = console.render(page(table, items))
    assert brief.count("3 more: -v shows all.") == 2
    assert "few" in brief
    assert "all\n" not in brief
    full = console.render(page(table, items), Detail.FULL)
    assert "more: -v" not in full
    assert full.count("all") == 5
    quiet = console.render(Document("", [Listing(items.items, detail=Detail.QUIET)]), Detail.QUIET)
    assert "few" not in quiet
    assert quiet.count("→ do") == 5


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_figures_and_words_are_whole_at_any_width(width):
    names = ["Faithfulness(by=heuristic)", "TokenF1(bag=set, norm=technical)", *(f"Recall@{k}" for k in (1, 3, 5, 10))]
    columns = [Column("system"), *(Column(name, "value") for name in names)]
    rows = [[f"a_system_{i}", *([VALUE] * len(names))] for i in range(3)]
    shown = console.render(page(Table("", columns, rows)), width=width)
    assert max(map(cell_len, shown.split("\n"))) <= width
    assert shown.count("[.47, .56]") == 3 * len(names)
    words = set(shown.split())
    assert {"Faithfulness", "(by=heuristic)", "(bag=set,", "norm=technical)", "Recall@10", "a_system_2"} <= words


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
def test_any_terminal_can_show_it(encoding):
    shown = console.render(page(Notice("вопрос → 問"), TABLE), encoding=encoding)
    shown.encode(encoding)
    assert ("±" in shown) == (encoding == "utf-8")


def test_a_pipe_gets_plain_text():
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    console.show(page(TABLE), pipe)
    pipe.flush()
    assert "\x1b" not in pipe.buffer.getvalue().decode("ascii")


def test_a_command_can_be_pasted():
    words = "karat testset check 'my questions.jsonl' " + " ".join(f"--option-{i} value-{i}" for i in range(6))
    shown = console.render(page(Listing([ListItem("-", "See why:", command=words)])))
    lines = [line.strip() for line in shown.split("\n")[1:] if line]
    assert " ".join(line.removesuffix("\\").strip() for line in lines) == words
    assert all(line.endswith("\\") for line in lines[:-1])


def hostile():
    return page(
        Heading(HOSTILE), Text(HOSTILE, "headline"), Notice(HOSTILE, "warning", HOSTILE),
        Listing([ListItem(HOSTILE, HOSTILE, (HOSTILE,), remedy=HOSTILE)]),
        Listing([ListItem("x", Link(HOSTILE, "javascript:alert(1)"))]),
        Table(HOSTILE, [Column(HOSTILE, hint=HOSTILE)], [[HOSTILE], [Link(HOSTILE, "javascript:x")]]),
        Table("", [Column("")], [[""]], footnotes=[HOSTILE]),
        bullets([HOSTILE], folded=HOSTILE), Cards([Card(HOSTILE, HOSTILE, HOSTILE)]), title=HOSTILE,
    )  # fmt: skip


@pytest.mark.parametrize("colour", [False, True])
def test_hostile_text_stays_text_on_the_screen(colour):
    shown = console.render(hostile(), Detail.PAGE, colour=colour, width=400)
    assert "[bold red]x[/]" in shown
    assert not any(sign in shown for sign in ("\x1b]", "\x1b[2J", "\x07", "\u202e"))


def test_hostile_text_is_no_markup():
    text = markdown.render(hostile())
    assert "<img" not in text.replace("\\<img", "")
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line.startswith("| ")]
        assert len({line.replace("\\|", "").count("|") for line in lines}) <= 1
    tex = latex.render(hostile())
    assert "50\\% \\& \\textbackslash{}x\\_y" in tex
    bare = tex.replace("\\{", "").replace("\\}", "")
    assert bare.count("{") == bare.count("}")
    shown = html.render(hostile())
    assert "<img" not in shown
    assert "javascript:" not in shown.partition("</style>")[2].partition("<script>")[0]
    assert shown.count("{{7 * 7}}") > 8


def test_a_row_of_latex_may_begin_with_a_bracket():
    assert "\n    {}[x] &" in latex.render(page(Table("", [Column("a"), Column("b")], [["[x]", "y"]])))


def test_the_same_document_gives_the_same_bytes():
    assert html.render(hostile()) == html.render(hostile())
