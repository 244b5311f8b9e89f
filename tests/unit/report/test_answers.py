"""Answers in the reports: means, refusals, judges, the bill, and the worst with what they miss."""

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from studies import choice_of, study_with

from karat.core.docs import Chunk
from karat.core.language import parse_all
from karat.core.scores import Status
from karat.report import objects, results
from karat.report.answers import Answers
from karat.report.build.study import document
from karat.report.charts import CHARTS
from karat.report.document import level_of
from karat.report.explorer import pack
from karat.report.lookups import StudyView
from karat.report.outputs import markdown
from karat.report.render import console
from karat.report.render.html import render
from karat.results.decisions import costliest
from karat.results.evaluation import Note, Refusals
from karat.results.study import Cell, FailureCount, StudyAnswer, StudyHit
from karat.stats.summary import summarise

N = 30


def shown(study, *, width=100, quiet=False, verbose=False):
    return console.render(document(study), level_of(quiet, verbose), width=width)


def page_of(study, specs=None):
    return render(document(study, charts=specs or {}))


MEASURES = ("F1@5", "MRR", "SupportDensity", "SentenceSupport", "Faithfulness", "TokenF1", "Correctness")
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m"


def detail(name, q):
    if name == "Correctness":
        return {
            "by": "model",
            "model": "m-1",
            "reason": "because",
            "missing": [f"claim {q}"],
            "repeats": [0.0, q % 2, None],
        }
    if name == "Faithfulness":
        return {"by": "heuristic", "reason": "by words", "claims": [{"claim": "c", "verdict": "supported"}]}
    if name == "SentenceSupport":
        by = {"context": 1, "text": "held"}
        return {"sentences": [{"text": "one", "support": 0.8, "by": by, "supported": True}]}
    return {}


@pytest.fixture
def study(make):
    def made(systems=("bm25", "dense"), *, details=detail, text="an answer", n=N, **given):
        evaluation = make(systems, n, MEASURES, undefined=0, **given)
        scores = evaluation.scores
        values = scores.values.copy()
        values[:, :, 2:] = np.linspace(0, 1, n)[None, :, None]
        shown = {
            (s, q, m): found
            for s in range(len(systems))
            for q in range(n)
            for m, measure in enumerate(scores.measures)
            if (found := details(measure.spec.name, q))
        }
        answers = {
            s: {
                q: StudyAnswer(
                    s,
                    q,
                    None if i == 3 else text,
                    error="timed out" if i == 3 else None,
                    contexts=("words",),
                    used=("c1",),
                    given=("c1",),
                    model="m",
                    tokens=10 if i < 20 else None,
                    confidence=0.5,
                    declined=i == 4,
                    seconds=0.25,
                )
                for i, q in enumerate(scores.questions)
            }
            for s in systems
        }
        hits = {q: (StudyHit(1, 0.5, Chunk("c1", "d", "words"), holds=("gold",)),) for q in scores.questions}
        best = Cell(system=systems[-1], measure="F1@5", k=5, mean=0.5, low=0.4, high=0.6, n=n)
        return study_with(
            replace(
                evaluation,
                scores=replace(scores, values=values, details=shown),
                answers={s: [a.text for a in answers[s].values()] for s in systems},
                refusals={
                    s: Refusals(
                        system=s, n=n, unanswerable=4, declined=1, right=1, empty=0, precision=1.0, recall=0.25, f1=0.4
                    )
                    for s in systems
                },
            ),
            main="F1@5",
            choice=choice_of(best, sentences=("It is best.",)),
            hits=dict.fromkeys(systems, hits),
            seconds={s: [0.5] * n for s in systems},
            answers=answers,
            manifest={"karat": "0", "spec": {}, "inputs": [], "digest": "d", "seed": 0},
        )

    return made


def lookup(study):
    return Answers(study.evaluation, study.answers)


def test_the_worst_are_those_with_the_lowest_score_of_a_judge(study):
    found = lookup(study())
    assert found.quality.name == "Correctness"
    assert [q for q, _ in found.worst("dense", 4)] == [0, 1, 2, 3]
    assert found.missing("dense", 2) == ["claim 2"]


def test_without_a_judge_words_decide_and_a_score_that_failed_is_not_the_worst(study):
    made = study()
    scores = made.evaluation.scores
    status = scores.status.copy()
    status[:, :, -1] = Status.failed  # Correctness
    status[:, 0, -2] = Status.failed  # TokenF1 of the first question
    found = lookup(replace(made, evaluation=replace(made.evaluation, scores=replace(scores, status=status))))
    assert found.quality.name == "TokenF1"
    assert found.worst("dense", 1)[0][0] == 1


