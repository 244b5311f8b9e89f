"""The report in a real browser: it sorts, filters, opens and draws; it lets nothing in, and nothing leaves it."""

import json
from dataclasses import replace

import pytest

from karat.experiment.inputs import resolved
from karat.experiment.score import evaluation_of
from karat.experiment.settings import Choices
from karat.files import read_testset
from karat.report.build.study import document
from karat.report.charts import draw
from karat.report.render.html import render
from karat.results.comparison import Pair
from karat.results.study import Cell, Choice, Configuration, Failure, FailureCount, KindChoice, Study, StudyHit
from karat.systems.index import index
from karat.systems.settings import SystemSettings
from karat.systems.system import System

pytestmark = pytest.mark.browser


@pytest.fixture
def undrawn():
    """Charts are drawn, and shown."""


HOSTILE = (
    '<script>document.title = "taken"</script></script>"><img src=x onerror="document.title = \'taken\'"> {{7 * 7}}'
)
SETTINGS = (SystemSettings("bm25"), SystemSettings("dense"), SystemSettings(alpha=0.3), SystemSettings(alpha=0.7))
NAMES = ("<b>bm25</b>", "dense", "hybrid 0.3", "hybrid 0.7")
TOPICS = ("anchors", "boilers", "cranes", "dinghies", "engines", "funnels", "gauges", "hatches")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Real rankings over documents, names and questions that try to take the page over."""
    folder = tmp_path_factory.mktemp("hostile")
    docs = folder / "docs"
    docs.mkdir()
    for i, topic in enumerate(TOPICS):
        words = f"The rule for {topic} is number {i}. {HOSTILE} See javascript:alert(1) or https://example.org/{topic}."
        (docs / f"{topic} <img onerror=x>.txt").write_text(words + f" {topic} are checked weekly." * 20)
    rows = [
        {"id": f"q{i}", "question": f"Which rule holds for {topic}? {HOSTILE}", "answers": [f"number {i} {HOSTILE}"],
         "gold": [{"doc": f"{topic} <img onerror=x>.txt", "quote": f"The rule for {topic} is number {i}."}],
         "kind": ("fact", "<i>kind</i>")[i % 2]}
        for i, topic in enumerate(TOPICS)
    ]  # fmt: skip
    (folder / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = index(docs, folder / "made.index")
    testset, _ = read_testset(folder / "qa.jsonl")
    choices = Choices(measures=("F1@{1,5}", "Recall@{1,5}", "Precision@5", "MRR", "nDCG@10"), by=("kind",))
    runs, hits = [], {}
    for name, settings in zip(NAMES, SETTINGS, strict=True):
        found = System(settings, made).search([q.text for q in testset], 8)
        runs.append(found.run(name, testset.ids))
        hits[name] = {
            q.id: [
                StudyHit(
                    rank, score, replace(chunk, url="javascript:alert(1)" if rank == 1 else "https://example.org/x"),
                    holds=tuple(g.label for g in q.gold if g.doc == chunk.doc),
                    legs={"dense": (rank, score), "bm25": (rank + 1, 2.5)},
                )
                for rank, (score, chunk) in enumerate(found.hits(i), 1)
            ]
            for i, q in enumerate(testset)
        }  # fmt: skip
    silent = lambda step: None  # noqa: E731
    found = evaluation_of(testset, runs, choices, resolution=resolved(testset, made, choices, silent))
    answers = dict.fromkeys(NAMES, [f"It is number 1. {HOSTILE}"] * len(testset))
    cells = tuple(
        Cell(system=name, measure="F1@5", k=5, mean=0.3 + i / 100, low=0.2, high=0.4, n=8)
        for i, name in enumerate(NAMES)
    )
    pairs = tuple(
        Pair(
            measure="F1@5",
            a=a,
            b=b,
            n=8,
            difference=0.01,
            low=-0.1,
            high=0.1,
            p=0.4,
            adjusted=0.8,
            wins=3,
            ties=2,
            losses=3,
        )
        for a in NAMES
        for b in NAMES
        if a < b
    )
    best = cells[-1]
    choice = Choice(
        measure="F1",
        cells=cells,
        best=best,
        equals=pairs[:2],
        beaten=pairs[2:3],
        cross_validated=0.3,
        optimism=0.02,
        picks={best.system: 5},
        oracle=0.5,
        by_kind=(KindChoice("fact", 4, best, ()),),
    )
    return Study(
        name=f"study {HOSTILE}",
        evaluation=replace(found, answers=answers),
        configurations=tuple(Configuration(n, {"alpha": a}) for n, a in zip(NAMES, (0, 1, 0.3, 0.7), strict=True)),
        main="F1@5",
        k=5,
        choice=choice,
        pairs=pairs,
        failures=(Failure(NAMES[-1], "q3", "below_k", detail=f"rank 7 {HOSTILE}", rank=7),),
        failure_counts=(FailureCount(NAMES[-1], "below_k", questions=("q3",), gain=0.1),),
        hits=hits,
        seconds={n: [0.01] * len(testset) for n in NAMES},
        manifest={"command": f"karat run {HOSTILE}", "home": "javascript:alert(1)"},
    )


@pytest.fixture(scope="module")
def address(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(document(study, charts=draw(study).specs)), encoding="utf-8")
    return path.as_uri()


def rows(table):
    return table.locator("tbody tr:visible th").all_inner_texts()


def test_a_table_sorts_up_and_down_and_says_so(page):
    table = page.get_by_role("table", name="Systems by measure")
    head = table.locator("thead th", has_text="system").first
    before = rows(table)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert rows(table) == sorted(before, key=str.lower) != before
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert rows(table) == sorted(before, key=str.lower, reverse=True)
    alpha = table.locator("thead th", has_text="alpha")
    alpha.get_by_role("button").click()
    assert rows(table) == ["dense", "hybrid 0.7", "hybrid 0.3", "<b>bm25</b>"]
    assert table.locator("[aria-sort]").count() == 1


def test_more_columns_on_demand(page):
    table = page.get_by_role("table", name="Systems by measure")
    shown = table.locator("thead th:visible").count()
    page.locator("#scores").get_by_role("button", name="All columns").first.click()
    assert table.locator("thead th:visible").count() > shown


def test_questions_are_narrowed_by_text_kind_failure_and_score(page):
    items = page.locator("#explorer .item")
    assert items.count() == len(TOPICS)
    page.locator("#explorer").get_by_label("Search").fill("DINGHIES")
    assert items.count() == 1
    assert "1 of 8 questions" in page.locator("#explorer output").inner_text()
    page.locator("#explorer").get_by_label("Search").fill("")
    page.locator("#explorer").get_by_label("Kind").select_option("<i>kind</i>")
    assert items.count() == 4
    page.locator("#explorer").get_by_label("Failure").select_option("below_k")
    assert "dinghies" in items.inner_text()
    page.locator("#explorer").get_by_label("Failure").select_option("")
    page.locator("#explorer").get_by_label("F1@5 at most").fill("-1")
    assert items.count() == 0


def test_an_opened_question_shows_why_it_scored_so(page):
    assert page.locator(".opened").count() == 0
    opener = page.locator("#q3 .opener")
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    detail = page.locator("#q3 .opened")
    text = detail.inner_text()
    assert "number 3" in text
    assert "below the cut-off" in text
    assert "rank 7" in text
    assert "It is number 1." in text
    assert "dense #1" in text
    assert "bm25 #2 (2.5000)" in text
    gold = detail.locator(".hit.holds").first
    assert "★ gold" in gold.inner_text()
    assert gold.locator("mark").inner_text() == "The rule for dinghies is number 3."
    links = detail.locator(".hit a")
    assert set(links.evaluate_all("all => all.map(a => a.href + ' ' + a.rel)")) == {
        "https://example.org/x noopener noreferrer"
    }
    page.locator("#explorer").get_by_label("Beside it").select_option("dense")
    assert page.locator("#q3 .opened .beside h4", has_text="dense").count() == 1
    page.locator("#q3 .opener").click()
    assert page.locator(".opened").count() == 0


def test_a_failure_leads_to_its_question(page):
    page.locator("#explorer").get_by_label("Search").fill("anchors")
    page.locator("#failures a[href='#q3']").click()
    page.locator("#q3 .opened").wait_for()
    assert page.locator("#explorer").get_by_label("Search").input_value() == ""


def test_dark_and_light(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("#theme")
    assert button.get_attribute("aria-label") == "Switch to dark colours"
    button.click()
    dark = page.evaluate(ground)
    assert dark != light
    assert button.get_attribute("aria-label") == "Switch to light colours"
    button.click()
    assert page.evaluate(ground) == light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == light  # what was pressed holds
    page.reload()
    assert page.evaluate(ground) == dark  # and is forgotten with the page


def test_every_chart_is_drawn(page):
    charts = page.locator("[data-chart]")
    assert charts.count() >= 5
    for i in range(charts.count()):
        charts.nth(i).locator("svg.marks").wait_for(state="attached")
    assert page.locator(".problem").count() == 0


def test_hostile_text_is_text(page):
    for i in range(len(TOPICS)):
        page.locator(f"#q{i} .opener").click()
    assert page.locator("main img, main iframe, main b b, main script:not([type='application/json'])").count() == 0
    assert page.locator("[onerror], [href^='javascript']").count() == 0
    assert HOSTILE in page.locator("#q0 .opened .asked").inner_text()
    assert "{{7 * 7}}" in page.locator("#provenance").inner_text()
    assert page.locator("h1").inner_text().endswith(HOSTILE)


def test_nothing_is_wider_than_the_window(page):
    page.locator("#q0 .opener").click()
    page.locator("[data-chart] svg.marks").first.wait_for(state="attached")
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window
