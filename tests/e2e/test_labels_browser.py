"""Labelling in a real browser, as a person does it: by the panel, by the queue and its keys, two people at once."""

import time

import pytest
from viewed_runs import HOSTILE, SMALL, serving, write_small

from karat.files import read_marks
from karat.results.marks import LABELS_FILE

pytestmark = pytest.mark.browser

WIDE = {"width": 1280, "height": 900}


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    write_small(folder)
    return folder


@pytest.fixture
def server(runs):
    with serving(runs) as server:
        yield server


@pytest.fixture
def visit(browser, server):
    """Opens pages, each in a browser of its own, of somebody with a name; none may complain or be taken over."""
    contexts, wrong = [], []

    def opened(path, name="ann", quiet=True):
        context = browser.new_context(viewport=WIDE, color_scheme="light", reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message) or dialog.dismiss())
        if quiet:
            page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.goto(f"{server.address}/?token={server.token}")
        page.evaluate("name => localStorage.setItem('karat-name', name)", name)
        page.goto(f"{server.address}{path}")
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert page.title() != "taken"
        context.close()
    assert wrong == []


def question(id_="q1"):
    return f"/run/{SMALL}/questions?system=hybrid&open={id_}"


def marks(runs):
    path = runs / SMALL / LABELS_FILE
    return [(one.kind, one.verdict, one.by) for one in read_marks(path).standing] if path.exists() else []


def group(page, name):
    return page.locator(".panel").get_by_role("group", name=name, exact=True).first


def pressed(page, name):
    """What a group says, once it does."""
    return group(page, name).locator("[aria-pressed=true]").all_inner_texts()


def press(page, name, text):
    group(page, name).get_by_role("button", name=text, exact=True).click()
    group(page, name).locator("[aria-pressed=true]").wait_for()


def test_everything_of_a_question_is_labelled_undone_and_there_after_a_reload(visit, runs):
    page = visit(question())
    press(page, "Label hit c1", "★ Gold")
    press(page, "Label hit c2", "Gold, grade 2")
    press(page, "Label hit c3", "Not gold")
    press(page, "Label the answer of hybrid", "Partly")
    press(page, "Label the claim: It is week 12.", "Not supported")
    page.locator(".panel").get_by_text("Why it is bad").click()
    page.locator(".panel").get_by_label("speaks of something it does not name").check()
    page.locator(".panel").get_by_label("Note").fill(HOSTILE)
    page.locator(".panel").get_by_role("button", name="Mark as bad").click()
    page.locator(".labelling", has_text="ann: no referent").wait_for()
    assert marks(runs) == [
        ("hit", "gold", "ann"), ("hit", "gold 2", "ann"), ("hit", "not gold", "ann"), ("answer", "partly", "ann"),
        ("claim", "unsupported", "ann"), ("question", "bad", "ann"),
    ]  # fmt: skip
    bad = read_marks(runs / SMALL / LABELS_FILE).standing[-1]
    assert (bad.reasons, bad.note) == (("no_referent",), HOSTILE)
    page.locator(".line .labels", has_text="⚑6").wait_for()  # its row says so too
    page.reload()
    group(page, "Label hit c2").locator("[aria-pressed=true]").wait_for()
    assert pressed(page, "Label hit c2") == ["2"]
    assert pressed(page, "Label hit c3") == ["Not gold"]
    assert pressed(page, "Label the answer of hybrid") == ["Partly"]
    assert HOSTILE in page.locator(".labelling").inner_text()
    group(page, "Label hit c3").get_by_role("button", name="Not gold").click()  # what is said is taken back
    group(page, "Label hit c3").locator("[aria-busy], [aria-pressed=true]").wait_for(state="detached")
    page.locator(".panel").get_by_role("button", name="Undo").click()
    page.locator(".labelling", has_text="no referent:").wait_for(state="detached")
    end = time.monotonic() + 10
    while len(marks(runs)) > 4 and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert [kind for kind, *_ in marks(runs)] == ["hit", "hit", "answer", "claim"]


def test_two_people_see_each_other_and_nothing_is_lost(visit, runs):
    one, two = visit(question(), "ann"), visit(question(), "ben")
    press(one, "Label the answer of hybrid", "Right")
    press(two, "Label the answer of hybrid", "Wrong")
    assert group(two, "Label the answer of hybrid").locator(".others").inner_text() == "ann: right"
    for n in range(4):
        group(one, f"Label hit c{n}").get_by_role("button", name="★ Gold").click()
        group(two, f"Label hit c{n}").get_by_role("button", name="Not gold").click()
    for page in (one, two):
        for n in range(4):
            group(page, f"Label hit c{n}").locator("[aria-pressed=true]").wait_for()
    assert len(marks(runs)) == 10
    one.goto(one.url.split("/questions")[0] + "/labels")
    one.get_by_text("Hits: 4 labelled by two people or more, 0 of them alike.").wait_for()


def test_the_queue_goes_by_keys(visit, runs):
    page = visit(f"/run/{SMALL}/labels")
    page.get_by_text("rank it among the first 5").wait_for()
    first = page.locator(".queued .asked").inner_text()
    page.keyboard.press("n")
    page.locator(".queued [aria-pressed=true]", has_text="Not gold").wait_for()
    page.locator("#labels table").wait_for()
    page.keyboard.press("g")
    page.locator(".queued [aria-pressed=true]", has_text="★ Gold").wait_for()
    page.keyboard.press("u")
    page.locator(".queued [aria-pressed=true]", has_text="Not gold").wait_for()  # what was said before stands again
    assert marks(runs) == [("hit", "not gold", "ann")]
    page.keyboard.press("Enter")
    page.locator(".queued").wait_for()
    assert page.locator(".queued").inner_text() != first
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert read_marks(download.value.path()).people == ("ann",)


def test_without_a_name_nothing_is_stored_and_the_name_is_asked_for(visit, runs):
    page = visit(question(), "")
    group(page, "Label hit c1").get_by_role("button", name="★ Gold").click()
    page.get_by_text("Say who you are first.").wait_for()
    assert page.evaluate("document.activeElement.className") == "name"
    assert marks(runs) == []


def test_what_is_refused_is_said_and_goes_back_to_what_is_stored(visit, runs):
    page = visit(question(), quiet=False)
    press(page, "Label the answer of hybrid", "Right")
    path = runs / SMALL / LABELS_FILE
    path.write_bytes(path.read_bytes().replace(b"right", b"wrong"))  # a line that is not what was written
    group(page, "Label the answer of hybrid").get_by_role("button", name="Wrong").click()
    page.locator(".panel .problem", has_text="it is not what was written").wait_for()
    assert pressed(page, "Label the answer of hybrid") == ["Right"]
