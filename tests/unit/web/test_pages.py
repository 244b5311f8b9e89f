"""Pages: readable without script, linked to each other, and hostile texts stay texts."""

import json
import re
import threading
from html.parser import HTMLParser

import pytest
from viewed import Browser, run_with, small_study

from karat.core.docs import Chunk
from karat.core.types import Gold, Question, TestSet
from karat.report.document import Column, Link, Table
from karat.report.lookups import StudyView
from karat.report.render.html import href
from karat.results.study import StudyHit
from karat.web import pages

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00\ud800'\"&{{7*7}}"


class Seen(HTMLParser):
    """The elements of a page, its links, and its data."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.links, self.data, self._block = [], [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag == "a":
            self.links.append(attributes.get("href"))
        if tag == "script" and attributes.get("type") == "application/json":
            self._block = attributes["id"]

    def handle_data(self, data):
        if self._block:
            self.data[self._block] = json.loads(data)
            self._block = None


def whole(browser, target, status=200):
    """A page, once it is made."""
    for _ in range(60):
        reply = browser.get(target)
        if reply.status != 202:
            break
    assert reply.status == status, reply.text
    return reply.text


def test_the_list_of_runs(browser, run):
    page = Seen(whole(browser, "/"))
    assert f"/run/{run.name}" in page.links
    assert page.data["view-data"]["runs"][0]["id"] == run.name
    (body,) = [attributes for tag, attributes in page.elements if tag == "body"]
    assert body == {"data-page": "runs", "data-run": "", "data-view": "1"}


@pytest.mark.parametrize(("text", "rows"), [("small", 1), ("SMALL one", 1), ("recall@5", 1), ("other", 0)])
def test_runs_are_searched_by_words(browser, run, text, rows):
    page = Seen(whole(browser, f"/?text={text.replace(' ', '+')}"))
    assert page.links.count(f"/run/{run.name}") == rows


def test_no_runs_say_how_to_make_one(tmp_path):
    assert "<code>karat run</code>" in whole(Browser(tmp_path), "/")


def test_a_run_of_the_same_test_set_leads_to_a_comparison(tmp_path):
    first, second = (run_with(tmp_path, small_study(), name).id for name in "ab")
    page = Seen(whole(Browser(tmp_path), "/"))
    assert f"/compare?run={first}&run={second}" in page.links


def test_the_page_of_a_run_leads_to_its_questions(browser, run):
    text = whole(browser, f"/run/{run.name}")
    page = Seen(text)
    base = f"/run/{run.name}"
    assert f"{base}/questions" in page.links
    assert f"{base}/question?id=q3" in page.links  # of those that the best system fails
    assert not [link for link in page.links if link.startswith("#q") and link[2:].isdigit()]
    assert 'id="explorer"' not in text
    assert page.data["view-data"]["run"]["name"] == "small"


def test_kinds_and_failures_of_a_run_are_links(tmp_path):
    from dataclasses import replace

    from karat.results.study import FailureCount
    from karat.stats.summary import summarise

    study = small_study(failure_counts=(FailureCount("one", "below_k", questions=("q3",), gain=0.1),))
    evaluation = study.evaluation
    asked = [Question(q.id, q.text, kind=q.kind, tags={"my_area": "a&b"}) for q in evaluation.testset]
    values = {"kind": [q.kind for q in asked], "my_area": ["a&b"] * 4}
    summaries = summarise(evaluation.scores, slices=values)
    evaluation = replace(evaluation, testset=TestSet(asked, name="qa"))
    run = run_with(tmp_path, replace(study, evaluation=replace(evaluation, summaries=summaries)))
    links = Seen(whole(Browser(tmp_path), f"/run/{run.id}")).links
    assert f"/run/{run.id}/questions?system=one&failure=below_k" in links
    assert f"/run/{run.id}/questions?kind=factual" in links
    assert f"/run/{run.id}/questions?tag.my_area=a%26b" in links


def test_kinds_are_links_in_a_run_without_slices():
    table = Table("Best", [Column("kind")], [["factual"], ["<b>"]])
    link = Link("factual", "/run/r/questions?kind=factual")
    assert pages._linked(table, "r", StudyView(small_study())).rows == [[link], ["<b>"]]


def test_questions_without_script_are_a_table_with_a_way_on(tmp_path):
    questions = [Question(f"q{i}", f"what is {i}?") for i in range(250)]
    study = small_study(
        testset=TestSet(questions, name="many"), missing={}, about={}, failures=(), hits={}, answers={},
        values=[[[i / 250, 0.5]] for s in range(2) for i in range(250)],
    )  # fmt: skip
    run = run_with(tmp_path, study)
    browser, base = Browser(tmp_path), f"/run/{run.id}/questions"
    first = whole(browser, f"{base}?sort=id&nothing=1")
    assert "250 questions of 250" in first
    assert "nothing is no filter of this page and was ignored" in first
    assert Seen(first).links[-1] == f"{base}?sort=id&offset=100"
    assert len(Seen(first).data["view-data"]["page"]["rows"]) == 100
    last = whole(browser, f"{base}?sort=id&offset=200")
    assert Seen(last).links[-1] == f"{base}?sort=id&offset=100"
    assert "Questions 201 to 250" in last
    assert "No question passes these filters" in whole(browser, f"{base}?text=zebra")
    assert whole(browser, f"{base}?min=x", 400)


@pytest.mark.parametrize("query", ["a=one", "b=two&differ=.2", "sort=difference&order=down", "differ=.2&side=a"])
def test_a_difference_of_which_a_system_is_not_chosen_yet_is_told_and_shows_all(browser, run, query):
    page = browser.get(f"/run/{run.name}/questions?{query}")
    assert page.status == 200
    assert "A difference is between two systems" in page.text
    assert "4 questions of 4" in page.text
    assert browser.get(f"/api/run/{run.name}/rows?{query}").status == 400


def test_a_question_side_by_side(browser, run):
    page = whole(browser, f"/run/{run.name}/question?id=q1")
    assert "in the harbour" in page
    assert "Here the boat lies in the harbour." in page
    assert Seen(page).data["view-data"]["detail"]["systems"][0]["hits"][0]["holds"] == ["the boat"]
    assert "no question is named" in whole(browser, f"/run/{run.name}/question", 400).lower()
    assert whole(browser, f"/run/{run.name}/question?id=none", 400)


def test_the_api_says_all_of_a_question(browser, run):
    detail = browser.json(f"/api/run/{run.name}/question?id=q1")
    assert (detail["id"], detail["answers"], detail["k"], detail["note"]) == ("q1", ["in the harbour"], 5, None)
    assert detail["gold"][0]["quote"] == "the boat lies in the harbour"
    one, two = detail["systems"]
    assert one["hits"] == [{
        "rank": 1, "id": "c1", "doc": "d1", "page": None, "printed": None, "title": None, "url": None, "score": 0.75,
        "text": "Here the boat lies in the harbour.", "cut": None, "holds": ["the boat"], "engines": {"bm25": [2, 3.5]},
    }]  # fmt: skip
    assert (two["hits"], two["answer"]["text"]) == (None, "in the HARBOUR")
    failed = browser.json(f"/api/run/{run.name}/question?id=q3&system=two&system=one")
    assert [one["system"] for one in failed["systems"]] == ["two", "one"]
    assert failed["systems"][0]["scores"]["Recall@5"] == {
        "value": None, "status": "failed", "reason": "the endpoint was down",
    }  # fmt: skip
    why = failed["systems"][1]["failure"]
    assert (why["label"], why["title"], why["detail"]) == ("below_k", "below the cut-off", "It stands at rank 7.")
    answered = browser.json(f"/api/run/{run.name}/question?id=q2")["systems"][0]["answer"]
    assert (answered["contexts"], answered["citations"]) == ([{"id": "c9", "text": "The cook cooks."}], ["c9"])


@pytest.mark.parametrize("query", ["", "id=", "id=q9", "id=q1&system=three", "id=q1&odd=1"])
def test_a_question_that_is_none_is_refused(browser, run, query):
    assert browser.get(f"/api/run/{run.name}/question?{query}").status == 400


def test_runs_are_compared_by_their_best_systems(tmp_path):
    first, second = (run_with(tmp_path, small_study(name=name), name).id for name in ("before", "after"))
    page = whole(Browser(tmp_path), f"/compare?run={first}&run={second}")
    assert "before:one" in page
    assert "two" not in Seen(page).data["view-data"]["runs"][0]["best"]
    both = whole(Browser(tmp_path), f"/compare?run={first}&run={second}&system=two")
    assert "after:two" in both


@pytest.mark.parametrize("query", ["", "run={id}", "run={id}&run={id}", "&".join(f"run={i}" for i in range(7))])
def test_two_to_six_runs_are_compared(browser, run, query):
    assert "Choose 2 to 6" in whole(browser, f"/compare?{query.format(id=run.name)}", 400)


def test_a_page_that_takes_long_comes_back(tmp_path, monkeypatch):
    from karat.web import pages, site

    run = run_with(tmp_path, small_study())
    browser = Browser(tmp_path)
    go = threading.Event()
    monkeypatch.setattr(site, "WAIT", 0.01)
    monkeypatch.setattr(pages, "run_page", lambda view, run: "made" if go.wait(10) else "late")
    replies = [browser.get(f"/run/{run.id}")]
    go.set()
    while replies[-1].status == 202:
        replies.append(browser.get(f"/run/{run.id}"))
    assert 'http-equiv="refresh" content="1"' in replies[0].text
    assert replies[-1].text == "made"


def hostile_run(runs_dir):
    """A run of which every text is an attack."""
    questions = [
        Question(
            f"q{EVIL}",
            EVIL,
            kind=EVIL,
            tags={EVIL: EVIL, "a&b=c": "x=y&z"},
            answers=(EVIL,),
            gold=(Gold(doc=EVIL, quote=EVIL),),
        ),
        *(Question(f"q{i}", EVIL * 30) for i in range(3)),
    ]
    hit = StudyHit(1, 0.5, Chunk(EVIL, EVIL, EVIL, title=EVIL, url="javascript:alert(1)"), holds=(EVIL,))
    study = small_study(
        testset=TestSet(questions, name=EVIL), name=EVIL, hits={"one": {questions[0].id: (hit,)}}, failures=(),
        answers={}, about={"answers": {"one": [EVIL] * 4}, "ranked": {"one": [[EVIL]] * 4}},
    )  # fmt: skip
    return run_with(runs_dir, study, EVIL)


def test_hostile_texts_stay_texts_on_every_page(tmp_path):
    from urllib.parse import quote

    run = hostile_run(tmp_path)
    browser = Browser(tmp_path)
    base = f"/run/{run.id}"
    rows = browser.json(f"/api{base}/rows")["rows"]
    id_ = quote(rows[0]["id"])
    filtered = f"{base}/questions?text={quote(EVIL[:60])}&{quote(EVIL[:40])}=1"
    searched, nothing = f"/?text={quote('<script>alert(2)')}", f"/run/{quote('<script>')}"
    targets = ["/", base, f"{base}/questions", filtered, f"{base}/question?id={id_}", searched, nothing]
    for target in targets:
        text = whole(browser, target, 404 if target == nothing else 200)
        for tag, attributes in Seen(text).elements:
            assert tag not in ("img", "iframe", "object", "form", "base")
            assert not [name for name in attributes if name.startswith("on")]
            if tag == "script":
                assert attributes.get("type") == "application/json" or attributes["src"].startswith("/assets/")
        assert not [link for link in Seen(text).links if not link.startswith(("/", "#", "http"))]
        assert "\x00" not in text
        assert "\u202e" not in re.sub(r'<script type="application/json".*?</script>', "", text)
    links = [link for link in Seen(whole(browser, f"{base}/questions")).links if "/question?id=" in link]
    assert browser.get(links[0]).status in (200, 202)


def test_hostile_texts_are_json_in_the_api(tmp_path):
    from urllib.parse import quote

    run = hostile_run(tmp_path)
    browser = Browser(tmp_path)
    for name in ("", "/rows", "/facets", "/progress"):
        assert browser.json(f"/api/run/{run.id}{name}")
    row = browser.json(f"/api/run/{run.id}/rows")["rows"][0]
    assert "<script>alert(1)</script>" in row["text"]
    detail = browser.json(f"/api/run/{run.id}/question?id={quote(row['id'])}")
    assert detail["systems"][0]["hits"][0]["id"]
    for line in browser.get(f"/api/run/{run.id}/export?format=jsonl").text.splitlines():
        assert json.loads(line)["id"].startswith("q")
    assert browser.get(f"/api/run/{run.id}/export").header("content-disposition").isascii()


@pytest.mark.parametrize(
    ("target", "leads"),
    [("/run/x", True), ("/run/x/questions?kind=a%20b", True), ("/compare?run=a&run=b", True), ("/", True),
     ("//evil.test", False), ("/run//evil", False), ("/\\evil.test", False), ("/etc/passwd", False),
     ("/api/runs", False), ("/run/x\\..", False),
     ("javascript:alert(1)", False), ("#q1", True), ("https://a.test", True)],
)  # fmt: skip
def test_links_lead_to_pages_and_the_web_alone(target, leads):
    assert href(Link("x", target)) == (target if leads else "")


def test_assets_are_named_and_kept_as_long_as_they_are_the_same(browser):
    style = browser.get("/assets/style.css")
    assert style.header("content-type").startswith("text/css")
    tag = style.header("etag")
    again = browser.get("/assets/style.css", headers=[("if-none-match", tag)])
    assert (again.status, again.body, again.header("etag")) == (304, b"", tag)
    assert browser.get("/assets/dom.js").header("content-type").startswith("text/javascript")
    assert browser.get("/assets/__init__.py").status == 404
