"""Check: the faults of a test set, one a file, as `karat check`, `karat audit` and the filters of generation do."""

from karat.testset.check._check import AUDIT_CHECKS, CHECKS, FILTERS, Check, Filter, run
from karat.testset.check._context import CheckContext
from karat.testset.check._drafts import DraftVerdict, judge_draft, judge_drafts
from karat.testset.check._surroundings import Surroundings

__all__ = [
    "AUDIT_CHECKS",
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