def test_judges_are_named_heuristics_as_such_and_flips_are_the_share_of_answers_that_differ(study):
    judged = {j.measure: j for j in lookup(study()).judged if j.system == "dense"}
    assert judged["Faithfulness"].who == "heuristic"
    assert judged["Faithfulness"].flips is None
    assert (judged["Correctness"].who, judged["Correctness"].repeats) == ("m-1", 2)
    assert judged["Correctness"].flips == 0.5  # every second one differs


def test_what_is_not_known_is_none_and_what_is_known_in_part_says_so(study):
    bill = lookup(study()).bill("dense", [0.5, None])
    assert (bill.retrieve_seconds, bill.answer_seconds) == (0.5, 0.25)
    assert (bill.tokens, bill.tokens_known, bill.n) == (200, 20, N)
    assert bill.cost_usd is None
    assert lookup(study()).bill("dense").retrieve_seconds is None


def test_answers_are_counted_apart_from_those_that_failed(study):
    assert lookup(study()).counts("dense") == {"answers": N - 1, "empty": 0, "declined": 1, "failed": 1}
    assert lookup(study(text=None)).counts("dense") == {"answers": 0, "empty": 0, "declined": 0, "failed": 1}


@pytest.mark.parametrize(
    "broken",
    [
        {"missing": "x", "claims": 3, "sentences": {"a": 1}, "repeats": "no", "by": None},
        {"reason": None, "claims": ["x", None], "sentences": [None, {"text": ""}], "missing": [None, {}]},
        {"by": 3, "sentences": [{"text": "x", "by": "y", "support": "z"}], "contexts": [1, {"context": 2}]},
    ],
    ids=["no lists", "lists of nothing", "other kinds"],
)
def test_details_of_any_shape_are_shown_without_a_fuss(study, broken):
    made = study(details=lambda name, q: broken)
    page_of(made, {})
    shown(made)
    results.render(made)


def test_the_section_has_means_refusals_judges_and_the_bill(study):
    made = study()
    floor = Note("info", "SemanticSimilarity of dense: .9 is to be read against .8")
    made = replace(made, evaluation=replace(made.evaluation, notes=(floor,)))
    page = page_of(made, {})
    part = page[page.index('<section id="answers"') : page.index('<section id="questions"')]
    assert '<a href="#answers">Answers</a>' in page
    for words in ("Answers by measure", "Refusals", ".250", "Judges", "heuristic", "50.0%", "unknown", "of 20 answers"):
        assert words in part, words
    assert 'id="worst"' in part
    assert "Worst answers by Correctness" in part


def test_where_nobody_answered_there_is_no_section(study):
    made = study()
    bare = replace(made, answers={}, evaluation=replace(made.evaluation, answers={}))
    assert 'id="answers"' not in page_of(bare, {})
    assert "Answers" not in shown(bare)
    assert json.loads(objects.study(bare))["answers"] == []


def test_the_page_holds_each_answer_once_with_its_contexts_among_the_hits(study):
    held = pack(StudyView(study()), 10**7)
    assert held["worst"]["measure"] == "Correctness"
    assert [place for place, _ in held["worst"]["lists"]] == [0, 1]
    assert held["worst"]["lists"][0][1][:2] == [[0, 0.0], [1, round(1 / 29, 4)]]
    assert len(held["worst"]["lists"][0][1]) == 20
    entry = held["found"][0]
    assert entry["answers"][0] == "an answer"
    said = entry["said"]["0"]
    assert said["contexts"] == [0]
    assert held["pools"][0] == [[0, ["gold"], {}]]
    assert said["missing"] == ["claim 0"]
    assert said["sentences"] == [["one", 0.8, "1", "held", True]]
    assert [v[:3] for v in said["verdicts"]] == [["Correctness", 0.0, "m-1"], ["Faithfulness", 0.0, "heuristic"]]
    assert said["about"] == "m · 10 tokens · 0.25 s · confidence .500"
    assert entry["said"]["3"]["error"] == "timed out"
    assert entry["said"]["4"]["declined"] is True


def test_a_context_that_is_no_hit_is_kept_beside_them_and_one_without_words_is_nothing(study):
    made = study()
    answers = {"dense": {"q0": StudyAnswer("dense", "q0", "x", contexts=("words", "other"), used=("c1", "c9", "c8"))}}
    held = pack(StudyView(replace(made, answers=answers)), 10**7)
    dense = next(e for e in held["found"] if held["systems"][e["system"]] == "dense")
    assert dense["said"]["0"]["contexts"] == [0, 1, None]
    assert held["chunks"][held["pools"][0][1][0]][5] == "other"


