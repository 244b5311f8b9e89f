"""What a measure declares: parameters from signatures, rows from functions, facts in words."""

from typing import Literal

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.measure import MEASURES, Measure, find_measure, measure
from karat.core.measure_facts import facts, list_measures
from karat.core.scores import MeasureResult


def answered(answers, references=None, contexts=None):
    n = len(answers)
    return AnswerTable(
        ("s",),
        tuple(map(str, range(n))),
        texts=["what?"] * n,
        answers=answers,
        references=references or [("ref",)] * n,
        contexts=contexts or [None] * n,
        answerable=[True] * n,
    )


def test_the_decorator_returns_the_function_itself():
    def f(judged, k=None):
        return judged

    assert measure(f) is f
    assert f.__karat_measure__.name == "f"


def test_the_signature_declares_stage_cut_and_parameters():
    @measure(name="All", direction="lower")
    def f(
        judged,
        k,
        *,
        whole: int = 3,
        part: float = 0.5,
        flag: bool = False,
        text="x",
        none: int | None = None,
        way: Literal["Up", "down"] = "Up",
        level: Literal[1, 2] = 1,
        minLength: int = 1,  # noqa: N803
    ):
        """One."""

    spec = f.__karat_measure__
    assert (spec.stage, spec.cut, spec.direction) == ("retrieval", "required", "lower")
    read = {
        "whole": ("4", 4),
        "part": (".25", 0.25),
        "flag": ("TRUE", True),
        "text": ("Abc", "Abc"),
        "none": ("7", 7),
        "way": ("up", "Up"),
        "level": ("2", 2),
        "MINLENGTH": ("5", 5),
    }
    for name, (written, value) in read.items():
        got = spec.param(name).read(written, "All")
        assert got == value
        assert type(got) is type(value)
    with pytest.raises(UsageError, match="level=3 is not one of 1, 2"):
        spec.param("level").read("3", "All")
    assert "level=1|2" in facts(Measure(spec, 1))["parameters"]


@pytest.mark.parametrize(
    ("function", "cut"),
    [(lambda judged: 0, "none"), (lambda judged, k=None: 0, "optional"), (lambda judged, k: 0, "required")],
)
def test_k_in_the_signature_makes_it_cuttable(function, cut):
    assert measure(name="x")(function).__karat_measure__.cut == cut


def test_rows_become_values_undefined_or_failed():
    def f(answer, reference):
        return {"a": 0.5, "b": None, "c": float("nan"), "d": float("inf"), "f": "no number"}[answer]

    outcome = find_measure(f).function(answered(["a", "b", "c", "d", "e", "f", "a"], [("r",)] * 6 + [()]))
    assert outcome.values[0] == 0.5
    assert outcome.undefined == {1: "the measure gave no value", 6: "no reference answer"}
    assert set(outcome.failed) == {2, 3, 4, 5}
    assert outcome.failed[2] == "the measure gave nan"
    assert outcome.failed[4] == "KeyError: 'e'"
    assert outcome.failed[5].startswith("ValueError: could not convert")


def test_a_function_that_ends_the_program_fails_its_row():
    def f(answer):
        raise SystemExit(0)

    assert find_measure(f).function(answered(["a"])).failed == {0: "SystemExit: 0"}


def test_a_row_gets_what_it_asks_for():
    seen = []

    def f(contexts, answer, question, references, *, times: int = 1):
        seen.append((contexts, answer, question, references, times))
        return 1

    Measure(find_measure(f), given=(("times", 3),)).of(answered([None], [("x", "y")], [("c",)]))
    assert seen == [(("c",), "", "what?", ("x", "y"), 3)]


def test_a_plain_function_claims_no_range_and_no_direction():
    spec = find_measure(lambda answer: 1)
    assert spec.bounds == (-np.inf, np.inf)
    assert spec.direction == "none"


def test_with_rel_leaves_measures_alone_that_name_their_own_or_read_grades():
    def at(name, **given):
        return Measure(MEASURES.get(name), 5, given=tuple(given.items())).with_rel(2).name

    assert at("precision") == "Precision(rel=2)@5"
    assert at("precision", rel=3) == "Precision(rel=3)@5"
    assert at("ndcg") == "nDCG@5"
    assert Measure(MEASURES.get("em")).with_rel(2).name == "EM"
    assert Measure(MEASURES.get("precision"), 5).with_rel(1).name == "Precision@5"


def test_bounds_may_depend_on_parameters():
    assert Measure(MEASURES.get("aqwv"), given=(("beta", 7.0),)).bounds == (-7, 1)


def test_facts_of_every_measure_are_complete():
    listed = list_measures()
    assert {"nDCG", "MRR", "ROUGE-L", "TokenF1"} <= {f["name"] for f in listed}
    for fact in listed:
        assert fact["what"]
        assert fact["best_for"]
        assert fact["range"].count(" to ") == 1
        assert fact["better"] in ("higher", "lower", "neither")
        assert fact["stage"] in ("retrieval", "answer")
        assert fact["needs"]
    (aqwv,) = (f for f in listed if f["name"].startswith("AQWV"))
    assert aqwv["range"] == "-40 to 1"
    assert aqwv["parameters"] == ["beta=40", "n=int", "fa=collection|retrieved", "rel=int", "condensed"]


def test_no_measure_of_karat_lacks_its_formula_its_author_and_what_to_take_instead():
    for spec in MEASURES:
        if MEASURES.is_plugin(spec.name):
            continue
        for what in ("formula", "defined_by", "best_for", "prefer"):
            text = getattr(spec, what)
            assert text, f"{spec.name} declares no {what}"
            assert "\n" not in text
            assert not text.endswith("."), f"{spec.name}: {what} is a phrase, without a full stop"


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("Recall@5", ["retrieved hits", "gold"]),
        ("Retrieved", ["retrieved hits"]),
        ("TokenF1", ["answers", "reference answers"]),
        ("SupportDensity", ["answers", "contexts"]),
        ("SemanticSimilarity", ["answers", "reference answers", "an embedder"]),
        ("Faithfulness", ["answers", "contexts", "a chat model"]),
        ("Faithfulness(by=heuristic)", ["answers", "contexts"]),
        ("ContextRelevance", ["contexts", "a chat model"]),
        ("ClaimPrecision", ["answers", "reference answers", "claims (answer by reference)"]),
    ],
)
def test_what_a_measure_needs_is_said_in_words(name, needed):
    assert facts(parse(name))["needs"] == needed


def test_an_outcome_is_passed_on_as_it_is():
    spec = find_measure(measure(name="o")(lambda answered: MeasureResult(np.zeros(1), {0: "why"})))
    assert Measure(spec).of(answered(["a"])).undefined == {0: "why"}
