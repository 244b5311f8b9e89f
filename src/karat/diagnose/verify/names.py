"""Names: what a heading stands for (a measure, a statistic of it, a count, a label), and what a label says."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache

from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.measure import Measure
from karat.diagnose.contradictions import UNKNOWN_K
from karat.io.fields import ID, RESULTS, TABLE, TESTSET

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

CONTAINERS = frozenset({
    "metrics", "results", "summary", "summaries", "overall", "systems", "methods", "scores", "retrieval", "aggregate",
    "aggregated", "all", "statistics", "evaluation", "averages", "metadata", "config", "by_method",
    "by_system", "total",
})  # fmt: skip
IDS = (*ID, "question", "query", "user_input")
CUTS = (*RESULTS["k"], "topk")
SETTINGS = frozenset({
    "alpha", *CUTS, "depth", "rrf_k", "seed", "chunk_size", "overlap", "temperature", "beta",
    "rank", "id", "index", "row", "version", "dim", "dimension", "df", "ddof", "levels", "year",
})  # fmt: skip
TOTALS = frozenset({
    "total", "totals", "overall", "all", "average", "avg", "mean", "all_systems", "macro_avg", "micro_avg",
    "weighted_avg", "macro_average", "micro_average", "weighted_average", "grand_total",
})  # fmt: skip
SLICES = frozenset({
    *TESTSET["kind"], "slice", "difficulty", "topic", "domain", "language", "subset", "split", "intent", "hops",
})  # fmt: skip
SYSTEMS = frozenset({
    *TABLE["system"], "config", "configuration", "model", "name", "retriever", "approach", "pipeline",
})  # fmt: skip
SLICED = "tag."  # before the name of a label that parts questions, where the shape of the table says so
BLANK = ("", "-", "–", "—", "n/a", "N/A", "nan", "NaN", "None", "null")
PERCENT = ("(in %)", "(%)", "[%]", "%")  # at the end of a heading
Labels = tuple[tuple[str, str], ...]  # (column, or empty where the shape names none; value)

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
    statistic = (after if name else None) or before
    if statistic is None or (statistic is before and measure_of(text, k) is not None) or spelled(text) in WORDS:
        return text, "mean"
    return name or rest, STATISTICS[statistic[1].lower()]


def is_measured(text: str, k: int | None = None) -> bool:
    """Whether a heading names a registered measure or a statistic of something."""
    name, _ = split(text, k)
    return measure_of(name, k or 1) is not None or name != text.strip()


def keys(text: str, k: int | None = None) -> frozenset[str]:
    """What two headings of the same thing have in common."""
    name, _ = split(text, k)
    measure = measure_of(name, k)
    return frozenset({letters(name)} | ({measure.name} if measure is not None else set()))


def letters(text: str) -> str:
    """Letters and digits in lower case: what labels of the same thing have in common."""
    return re.sub(r"[\W_]+", "", text.lower())


def is_slice(column: str) -> bool:
    """Whether a label parts the questions, so that a row of it is not about all of them."""
    return column.startswith(SLICED) or spelled(column) in SLICES


def is_name(column: str) -> bool:
    """Whether a column names systems, so that its values need no word before them."""
    return spelled(column) in SYSTEMS


def is_total(label: tuple[str, str]) -> bool:
    """Whether a label says that its row is over all others, as the last of a table may be."""
    return spelled(label[1].strip("*_` ")) in TOTALS and spelled(label[0]) not in SETTINGS


def in_words(labels: Labels) -> str:
    """What the labels of a row say."""
    named = (v if not name or is_name(name) else f"{name.removeprefix(SLICED)} {v}" for name, v in labels)
    return ", ".join(named)


def split_heading(text: str) -> tuple[str, str]:
    """The measure and the statistic that a heading names, in whatever unit.

    >>> split_heading("Recall@5 (%)"), split_heading("Recall@5 25%")
    (('Recall@5', 'mean'), ('Recall@5', '25%'))
    """
    text = text.strip()
    mark = next((mark for mark in PERCENT if text.endswith(mark)), "")
    whole, bare = split(text), split(text.removesuffix(mark))
    return bare if mark and whole == (text, "mean") and measure_of(bare[0], 1) is not None else whole


def is_share(column: str) -> bool:
    """Whether a heading names a measure between 0 and 1, or a statistic of one."""
    measure = measure_of(split_heading(column)[0], 1)
    return measure is not None and measure.bounds == (0.0, 1.0)
