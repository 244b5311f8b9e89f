"""The page: what it says first, what it holds, and that nothing in a study can become part of it."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from studies import choice_of, study_with

from karat.core.docs import Chunk
from karat.core.measure import Measure, MeasureSpec
from karat.core.types import Gold, Question
from karat.report.build.study import document
from karat.report.document import ChartBlock, Document, Heading, Widget
from karat.report.explorer import pack
from karat.report.labels import LABELS
from karat.report.lookups import StudyView
from karat.report.render.html import data_block, render
from karat.results.comparison import Pair
from karat.results.evaluation import Note
from karat.results.study import (
    Cell,
    Configuration,
    Failure,
    FailureCount,
    KindChoice,
    StudyHit,
)
from karat.stats.summary import usage


def page_of(study, specs=None):
    return render(document(study, charts=specs or {}))


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{x}}\u2028\ud800\x1b[31m<!--"
SYSTEMS = ("bm25", "dense", "hybrid")
SPEC = {"title": "means", "data": {"values": [{"a": HOSTILE.replace("\ud800", ""), "b": 1}]}, "mark": "bar"}


class Page(HTMLParser):
    """Start tags with their attributes, the text of scripts, and the visible words."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.scripts, self.words, self._inside = [], [], [], None
        self.feed(source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = (tag, dict(attrs)) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, text):
        if self._inside is None:
            self.words.append(text)
        elif self._inside[0] == "script":
            self.scripts.append((self._inside[1], text))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def block(self, id_):
        return next(json.loads(text) for attrs, text in self.scripts if attrs.get("id") == id_)


def pair(a, b, difference=0.1, adjusted=0.2):
    return Pair(
        measure="F1@5",
        a=a,
        b=b,
        n=18,
        difference=difference,
        low=difference - 0.1,
        high=difference + 0.1,
        p=adjusted / 2,
        adjusted=adjusted,
        wins=9,
        ties=5,
        losses=4,
    )


def cell(system, mean=0.5):
    return Cell(system=system, measure="F1@5", k=5, mean=mean, low=mean - 0.1, high=mean + 0.1, n=18)


@pytest.fixture
def study(make):
    """A study with everything in it; the names in `systems` may be anything."""

    def made(systems=SYSTEMS, *, equals=1, text="the gold words", **given):
        evaluation = make(systems, 20, ("F1@5", "Recall@5", "MRR"), by=("kind",), **{"answers": True} | given)
        best, *others = (cell(s, 0.5 - i / 10) for i, s in enumerate(reversed(systems)))
        pairs = [pair(c.system, best.system, 0.1, 0.2 if i < equals else 0.01) for i, c in enumerate(others)]
        chunk = Chunk("d1#1", "d1", text, title="Title", url="javascript:alert(3)", pages=(3, 4), labels=("iii", "iv"))
        hits = {
            q.id: (
                StudyHit(1, 0.9, chunk, holds=("d1",), legs={"dense": (1, 0.5), "bm25": (7, 3.25)}),
                StudyHit(9, None, chunk),
            )
            for q in evaluation.testset
        }
        choice = choice_of(
            best,
            cells=(best, *others),
            equals=tuple(pairs[:equals]),
            beaten=tuple(pairs[equals:]),
            cross_validated=0.48,
            optimism=0.02,
            picks={best.system: 40, others[0].system: 10},
            oracle=0.66,
            by_kind=(KindChoice("factual", 7, cell(systems[1], 0.6), (systems[0],)),),
            sentences=("The choice as a sentence.",),
        )
        last = systems[-1]
        return study_with(
            evaluation,
            name="a study",
            configurations=tuple(
                Configuration(s, {"alpha": i / 2, "fusion": "weighted"}, "what it is") for i, s in enumerate(systems)
            ),
            choice=choice,
            pairs=tuple(pairs),
            failures=(
                Failure(last, evaluation.testset.ids[5], "below_k", detail="rank 9 of 10", rank=9),
                Failure(last, evaluation.testset.ids[6], "not_in_pool", detail="nowhere"),
            ),
            failure_counts=(
                FailureCount(last, "below_k", questions=("q5",), gain=0.01),
                FailureCount(last, "not_in_pool", questions=("q6",), gain=0.05),
            ),
            hits=dict.fromkeys(systems, hits),
            seconds={s: [0.001 * (i + 1)] * 20 for i, s in enumerate(systems)},
            manifest={
                "karat": "0.2.0",
                "seeds": {"bootstrap": 0},
                "models": [{"name": "m"}],
                "home": "https://example.org/x",
            },
        )

    return made


