"""Expand: what a list adds to a query: the words that belong to a term in it, and phrasings that begin otherwise.

The list is a text file. `term => addition, addition` appends the additions to a query that holds the term as whole
words, case aside. Any other line is a prefix, put before the query as a further phrasing. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from karat.core.errors import InputError
from karat.core.text import tokenise
from karat.retrieve.rewrite import Change, Rewritten, Texts, read_lines, required_file

RULE = "=>"
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MEANT_AS_RULE = re.compile(r"->|→|⇒|=|\t")


@dataclass(frozen=True)
class Expand:
    """Additions by term, and prefixes, in the order of the list."""

    additions: Mapping[str, tuple[str, ...]]
    prefixes: tuple[str, ...] = ()
    name: ClassVar[str] = "expand"

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        return cls.load(required_file(target, cls.name, "a list of terms and prefixes"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a list file; a line that is neither rule, prefix nor comment is refused by its number."""
        additions: dict[str, tuple[str, ...]] = {}
        prefixes: list[str] = []
        for row, raw in read_lines(path):
            line = _COMMENT.sub("", raw.strip()).strip()
            if rule := _rule(line):
                term, added = rule
                additions[term] = tuple(dict.fromkeys((*additions.get(term, ()), *added)))
            elif line and (_MEANT_AS_RULE.search(line) or not tokenise(line, "words")):
                remedy = f"Write term {RULE} addition, addition for a rule; a prefix is plain words."
                raise InputError(f"{line!r} is neither a rule nor a prefix", place=str(path), row=row, remedy=remedy)
            elif line:
                prefixes.append(line)
        if not additions and not prefixes:
            remedy = "Write rules (term => addition, addition) or prefixes (definition of), one a line."
            raise InputError("holds no rule and no prefix", place=str(path), remedy=remedy)
        return cls(additions, tuple(dict.fromkeys(prefixes)))

    def rewrite(self, query: str) -> Rewritten:
        changes: list[Change] = []
        words = tokenise(query, "words")
        expanded = query
        for term, additions in self.additions.items():
            if not _holds(words, tokenise(term, "words")):
                continue
            for addition in additions:
                if not _holds(tokenise(expanded, "words"), tokenise(addition, "words")):
                    expanded = f"{expanded.rstrip()} {addition}"
                    changes.append(Change(self.name, term, addition))
        phrasings = [f"{prefix} {expanded.lstrip()}" for prefix in self.prefixes]
        changes += [Change(self.name, query, phrasing) for phrasing in phrasings]
        return Rewritten(query, tuple(dict.fromkeys((expanded, *phrasings))), tuple(changes))


rewriter = Expand


def _rule(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Term and additions; None where the line is no rule with words on both sides."""
    term, _, right = line.partition(RULE)
    added = tuple(part.strip() for part in right.split(","))
    is_rule = RULE not in right and all(tokenise(part, "words") for part in (term, *added))
    return (term.strip(), added) if is_rule else None


def _holds(words: Sequence[str], sought: Sequence[str]) -> bool:
    """Whether the sought words stand in these, one after the other."""
    size = len(sought)
    return any(words[i : i + size] == sought for i in range(len(words) - size + 1))
