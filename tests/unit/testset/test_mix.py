from collections import Counter

import pytest

from karat.core.errors import UsageError
from karat.testset.mix import DEFAULT, Mix


def test_shares_hold_in_small_sets():
    mix = Mix.of({"phrasing": {"concise": 3, "verbose": 1}})
    drawn = Counter(mix.draw(n, seed=4)[0]["phrasing"] for n in range(40))
    assert abs(drawn["concise"] - 30) <= 1


def test_all_combinations_come_as_often_as_their_shares_say():
    drawn = Counter(tuple(DEFAULT.draw(n, seed=1)[0].values()) for n in range(2400))
    for a in DEFAULT.axes["question_type"]:
        for b in DEFAULT.axes["user_expertise"]:
            for c in DEFAULT.axes["phrasing"]:
                assert drawn[a.name, b.name, c.name] == pytest.approx(2400 * a.share * b.share * c.share, abs=12)


def test_the_model_is_told_what_was_drawn():
    mix = Mix.of({"tone": {"rude": {"share": 1, "manner": "Be  rude."}}, "phrasing": {"concise": 1}})
    drawn, manner = mix.draw(0)
    assert drawn == {"tone": "rude", "phrasing": "concise"}
    assert manner == ("Be rude.", "Ask in one short, natural sentence.")


def test_draws_depend_on_number_seed_and_salt_alone():
    assert DEFAULT.draw(3, seed=1, salt="a") == DEFAULT.draw(3, seed=1, salt="a")
    several = {tuple(DEFAULT.draw(0, seed=s)[0].values()) for s in range(20)}
    assert len(several) > 5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "names no categories"),
        ([], "names no categories"),
        ({"phrasing": {}}, "has no categories"),
        ({"phrasing": {"concise": -1}}, "share -1"),
        ({"phrasing": {"concise": True}}, "share True"),
        ({"phrasing": {"concise": float("nan")}}, "share nan"),
        ({"phrasing": {"concise": 0}}, "all 0"),
        ({"phrasing": {"odd": 1}}, "`manner`"),
        ({"phrasing": {"odd": {"share": 1, "weight": 2}}}, "'weight'"),
        ({"model": {"odd": {"share": 1, "manner": "x"}}}, "karat writes itself"),
    ],
)
def test_a_mix_that_cannot_be_is_refused(given, said):
    with pytest.raises(UsageError, match=said):
        Mix.of(given)


def test_a_category_without_a_share_is_never_drawn():
    mix = Mix.of({"phrasing": {"concise": 1, "verbose": 0}})
    assert {mix.draw(n)[0]["phrasing"] for n in range(50)} == {"concise"}
