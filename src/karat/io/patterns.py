"""Patterns that users write: regular expressions that cannot search without end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from karat.core.errors import UsageError

if TYPE_CHECKING:
    import regex

LONGEST = 1000  # characters of a pattern
SECONDS = 1.0  # that a pattern may take for one text: those that do not backtrack without end take microseconds
_INEXACT = re.compile(r"(?<!\\)\{(?=[^{}]*[a-z<])")  # braces that are plain characters in `re`, and not in `regex`


class UserPattern:
    """A pattern that an option gives; `option` is what errors call it, and `of` what it searches."""

    def __init__(self, text: str, option: str, of: str = "the text") -> None:
        self.text, self.option, self.of = text, option, of
        self._pattern = _compiled(text, option)

    @property
    def has_groups(self) -> bool:
        """Whether it marks a part of what it finds."""
        return bool(self._pattern.groups)

    def search(self, text: str) -> regex.Match[str] | None:
        """The first that it finds in a text."""
        try:
            return self._pattern.search(text, timeout=SECONDS)
        except TimeoutError:
            raise self._too_slow(text) from None

    def replace(self, text: str, mark: str) -> tuple[str, int]:
        """A text with a mark for all that it finds, and how much that was."""
        try:
            replaced, count = self._pattern.subn(lambda match: mark, text, timeout=SECONDS)
        except TimeoutError:
            raise self._too_slow(text) from None
        return replaced, count

    def _too_slow(self, text: str) -> UsageError:
        return UsageError(
            f"{self.option}: the pattern {self.text!r} took more than {SECONDS:g} s for {self.of} {text[:60]!r}. "
            "Rewrite it without repeats inside repeats, such as (a+)+."
        )


def _compiled(text: str, option: str) -> regex.Pattern[str]:
    import regex

    if len(text) > LONGEST:
        raise UsageError(f"{option}: a pattern of {len(text):,} characters is too long: at most {LONGEST:,}.")
    try:
        re.compile(text)
        return regex.compile(_INEXACT.sub(r"\\{", text))
    except (re.error, regex.error, RecursionError) as error:
        raise UsageError(f"{option}: the pattern {text!r} is not valid: {error}.") from None
