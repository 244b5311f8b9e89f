from dataclasses import asdict

import numpy as np
import pytest

from karat.experiment import router
from karat.experiment.router import NAME, SINGLE, fit_router, route
from karat.stats.choose import cells_of, choose

NAN = np.nan
THINGS = [
    "cats", "dogs", "birds", "fish", "mice", "cows", "sheep", "goats", "hens", "ducks", "bees", "ants", "pigs", "bears",
    "owls",
]  # fmt: skip
TEXTS = [f"How many {x} are there?" for x in THINGS] + [f"How do I feed {x}?" for x in THINGS]
KINDS = ["numerical"] * 15 + ["procedural"] * 15
NAMES = ["sparse", "dense", "both"]


def by_kind(noise=0.05, seed=0):
    """Sparse is right for the first kind, dense for the second; both are the same over all."""
    values = np.full((3, 30), 0.6)
    values[0, :15], values[0, 15:] = 0.9, 0.2
    values[1, :15], values[1, 15:] = 0.2, 0.9
    return values + np.random.default_rng(seed).normal(0, noise, values.shape)


def test_it_takes_what_is_best_for_each_kind():
    found = route("F1", NAMES, by_kind(), TEXTS, KINDS)
    assert found.by_kind == {"numerical": "sparse", "procedural": "dense"}
    assert found.mean == pytest.approx(0.9, abs=0.05)
    assert (found.name, found.n, found.accuracy, len(found.values)) == (NAME, 30, 1.0, 30)
    assert found.low < found.mean < found.high
    assert (found.against.a, found.against.b) == (SINGLE, NAME)
    assert found.against.difference > 0.2
    assert found.against.adjusted < 0.05
    assert "is better than one setting" in found.note
    assert "predicts the kind of 100% of the questions rightly" in found.note


def test_kinds_are_guessed_where_there_are_none():
    found = route("F1", NAMES, by_kind(), TEXTS)
    assert found.by_kind == {"numerical": "sparse", "procedural": "dense"}
    assert found.accuracy is None
    assert "guessed from the form" in found.note
    same = route("F1", NAMES, by_kind(), TEXTS, [None] * 30)
    assert asdict(same) == asdict(found)


def test_the_single_setting_is_the_one_the_choice_cross_validates():
    values = by_kind(0.3)
    cells = cells_of([(name, "F1", None) for name in NAMES], values)
    expected = choose("F1", cells, values, kinds=KINDS)
    found = route("F1", NAMES, values, TEXTS, KINDS)
    assert found.mean - found.against.difference == pytest.approx(expected.cross_validated)


def test_nothing_of_a_question_reaches_its_own_score(monkeypatch):
    """Learning must see the training folds only: every question of a fold is left out when it is scored."""
    seen = []
    learn = router._Known.learn
    monkeypatch.setattr(router._Known, "learn", lambda known, mask: seen.append(mask) or learn(known, mask))
    predicted = []
    step = router._Learned.step
    monkeypatch.setattr(
        router._Learned, "step", lambda self, features, guess: predicted.append(features) or step(self, features, guess)
    )
    route("F1", NAMES, by_kind(), TEXTS, KINDS, repeats=2)
    folds = seen[1:]  # the first is over all questions, for by_kind
    assert len(folds) == 10
    at = 0
    for mask in folds:
        out = np.flatnonzero(~mask)
        assert [router.features_of(TEXTS[i]) for i in out] == predicted[at : at + len(out)]
        at += len(out)
    assert at == 60


def test_noise_is_not_routed_to_a_gain():
    """Settings that differ by chance only: out of sample the router gains nothing."""
    rng = np.random.default_rng(3)
    gains = [route("F1", NAMES * 4, rng.random((12, 30)), TEXTS, KINDS, repeats=2).against for _ in range(12)]
    assert abs(np.mean([g.difference for g in gains])) < 0.05
    assert sum(g.adjusted <= 0.05 for g in gains) <= 2


