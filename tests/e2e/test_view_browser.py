"""`karat view` in a real browser, as a person uses it: a server over made-up runs, and pages of it."""

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from viewed_runs import BIG, HOSTILE, ROWS, SMALL, SYSTEMS, serving, write_big, write_small

pytestmark = pytest.mark.browser

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 400, "height": 800}
TEXT = re.compile(r"q\d+ What does section")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view") / "runs"
    write_big(folder)
    write_small(folder)
    write_small(folder, "20260103T000000Z-later-0000cc", 0.6, "later")
    return folder


@pytest.fixture(scope="module")
def server(runs):
    with serving(runs) as server:
        yield server


@pytest.fixture
def visit(browser, server):
    """Opens pages, each in a context that knows the token; none may complain, ask elsewhere, or be taken over."""
    contexts, wrong = [], []

    def opened(path, viewport=WIDE, server=server, quiet=True, browser=browser, **more):
        context = browser.new_context(viewport=viewport, color_scheme="light", reduced_motion="reduce", **more)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda call: None if call.url.startswith(server.address) else wrong.append(call.url))
        if quiet:
            page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.goto(f"{server.address}/?token={server.token}")
        page.goto(f"{server.address}{path}")
        return page

    yield opened
    for context in (one for one in contexts if one.browser.is_connected()):
        assert "taken" not in [page.title() for page in context.pages]
        context.close()
    assert wrong == []


def questions(run=BIG, query=""):
    return f"/run/{run}/questions{f'?{query}' if query else ''}"


def asked(page):
    return parse_qs(urlsplit(page.url).query)


def until(page, expression):
    """Waits for what an expression says; the page's policy forbids that the page itself evaluates it."""
    end = time.monotonic() + 15
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


def settle(page):
    """Waits until no visible row waits for its text."""
    until(page, "document.querySelectorAll('.line').length && !document.querySelector('.line.waits, .grid[aria-busy]')")


def lines(page):
    """The rows in sight, from top to bottom."""
    found = page.locator(".line").evaluate_all(
        "all => all.map(e => [Number(e.getAttribute('aria-rowindex')), e.innerText]).sort((a, b) => a[0] - b[0])"
    )
    assert found
    return found


def count(page, text):
    page.locator(".status output", has_text=text).wait_for()


def test_a_list_of_many_rows_is_scrolled_by_its_bar_without_blank_rows(launch, visit):
    bars = launch(ignore_default_args=["--hide-scrollbars"])
    page = visit(questions(), browser=bars)
    settle(page)
    assert int(page.locator(".grid").get_attribute("aria-rowcount")) == ROWS + 1
    box = page.locator(".grid").bounding_box()
    x, top, end = box["x"] + box["width"] - 7, box["y"] + 24, box["y"] + box["height"] - 24  # between its arrows
    page.mouse.move(x, top)
    page.mouse.down()
    for place in (0.5, 0.25, 0.75, 1.2):
        page.mouse.move(x, top + (end - top) * place, steps=6)
        rows = page.locator(".line").evaluate_all("all => all.map(e => e.innerText)")
        assert len(rows) > 8  # while it moves, too, no place is without its number
        assert all(re.match(r"[\d,]+", row) for row in rows)
        settle(page)
        numbers = [number for number, _ in lines(page)]
        assert abs(numbers[0] / ROWS - min(place, 1)) < 0.15
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert all(TEXT.search(text) for _, text in lines(page))
    page.mouse.up()
    page.keyboard.press("End")
    settle(page)
    last = lines(page)[-1]
    assert last[0] == ROWS + 1
    assert f"q{ROWS - 1} What" in last[1]
    assert page.locator(".line").count() < 40
    bars.close()


