"""Methods: the definition of every measure, test and label that a study uses, so that each figure can be recomputed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.measure_facts import facts as measure_facts
from karat.report.document import Block, Detail, Heading, Listing, ListItem, Text, facts
from karat.report.labels import LABELS

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.report.lookups import StudyView

STATISTICS = {
    "mean": "Over the n questions with a value. Undefined and failed questions are counted beside it, never as zero.",
    "standard deviation": "`sqrt(sum (x - mean)² / (n - 1))`; none for one question.",
    "95% interval": "Of a mean: Wilson's where all values stand at the ends of the measure's range, at least 80% stand "
    "at one end, or all are equal (with the sum of the values, rescaled to 0 to 1, as successes); else the "
    "analytic form (ABC) of the BCa bootstrap, as wide as Student's.",
    "* and ~": "* is the best mean; ~ has an interval that overlaps that of the best. Overlap is a hint, not a test.",
}
CHOICE = {
    "pairs": "Differences b - a question by question: `d = mean(b - a)`. Its interval holds every value "
    "that the permutation test of the same signs does not reject at .05, so it holds 0 exactly where p is above .05; "
    "of fewer than 6 differing questions there is none. Wins, ties and losses count questions.",
    "p": "Paired permutation test: if the two were the same, each difference could as well have had the other sign. p "
    "is the share of sign flips with `|mean| ≥ |d|`, two-sided.",
    "p adjusted": "Holm: of m p values in ascending order, the i-th becomes `max over j ≤ i of "
    "min(1, (m - j + 1) p_j)`.",
    "not significantly different": "p adjusted above .05 against the best. There it is Holm's p or, if higher, the "
    "chance that the best of equal configurations leads by as much: it was picked for its lead. It does not say that "
    "two are the same.",
    "cross-validated": "Nested: questions are dealt into folds, several times; for each fold the configuration with "
    "the best mean on the other folds is scored on it. Selection bias (optimism) is the best mean minus that.",
    "oracle": "`mean over questions of the best configuration's value for it`: what no choice can pass.",
}
FUSIONS = {
    "weighted": "`alpha × normalised dense score + (1 - alpha) × normalised sparse score`; "
    "of the question's list, max: `s / greatest` (where scores fall below 0, as min-max), min-max: "
    "`(s - least) / (greatest - least)`, z-score: `(s - mean) / deviation`. An engine of "
    "weight 0 is not consulted.",
    "rrf": "`sum over engines of 1 / (rrf_k + rank)`.",
    "combsum": "`sum of the min-max-normalised scores`.",
    "combmnz": "`engines that found the hit × sum of the min-max-normalised scores`.",
    "isr": "`engines that found the hit × sum of 1 / rank²`.",
}


PAGE = Detail.PAGE


def blocks(view: StudyView) -> Iterator[Block]:
    """Measures, matching, fusion, statistics and labels, of those that are used."""
    study, matching = view.study, view.evaluation.matching
    yield Heading("Methods", anchor="methods", menu="Methods", detail=PAGE)
    yield Heading("Measures", depth=3, detail=PAGE)
    yield Listing([_measure(family) for family in view.families], detail=PAGE)
    if matching is not None:
        why = matching.why[:1].upper() + matching.why[1:].rstrip(".")
        yield Heading("Matching", depth=3, detail=PAGE)
        yield facts([(matching.matcher, f"A unit is a {matching.unit}. {why}.")], detail=PAGE)
    used = [f for f in FUSIONS if any(c.settings.get("fusion") == f for c in study.configurations)]
    yield Heading("Fusion", depth=3, detail=PAGE)
    yield facts(((name, FUSIONS[name]) for name in used), detail=PAGE)
    yield Heading("Statistics", depth=3, detail=PAGE)
    yield facts({**STATISTICS, **(CHOICE if study.choice or study.pairs else {})}.items(), detail=PAGE)
    if study.failures or study.failure_counts:
        yield Heading("Failures", depth=3, detail=PAGE)
        yield Text("A failed question has the label of the unit that was lost earliest, in this order.", detail=PAGE)
        yield facts(((label.title, f"{label.meaning} {label.next}") for label in LABELS.values()), detail=PAGE)


def _measure(family: list[Measure]) -> ListItem:
    """A measure at all its cuts: its definition, range and direction."""
    known = measure_facts(family[0])
    better = {"higher": "higher is better", "lower": "lower is better", "neither": "neither end is better"}
    notes = [part for part in known["notes"].split("\n\n") if part and not part.lstrip().startswith(">>>")]
    words = f"{known['what']} Range {known['range']}, {better[known['better']]}."
    return ListItem(", ".join(m.name for m in family), words, tuple(notes))