def test_the_choice_is_said_with_interval_and_equals_before_anything_else(study):
    text = Page(page_of(study(), {})).text
    assert text.index("Systems by measure") > text.index("The choice as a sentence.")
    assert "1 of 2 may be as good" in text
    assert "Not significantly different: dense." in text
    assert "Highest mean F1@5 .50 [.40, .60]" in text


def test_a_system_that_is_ahead_but_barred_is_never_called_alike(study):
    made = study(equals=0)
    ahead = pair("dense", "hybrid", -0.2, 0.0005)
    choice = replace(made.choice, beaten=(), equals=made.choice.beaten[1:], barred=("dense",), ahead=(ahead,))
    text = Page(page_of(replace(made, choice=choice), {})).text
    assert "Ahead of it, but barred: dense." in text
    assert "ahead, but barred: .200, p < .001" in text
    assert "may be as good" not in text


def test_the_summary_has_validation_oracle_failure_and_next_step(study):
    text = Page(page_of(study(), {})).text
    assert "Expected on new questions .48" in text
    assert "Selection bias: .020. Chosen in 50 folds: hybrid 40, dense 10." in text
    assert "Oracle: best configuration per question .660" in text
    assert "Main failure not in the pool 1 of the 2 questions that hybrid fails." in text
    assert "would add .050 to the mean recall at 5" in text
    assert f"Next step {LABELS['not_in_pool'].step}" in text


def test_the_quickest_is_that_by_seconds_of_whole_questions(study):
    made = study()  # by seconds of retrieval dense is quicker
    spent = tuple(usage(s, "seconds total", [took] * 20) for s, took in (("dense", 0.009), ("hybrid", 0.004)))
    text = Page(page_of(replace(made, evaluation=replace(made.evaluation, usage=spent)), {})).text
    assert "The quickest of them is hybrid: 4 ms a question." in text


def test_alpha_stands_beside_each_kind(study):
    page = page_of(study(), {})
    row = re.search(r"<tr><th scope=\"row\">factual</th>.*?</tr>", page).group()
    assert re.sub(r"<[^>]+>", " ", row).split()[:5] == ["factual", "7", "dense", "0.5", ".60"]


def test_what_there_is_not_is_left_out_and_nothing_breaks(make):
    page = page_of(study_with(make(("bm25",), 3, ("MRR",)), configurations=(), main="F1@5"), {})
    found = Page(page)
    ids = {attrs.get("id") for attrs in found.all("section")}
    assert {"summary", "scores", "questions", "provenance", "methods"} <= ids
    assert not {"pairs", "failures", "charts", "kinds"} & ids
    assert "The hits of this run were not kept." in found.text
    assert "vegaEmbed =" not in page


@pytest.mark.parametrize("undefined", [0, 20])
def test_missing_numbers_are_dashes_and_reasons_stay(study, undefined):
    page = page_of(study(undefined=undefined, failed=0 if undefined else 2), {})
    assert not re.search(r"\bnan\b", Page(page).text.lower())
    held = Page(page).block("study-data")
    first = held["scores"][0][0][0]
    assert first == ("undefined: no relevant gold" if undefined else "failed: timed out")


def test_warnings_come_with_their_guard_before_notes(study, warning):
    noted = study(notes=(Note("info", "see `x`"), warning))
    page = page_of(noted, {})
    assert page.index("questions not in the run") < page.index("see <code>x</code>")
    assert "Read the 1 warning first." in page