def test_a_list_that_is_taller_than_browsers_draw_is_whole(visit):
    page = visit(questions())
    settle(page)
    page.evaluate("""async () => {
      const { virtualList } = await import("/assets/list.js");
      const host = document.querySelector(".middle");
      const list = virtualList({ label: "tall", header: () => [], chosen: () => {}, loaded: () => {}, failed: () => {},
        fetchPage: async (offset, limit) => ({ total: 9_000_000, rows: Array.from({ length: limit },
          (_, i) => ({ id: String(offset + i) })) }),
        fill: (element, row) => element.append("row " + row.id) });
      host.replaceChildren(list.grid);
      list.reload();
      window.tall = list;
    }""")
    settle(page)
    for index in (8_999_999, 4_500_000, 0):
        page.evaluate(f"tall.go({index})")
        until(page, f"document.querySelector('#row-{index}')?.innerText === 'row {index}'")
        box, grid = page.locator(f"#row-{index}").bounding_box(), page.locator(".grid").bounding_box()
        assert grid["y"] <= box["y"] + 1
        assert box["y"] + box["height"] <= grid["y"] + grid["height"] + 1
    assert page.locator(".track").evaluate("e => e.clientHeight") < 15_000_000


def test_filters_stand_in_the_address_and_back_undoes_them(visit):
    page = visit(questions())
    count(page, f"{ROWS:,} questions")
    page.get_by_role("button", name=re.compile("^list")).click()
    count(page, f"25,000 of {ROWS:,} questions")
    page.get_by_label("System A").select_option("bm25")
    page.get_by_label("System B").select_option("dense")
    count(page, "of 100,000")
    page.get_by_label("Differ by at least").fill("0.9")
    page.wait_for_url(re.compile("differ=0.9"))
    assert asked(page) == {"kind": ["list"], "a": ["bm25"], "b": ["dense"], "differ": ["0.9"]}
    until(page, "!document.querySelector('.grid[aria-busy]')")
    gaps = [float(text.split("\n")[-1]) for _, text in lines(page)]
    assert all(abs(gap) >= 0.9 for gap in gaps)
    page.get_by_label("Which is better").select_option("b")
    page.wait_for_url(re.compile("side=b"))
    page.get_by_role("button", name=re.compile("Remove the filter bm25 and dense")).click()
    count(page, f"25,000 of {ROWS:,} questions")
    page.go_back()
    assert page.get_by_label("Which is better").input_value() == "b"
    for _ in range(4):
        page.go_back()
    page.go_back()
    count(page, f"{ROWS:,} questions")
    assert asked(page) == {}
    page.go_forward()
    count(page, f"25,000 of {ROWS:,} questions")
    page.get_by_role("button", name=re.compile("^list"), pressed=True).wait_for()


def test_a_difference_is_shown_whichever_systems_have_a_column(visit):
    page = visit(questions(query="a=bm25&b=dense&differ=0.5&system=dense"))
    settle(page)
    gaps = [float(text.split("\n")[-1]) for _, text in lines(page)]
    assert all(abs(gap) >= 0.5 for gap in gaps)
    names = page.get_by_role("columnheader").all_inner_texts()
    assert [name.strip("↑ ") for name in names] == ["#", "Question", "Kind", "dense", "B − A"]


def test_a_link_shows_what_it_was_made_of(visit):
    query = "text=section+777&kind=list&min=0.1&sort=dense%3AF1%405&order=down&system=dense"
    page = visit(questions(query=query))
    settle(page)
    assert page.get_by_label("Search").input_value() == "section 777"
    assert page.get_by_role("spinbutton", name="Score from").input_value() == "0.1"
    scores = [float(text.split("\n")[-1].split()[-1]) for _, text in lines(page)]
    assert scores == sorted(scores, reverse=True)
    assert all("777" in text for _, text in lines(page))
    assert page.get_by_role("columnheader", name="dense").get_attribute("aria-sort") == "descending"
    page.get_by_role("columnheader", name="dense").get_by_role("button").click()
    page.wait_for_url(lambda url: "order" not in parse_qs(urlsplit(url).query))
    settle(page)
    turned = [float(text.split("\n")[-1].split()[-1]) for _, text in lines(page)]
    assert turned == sorted(turned) != scores


