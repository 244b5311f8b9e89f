"""Questions that are turns of conversations, through scores, runs, comparisons, gates and power."""

from dataclasses import replace

import numpy as np
import pytest

import karat
from karat.core.text.words import conversations_note
from karat.core.types import Gold, Question, TestSet
from karat.experiment.gate import gate
from karat.experiment.power import power
from karat.results.serial import load_study
from karat.stats.compare import pairs
from karat.stats.intervals import mean_intervals
from karat.stats.permutation import flip_test

MANY, SIZE = 8, 3
NUMBERS = tuple(number for number in range(MANY) for _ in range(SIZE))
NOTE = "24 questions in 8 conversations: intervals and tests resample conversations."
RANKS = np.random.default_rng(7).integers(1, 4, (2, MANY * SIZE))
RANKS[1] = np.minimum(RANKS[1], RANKS[0])  # b is never worse


@pytest.fixture
def testset():
    return TestSet(
        [
            Question(
                f"c{place // SIZE}-{place % SIZE}",
                f"What is number {place}?",
                gold=(Gold(id="g"),),
                conversation=f"c{place // SIZE}",
                turn=1 + place % SIZE,
                kind="xy"[place % 2],
            )
            for place in range(MANY * SIZE)
        ],
        name="turns.jsonl",
    )


@pytest.fixture
def systems(testset):
    """Two systems whose lists hold the gold at the ranks above."""

    def lists(ranks):
        return {
            question.id: {doc: 9.0 - place for place, doc in enumerate(docs(rank))}
            for question, rank in zip(testset, ranks.tolist(), strict=True)
        }

    def docs(rank):
        return [*(f"d{n}" for n in range(rank - 1)), "g"]

    return {"a": lists(RANKS[0]), "b": lists(RANKS[1])}


@pytest.fixture
def report(testset, systems):
    return karat.score(testset, systems, measures="MRR", by=["kind", "turn"])


def test_scores_know_conversations_and_intervals_resample_them(report):
    evaluation = report.evaluation
    scores = evaluation.scores
    assert scores.conversations == NUMBERS
    assert [note.text for note in evaluation.notes if "conversations" in note.text] == [NOTE]
    whole = next(one for one in evaluation.summaries if one.system == "a" and one.slice is None)
    low, high = mean_intervals(1 / RANKS[:1], (0.0, 1.0), clusters=NUMBERS)
    assert (whole.low, whole.high) == (low[0], high[0])
    # within a kind, the conversations of its questions
    places = np.arange(0, MANY * SIZE, 2)
    low, high = mean_intervals(1 / RANKS[:1, places], (0.0, 1.0), clusters=np.array(NUMBERS)[places])
    part = next(one for one in evaluation.summaries if (one.system, one.slice, one.value) == ("a", "kind", "x"))
    assert (part.low, part.high) == (low[0], high[0])
    # of one turn each, as ever
    low, high = mean_intervals(1 / RANKS[:1, ::SIZE], (0.0, 1.0))
    first = next(one for one in evaluation.summaries if (one.system, one.slice, one.value) == ("a", "turn", "1"))
    assert (first.low, first.high) == (low[0], high[0])


def test_they_stay_through_parts_joins_and_repeats(report):
    scores = report.evaluation.scores
    assert scores.select(questions=[4, 3, 0]).conversations == (1, 1, 0)
    unknown = replace(scores, conversations=None)
    assert type(scores).concat([unknown, scores]).conversations == NUMBERS
    assert scores.averaged([2]).conversations == NUMBERS


def test_comparisons_flip_conversations(report, testset, systems):
    found = karat.compare(report, by="kind")
    (pair,) = found.pairs
    values = 1 / RANKS
    difference = (values[1] - values[0])[None]
    tested = flip_test(difference, clusters=NUMBERS)
    assert (pair.permutation, pair.low, pair.high) == (tested.p[0], tested.low[0], tested.high[0])
    assert pair.permutation > flip_test(difference).p[0]
    assert (pair.n, pair.wins) == (24, int((difference > 0).sum()))
    assert NOTE in [note.text for note in found.notes]
    assert pair.detectable != pytest.approx(2.8016 * pair.spread / 24**0.5, rel=1e-3)
    kinds = {one.value: one for one in found.slices}
    odd = np.arange(1, 24, 2)
    of_kind = flip_test(difference[:, odd], clusters=np.array(NUMBERS)[odd])
    assert kinds["y"].p == of_kind.p[0]
    means = {one.system: one for one in found.means}
    low, high = mean_intervals(values, (0.0, 1.0), clusters=NUMBERS)
    assert [(means[name].low, means[name].high) for name in "ab"] == list(zip(low, high, strict=True))


