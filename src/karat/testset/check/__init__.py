"""Check: the faults of a test set, one a file, as `karat testset check` and the filters of generation look for them."""

from karat.testset.check._check import CHECKS, FILTERS, Check, Filter, run
from karat.testset.check._context import CheckContext
from karat.testset.check._drafts import DraftVerdict, judge_draft, judge_drafts
from karat.testset.check._surroundings import Surroundings

__all__ = [
    "CHECKS",
    "FILTERS",
    "Check",
    "CheckContext",
    "DraftVerdict",
    "Filter",
    "Surroundings",
    "judge_draft",
    "judge_drafts",
    "run",
]