def test_unknown_parameters_are_named_and_ignored(visit):
    page = visit(questions(query="kind=fact&colour=red"))
    assert "ignored: colour" in page.locator("main").inner_text()
    count(page, "25,000 of")


def test_nothing_that_passes_is_said_and_undone(visit):
    page = visit(questions(query="text=nowhere-at-all"))
    page.get_by_text("No question passes these filters.").wait_for()
    page.get_by_role("button", name="Show all questions").click()
    count(page, f"{ROWS:,} questions")


def test_what_the_server_refuses_is_shown_in_its_words(visit):
    page = visit(questions(query="kind=fact"), quiet=False)
    settle(page)
    page.evaluate("history.pushState(null, '', '?min=abc'); dispatchEvent(new PopStateEvent('popstate'))")
    alert = page.get_by_role("alert")
    assert "write a number" in alert.inner_text()
    page.evaluate("history.replaceState(null, '', '?kind=list')")
    page.locator(".grid").evaluate("grid => { grid.scrollTop = 400_000; }")
    page.wait_for_timeout(500)
    assert alert.is_visible()  # no rows of another list come into this one
    alert.get_by_role("button", name="Try again").click()
    alert.wait_for(state="detached")


def test_keys_walk_through_the_list_and_its_questions(visit):
    page = visit(questions(SMALL))
    settle(page)
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
    chosen = page.locator(".line[aria-selected='true']")
    assert chosen.get_attribute("aria-rowindex") == "3"
    assert page.locator(".grid").get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Question")
    panel.get_by_text("When is pump 1 checked?").first.wait_for()
    page.keyboard.press("j")
    panel.get_by_text("When is pump 2 checked?").first.wait_for()
    assert asked(page)["open"] == ["q2"]
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert "open" not in asked(page)
    page.go_back()
    panel.get_by_text("When is pump 2 checked?").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("pump 17")
    count(page, "1 of 40 questions")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    assert "Next question" in keys.inner_text()
    page.keyboard.press("Escape")
    assert not keys.is_visible()


def test_what_is_pressed_by_a_key_keeps_the_keys(visit):
    page = visit(questions(SMALL))
    settle(page)
    column = page.get_by_role("columnheader", name="dense").get_by_role("button")
    column.focus()
    for order in ("down", "up", "down"):
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url, order=order: parse_qs(urlsplit(url).query).get("order", ["up"]) == [order])
        settle(page)
        assert column.evaluate("e => e === document.activeElement")
    bar = page.locator('.facets [data-value="fact"]')
    bar.focus()
    page.keyboard.press("Enter")
    page.locator('.facets [data-value="fact"][aria-pressed="true"]').wait_for()
    page.keyboard.press("Enter")
    page.locator('.facets [data-value="fact"][aria-pressed="false"]').wait_for()
    assert "open" not in asked(page)


def test_the_list_of_runs_keeps_order_place_and_keys_while_a_run_goes_on(visit):
    page = visit("/", NARROW, quiet=False)
    runs = [{"id": f"r{n}", "name": f"run {n}", "state": "done", "main": "MRR", "mean": mean, "cost_usd": None}
            for n, mean in enumerate((-0.5, None, 0.5))]  # fmt: skip
    going = {"id": "going", "name": "going", "state": "running"}
    rounds = []
    page.route("**/api/runs", lambda route: rounds.append(1) or route.fulfill(json={"runs": [going, *runs]}))
    start = """async runs => { const { startRuns } = await import("/assets/runs.js");
      startRuns(document.querySelector("main"), { runs, total: runs.length, most: 200 }); }"""
    page.evaluate(start, [going, *runs])
    names = "[...document.querySelectorAll('tr[data-run]')].map(e => e.dataset.run)"
    for order in (["r2", "r0", "going", "r1"], ["r0", "r2", "going", "r1"]):  # without a value last, either way
        page.get_by_role("button", name="mean").click()
        assert page.evaluate(names) == order
    page.get_by_label("Compare run 2 r2").focus()
    page.keyboard.press("Space")
    page.locator("#runs .scroll").evaluate("e => e.scrollLeft = 200")
    seen = len(rounds)
    while len(rounds) < seen + 2:
        page.wait_for_timeout(100)
    page.wait_for_timeout(200)
    assert page.evaluate(names) == order
    assert page.get_by_label("Compare run 2 r2").evaluate("e => e.checked && e === document.activeElement")
    assert page.locator("#runs .scroll").evaluate("e => e.scrollLeft") == 200


