"""Twice the questions are twice the work: nothing is looked up by going through all questions for each of them."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from studies import study_with

from karat.core.types import Gold, Question
from karat.report import lookups, results
from karat.report.build.study import document
from karat.report.explorer import pack
from karat.report.lookups import StudyView
from karat.report.render.html import render
from karat.results.study import Failure, StudyAnswer


def page_of(study, specs=None):
    return render(document(study, charts=specs or {}))


SYSTEMS = ("bm25", "dense")


class Laid(Mapping):
    """Lists of hits laid out anew each time they are asked for, as those of a run are."""

    def __init__(self, lists):
        self.lists, self.times = lists, Counter()

    def __getitem__(self, system):
        self.times[system] += 1
        return self.lists[system]

    def __iter__(self):
        return iter(self.lists)

    def __len__(self):
        return len(self.lists)


@pytest.fixture
def study(make):
    def made(n, **given):
        questions = [
            Question(f"q{i}", f"question {i}?", answers=("yes",), gold=(Gold(id=f"d{i}"),), kind=f"kind {i}")
            for i in range(n)
        ]
        evaluation = make(SYSTEMS, n, ("F1@5", "MRR"), answers=True, questions=questions, **given)
        ids = evaluation.scores.questions
        return study_with(
            evaluation,
            failures=tuple(Failure(s, q, "below_k", detail="rank 9") for s in SYSTEMS for q in ids),
            answers={s: {q: StudyAnswer(s, q, "yes", contexts=("words",), used=("c1",)) for q in ids} for s in SYSTEMS},
        )

    return made


def test_a_page_carries_so_many_questions_and_says_where_the_others_are(study, monkeypatch):
    whole = pack(StudyView(study(40)), 10**6)
    monkeypatch.setattr(lookups, "MOST_ON_PAGE", 12)
    made = study(40, by=("kind",))
    best = StudyView(made).best
    failing = ("q5", "q17", "q30")
    made = replace(
        made,
        failures=tuple(Failure(s, q, "below_k", detail="rank 9") for s in SYSTEMS for q in failing),
        answers={},
        evaluation=replace(made.evaluation, answers={}),
    )
    view = StudyView(made)
    held = pack(view, 10**6)
    ids = [question["id"] for question in held["questions"]]
    assert (len(ids), set(failing) <= set(ids)) == (12, True)
    assert held["said"][0].startswith(f"12 of 40 questions are kept here: those that {best} fails first")
    assert "rows.parquet, and karat show RUN QUESTION" in held["said"][0]
    places = {str(ids.index(question)) for question in failing}
    assert [set(labels) for labels in held["failed"]] == [places] * 2
    for place, question in enumerate(ids):
        number = view.number_of[question]
        assert [rows[place] for rows in held["scores"]] == [rows[number] for rows in whole["scores"]]
    page = page_of(made)
    assert f'href="#q{ids.index("q17")}">q17' in page
    assert len(re.findall(r'href="#q\d+"', page)) <= 12 + len(failing)


def test_the_worst_answers_are_on_the_page(study, monkeypatch):
    monkeypatch.setattr(lookups, "MOST_ON_PAGE", 12)
    monkeypatch.setattr(lookups, "WORST_ANSWERS", 3)
    view = StudyView(study(40))
    held = pack(view, 10**6)
    worst = {view.evaluation.scores.questions[q] for s in SYSTEMS for q, _ in view.answers.worst(s, 3)}
    assert worst
    assert worst <= {question["id"] for question in held["questions"]}


def test_results_lay_out_the_hits_of_a_system_once(study):
    made = study(8)
    ranked = Laid(made.evaluation.ranked)
    document = json.loads(results.render(replace(made, evaluation=replace(made.evaluation, ranked=ranked))))
    assert document["systems"][1]["questions"][7]["ranked"] == ["d7", "d0"]
    assert ranked.times == dict.fromkeys(SYSTEMS, 1)


def test_the_page_goes_through_the_scores_as_often_for_many_answers_as_for_few(study, monkeypatch):
    elements, isfinite = [], np.isfinite
    monkeypatch.setattr(np, "isfinite", lambda values: (elements.append(np.size(values)), isfinite(values))[1])

    def gone_through(made):
        elements.clear()
        page_of(made, {})
        return sum(elements)

    few, many = gone_through(study(20)), gone_through(study(80))
    assert 0 < few < many <= 5 * few


def test_the_page_goes_through_the_questions_as_often_for_many_kinds_as_for_few(study, monkeypatch):
    calls, slice_value = [], Question.slice_value
    monkeypatch.setattr(Question, "slice_value", lambda self, name: (calls.append(name), slice_value(self, name))[1])

    def looked_up(made):
        calls.clear()
        page = page_of(made, {})
        assert 'href="#q19">q19</a>' in page
        return len(calls)

    few, many = looked_up(study(20, by=("kind",))), looked_up(study(80, by=("kind",)))
    assert 0 < few < many <= 5 * few