def test_the_order_of_questions_changes_nothing(testset, systems, report):
    order = np.random.default_rng(3).permutation(len(testset)).tolist()
    other = TestSet([testset.questions[place] for place in order], name="turns.jsonl")
    shuffled = karat.score(other, systems, measures="MRR")
    assert shuffled.evaluation.scores.conversations != NUMBERS
    (one,), (two,) = karat.compare(report).pairs, karat.compare(shuffled).pairs
    assert one == two


@pytest.fixture
def folder(tmp_path, testset, study_of, store):
    """A run of system a."""

    def made(ranks=RANKS[0], conversations=NUMBERS):
        study = study_of({"a": [[1 / rank] for rank in ranks.tolist()]}, "MRR", testset=testset)
        scores = replace(study.evaluation.scores, conversations=conversations)
        return store(tmp_path, replace(study, evaluation=replace(study.evaluation, scores=scores)))

    return made


def test_runs_keep_them_and_runs_without_open(folder):
    scores = load_study(folder().path).evaluation.scores
    assert scores.conversations == NUMBERS
    assert load_study(folder(conversations=None).path).evaluation.scores.conversations is None


def test_gates_test_conversations(tmp_path, folder):
    from karat.experiment.baseline import save_baseline

    before = folder(RANKS[0])
    save_baseline(tmp_path, "main", before.id)
    found = gate(folder(RANKS[1]), ["MRR >= 0.1 @95%", "MRR >= baseline @95%"], baseline="main", runs_dir=tmp_path)
    first, second = found.verdicts
    low, high = mean_intervals(1 / RANKS[1:], (0.0, 1.0), clusters=NUMBERS)
    assert (first.low, first.high) == (low[0], high[0])
    tested = flip_test((1 / RANKS[1] - 1 / RANKS[0])[None], clusters=NUMBERS)
    assert (second.low, second.high) == pytest.approx((tested.low[0], tested.high[0]))
    assert NOTE in found.notes


def test_power_is_that_of_conversations(testset, report):
    found = power(testset, report)
    (spread,) = found.measures
    assert spread.middle == pytest.approx(karat.compare(report).pairs[0].detectable / 2.8016 * 24**0.5, rel=1e-3)
    assert any(note.text.startswith(NOTE) for note in found.notes)
    worst = power(testset).measures[0]
    assert worst.middle == pytest.approx(SIZE**0.5)
    assert worst.source.endswith("all turns of a conversation alike")
    *_, row = karat.check(testset).detectable
    assert row.spread == pytest.approx(SIZE**0.5)
    assert row.basis.endswith("all turns of a conversation alike")


def test_what_is_said_of_few_conversations():
    assert conversations_note(None) is None
    assert conversations_note([3, 4]) is None
    one = "2 questions in 1 conversation: no intervals, and no difference is significant."
    assert conversations_note([3, 3]) == one
    few = "5 questions in 3 conversations: intervals and tests resample conversations. With fewer than 6 no difference"
    assert conversations_note([0, 0, 1, 1, 2]) == f"{few} has a p of .05 or less."


def test_choices_count_conversations(testset):
    from karat.core.language import parse
    from karat.experiment.study import choice_of

    few = TestSet(testset.questions[: 4 * SIZE], name="few")
    values = 1 / RANKS[:, : 4 * SIZE]
    choice = choice_of(parse("MRR"), ["a", "b"], values, few, kinds=[q.kind for q in few], seed=0)
    assert "Too few conversations to show any difference between 2 systems." in choice.sentences
    (pair,) = pairs("MRR", ["a", "b"], values, ids=few.ids, clusters=NUMBERS[: 4 * SIZE])
    assert choice.equals[0].p == pair.p


def test_questions_without_a_kind_are_a_row_of_their_own():
    from karat.core.language import parse
    from karat.experiment.study import choice_of

    questions = tuple(
        Question(f"q{i}", f"What is {i}?", kind=None if i < 6 else "fact", conversation=f"c{i // 2}", turn=i % 2)
        for i in range(12)
    )
    values = np.vstack([np.arange(12) < 6, np.arange(12) >= 6]).astype(float)
    testset = TestSet(questions)
    choice = choice_of(parse("MRR"), ["a", "b"], values, testset, kinds=[q.kind for q in questions], seed=0)
    assert [(kind.kind, kind.n, kind.best.system) for kind in choice.by_kind] == [("fact", 6, "b"), ("(none)", 6, "a")]
    assert any("(none) (3)" in sentence for sentence in choice.sentences)  # conversations, not questions
    none = choice_of(parse("MRR"), ["a", "b"], values, testset, kinds=[None] * 12, seed=0)
    assert (none.by_kind, none.too_few) == ((), {})
