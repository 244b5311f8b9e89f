"""What a draft has to pass before it is a question of a test set: one filter a file, the same for every mode."""

from karat.testset.filters._filter import FILTERS, Filter, Verdict, judge_draft, judge_drafts
from karat.testset.filters._surroundings import Surroundings

__all__ = ["FILTERS", "Filter", "Surroundings", "Verdict", "judge_draft", "judge_drafts"]
