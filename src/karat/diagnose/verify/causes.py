"""Causes: what makes tables wrong, by name, and the sentence that says it."""

from __future__ import annotations

CAUSES = {
    "hit rate": "Recall is a hit rate: 1 for any gold among the hits, not the share of it",
    "repeats counted": "repeats are counted: a unit retrieved twice is credited twice",
    "gold as text": "a list of gold was compared as one text",
    "n shrank": "rows were left out of the mean",
    "missing scored 0": "rows without a value were scored 0",
    "dense leg reversed": "the hybrid ranks its dense leg in reverse: a distance was fused as a similarity",
    "irrelevant counted": "documents judged not relevant (grade 0) were counted as relevant",
    "default of .5": "a judge that gave no score was scored .5",
    "ddof": "the standard deviation divides by n, not by n - 1",
    "standard error": "the figure after ± is the standard error, or half of a 95% interval",
    "percent": "in percent",
    "cut off": "cut off after the last digit, not rounded",
    "rounding": "off by one in the last digit: rounded more than once",
    "repeated rows": "questions that stand twice are counted twice",
    "F1 of means": "F1 was computed from mean precision and mean recall, not averaged over questions",
    "other statistic": "another statistic of the same values",
    "other column": "the figure belongs to another column",
    "other system": "the figure belongs to another system",
    "failures scored 0": "rows that failed were scored 0",
    "not 0/1 over n": "no mean of so many values of 0 and 1",
    "not a share of k over n": "not a multiple of 1/k",
    "spread": "the standard deviation contradicts the mean",
    "range": "outside its range",
    "order": "two figures contradict each other",
    "total": "a mean over all questions lies between the means of its slices",
    "MAP is not MRR": "with one gold a question, MAP is MRR",
    "identical columns": "two measures are the same in every row",
    "identical rows": "two systems are the same in every measure",
    "unequal n": "systems are compared over different numbers of questions",
    "URL spelling": "addresses that differ in spelling alone were counted as different",
    "substring": "ids were compared as parts of one another, so that 34 is found in 340",
    "ideal of the retrieved": "nDCG's ideal is made of the retrieved hits alone, so missing gold costs nothing",
    "not 1/rank": "a reciprocal rank that is neither 0 nor 1/rank",
    "not a share of the gold": "recall × number of gold items is not whole",
    "first hit": "the reciprocal rank and the first hit contradict each other",
    "answer F1": "the answers and references give another F1",
    "answer text": "the answers and references give another score",
    "other tokens": "no way of splitting words that karat knows gives these scores",
    "no hits": "it returned no hits",
    "no gold": "no question has gold",
    "identical lists": "two systems return the same lists for every question",
    "off by one page": "pages are counted from 0 on one side and from 1 on the other",
}
"""Every cause that can be named, and how it reads."""


def because(cause: str, more: str = "") -> str:
    """A cause in words, with what is particular to the case."""
    mark = "" if not more else " " if more.startswith("in ") else "; " if ":" in CAUSES[cause] else ": "
    return f"{CAUSES[cause]}{mark}{more}."
