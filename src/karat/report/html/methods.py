"""Methods: the definition of every measure, test and label that the page uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import facts
from karat.report._labels import LABELS
from karat.report.html._markup import bullets, prose, section, terms, text

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.report.html._shown import Shown

STATISTICS = {
    "mean": "Over the n questions with a value. Undefined and failed questions are counted beside it, never as zero.",
    "standard deviation": "<code>sqrt(sum (x - mean)² / (n - 1))</code>; none for one question.",
    "95% interval": "Of a mean: Wilson's where all values stand at the ends of the measure's range, at least 80% stand "
    "at one end, or all are equal (with the sum of the values, rescaled to 0 to 1, as successes); else the "
    "analytic form (ABC) of the BCa bootstrap, as wide as Student's.",
    "* and ~": "* is the best mean; ~ has an interval that overlaps that of the best. Overlap is a hint, not a test.",
}
CHOICE = {
    "pairs": "Differences b - a question by question: <code>d = mean(b - a)</code>. Its interval holds every value "
    "that the permutation test of the same signs does not reject at .05, so it holds 0 exactly where p is above .05; "
    "of fewer than 6 differing questions there is none. Wins, ties and losses count questions.",
    "p": "Paired permutation test: if the two were the same, each difference could as well have had the other sign. p "
    "is the share of sign flips with <code>|mean| &ge; |d|</code>, two-sided.",
    "p adjusted": "Holm: of m p values in ascending order, the i-th becomes <code>max over j &le; i of "
    "min(1, (m - j + 1) p_j)</code>.",
    "not significantly different": "p adjusted above .05 against the best. There it is Holm's p or, if higher, the "
    "chance that the best of equal configurations leads by as much: it was picked for its lead. It does not say that "
    "two are the same.",
    "cross-validated": "Nested: questions are dealt into folds, several times; for each fold the configuration with "
    "the best mean on the other folds is scored on it. Selection bias (optimism) is the best mean minus that.",
    "oracle": "<code>mean over questions of the best configuration's value for it</code>: what no choice can pass.",
}
FUSIONS = {
    "weighted": "<code>alpha &times; normalised dense score + (1 - alpha) &times; normalised sparse score</code>; "
    "of the question's list, max: <code>s / greatest</code> (where scores fall below 0, as min-max), min-max: "
    "<code>(s - least) / (greatest - least)</code>, z-score: <code>(s - mean) / deviation</code>. A leg of "
    "weight 0 is not consulted.",
    "rrf": "<code>sum over legs of 1 / (rrf_k + rank)</code>.",
    "combsum": "<code>sum of the min-max-normalised scores</code>.",
    "combmnz": "<code>legs that found the hit &times; sum of the min-max-normalised scores</code>.",
    "isr": "<code>legs that found the hit &times; sum of 1 / rank²</code>.",
}


def make(shown: Shown) -> str:
    """Every formula used, so that each figure can be computed again."""
    body = "<h3>Measures</h3>" + terms(_measure(family) for family in shown.view.families)
    matching = shown.evaluation.matching
    if matching is not None:
        body += "<h3>Matching</h3>" + terms(
            [(text(matching.matcher), f"A unit is a {text(matching.unit)}. {_why(matching.why)}")]
        )
    used = [f for f in FUSIONS if any(c.settings.get("fusion") == f for c in shown.study.configurations)]
    if used:
        body += "<h3>Fusion</h3>" + terms((name, FUSIONS[name]) for name in used)
    body += "<h3>Statistics</h3>" + terms(
        {**STATISTICS, **(CHOICE if shown.study.choice or shown.study.pairs else {})}.items()
    )
    if shown.study.failures or shown.study.failure_counts:
        order = "A failed question has the label of the unit that was lost earliest, in this order."
        labels = ((f"{text(label.title)}", f"{text(label.meaning)} {text(label.next)}") for label in LABELS.values())
        body += f"<h3>Failures</h3><p>{order}</p>" + terms(labels)
    return section("methods", "Methods", body)


def _why(why: str) -> str:
    return text(why[:1].upper() + why[1:].rstrip(".") + ".")


def _measure(family: list[Measure]) -> tuple[str, str]:
    """A measure at all its cuts: its definition, range and direction."""
    told = facts(family[0])
    better = {"higher": "higher is better", "lower": "lower is better", "neither": "neither end is better"}
    notes = [prose(part) for part in told["notes"].split("\n\n") if part and not part.lstrip().startswith(">>>")]
    said = f'{prose(told["what"])} <span class="muted">Range {text(told["range"])}, {better[told["better"]]}.</span>'
    return ", ".join(text(m.name) for m in family), said + (bullets(notes) if notes else "")
