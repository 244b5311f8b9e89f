"""One kind of rule a file: those of a table alone (TABLE_RULES), and those of rows (ROW_RULES)."""

from __future__ import annotations

from karat.diagnose.verify.rules import (
    granularity,
    identical,
    identities,
    judge_defaults,
    order,
    ranges,
    ranked_lists,
    recomputed,
    spread,
    totals,
)

TABLE_RULES = (
    granularity.check, spread.check, order.check, ranges.check, order.check_cuts, totals.check, identical.check,
)  # fmt: skip
"""Of a SummaryTable: figures that are impossible, or worth a look."""
ROW_RULES = (
    recomputed.check, identities.check, ranked_lists.check, judge_defaults.check, identical.check_rows,
)  # fmt: skip
"""Of the rows of single questions and what their lists give: figures of whole columns."""
