"""Laws of the measure language: what is printed parses to itself, however it was written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.core.errors import KaratError
from karat.core.language import expand, parse, parse_all
from karat.core.measure import CONDENSED, MEASURES, REL, Measure

WORD = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=6)


def values_of(param):
    if param.choices:
        return st.sampled_from(param.choices)
    if param.name == "rel":
        return st.integers(1, 5)
    return {
        bool: st.booleans(),
        int: st.integers(1, 10**9),
        float: st.floats(1e-9, 1e9),
        str: WORD,
    }[param.type]


@st.composite
def measures(draw):
    """Any registered measure at any cut, with any of its parameters in any order."""
    spec = MEASURES.get(draw(st.sampled_from(MEASURES.keys())))
    params = [*spec.params, *((REL, CONDENSED) if spec.stage == "retrieval" else ())]
    chosen = draw(st.lists(st.sampled_from(params), unique=True)) if params else []
    given = tuple((p.name, draw(values_of(p))) for p in chosen)
    k = tokens = None
    if spec.cut == "required" or (spec.cut == "optional" and draw(st.booleans())):
        size = draw(st.integers(1, 2**31 - 1))
        k, tokens = (size, None) if draw(st.booleans()) else (None, size)
    return Measure(spec, k, tokens=tokens, given=given)


@settings(max_examples=3 * settings.default.max_examples)
@given(measures())
def test_what_is_printed_parses_to_itself(measure):
    again = parse(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)
    assert (again.params, again.rel, again.k, again.tokens) == (measure.params, measure.rel, measure.k, measure.tokens)


@settings(max_examples=2 * settings.default.max_examples)
@given(measures(), st.randoms(use_true_random=False))
def test_case_and_spaces_do_not_matter(measure, random):
    name, bracket, rest = measure.name.partition("(")
    if not bracket:
        name, bracket, rest = measure.name.partition("@")
    loud = "".join(random.choice((c.upper(), c.lower())) for c in name)
    assert parse(f" {loud} {bracket} {rest}".replace(",", " , ")) == measure


@given(measures())
def test_what_is_asked_in_full_is_what_is_asked_in_short(measure):
    """Naming a parameter at its default changes nothing, and the order of parameters neither."""
    given = dict(measure.given)
    full = tuple((p.name, given.pop(p.name, p.default)) for p in measure.spec.params if p.default is not None)
    assert Measure(measure.spec, measure.k, tokens=measure.tokens, given=(*given.items(), *full)) == measure
    assert Measure(measure.spec, measure.k, tokens=measure.tokens, given=measure.given[::-1]) == measure


@given(st.lists(measures(), min_size=1, max_size=6))
def test_every_different_measure_is_kept_and_every_equal_one_once(asked):
    found = parse_all(", ".join(map(str, asked)))
    assert list(found) == list(dict.fromkeys(asked))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6, unique=True))
def test_braces_are_the_list_of_what_they_hold(cuts):
    assert expand(f"Recall@{{{','.join(map(str, cuts))}}}") == [f"Recall@{k}" for k in cuts]


def test_every_alias_and_every_variant_is_understood():
    for spec in MEASURES:
        cut = "@7" if spec.cut == "required" else "@0.5" if spec.at else ""
        for name in (spec.name, *spec.aliases):
            assert parse(name + cut).spec.name == spec.name
        for variant in spec.variants:
            assert parse(variant).name == variant


@settings(max_examples=3 * settings.default.max_examples)
@given(st.one_of(st.text(max_size=30), st.text("nDCG@P(rel=2),{}15t :_-.k", max_size=20)))
def test_any_text_is_a_measure_or_one_sentence(text):
    try:
        found = parse_all(text)
    except KaratError:
        return
    assert all(parse(str(m)) == m for m in found)


@pytest.mark.parametrize("name", ["Recall@k", "recall_at_k", "P@K", "early@k", "early"])
def test_a_literal_k_takes_the_value_given(name):
    assert parse(name, k=7).k == 7
    with pytest.raises(KaratError):
        parse(name)
