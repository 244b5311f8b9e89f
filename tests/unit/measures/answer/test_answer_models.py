"""Measures of answers that ask an embedder or a cross-encoder, by hand, with models of a few words."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.models import Models
from karat.core.scores import Floor
from karat.measures.answer import semantic_similarity
from karat.measures.compute import Unscored, compute

AXES = {"paris": 0, "capital": 1, "rome": 2, "passage": 3}


class Axes:
    """An embedder: a text is the mean of the axes of its words, of length 1; unknown words are nothing."""

    fingerprint = "axes"

    def __init__(self, settings=None):
        self.settings, self.asked = settings, []

    def embed(self, texts, role):
        assert role == "passage"
        self.asked.extend(texts)
        rows = np.zeros((len(texts), 4), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.replace(":", "").split():
                if word == "opposite":
                    row[0] -= 1
                elif word in AXES:
                    row[AXES[word]] += 1
            row /= np.linalg.norm(row) or 1
        return rows


class Pairs:
    """A cross-encoder that knows the logits of a few pairs."""

    def __init__(self, known):
        self.known, self.asked = known, []

    def score(self, pairs):
        self.asked.extend(pairs)
        return np.array([self.known[pair] for pair in pairs])


def answered(rows, models, systems=("s",)):
    """Rows of (answer, references)."""
    n = len(rows)
    questions = tuple(map(str, range(n // len(systems))))
    return AnswerTable(
        systems,
        questions,
        texts=[""] * n,
        answers=[r[0] for r in rows],
        references=[r[1] for r in rows],
        contexts=[None] * n,
        answerable=[True] * n,
        models=models,
    )


def by_axes(rows, measure="SemanticSimilarity", embedder=None, systems=("s",)):
    chosen = embedder or Axes()
    return parse(measure).of(answered(rows, Models(embedder=lambda: chosen), systems))


def test_similarity_is_the_cosine_of_the_best_reference():
    found = by_axes([("Paris!", ("The capital, Paris",)), ("Paris", ("Rome", "paris paris")), ("Rome", ("Paris",))])
    assert found.values == pytest.approx([1 / np.sqrt(2), 1, 0])
    assert not found.undefined


def test_similarity_is_clipped_where_texts_are_opposed():
    assert by_axes([("opposite", ("paris",))]).values.tolist() == [0]


def test_an_empty_answer_has_no_similarity_and_is_never_embedded():
    embedder = Axes()
    found = by_axes([("", ("paris",)), (None, ("paris",)), ("<think>paris</think>", ("paris",))], embedder=embedder)
    assert found.values.tolist() == [0, 0, 0]
    assert embedder.asked == ["paris"]


def test_an_answer_that_is_nothing_to_the_embedder_scores_zero():
    assert by_axes([("zzz", ("paris",))]).values.tolist() == [0]


def test_similarity_is_undefined_without_a_reference_that_can_be_embedded():
    found = by_axes([("paris", ()), ("paris", ("The!",)), ("paris", ("zzz",)), ("paris", ("zzz", "paris"))])
    assert found.undefined == {
        0: "no reference answer",
        1: "the reference answer is empty after normalisation (unicode)",
        2: "the embedder makes nothing of the reference answer",
    }
    assert found.values[3] == pytest.approx(1)


@pytest.mark.parametrize("spelled", ["passage", "passage:"])
def test_a_prefix_stands_before_both_texts(spelled):
    embedder = Axes()
    found = by_axes([("Paris", ("Rome",))], f"SemanticSimilarity(prefix={spelled})", embedder)
    assert sorted(embedder.asked) == ["passage: paris", "passage: rome"]
    assert found.values == pytest.approx([1 / 2])


def test_a_prefix_that_the_embedder_puts_there_itself_is_not_put_twice():
    class Settings:
        passage_prefix = "passage: "

    embedder = Axes(Settings())
    by_axes([("Paris", ("Rome",))], "SemanticSimilarity(prefix=passage)", embedder)
    assert sorted(embedder.asked) == ["paris", "rome"]


def test_a_prefix_is_read_and_printed_back():
    measure = parse("sbert(norm=technical, prefix=passage)")
    assert measure.name == "SemanticSimilarity(prefix=passage, norm=technical)"
    assert parse(measure.name) == measure


def test_every_text_is_embedded_once():
    embedder = Axes()
    models = Models(embedder=lambda: embedder)
    data = answered(
        [("paris", ("rome",)), ("rome", ("paris",)), ("Paris.", ("rome",)), ("rome", ("paris",))], models, ("a", "b")
    )
    parse("SemanticSimilarity").of(data)
    parse("SemanticSimilarity").of(data)
    assert sorted(embedder.asked) == ["paris", "rome"]


def test_the_floor_is_the_mean_over_references_of_other_questions():
    rows = [
        ("paris", ("paris", "rome capital")),
        ("rome", ("rome",)),
        ("paris capital", ("capital",)),
        ("", ("paris",)),
    ]
    found = by_axes(rows)
    half = 1 / np.sqrt(2)
    # answers of 0, 1 and 2 against the other two questions' references, the best of each; the empty answer is left out
    expected = np.mean([0, 0, half, 0, half, 0])
    floor = found.floors[0]
    assert floor.chance == pytest.approx(expected)
    assert (floor.own, floor.n) == (pytest.approx(np.mean([1, 1, half])), 3)


def test_every_system_has_a_floor_of_its_own_where_two_questions_have_both_sides():
    rows = [("paris", ("paris",)), ("paris", ("rome",)), ("paris", ("paris",)), ("", ("rome",))]
    assert by_axes(rows, systems=("a", "b")).floors == {0: Floor(0.5, 0.5, 2)}


def test_the_floor_of_many_questions_is_taken_from_a_sample_with_a_fixed_seed(monkeypatch):
    monkeypatch.setattr(semantic_similarity, "SAMPLE", 20)
    words = list(AXES)[:3]
    rows = [(words[i % 3], (words[i % 3],)) for i in range(90)]
    first, again = by_axes(rows).floors[0], by_axes(rows).floors[0]
    assert first == again
    assert first.chance == pytest.approx(1 / 3, abs=0.1)
    assert (first.own, first.n) == (1.0, 20)


def test_scores_keep_the_floor_unless_the_system_gives_no_answers():
    data = answered([("paris", ("paris",)), ("rome", ("rome",))] * 2, Models(embedder=Axes), ("a", "b"))
    unscored = Unscored(absent={"answer": {"b": "none"}})
    scores = compute([parse("SBERT")], data.systems, data.questions, answered=data, unscored=unscored)
    assert scores.floors == {(0, 0): Floor(0.0, 1.0, 2)}


def test_a_cross_encoder_goes_through_one_sigmoid_and_the_best_reference_counts():
    model = Pairs({("Paris", "Rome"): -2.0, ("Paris", "The capital"): 2.0, ("x", "y"): 800.0, ("x", "z"): -800.0})
    rows = [("Paris", ("Rome", "The capital")), ("x", ("y",)), ("x", ("z",)), ("", ("Rome",)), ("Paris", ())]
    found = parse("CrossEncoder").of(answered(rows, Models(cross_encoder=lambda: model)))
    assert found.values[:4] == pytest.approx([1 / (1 + np.exp(-2)), 1, 0, 0])
    assert found.undefined == {4: "no reference answer"}


def test_a_cross_encoder_reads_what_was_said_and_each_pair_once():
    model = Pairs({("Paris.", "Rome"): 0.0})
    rows = [("<think>hm</think> Paris [1].", ("Rome", "...")), ("Paris [2].", ("Rome",))]
    found = parse("CrossEncoder").of(answered(rows, Models(cross_encoder=lambda: model)))
    assert found.values.tolist() == [0.5, 0.5]
    assert len(model.asked) == 1


def test_a_cross_encoder_with_nothing_to_read_is_not_asked():
    def load():
        raise AssertionError("loaded")

    found = parse("CrossEncoder").of(answered([("", ("Rome",)), ("x", ())], Models(cross_encoder=load)))
    assert found.values[0] == 0
