"""The answers of a report in a real browser: the worst are opened, switched and followed; nothing in them runs."""

from dataclasses import replace

import numpy as np
import pytest

from karat.core.docs import Chunk
from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.core.types import Gold, Question, TestSet
from karat.report.build.study import document
from karat.report.charts import draw
from karat.report.render.html import render
from karat.results.evaluation import Evaluation, Note, Refusals
from karat.results.study import Cell, Choice, Configuration, Failure, FailureCount, Study, StudyAnswer, StudyHit
from karat.stats.summary import summarise

pytestmark = pytest.mark.browser


@pytest.fixture
def undrawn():
    """Charts are drawn, and shown."""


HOSTILE = (
    '<script>document.title = "taken"</script></script>"><img src=x onerror="document.title = \'taken\'"> {{7 * 7}}'
)
SYSTEMS = ("hybrid", "<b>bm25</b>")
N = 30
MEASURES = ("F1@5", "Recall@5", "MRR", "Correctness", "TokenF1", "Faithfulness", "SentenceSupport", "SupportDensity")
CONTEXTS = (f"Pumps are checked in week 12. {HOSTILE}", "Nothing of use stands here.", f"Oil is SAE 30. {HOSTILE}")


def detail(name, s, q):
    """What each measure shows, with words that try to take the page over."""
    if name == "Correctness":
        claims = [{"claim": f"week {q} {HOSTILE}", "verdict": "missing", "reason": HOSTILE}]
        return {
            "by": "model", "reason": f"1 claim: 1 missing. {HOSTILE}", "claims": claims,
            "missing": [f"week {q} {HOSTILE}"], "model": f"judge {HOSTILE}", "repeats": [0.0, 0.5, 0.0],
        }  # fmt: skip
    if name == "Faithfulness":
        return {
            "by": "heuristic",
            "reason": HOSTILE,
            "claims": [{"claim": HOSTILE, "verdict": "supported", "contexts": [1]}],
        }
    if name == "SentenceSupport":
        by = {"context": 1, "text": f"Pumps are checked in week 12. {HOSTILE}"}
        return {"sentences": [{"text": f"Said by {SYSTEMS[s]} {HOSTILE}", "support": 0.75, "by": by, "supported": True},
                              {"text": "Invented.", "support": 0.0, "by": None, "supported": False}]}  # fmt: skip
    return {}


@pytest.fixture(scope="module")
def study():
    questions = [
        Question(
            f"q{i}",
            f"When is pump {i} checked? {HOSTILE}",
            answers=(f"in week {i}",),
            gold=(Gold(doc="d0"),),
            kind="fact",
            answerable=i != 7,
        )
        for i in range(N)
    ]
    measures = parse_all(MEASURES)
    values = np.tile(np.linspace(0, 1, N)[None, :, None], (2, 1, len(measures)))
    values[1] = values[1, ::-1]  # the worst of the second system are the best of the first
    details = {
        (s, q, m): shown
        for s in range(2)
        for q in range(N)
        for m, measure in enumerate(measures)
        if (shown := detail(measure.spec.name, s, q))
    }
    scores = Scores(
        SYSTEMS,
        tuple(q.id for q in questions),
        measures,
        values=values,
        status=np.zeros(values.shape, np.uint8),
        reasons={},
        details=details,
    )
    chunks = [Chunk(f"c{i}", f"d{i}", text) for i, text in enumerate(CONTEXTS)]
    hits = tuple(
        StudyHit(i + 1, 1.0 - i / 10, chunk, holds=("d0",) if i == 0 else ()) for i, chunk in enumerate(chunks)
    )
    answers = {
        system: {
            q.id: StudyAnswer(
                system,
                q.id,
                f"{system}: week 12 [1], oil SAE 30 [3, 9]. {HOSTILE}",
                error=None,
                contexts=CONTEXTS,
                used=("c0", "c1", "c2"),
                given=("c0", "c1", "c2"),
                model=f"model {HOSTILE}",
                tokens=120,
                cost_usd=None,
                confidence=0.8,
                declined=i % 9 == 4,
                seconds=0.25,
            )
            for i, q in enumerate(questions)
        }
        for system in SYSTEMS
    }
    testset = TestSet(questions)
    best = Cell(system="hybrid", measure="F1@5", k=5, mean=0.5, low=0.4, high=0.6, n=N)
    return Study(
        name="answers",
        evaluation=Evaluation(
            testset=testset,
            scores=scores,
            summaries=summarise(scores, slices={"kind": [q.kind for q in questions]}),
            notes=(Note("info", f"see {HOSTILE}"),),
            answers={s: [answers[s][q.id].text for q in questions] for s in SYSTEMS},
            refusals={
                s: Refusals(
                    system=s, n=N, unanswerable=1, declined=3, right=1, empty=0, precision=1 / 3, recall=1.0, f1=0.5
                )
                for s in SYSTEMS
            },
        ),
        configurations=tuple(Configuration(s) for s in SYSTEMS),
        main="F1@5",
        k=5,
        choice=Choice(
            measure="F1",
            cells=(best,),
            best=best,
            equals=(),
            beaten=(),
            cross_validated=None,
            optimism=None,
            picks={},
            oracle=None,
        ),
        failures=(Failure("hybrid", "q0", "wrong_answer", detail=f"TokenF1 is 0.00 {HOSTILE}"),),
        failure_counts=(FailureCount("hybrid", "wrong_answer", questions=("q0",), gain=0.1, measure="TokenF1"),),
        hits={s: {q.id: hits for q in questions} for s in SYSTEMS},
        seconds={s: [0.01] * N for s in SYSTEMS},
        answers=answers,
    )


