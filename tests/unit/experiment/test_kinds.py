import numpy as np
import pytest

from karat.experiment import kinds
from karat.experiment._signs import SIGNS, signs_of
from karat.experiment.kinds import RULES, KindPredictor, features_of, guess_kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What does NTP stand for?", "abbreviation"),
        ("How many ports has the switch?", "numerical"),
        ("At what temperature does the alarm sound?", "numerical"),
        ("How do I reset the password?", "procedural"),
        ("Is the new filter finer than the old one?", "comparative"),
        ("Which vaccines are free of charge?", "listing"),
        ("My screen is black. What can I do?", "scenario"),
        ("Where is the key kept?", "factual"),
        ("Wie viele Tage Urlaub gibt es?", "numerical"),
        ("Comment changer le filtre ?", "procedural"),
        ("¿Cuál es la diferencia entre los dos?", "comparative"),
        ("Сколько стоит билет?", "numerical"),
        ("Как заменить фильтр?", "procedural"),
        ("पासवर्ड कैसे बदलें?", "procedural"),
        ("", "factual"),
        ("?!", "factual"),
    ],
)
def test_a_guess_by_form(text, kind):
    assert guess_kind(text)[0] == kind


def test_a_guess_says_how_sure_it_is():
    sure = {kind: right for kind, _, right in RULES}
    assert guess_kind("How do I do it?")[1] == sure["procedural"]
    assert all(0 < right < 1 for _, _, right in RULES)
    assert guess_kind("Tell.")[1] < 0.5


def test_rules_name_signs_that_exist():
    assert set().union(*(needed for _, needed, _ in RULES)) <= set(SIGNS)


def test_a_long_text_is_looked_at_from_its_start():
    assert signs_of("x " * 5000 + "how many") == ()
    assert "amount" in signs_of("how many " + "A" * 100_000)


TEXTS = [f"How many {x} are there?" for x in ("cats", "dogs", "birds", "fish", "mice", "cows")]
TEXTS += [f"How do I {x} it?" for x in ("open", "close", "lift", "turn", "wash", "sell")]
KINDS = ["count"] * 6 + ["how-to"] * 6


def test_kinds_are_learned_under_their_own_names():
    predictor = KindPredictor.fit(TEXTS, KINDS)
    kind, confidence = predictor.predict("How many horses are there?")
    assert kind == "count"
    assert confidence > 0.9
    assert predictor.predict("How do I paint it?")[0] == "how-to"
    unsure = predictor.predict("Blue?")
    assert unsure[1] < confidence
    assert predictor.predict("") == predictor.predict("?")


def test_confidence_falls_where_kinds_cannot_be_told():
    """The same texts under kinds at random: the confidence must not be that of the learned ones."""
    mixed = ["a", "b"] * 6
    predictor = KindPredictor.fit([f"Question {i}" for i in range(12)], mixed)
    assert predictor.predict("Question 77")[1] < 0.75
    assert predictor.scale == kinds.SCALES[-1]


def test_each_is_predicted_by_the_others_as_if_learned_without_it(monkeypatch):
    """The short cut for leaving one out is right, but for the share of each kind, which it takes from all."""
    seen = []
    shares = kinds._shares
    monkeypatch.setattr(kinds, "_shares", lambda scores, scale: seen.append(scores) or shares(scores, scale))
    features = [features_of(text) for text in TEXTS]
    predictor = KindPredictor.fit_features(features, KINDS)
    table = np.stack([kinds._vector(f, predictor.rows, predictor.idf) for f in features])
    wanted = np.array([[kind == "count", kind == "how-to"] for kind in KINDS], float)
    for left in (0, 7):
        rest = [i for i in range(12) if i != left]
        gram = table[rest] @ table[rest].T + kinds.RIDGE * np.eye(11)
        expected = table[left] @ table[rest].T @ np.linalg.solve(gram, wanted[rest] - 0.5) + 0.5
        np.testing.assert_allclose(seen[0][left], expected)


def test_one_kind_and_many_questions(monkeypatch):
    assert KindPredictor.fit(["Who?"], ["a"]).predict("What?") == ("a", 1.0)
    monkeypatch.setattr(kinds, "MOST", 6)
    predictor = KindPredictor.fit(TEXTS, KINDS)
    assert predictor.predict("How do I paint it?")[0] == "how-to"


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="0 kinds for 0 questions"):
        KindPredictor.fit([], [])
    with pytest.raises(ValueError, match="1 kinds for 2 questions"):
        KindPredictor.fit(["a", "b"], ["x"])
