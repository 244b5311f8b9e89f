"""Names: what the heading of a column stands for: a measure, a statistic of it, a count, or a label."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache

from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.measure import Measure
from karat.diagnose._tables import UNKNOWN_K

STATISTICS = {
    "mean": "mean", "avg": "mean", "average": "mean", "overall": "mean",
    "std": "std", "sd": "std", "stdev": "std", "stddev": "std", "std_dev": "std", "std dev": "std",
    "var": "var", "variance": "var", "sem": "sem", "se": "sem", "std_error": "sem",
    "n": "n", "count": "n", "size": "n", "sum": "sum",
    "min": "min", "minimum": "min", "max": "max", "maximum": "max",
    "median": "50%", "p50": "50%", "q50": "50%", "50%": "50%", "25%": "25%", "p25": "25%", "q25": "25%",
    "75%": "75%", "p75": "75%", "q75": "75%", "p95": "95%", "95%": "95%",
    "low": "low", "high": "high", "lower": "low", "upper": "high", "ci_low": "low", "ci_high": "high",
}  # fmt: skip
COUNTS = frozenset({
    "n", "count", "size", "n_questions", "num_questions", "n_queries", "num_queries", "questions", "queries",
    "total", "sample_count", "n_rows", "num_rows", "rows", "n_samples", "num_samples", "samples",
    "total_questions", "total_queries", "question_count", "query_count",
})  # fmt: skip
SURE_COUNTS = frozenset({
    "n", "count", "n_questions", "num_questions", "questions", "total_questions", "question_count",
})  # fmt: skip
"""Counts that are of questions; others, as n_queries, can be settings."""
TESTS = {
    "f": "F", "f_stat": "F", "f_statistic": "F", "f_value": "F", "t": "t", "t_stat": "t", "t_statistic": "t",
    "t_value": "t", "p": "p", "p_value": "p", "pvalue": "p", "pr(>f)": "p",
}  # fmt: skip
BARE = {"f1_score": "F1@k", "precision": "Precision@k", "recall": "Recall@k", "ndcg": "nDCG@k", "hit_rate": "Hit@k"}
"""Names that mean a measure at the file's cut-off where there is one."""
WORDS = {
    "mean_reciprocal_rank": "MRR", "mrr_score": "MRR", "hit_rate": "Hit@k", "hits": "Hit@k", "accuracy": "EM",
    "exact_match": "EM", "mean_average_precision": "MAP", "success": "Hit@k",
}  # fmt: skip

_STAT = "|".join(sorted(map(re.escape, STATISTICS), key=len, reverse=True))
_PARTING = r"\s_./:|-"  # what parts a name from its statistic
_BEFORE = re.compile(rf"({_STAT})[{_PARTING}]++(?=.)", re.IGNORECASE)
_AFTER = re.compile(rf"(?<=[({_PARTING}])({_STAT})\)?$", re.IGNORECASE)
_PARTED = re.compile(rf"(?<![({_PARTING}])[({_PARTING}]++$")


def spelled(text: str) -> str:
    """A heading in lower case with single underscores for spaces, hyphens and dots."""
    return re.sub(r"[\s_.-]+", "_", text.strip().lower()).strip("_")


@lru_cache(65_536)
def measure_of(text: str, k: int | None = None) -> Measure | None:
    """The registered measure that a heading names."""
    plain = spelled(text)
    base, _, cut = plain.partition("@")
    worded = WORDS.get(plain) or (WORDS.get(base, "").replace("@k", f"@{cut}") if cut else None)
    bare = BARE.get(plain) if k not in (None, UNKNOWN_K) else None
    for name in (bare, worded, text.strip(), plain):
        if name is not None:
            with suppress(UsageError):
                return parse(name, k=k)
    return None


@lru_cache(65_536)
def split(text: str, k: int | None = None) -> tuple[str, str]:
    """A heading as the name of what was measured and the statistic of it.

    >>> split("avg_mrr"), split("Recall@5 std"), split("MRR"), split("ndcg_at_k (mean)")
    (('mrr', 'mean'), ('Recall@5', 'std'), ('MRR', 'mean'), ('ndcg_at_k', 'mean'))
    """
    text = text.strip()
    before = _BEFORE.match(text)
    rest = text[before.end() :] if before else text
    after = _AFTER.search(rest)
    name = _PARTED.sub("", rest[: after.start()]) if after else ""
    told = (after if name else None) or before
    if told is None or (told is before and measure_of(text, k) is not None) or spelled(text) in WORDS:
        return text, "mean"
    return name or rest, STATISTICS[told[1].lower()]


def is_measured(text: str, k: int | None = None) -> bool:
    """Whether a heading names a registered measure or a statistic of something."""
    name, _ = split(text, k)
    return measure_of(name, k or 1) is not None or name != text.strip()


def keys(text: str, k: int | None = None) -> frozenset[str]:
    """What two headings of the same thing have in common."""
    name, _ = split(text, k)
    found = {re.sub(r"[\W_]+", "", name.lower())}
    measure = measure_of(name, k)
    if measure is not None:
        found.add(measure.name)
    return frozenset(found)
