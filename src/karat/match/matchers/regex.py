"""regex:PATTERN: what the pattern finds in both ids is the same text (its first group, if it has one)."""

from __future__ import annotations

import re

from karat.core.errors import UsageError
from karat.match._matcher import Matcher, MatchInputs, Rule, plain_id

LONGEST = 1000  # characters of a pattern
_INEXACT = re.compile(r"(?<!\\)\{(?=[^{}]*[a-z<])")  # braces that are plain characters in `re`, and not in `regex`
SECONDS = 1.0  # that a pattern may take for one id: those that do not backtrack without end take microseconds


def _prepare(inputs: MatchInputs) -> Rule:
    import regex

    text = inputs.options.pattern
    if not text:
        raise UsageError("--match regex needs its pattern: --match 'regex:^(\\w+)-'.")
    if len(text) > LONGEST:
        raise UsageError(f"--match regex: a pattern of {len(text):,} characters is too long: at most {LONGEST:,}.")
    try:
        re.compile(text)
        pattern = regex.compile(_INEXACT.sub(r"\\{", text))
    except (re.error, regex.error, RecursionError) as error:
        raise UsageError(f"--match regex: the pattern {text!r} is not valid: {error}.") from None

    def key(identifier: str | None) -> str | None:
        try:
            found = pattern.search(identifier or "", timeout=SECONDS)
        except TimeoutError:
            raise UsageError(
                f"--match regex: the pattern {text!r} took more than {SECONDS:g} s for the id "
                f"{(identifier or '')[:60]!r}. Rewrite it without repeats inside repeats, such as (a+)+."
            ) from None
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
