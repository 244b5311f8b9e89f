"""Signs: by which fields the record formats tell a test set from results."""

from __future__ import annotations

from karat.files._aliases import GOLD_FIELDS, RESULTS, RETRIEVED_FIELDS, TABLE, TESTSET, Names
from karat.files._format import Kind
from karat.files._look import TABLES, Look

RECORD_SHAPES = TABLES | {"jsonl", "json list", "json object", "records"}
_OPEN = frozenset({"context", "contexts"})  # texts that test sets carry as well


def has_records(look: Look) -> bool:
    """Whether the input is made of rows with named fields."""
    return look.shape in RECORD_SHAPES and bool(look.fields)


def lists_hits(look: Look) -> bool:
    """Whether a field holds what a system retrieved."""
    names = Names(RESULTS, look.fields)
    return any(alias not in _OPEN for field in RETRIEVED_FIELDS for alias in names.of[field])


def _is_hit_table(look: Look) -> bool:
    """Whether every row is one hit rather than one question."""
    names = Names(TABLE, look.fields)
    return names.has("doc") and names.has("score", "rank")


def names_gold(look: Look) -> bool:
    """Whether a field holds gold."""
    return Names(TESTSET, look.fields).has(*GOLD_FIELDS)


def is_testset(look: Look) -> bool:
    """Whether the records can be questions: not what a system returned, without gold or a reference beside it."""
    if not has_records(look):
        return False
    names = Names(TESTSET, look.fields)
    referenced = any(alias != "answer" for alias in names.of["answers"])
    if lists_hits(look) and not (names_gold(look) or referenced):
        return False
    if ("response" in look.fields or _is_hit_table(look)) and not (names_gold(look) or referenced):
        return False
    return names.has("question") or (names.has("id") and (names_gold(look) or names.has("answers")))


def is_results(look: Look) -> bool:
    """Whether the records can be results: not a test set whose `answer` is the reference."""
    if not has_records(look):
        return False
    names = Names(RESULTS, look.fields)
    if not names.has("id", "question"):
        return False
    said = any(alias != "answer" for alias in names.of["answer"])
    if names_gold(look) and not (lists_hits(look) or said):
        return False
    return lists_hits(look) or names.has("answer", "retrieved_text", "status", "error")


def fits(look: Look, kind: Kind) -> bool:
    """Whether the records can be of this kind."""
    return is_testset(look) if kind == "testset" else is_results(look)
