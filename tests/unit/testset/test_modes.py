"""Kinds of questions of other tools, and the mode of evaluation that they belong to."""

from karat.testset.check._context import SEMANTIC
from karat.testset.modes import mode_of


def test_paraphrase_or_scenario_is_semantic():
    assert mode_of("paraphrase_or_scenario") == mode_of(" Scenario ") == "semantic"
    assert (mode_of("literal"), mode_of("factual"), mode_of(None)) == ("literal", None, None)
    assert "paraphrase_or_scenario" in SEMANTIC
    assert "literal" not in SEMANTIC