def test_hostile_text_is_shown_and_never_becomes_markup(study):
    names = tuple(f"{HOSTILE}{i}" for i in range(3))
    gold = (Gold(doc=HOSTILE, quote=HOSTILE),)
    questions = [
        Question(f"{HOSTILE}{i}", HOSTILE, answers=(HOSTILE,), gold=gold, kind=HOSTILE, tags={HOSTILE: HOSTILE})
        for i in range(20)
    ]
    made = study(names, text=HOSTILE, questions=questions, notes=(Note("warning", HOSTILE, HOSTILE),))
    made = replace(made, name=HOSTILE, manifest={HOSTILE: [{HOSTILE: HOSTILE}, "javascript:alert(4)"]})
    page = page_of(made, {HOSTILE: SPEC})
    page.encode("utf-8")
    found = Page(page)
    assert not found.all("img")
    assert not [tag for tag, attrs in found.tags if any(name.startswith("on") for name in attrs)]
    assert {a.get("href", "")[:1] for a in found.all("a")} == {"#"}
    assert found.text.count("<img src=x onerror=alert(2)>") > 10
    assert "{{x}}" in found.text
    assert [a.get("type", "script") for a in found.all("script")] == ["application/json"] * 2 + ["script"] * 2
    assert "\u2028" not in page
    assert "\x1b" not in page
    assert found.block("chart-data")["specs"] == [SPEC]
    assert found.block("study-data")["chunks"][0][5].startswith("</script><script>alert(1)</script>")


def test_only_addresses_of_the_web_become_links(study):
    links = [a for a in Page(page_of(study(), {})).all("a") if not a["href"].startswith("#")]
    assert links == [{"href": "https://example.org/x", "rel": "noopener noreferrer"}]


def test_data_cannot_end_its_block():
    block = data_block("x", {"a": "</script><!--\u2028"})
    assert block.count("<") == 2
    assert json.loads(block.partition(">")[2].rpartition("<")[0]) == {"a": "</script><!--\u2028"}


def test_the_policy_names_every_script_and_no_place(study):
    page = page_of(study(), {"1_means": SPEC})
    found = Page(page)
    (policy,) = [a["content"] for a in found.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    scripts = [text for attrs, text in re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S) if not attrs]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert len(hashes) == 2
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "eval" not in policy
    assert not re.search(r"https?:|\*", policy)
    assert not re.search(r"<link|@import|url\(|src=", page.partition("</style>")[0])


def test_the_same_study_gives_the_same_bytes(study):
    assert page_of(study(), {"1_means": SPEC}) == page_of(study(), {"1_means": SPEC})


