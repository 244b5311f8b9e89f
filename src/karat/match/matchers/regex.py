"""regex:PATTERN: what the pattern finds in both ids is the same text (its first group, if it has one)."""

from __future__ import annotations

from karat.core.errors import UsageError
from karat.io.patterns import UserPattern
from karat.match._matcher import Matcher, MatchInputs, Rule, plain_id


def _prepare(inputs: MatchInputs) -> Rule:
    text = inputs.options.pattern
    if not text:
        raise UsageError("--match regex needs its pattern: --match 'regex:^(\\w+)-'.")
    pattern = UserPattern(text, "--match regex", "the id")

    def key(identifier: str | None) -> str | None:
        match = pattern.search(identifier or "")
        return (match[1] if pattern.has_groups else match[0]) or None if match else None

    return (
        lambda gold: key(plain_id(gold) or gold.label),
        lambda run: [key(doc) for doc in run.doc_list],
    )


matcher = Matcher(
    "regex",
    unit="what the pattern finds",
    summary="a pattern finds the same text in both ids; its first group, if it has one",
    strictness=90,
    prepare=_prepare,
)
