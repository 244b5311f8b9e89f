"""The page of a comparison in a real browser: charts are drawn, tables sort, hostile names stay text."""

import pytest

import karat
from karat.report.build.comparison import document
from karat.report.render.html import render

pytestmark = pytest.mark.browser


@pytest.fixture
def undrawn():
    """Charts are drawn, and shown."""


HOSTILE = '<script>document.title = "taken"</script><img src=x onerror="document.title = \'taken\'">'


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    rows = [
        {"id": f"q{i:02}", "question": f"What is {i}? {HOSTILE}", "system": name, "kind": f"<i>{'ab'[i % 2]}</i>",
         "MRR": 0.3 + (i * 7 % 10) / 20 + lift * (i % 4 > 0), "Hit@5": float(i % 3 > 0 or lift > 0.1)}
        for name, lift in ((HOSTILE, 0.0), ("b", 0.05), ("c", 0.1), ("d", 0.2))
        for i in range(24)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "compare.html"
    path.write_text(render(document(karat.compare(rows, by="kind"), charts=True)), encoding="utf-8")
    return path.as_uri()


def test_every_chart_is_drawn_and_nothing_is_wider_than_the_window(page):
    charts = page.locator("[data-chart]")
    assert charts.count() == 4  # two measures, each with its forest and its slices
    for i in range(charts.count()):
        charts.nth(i).locator("svg.marks").wait_for(state="attached")
    assert page.locator(".problem").count() == 0
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window


def test_names_and_questions_are_text(page):
    assert page.locator("main img, main i, main script:not([type='application/json'])").count() == 0
    assert HOSTILE in page.locator("#pairs").inner_text()
    assert HOSTILE in page.locator("#flips").inner_text()


def test_pairs_sort_by_their_difference(page):
    table = page.locator("#pairs table")
    assert table.locator("tbody tr").count() == 12
    table.locator("thead th", has_text="b - a").click()
    shown = [float(t.split()[0]) for t in table.locator("tbody tr:visible td:nth-child(4)").all_inner_texts()]
    assert shown in (sorted(shown), sorted(shown, reverse=True))


def test_the_menu_of_a_chart_goes_below_the_header(page):
    menu = page.locator("[data-chart] summary").first
    menu.wait_for()
    place = """e => { scrollBy(0, e.getBoundingClientRect().top - 10); const box = e.getBoundingClientRect();
      return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest("header") !== null; }"""
    assert menu.evaluate(place)