def test_tables_are_tables(study):
    found = Page(page_of(study(), {}))
    assert {a.get("scope") for a in found.all("th")} == {"col", "row"}
    assert all(a.get("aria-label") for a in found.all("table"))
    ids = [a["id"] for _, a in found.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"] for a in found.all("a") if re.fullmatch(r"#[a-z]+", a["href"])} <= {f"#{i}" for i in ids}


def test_every_measure_and_every_label_is_defined(study):
    text = Page(page_of(study(), {})).text
    assert "Harmonic mean of Precision and Recall at the same cut" in text
    assert all(label.meaning in text for label in LABELS.values())
    assert "alpha × normalised dense score + (1 - alpha) × normalised sparse score" in text


def test_the_explorer_holds_ranks_legs_gold_and_answers(study):
    held = Page(page_of(study(), {})).block("study-data")
    assert held["systems"] == ["hybrid", "dense", "bm25"]
    first = held["found"][0]
    assert first["hits"][0] == [[0, 0.9], [1, None, 9]]
    assert held["pools"][0] == [[0, ["d1"], {"dense": [1, 0.5], "bm25": [7, 3.25]}], [0, [], {}]]
    assert held["chunks"] == [
        ["d1#1", "d1", "Title", "javascript:alert(3)", "3, 4 (printed iii, iv)", "the gold words", 0]
    ]
    assert first["answers"][0] == "yes"
    assert held["failed"][0] == {"5": "below_k", "6": "not_in_pool"}
    assert first["details"]["5"] == "rank 9 of 10"


def test_what_does_not_fit_is_left_out_aloud(study, monkeypatch):
    monkeypatch.setattr("karat.report.explorer.LEAST", 2000)
    made = study(text="слово " * 2000)
    whole = pack(StudyView(made), 10**6)
    assert whole["said"] == []
    assert whole["chunks"][0][6] == 0
    small = pack(StudyView(made), 0)
    assert len(small["found"]) == 1
    assert small["said"][0].startswith("Hits are kept here for 1 of 3 systems;")
    text, length = small["chunks"][0][5:]
    assert small["said"][1] == (
        f"Long texts are cut after {len(text)} characters, those with gold last, to keep this page small."
    )
    assert len(text.encode()) <= 2000 < len(whole["chunks"][0][5].encode())
    assert length == len(whole["chunks"][0][5])


def test_the_data_of_charts_is_part_of_what_a_page_may_hold():
    def room(*charts):
        rooms = []
        widget = Widget("explorer", "", "study-data", lambda room: rooms.append(room) or {"questions": []})
        render(Document("x", [*charts, Heading("Questions", anchor="questions"), widget]))
        return rooms[0]

    few, many = (room(ChartBlock("c", {"data": "v" * n})) for n in (0, 100_000))
    assert few - many == 100_000


def test_systems_whose_hits_the_study_does_not_have_are_counted(study):
    made = study()
    few = replace(made, hits={"dense": made.hits["dense"]}, evaluation=replace(made.evaluation, answers={}))
    assert pack(StudyView(few), 10**6)["said"] == ["Hits are kept here for 1 of 3 systems; all are in rows.parquet."]


def test_times_have_mean_median_and_95th_percentile_of_what_was_timed(study):
    made = study()
    times = usage("dense", "seconds", [1.0, None, 2.0, 6.0])
    made = replace(made, evaluation=replace(made.evaluation, usage=(times,)))
    row = re.search(r'<th scope="row">dense</th><td>seconds</td>(.*?)</tr>', page_of(made, {}))
    assert row is not None
    assert re.findall(r">([\d.]+)</td>", row[1]) == ["3", "2.65", "1", "2", "5.6", "6", "3"]


def test_texts_with_gold_are_cut_last(study, monkeypatch):
    monkeypatch.setattr("karat.report.explorer.LEAST", 20_000)
    made = study(text="gold " * 600)
    other = StudyHit(2, 0.5, Chunk("d2#1", "d2", "other " * 6000))
    kept = {q: (*found, other) for q, found in made.hits["dense"].items()}
    chunks = pack(StudyView(replace(made, hits={"dense": kept})), 0)["chunks"]
    assert [(len(c[5]) < 3000, c[6]) for c in chunks] == [(True, 0), (False, 36_000 - 1)]


def test_error_classes_are_counted_by_system(study):
    made = replace(study(), error_classes={"dense": {"success": 12, "mixed_failure": 8}})
    row = re.search(
        r"<th scope=\"row\">dense</th><td class=\"n\" data-v=\"12\">12</td><td class=\"n\" data-v=\"8\">8</td>",
        page_of(made, {}),
    )
    assert row is not None


def test_too_many_pairs_are_counted(study):
    made = study()
    page = Page(page_of(replace(made, pairs=made.pairs * 1000), {}))
    assert "500 more pairs" in page.text


def test_a_pair_without_a_common_question_has_no_difference(study):
    made = study()
    lone = replace(made.pairs[0], difference=None, low=None, high=None, n=0, p=1.0, adjusted=1.0)
    page = page_of(replace(made, pairs=(lone,), choice=replace(made.choice, equals=(lone,))), {})
    assert not re.search(r"\bnan\b", Page(page).text.lower())
    assert '<td class="n">–</td>' in page
    assert "n 0: no question has a value for both" in Page(page).text
    assert "no question in common" in Page(page).text
    assert "1.000" not in page.split('id="pairs"')[1].split("</table>")[0]


def test_a_measure_where_less_is_better_leads_with_the_least(study, make):
    less = Measure(MeasureSpec("Loss", lambda judged: judged, direction="lower"))
    evaluation = make(("a", "b"), 4, ("MRR",), undefined=0)
    scores = replace(evaluation.scores, measures=(less,), values=np.array([[[0.9]] * 4, [[0.1]] * 4]))
    summaries = tuple(replace(s, measure="Loss", mean={"a": 0.9, "b": 0.1}[s.system]) for s in evaluation.summaries)
    made = study_with(replace(evaluation, scores=scores, summaries=summaries), configurations=())
    assert StudyView(made).ranking == ["b", "a"]
    best = Cell(system="b", measure="Loss", k=None, mean=0.1, low=0.0, high=0.2, n=4)
    said = ("b has the lowest Loss.",)
    choice = choice_of(
        best,
        measure="Loss",
        equals=(pair("a", "b"),),
        sentences=said,
        higher_is_better=False,
    )
    assert "Lowest mean Loss .10" in Page(page_of(replace(made, choice=choice), {})).text