def test_long_answers_are_cut_aloud_and_much_is_kept_of_the_worst_alone(study, monkeypatch):
    made = study(text="слово " * 1000, n=60)
    whole = pack(StudyView(made), 10**8)["found"][0]
    assert whole["answers"][0].endswith("… (2,000 of 5,999 characters)")
    assert (len(whole["said"]), whole["shortened"]) == (60, False)
    monkeypatch.setattr("karat.report.explorer.LEAST", 50_000)
    small = pack(StudyView(made), 0)
    assert len(small["found"][0]["said"]) == 20
    assert any("20 worst answers" in line for line in small["said"])
    assert sum(len(a.encode()) for a in small["found"][0]["answers"] if a) < 60 * 400


def test_the_console_says_it_in_few_lines_all_of_it_when_asked_and_quiet_in_none(study):
    made = study()
    assert len(shown(made, width=120).partition("\nAnswers\n")[2].partition("\nProvenance\n")[0].splitlines()) < 8
    text = shown(made, width=120, verbose=True)
    assert "Worst answers of dense by Correctness" in text
    assert "q0 .000: question 0? It says: an answer. Missing: claim 0." in text
    assert "Heuristic, by words and rules and not by a model: Faithfulness." in " ".join(text.split())
    assert "retrieval 500 ms a question (median), answer 250 ms a question (median)" in text.replace("\n", " ")
    assert "tokens 200 (20 of 30 answers say), cost unknown" in " ".join(text.split())
    assert "Refusals" in text
    assert "Answers" not in shown(made, quiet=True)


def test_an_answer_that_could_not_be_better_is_none_of_the_worst(study):
    assert [q for q, _ in lookup(study(n=3)).worst("dense", 3)] == [0, 1]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_means_of_answers_break_no_word_at_any_width(study, width):
    made = study(("a_system_with_a_name", "dense"))
    names = ("Faithfulness(by=heuristic)", "Correctness", "TokenF1(bag=set, norm=technical)", "EM", "ROUGE-L")
    found = tuple(parse_all((*MEASURES[:2], *names)))
    made = replace(made, evaluation=replace(made.evaluation, scores=replace(made.evaluation.scores, measures=found)))
    text = shown(made, width=width, verbose=True).partition("\nAnswers\n")[2].partition("Refusals")[0]
    words = {word for line in text.splitlines() for word in line.split()}
    heads = ["Faithfulness", "(by=heuristic)", "Correctness", "TokenF1", "(bag=set,", "norm=technical)", "EM"]
    assert [word for word in (*heads, "declined", "failed", "a_system_with_a_name") if word not in words] == []


def test_the_means_say_over_how_many_questions_they_are(study):
    made = study()
    scores = made.evaluation.scores
    status, values = scores.status.copy(), scores.values.copy()
    status[:, :2, 4], values[:, :2, 4] = Status.undefined, np.nan  # Faithfulness
    status[1, 2, 4], values[1, 2, 4] = Status.undefined, np.nan
    scores = replace(scores, status=status, values=values)
    made = replace(made, evaluation=replace(made.evaluation, scores=scores, summaries=summarise(scores)))
    text = " ".join(shown(made, verbose=True).split())
    assert "Correctness, TokenF1, SentenceSupport, SupportDensity 30; Faithfulness 27 to 28." in text


def test_systems_without_answers_are_named_the_best_of_them_first(study):
    made = study(("bm25", "dense", "third"))
    kept = {"bm25": made.answers["bm25"]}
    texts = {"bm25": made.evaluation.answers["bm25"]}
    made = replace(made, answers=kept, evaluation=replace(made.evaluation, answers=texts))
    said = "2 systems have no answers, third, the best by F1, among them."
    assert said in " ".join(shown(made).split())
    assert said in page_of(made, {})
    assert "no answers" not in shown(study())


def test_failed_answers_without_a_score_have_nothing_to_gain(study):
    made = replace(
        study(), failure_counts=(FailureCount("dense", "unsupported", questions=("q1",), gain=0.0, measure="answers"),)
    )
    text, page = shown(made), page_of(made)
    assert "+0.000" not in text
    assert "+.000" not in page
    assert "Fixing it would add" not in page


def test_hostile_words_reach_neither_terminal_nor_markup(study):
    made = study(text=HOSTILE, details=lambda name, q: {"reason": HOSTILE, "missing": [HOSTILE], "by": HOSTILE})
    assert "\x1b" not in shown(made)
    assert "<img" not in markdown.render(made.evaluation).replace("\\<", "")
    assert "<img" not in page_of(made, {})