@pytest.fixture(scope="module")
def address(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("answers") / "report.html"
    path.write_text(render(document(study, charts=draw(study).specs)), encoding="utf-8")
    return path.as_uri()


def test_the_worst_answer_is_open_with_all_that_is_known_of_it(page):
    items = page.locator("#worst .item")
    assert items.count() == 20
    first = items.first
    text = first.inner_text()
    for words in (
        "When is pump 0 checked?", "in week 0", "hybrid: week 12 [1], oil SAE 30 [3, 9].", "120 tokens",
        "What it misses", "week 0", "asked 3 times: .00, .50, .00 (flips)", "heuristic", "Support: 1 of 2 sentences",
        "Said by hybrid", "Nothing in the contexts comes near it.", "3 contexts used, 1 with gold", "★ gold",
    ):  # fmt: skip
        assert words in text, words
    assert first.locator(".opener .score").inner_text() == ".000"
    items.nth(1).locator(".opener").click()
    assert "When is pump 1 checked?" in items.nth(1).locator(".opened").inner_text()


def test_another_system_has_its_own_worst_answers(page):
    page.locator("#worst").get_by_label("System").select_option("<b>bm25</b>")
    first = page.locator("#worst .item").first
    assert f"When is pump {N - 1} checked?" in first.inner_text()
    assert "<b>bm25</b>: week 12" in first.locator(".answer").inner_text()
    assert "20 of 30 questions" in page.locator("#worst output").inner_text()


def test_a_citation_leads_to_its_context_and_one_of_nothing_is_text(page):
    first = page.locator("#worst .item").first
    cites = first.locator(".cite")
    assert cites.all_inner_texts() == ["1", "3"]
    fold = first.locator("details", has=page.locator(".hits"))
    fold.locator("summary").click()
    assert not fold.locator(".hits").is_visible()
    cites.nth(1).click()
    marked = first.locator(".hit.cited")
    assert marked.count() == 1
    assert marked.is_visible()
    assert "Oil is SAE 30." in marked.inner_text()


def test_the_question_explorer_has_the_answer_and_its_verdicts(page):
    page.locator("#worst .item").first.locator("a[href='#q0']").click()
    answer = page.locator("#q0 .opened .answer")
    answer.wait_for()
    assert "hybrid: week 12" in answer.inner_text()
    verdict = answer.locator(".verdict", has_text="Correctness")
    assert verdict.get_attribute("open") is None
    verdict.locator("summary").click()
    assert "1 claim: 1 missing." in verdict.inner_text()
    page.locator("#explorer").get_by_label("Beside it").select_option("<b>bm25</b>")
    assert page.locator("#q0 .opened .answer").count() == 2


def test_hostile_answers_contexts_and_reasons_are_text(page):
    page.locator("#worst .opener").nth(1).click()
    page.locator("#q0 .opener").click()
    assert page.locator("main img, main iframe, main b b, main script:not([type='application/json'])").count() == 0
    assert page.locator("[onerror], [href^='javascript']").count() == 0
    assert page.locator("#worst .answer .words", has_text=HOSTILE).count() > 1


def test_tables_say_what_is_unknown(page):
    table = page.get_by_role("table", name="What answering took")
    assert "unknown" in table.inner_text()
    assert "3,600" in table.inner_text()
    judges = page.get_by_role("table", name="Judges")
    assert "heuristic" in judges.inner_text()
    assert "100%" in judges.inner_text()
    assert "1.000" in page.get_by_role("table", name="Refusals").inner_text()


def test_nothing_is_wider_than_the_window(page):
    page.locator("#q0 .opener").click()
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window


def test_a_page_without_answers_has_no_part_on_them(study, browser, tmp_path):
    scores = replace(study.evaluation.scores, details={})
    bare = replace(study, answers={}, evaluation=replace(study.evaluation, answers={}, scores=scores))
    path = tmp_path / "bare.html"
    path.write_text(render(document(bare)), encoding="utf-8")
    page = browser.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path.as_uri())
    assert page.locator("#answers").count() == 0
    assert page.locator("#explorer .item").count() == N
    assert wrong == []
    page.close()
