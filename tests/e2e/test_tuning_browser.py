"""Tuning in a real browser: a slider is moved, a query is searched, a system is written, an index is gone."""

import pytest
from tuned_runs import SPEC, write_tunable
from viewed_runs import serving

from karat.experiment.run import run as run_spec

pytestmark = pytest.mark.browser
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    write_tunable(folder)
    run_spec(folder / "karat.yaml")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    (head,) = (folder / "runs").glob("*/manifest.json")
    return head.parent.name


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder / "runs") as server:
        yield server


@pytest.fixture
def visit(browser, server, run):
    contexts, wrong = [], []

    def opened(query="", viewport=WIDE, **more):
        context = browser.new_context(viewport=viewport, reduced_motion="reduce", **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{server.address}/?token={server.token}")
        page.goto(f"{server.address}/run/{run}/tune{query}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def mean(page, name="Recall@3"):
    return page.locator(f'#means tr[data-name="{name}"] .mean').inner_text().split("\n")[0]


def settled(page):
    page.locator('main:not([aria-busy="true"]) .alphas').wait_for()


def test_a_slider_is_moved_and_the_figures_follow(visit):
    page = visit("?alpha=0.5&k=3")
    settled(page)
    before = mean(page)
    slider = page.get_by_role("slider", name="Alpha: weight of dense", exact=True)
    slider.focus()
    page.keyboard.press("End")
    page.locator("#means th", has_text="dense").wait_for()
    settled(page)
    assert "alpha=1" in page.url
    assert mean(page) != before
    assert page.locator(".alphas .chosen").get_attribute("data-alpha") == "1"
    page.keyboard.press("ArrowLeft")
    page.locator("#means th", has_text="hybrid alpha=0.95").wait_for()
    page.reload()
    settled(page)
    assert page.locator("#means th", has_text="hybrid alpha=0.95").count() == 1  # a link opens the same


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.867, 1, [".80", ".85", ".90", ".95", "1.00"]),  # no share above 1
        (0, 0, [".00", ".05", ".10", ".15", ".20"]),
        (0.43, 0.71, [".40", ".50", ".60", ".70", ".80"]),
        (0.01, 0.99, [".00", ".25", ".50", ".75", "1.00"]),
        (3, 120, [".00", "50.00", "100.00", "150.00", "200.00"]),
    ],
)
def test_the_axis_has_round_even_steps(visit, low, high, ticks):
    page = visit()
    draw = """([low, high]) => import("/assets/curve.js").then(({ alphaCurve }) =>
      [...alphaCurve({ curve: [{ alpha: 0, mean: low, low, high, best: true }], main: "m", name: "n" }, () => {})
        .querySelectorAll(".tick")].slice(0, 5).map((tick) => tick.textContent))"""
    assert page.evaluate(draw, [low, high]) == ticks


def test_a_point_of_the_curve_is_taken_by_keyboard(visit):
    page = visit("?alpha=0.5&k=3")
    settled(page)
    page.locator(".alphas .chosen").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator("#means th", has_text="hybrid alpha=0.55").wait_for()
    settled(page)
    page.keyboard.press("ArrowRight")  # the drawing is another, and the point still has the keys
    page.keyboard.press("Enter")
    page.locator("#means th", has_text="hybrid alpha=0.6").wait_for()


def test_another_fusion_rests_what_it_does_not_use(visit):
    page = visit()
    settled(page)
    page.get_by_label("Fusion").select_option("rrf")
    page.locator("#means th", has_text="rrf").wait_for()
    assert page.get_by_role("slider", name="Alpha: weight of dense", exact=True).is_disabled()
    settled(page)
    assert page.locator(".alphas .other").count() == 1


def test_a_query_is_searched_by_all_engines(visit):
    page = visit("?alpha=0.4")
    settled(page)
    page.get_by_label("Query").fill("pump oil item3")
    page.keyboard.press("Enter")
    page.locator(".found ol").first.wait_for()
    assert page.locator(".found h3").all_inner_texts() == ["hybrid alpha=0.4", "dense (meaning)", "bm25 (words)"]


def test_a_system_is_written_to_karat_yaml(visit, folder):
    page = visit("?alpha=0.45&k=3")
    settled(page)
    page.get_by_label("Name of the system").fill("tuned")
    page.get_by_role("button", name="Show what would be written").click()
    page.get_by_role("button", name="Write it").click()
    page.locator("#yaml .done").wait_for()
    lines = "  - name: tuned\n    engine: hybrid\n    alpha: 0.45\n"
    assert (folder / "karat.yaml").read_text("utf-8") == SPEC.replace("    alpha: 0.8\n", f"    alpha: 0.8\n{lines}")
    page.get_by_role("button", name="Show what would be written").click()
    page.locator("#yaml .problem", has_text="Choose another name").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_narrow_screen(visit, scheme):
    page = visit(viewport=NARROW, color_scheme=scheme)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_an_index_that_is_gone_is_told(visit, folder):
    index = folder / "runs" / "indexes"
    index.rename(folder / "hidden")
    try:
        page = visit()
        page.get_by_text("The index is not there any more").wait_for()
    finally:
        (folder / "hidden").rename(index)