def test_nothing_has_no_sign(visit):
    page = visit("/")
    shown = """async () => { const { figure, signed } = await import("/assets/dom.js");
      return [figure(-0.0001, 3), figure(-0.25, 2), signed(5e-17), signed(-5e-17), signed(0.1), signed(-0.1)]; }"""
    assert page.evaluate(shown) == [".000", "-.25", ".000", ".000", "+.100", "-.100"]


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_question_shows_what_each_system_found_and_why(visit, viewport):
    page = visit(questions(SMALL, "system=hybrid&system=dense&open=q6"), viewport)
    panel = page.get_by_role("complementary", name="Question")
    panel.get_by_text("When is pump 6 checked?").first.wait_for()
    text = panel.text_content()
    for words in (
        "I have pump 6.", "in week 6", "below the cut-off rank 7", "→ ", "Week 12 [1], oil SAE 30 [3, 9].", "★ gold",
        "bm25 #2 (3.5000) · dense #1 (.2500)", "also dense #1", "below the cut-off, k = 3", "F1@5 .1538",
        "It is week 12.", "Support: 1 of 1 sentences", "4 contexts used, 1 with gold", "Scores of all 3 systems",
    ):  # fmt: skip
        assert words in text, words
    assert panel.locator(".beside > div").count() == 2
    tops = panel.locator(".beside > div > .hits").evaluate_all("all => all.map(e => e.children[1].offsetTop)")
    assert (tops[0] == tops[1]) == (viewport == WIDE)
    hit = panel.locator(".hit.holds").last
    assert hit.locator("mark:not(.term)").inner_text() == "Pumps are checked in week 12."
    assert panel.locator("mark.term").all_inner_texts()
    page.get_by_role("link", name="Page", exact=True).click()
    page.locator("#question").wait_for()
    assert "/question?id=q6" in page.url
    assert page.locator("#question .beside > div").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_question_is_copied_as_markdown(visit, server):
    page = visit(questions(SMALL, "system=hybrid&open=q1"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_role("button", name="Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("## q1: When is pump 1 checked?")
    assert "### hybrid" in text
    assert "1. ★ d0" in text
    assert "<script" not in text.replace("\\<script", "")  # nothing of it is markup of Markdown's
    page.get_by_role("button", name="Copy link").first.click()
    page.get_by_role("button", name="Copied").last.wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith(server.address)
    page.goto(f"{server.address}{questions(SMALL, 'system=hybrid&open=q6')}")
    page.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "> **asked** I have pump 6." in page.evaluate("navigator.clipboard.readText()")


def test_the_filtered_rows_are_exported(visit):
    page = visit(questions(query="kind=list&text=section+777"))
    settle(page)
    for name, read in (("CSV", lambda text: text.splitlines()[1:]), ("JSONL", lambda text: text.splitlines())):
        with page.expect_download() as found:
            page.get_by_role("link", name=name, exact=True).click()
        rows = read(found.value.path().read_text(encoding="utf-8-sig"))
        assert rows
        assert all("777" in row for row in rows)


def test_hostile_words_stay_words(visit):
    page = visit(questions(SMALL, f"system={SYSTEMS[1].replace('<', '%3C').replace(' ', '+')}"), quiet=False)
    page.goto(page.url.split("?")[0])
    settle(page)
    page.locator(".line").nth(3).click()
    panel = page.get_by_role("complementary", name="Question")
    panel.get_by_text("When is pump 3 checked?").first.wait_for()
    assert HOSTILE in panel.inner_text()
    page.locator(".line").nth(5).click()
    panel.get_by_text("When is pump 5 checked?").first.wait_for()
    page.locator(".facet button", has_text="<i>list</i>").wait_for(state="attached")
    unseen = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
    assert page.evaluate(f"/{unseen}/.test(document.getElementById('main').textContent.replace(/\\t/g, ' '))") is False
    assert page.locator("main img, main iframe, main i:not([aria-hidden]), main b b, main script").count() == 0
    assert page.locator("[onerror], [href^='javascript']").count() == 0
    page.goto(page.url.split("/run/")[0])
    page.locator("#runs").get_by_role("link", name=re.compile("small")).wait_for()
    assert HOSTILE in page.locator("#runs").inner_text()


def test_what_is_not_seen_is_left_out_as_python_leaves_it_out(visit):
    from karat.report.explored_answers import plain

    page = visit(questions(SMALL))
    ends = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x1b"  # of lines, and of what stands for commands
    places = [*range(1, 0x250), *range(0x2000, 0x2100), 0xFEFF]
    text = "".join(f"a{chr(c)}" for c in places if chr(c) not in ends) + " \x1b[31mz"
    shown = page.evaluate("async text => (await import('/assets/dom.js')).visible(text)", text)
    assert shown.strip() == plain(text)


def test_runs_are_searched_chosen_and_compared(visit):
    page = visit("/")
    table = page.get_by_role("table", name="Runs")
    assert table.locator("tbody tr").count() == 3
    page.get_by_label("Search").fill("later")
    assert table.locator("tbody tr").count() == 1
    assert asked(page) == {"text": ["later"]}
    page.get_by_label("Search").fill("")
    assert page.locator("#trends svg").count() == 1
    boxes = table.get_by_role("checkbox")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("link", name="Compare 2 runs").click()
    page.wait_for_url(re.compile("/compare"))
    assert len(asked(page)["run"]) == 2
    page.get_by_role("list", name="Runs that are compared").wait_for()


def test_a_search_finds_runs_that_the_page_did_not_hold(visit, monkeypatch):
    monkeypatch.setattr("karat.web.pages.MOST_RUNS", 2)
    page = visit("/?text=big")
    rows = page.get_by_role("table", name="Runs").locator("tbody tr")
    rows.locator("nth=0").filter(has_text="big").wait_for()
    page.get_by_label("Search").fill("")
    page.get_by_text("3 runs, the latest 2 listed").wait_for()
    assert rows.count() == 2


def test_a_run_leads_to_its_questions_by_a_bar(visit):
    page = visit(f"/run/{SMALL}")
    page.get_by_role("button", name=re.compile("below the cut-off")).click()
    page.wait_for_url(re.compile("/questions"))
    count(page, "8 of 40 questions")
    assert asked(page) == {"system": ["hybrid"], "failure": ["below_k"]}


def test_the_page_goes_on_when_the_server_comes_back(visit, runs):
    with serving(runs) as own:
        page = visit(questions(), server=own, quiet=False)
        settle(page)
        own.stop()
        page.locator(".grid").focus()
        page.keyboard.press("End")
        alert = page.get_by_role("alert").first
        assert "karat view does not answer" in alert.inner_text()
        assert page.locator(".line.waits").count() > 5
        own.start()
        settle(page)
        assert f"q{ROWS - 1} " in lines(page)[-1][1]
        alert.wait_for(state="detached")


def test_two_browsers_look_at_two_things(visit):
    one, two = visit(questions(query="kind=fact")), visit(questions(query="kind=list"))
    settle(one)
    settle(two)
    assert all("fact" in text for _, text in lines(one))
    assert all("list" in text for _, text in lines(two))


@pytest.mark.parametrize("path", ["/", f"/run/{SMALL}", questions(SMALL), questions(SMALL, "open=q6")])
def test_nothing_is_wider_than_a_narrow_window(visit, path):
    page = visit(path, NARROW)
    page.wait_for_load_state("networkidle")
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window
    if "questions" in path and "open" not in path:
        page.get_by_role("button", name="Filters").click()
        assert page.get_by_label("Measure", exact=True).is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


CONTRAST = """() => {
  const bright = (c) => { const p = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * p[0] + .7152 * p[1] + .0722 * p[2]; };
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const over = (colours) => { canvas.clearRect(0, 0, 1, 1);
    for (const one of colours) { canvas.fillStyle = one; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const poor = [];
  for (const e of document.querySelectorAll("main *, header *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (!e.checkVisibility() || !e.getClientRects().length) continue;
    const grounds = []; for (let p = e; p; p = p.parentElement) grounds.unshift(getComputedStyle(p).backgroundColor);
    const ground = over(grounds); const ink = over([...grounds, getComputedStyle(e).color]);
    const [a, b] = [bright(ground), bright(ink)].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) poor.push([e.className, e.textContent.slice(0, 40), contrast]);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", questions(SMALL, "kind=fact"), questions(SMALL, "open=q6&a=hybrid&b=dense")])
def test_words_stand_out_from_their_ground(visit, path, scheme):
    page = visit(path)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    assert page.evaluate(CONTRAST) == []


def test_dark_is_kept_on_the_next_page(visit):
    page = visit("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.locator("#theme").click()
    page.goto(page.url.rstrip("/") + questions(SMALL))
    settle(page)
    assert page.evaluate(ground) != light


def test_pages_say_all_without_a_script(visit):
    page = visit(questions(SMALL), java_script_enabled=False)
    assert page.locator("table tbody tr").count() == 40
    assert "When is pump 3 checked?" in page.locator("main").inner_text()


def test_nothing_moves_while_a_page_loads(visit):
    page = visit(questions(SMALL))
    settle(page)
    moved = page.evaluate("""() => new Promise(done => { let sum = 0;
      const add = list => list.getEntries().forEach(e => sum += e.value);
      new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done(sum), 300); })""")
    assert moved < 0.1


def test_a_running_run_shows_how_far_it_is(visit, runs):
    page = visit(questions(SMALL), quiet=False)
    states = iter([10, 20, 30])
    reply = {"state": "running", "what": "search", "total": 40, "seconds_left": 9, "rows": 3}
    page.route("**/progress", lambda route: route.fulfill(json={**reply, "done": next(states, 40)}))
    page.evaluate("""async run => { const { watchRun } = await import("/assets/live.js");
      const place = document.createElement("div"); place.id = "here"; document.querySelector("main").prepend(place);
      watchRun(run, place, {}); }""", SMALL)  # fmt: skip
    page.get_by_text("search · 20 of 40 · about 9 s left").wait_for()
    assert json.loads(page.locator("#here progress").evaluate("e => JSON.stringify([e.value, e.max])"))[1] == 40


def test_a_pair_of_which_one_is_chosen_shows_all_and_can_be_finished(visit):
    page = visit(questions(SMALL, "a=dense&sort=difference"))
    settle(page)
    assert page.locator(".status output").inner_text() == "40 questions"
    page.get_by_label("System B").select_option("hybrid")
    page.locator(".chip.filter").wait_for()
    assert (asked(page)["b"], asked(page)["differ"]) == (["hybrid"], ["0.2"])


def test_a_name_over_a_column_breaks_at_its_signs_and_reads_as_it_is(visit):
    page = visit(questions())
    assert (
        page.evaluate("""() => import("/assets/dom.js").then(({ breakable, make }) =>
      make("p", {}, ...breakable("dense_heavy Recall@5")).innerHTML)""")
        == "dense_<wbr>heavy Recall@<wbr>5"
    )
    assert page.evaluate("""() => import("/assets/dom.js").then(({ breakable }) => breakable("bm25"))""") == ["bm25"]


def test_a_long_name_over_a_column_keeps_to_its_place(visit):
    page = visit(questions(SMALL))
    settle(page)
    places = page.locator(".heads").evaluate(
        "heads => [heads, ...heads.querySelectorAll('button > *')].map(e => e.getBoundingClientRect())"
        ".map(({ top, bottom }) => [top, bottom])"
    )
    assert len(places) == 7
    assert all(places[0][0] <= top and bottom <= places[0][1] for top, bottom in places)


def test_the_question_of_a_link_is_current_though_its_row_comes_later(visit):
    page = visit(questions(SMALL))
    page.route("**/rows?*", lambda route: page.wait_for_timeout(1500) or route.continue_())
    page.goto(f"{page.url}?open=q8")
    page.locator(".panel .one").wait_for()
    page.locator('.line[aria-selected="true"]', has_text="q8").wait_for()


def test_a_long_title_leaves_the_menu_its_place(visit):
    page = visit(f"/compare?run={SMALL}&run=20260103T000000Z-later-0000cc")
    page.get_by_role("list", name="Runs that are compared").wait_for()
    menu = page.get_by_role("navigation", name="Sections")
    place = menu.bounding_box()
    for link in menu.get_by_role("link").all():
        box = link.bounding_box()
        assert place["x"] <= box["x"]
        assert box["x"] + box["width"] <= place["x"] + place["width"] + 1


def test_means_beside_the_list_say_of_how_many_they_are(visit):
    page = visit(questions(SMALL, "kind=fact"))
    facet = page.locator(".facet", has=page.locator(".mean"))
    facet.wait_for()
    assert "of the 20 listed" in facet.locator("h3").inner_text()
    assert facet.locator(".mean").first.locator("small").inner_text() == "n 20"


def test_a_pressed_value_is_never_folded(visit):
    page = visit(questions(SMALL))
    settle(page)
    script = """async pressed => { const { facetBars } = await import("/assets/facets.js");
      history.replaceState(null, "", `?tag.area=${pressed}`);
      const values = [...Array(12).keys()].map(n => ({ value: `a${n}`, n: 20 - n }));
      const [box] = facetBars({ tags: { area: values } }, { failures: [], measures: [] }, "");
      document.body.append(box);
      const shown = () => [...box.querySelectorAll("[data-value]")].map(one => one.dataset.value);
      const before = shown(), words = box.querySelector(".quietly").textContent;
      box.querySelector(".quietly").click();
      return [before, words, shown().length]; }"""
    first = [f"a{n}" for n in range(8)]
    assert page.evaluate(script, "a10") == [[*first, "a10"], "3 more", 12]
    assert page.evaluate(script, "a1") == [first, "4 more", 12]


def test_a_reason_that_many_scores_lack_for_is_said_once(visit):
    page = visit(questions(SMALL))
    script = """async scores => (await import("/assets/hits.js")).scoreLine(scores)"""
    scores = [["MRR", "failed: down"], ["Recall@5", 0.5], ["F1@5", "failed: down"], ["Steps", None]]
    assert page.evaluate(script, scores) == "MRR, F1@5 – (failed: down) · Recall@5 .5000 · Steps – (no value)"


def test_a_name_breaks_behind_signs_and_not_in_a_number(visit):
    page = visit(questions(SMALL))
    script = """async name => (await import("/assets/dom.js")).breakable(name).map(part => part.outerHTML ?? part)"""
    assert page.evaluate(script, "a_b alpha=0.3 c.d") == ["a_", "<wbr>", "b alpha=", "<wbr>", "0.3 c.", "<wbr>", "d"]
