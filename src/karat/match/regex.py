"""regex:PATTERN: what the pattern finds in both ids is the same text (its first group, if it has one)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from karat.core.errors import UsageError
from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import Context, Keys, Matcher, plain_id


def _prepare(context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
    if not context.options.pattern:
        raise UsageError("--match regex needs its pattern: --match 'regex:^(\\w+)-'.")
    try:
        pattern = re.compile(context.options.pattern)
    except re.error as error:
        raise UsageError(f"--match regex: the pattern {context.options.pattern!r} is not valid: {error}.") from None

    def key(identifier: str | None) -> str | None:
        found = pattern.search(identifier or "")
        return (found[1] if pattern.groups else found[0]) or None if found else None

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