def test_results_hold_what_judges_said_and_no_seconds(study):
    made = study()
    schema = json.loads((files("karat.report") / "results.schema.json").read_text(encoding="utf-8"))
    found = json.loads(results.render(made))
    jsonschema.validate(found, schema)
    system = next(s for s in found["systems"] if s["name"] == "dense")
    assert system["answers"]["tokens"] == 200
    assert system["answers"]["cost_usd"] is None
    assert system["answers"]["refusals"]["f1"] == 0.4
    first, failed = system["questions"][0], system["questions"][3]
    assert first["details"]["Correctness"]["missing"] == ["claim 0"]
    assert (first["declined"], first["contexts"], first["answer_error"]) == (False, ["c1"], None)
    assert (failed["answer"], failed["answer_error"]) == (None, "timed out")
    assert "seconds" not in json.dumps(system["answers"])


def test_markdown_lists_the_worst_of_each_system(study):
    text = markdown.render(study().evaluation)
    assert "## Answers" in text
    assert "of 4 questions without an answer 1 declined" in text
    assert "q0 .000: question 0? It says: an answer. Missing: claim 0." in text


def test_gains_of_different_measures_are_not_compared():
    lost, wrong = (
        FailureCount("s", "below_k", questions=("a",), gain=0.3),
        FailureCount("s", "wrong_answer", questions=("b", "c"), gain=0.1, measure="TokenF1"),
    )
    assert costliest([lost, wrong]) == [wrong, lost]
    assert costliest([replace(lost, gain=0.01), lost]) == [lost, replace(lost, gain=0.01)]


def test_the_next_step_comes_from_answers_where_they_fail_most(study):
    made = replace(
        study(), failure_counts=(FailureCount("dense", "refused", questions=("q1", "q2"), gain=0.1, measure="TokenF1"),)
    )
    page = page_of(made, {})
    assert "would add .100 to the mean TokenF1" in page
    assert "+.100 <small>TokenF1</small>" in page
    text = shown(made)
    assert "Fixing it would add .100 to the mean TokenF1." in " ".join(text.split())
    assert "Loosen the prompt" in text
    assert "See why: question q1 in report.html." in text


def test_the_waterfall_names_what_gains_are_of_and_a_right_refusal_succeeds(study):
    counts = (
        FailureCount("dense", "below_k", questions=("q1",), gain=0.1),
        FailureCount("dense", "wrong_answer", questions=("q2",), gain=0.1, measure="TokenF1"),
    )
    made = replace(study(), failure_counts=counts)
    scores = made.evaluation.scores
    status, values = scores.status.copy(), scores.values.copy()
    status[:, 4:6, :], values[:, 4:6, :] = Status.undefined, np.nan
    questions = [replace(q, answerable=i not in (4, 5)) for i, q in enumerate(made.evaluation.testset)]
    testset = type(made.evaluation.testset)(questions)
    evaluation = replace(made.evaluation, testset=testset, scores=replace(scores, status=status, values=values))
    spec = CHARTS.get("failure_waterfall").make(replace(made, evaluation=evaluation)).to_dict()
    rows = [row for found in spec["datasets"].values() for row in found]
    assert [(row["step"].replace("\n", " "), row["count"]) for row in rows] == [
        ("all questions", 30), ("below the cut-off", 1), ("wrong answer", 1),
        ("nothing to score (undefined)", 1), ("succeed", 27),
    ]  # fmt: skip
    assert "mean Recall (for answers, TokenF1)" in " ".join(spec["title"]["subtitle"])


def test_distributions_show_the_answers_of_those_that_answer(study):
    made = study()
    spec = CHARTS.get("score_distributions").make(made).to_dict()
    assert len(spec["vconcat"]) == 3
    said = " ".join([*spec["title"]["text"], *spec["title"]["subtitle"]])
    assert "F1@5, Correctness and Faithfulness spread" in said
    scores = made.evaluation.scores
    summaries = tuple(
        replace(s, mean=None) if s.system == "bm25" and s.measure == "Correctness" else s
        for s in made.evaluation.summaries
    )
    fewer = replace(made, evaluation=replace(made.evaluation, scores=scores, summaries=summaries))
    panel = CHARTS.get("score_distributions").make(fewer).to_dict()["vconcat"][1]
    rows = CHARTS.get("score_distributions").make(fewer).to_dict()["datasets"][panel["data"]["name"]]
    assert {row["system"] for row in rows} == {"dense"}


def test_retrieval_against_answers_says_how_many_systems_answer(study):
    made = study(("a", "b", "c"))
    summaries = tuple(
        replace(s, mean=None) if s.system == "a" and s.measure == "TokenF1" else s for s in made.evaluation.summaries
    )
    made = replace(made, evaluation=replace(made.evaluation, summaries=summaries))
    spec = CHARTS.get("retrieval_and_answers").make(made).to_dict()
    assert "2 of 3 systems have both scores." in " ".join(spec["title"]["subtitle"])