def test_without_confidence_it_takes_the_best_of_all(monkeypatch):
    monkeypatch.setattr(router, "CONFIDENT", 1.1)
    found = route("F1", NAMES, by_kind(), TEXTS, KINDS)
    assert found.against.difference == 0
    assert found.against.p == 1
    made = fit_router(NAMES, by_kind(), TEXTS, KINDS)
    step = made.step("How many apes are there?")
    assert (step.setting, step.confident) == ("both", False)


def test_a_router_for_new_questions():
    made = fit_router(NAMES, by_kind(), TEXTS, KINDS)
    assert (made.settings, made.otherwise) == ({"numerical": "sparse", "procedural": "dense"}, "both")
    kind, confidence = made.predict("How many apes are there?")
    assert kind == "numerical"
    assert 0.7 <= confidence <= 1
    step = made.step("How many apes are there?")
    assert (step.kind, step.confidence, step.setting, step.confident) == (kind, confidence, "sparse", True)
    guessing = fit_router(NAMES, by_kind(), TEXTS)
    assert guessing.predictor is None
    assert guessing.predict("How do I feed apes?") == ("procedural", 0.8)


def test_few_questions_of_a_kind_have_no_setting_of_their_own():
    kinds = ["rare"] * 4 + ["numerical"] * 11 + ["procedural"] * 15
    assert set(route("F1", NAMES, by_kind(), TEXTS, kinds).by_kind) == {"numerical", "procedural"}


def test_questions_without_kind_or_value():
    values = by_kind()
    values[:, [0, 20]] = NAN
    kinds = [None, None, *KINDS[2:]]
    found = route("F1", NAMES, values, TEXTS, kinds)
    assert (found.n, found.values[0], found.values[20]) == (28, None, None)
    assert found.values[1] is not None
    assert found.accuracy == 1.0
    assert route("F1", NAMES, np.full((3, 30), NAN), TEXTS, KINDS) is None
    only = np.full((3, 30), NAN)
    only[:, 4] = 1
    assert route("F1", NAMES, only, TEXTS, KINDS) is None
    assert fit_router(NAMES, np.full((3, 30), NAN), TEXTS) is None


def test_one_setting_or_one_kind_is_no_router():
    one = route("F1", ["only"], by_kind()[:1], TEXTS, KINDS)
    assert one.against.difference == 0
    assert "the same setting for every kind" in one.note
    assert route("F1", NAMES, by_kind(), TEXTS, ["x"] * 30).by_kind.keys() == {"x"}


def test_lower_can_be_better():
    high, low = (
        route("F1", NAMES, by_kind(), TEXTS, KINDS),
        route("F1", NAMES, -by_kind(), TEXTS, KINDS, higher_is_better=False),
    )
    assert low.by_kind == high.by_kind
    assert low.mean == pytest.approx(-high.mean)
    assert "is better than" in low.note


def test_same_input_same_router():
    assert asdict(route("F1", NAMES, by_kind(), TEXTS, KINDS)) == asdict(route("F1", NAMES, by_kind(), TEXTS, KINDS))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="for 3 settings and 29 questions"):
        route("F1", NAMES, by_kind(), TEXTS[:-1], KINDS[:-1])


def test_other_kinds_count_as_three_questions_together():
    of_kind = np.array([True, True, False, False, False, False, False, False, True])
    seen = np.array([True, True, True, True, True, True, True, True, False])
    assert router._weights(of_kind, seen).tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0]
    assert router._weights(of_kind[:3], seen[:3]).tolist() == [1, 1, 1]  # no more than one each
    assert router._weights(of_kind[:2], seen[:2]).tolist() == [1, 1]


def test_a_slight_lead_in_a_kind_does_not_outweigh_all_others():
    values = np.full((2, 30), 0.5)
    values[1, 15:] = 0.1
    values[1, :15] = 0.51
    assert fit_router(["all-round", "special"], values, TEXTS, KINDS).settings["numerical"] == "all-round"
    values[1, :15] = 0.7
    assert fit_router(["all-round", "special"], values, TEXTS, KINDS).settings["numerical"] == "special"
