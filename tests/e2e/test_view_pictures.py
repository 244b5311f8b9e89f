"""The pictures of `karat view` in the docs: what they show is there. KARAT_PICTURES=1 takes them anew."""

import os
import shutil
from pathlib import Path

import pytest
from viewed_runs import serving

pytestmark = pytest.mark.browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MOST = 120_000  # bytes of a picture
FIRST, SECOND, LAST = "20260301T090000Z-demo-0000aa", "20260308T090000Z-demo-0000bb", "20260315T090000Z-demo-0000cc"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The demo's run, and two earlier ones of the same test set that were not as good."""
    from karat.experiment.demo import demo
    from karat.experiment.store import open_run, runs_in

    runs = tmp_path_factory.mktemp("pictures") / "runs"
    demo(runs, command=["karat", "demo"], say=lambda *step: None)
    (made,) = runs_in(runs)
    for number, (id_, loss) in enumerate(((FIRST, 0.11), (SECOND, 0.04), (LAST, 0.0)), 1):
        shutil.copytree(made.path, runs / id_)
        run = open_run(runs / id_)
        summary = {**run.manifest["summary"]}
        summary |= {name: summary[name] - loss for name in ("mean", "low", "high")}
        started = f"{id_[:4]}-{id_[4:6]}-{id_[6:8]}T09:00:00.000000+00:00"
        run.update(summary=summary, started=started, number=number)
    shutil.rmtree(made.path)
    with serving(runs) as server:
        yield server


PICTURES = {
    "view-runs": ("/", ["3 runs", "Over time", "2026-03-15", "dense_heavy"]),
    "view-run": (f"/run/{LAST}", ["Summary", "Press a bar to see its questions.", "below the cut-off", "All 80 questions"]),
    "view-questions": (
        f"/run/{LAST}/questions?a=dense_heavy&b=pure_sparse&differ=0.2",
        ["of 80 questions", "B − A", "Why it fails", "dense_heavy and pure_sparse differ by 0.2", "✗"],
    ),
    "view-question": (
        f"/run/{LAST}/questions?system=dense_heavy&system=pure_sparse&open=q005",
        ["Is there a backup of the sourdough culture", "Gold", "below the cut-off", "→ Give the reader", "#1", "also"],
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_has_what_its_picture_shows(name, browser, server):
    path, words = PICTURES[name]
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{server.address}/?token={server.token}")
    page.goto(f"{server.address}{path}")
    page.locator("#runs, #facets, .line, .one").first.wait_for(timeout=60_000)
    if "open=" in path:
        page.locator(".one").wait_for()
    page.wait_for_load_state("networkidle", timeout=60_000)
    text = page.locator("body").inner_text()
    assert [word for word in words if word not in text] == []
    picture = page.screenshot()
    context.close()
    kept = IMAGES / f"{name}.png"
    if os.environ.get("KARAT_PICTURES"):
        kept.write_bytes(picture)
    assert kept.stat().st_size <= MOST
    assert kept.read_bytes()[16:24] == picture[16:24]  # the same width and height
