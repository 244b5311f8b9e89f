"""Expand: what a list adds to a query: the words that belong to a term in it, and phrasings that begin otherwise.

The list is a text file. `term => addition, addition` appends the additions to a query that holds the term as whole
words, case aside. Any other line is a prefix, put before the query as a further phrasing. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from karat.core.errors import InputError
from karat.core.text import tokenise
from karat.retrieve.rewrite import Change, Rewritten, Texts, read_text, wanted

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
        return cls.load(wanted(target, cls.name, "a list of terms and prefixes"))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a list file; a line that is neither rule, prefix nor comment is refused by its number."""
        additions: dict[str, tuple[str, ...]] = {}
        prefixes: list[str] = []
        for row, raw in enumerate(read_text(path).split("\n"), 1):
            line = _COMMENT.sub("", raw.strip()).strip()
            if RULE in line:
                term, added = _rule(line, str(path), row)
                additions[term] = tuple(dict.fromkeys((*additions.get(term, ()), *added)))
            elif line:
                prefixes.append(_prefix(line, str(path), row))
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


def _rule(line: str, place: str, row: int) -> tuple[str, tuple[str, ...]]:
    term, _, right = line.partition(RULE)
    term, added = term.strip(), tuple(part.strip() for part in right.split(","))
    remedy = "Write term => addition, addition."
    if RULE in right:
        raise InputError(f"more than one {RULE} in {line!r}", place=place, row=row, remedy=remedy)
    _check_words([term], f"no term before {RULE}", place, row, remedy)
    _check_words(added, f"an addition of {term!r} is empty", place, row, remedy)
    return term, added


def _prefix(line: str, place: str, row: int) -> str:
    if _MEANT_AS_RULE.search(line):
        remedy = f"Write term {RULE} addition for a rule; a prefix is plain words."
        raise InputError(f"{line!r} is neither a rule nor a prefix", place=place, row=row, remedy=remedy)
    _check_words([line], f"the prefix {line!r} holds no word", place, row, "Write plain words, or delete the line.")
    return line


def _check_words(parts: Iterable[str], problem: str, place: str, row: int, remedy: str) -> None:
    if not all(tokenise(part, "words") for part in parts):
        raise InputError(problem, place=place, row=row, remedy=remedy)


def _holds(words: Sequence[str], sought: Sequence[str]) -> bool:
    """Whether the sought words stand in these, one after the other."""
    size = len(sought)
    return any(words[i : i + size] == sought for i in range(len(words) - size + 1))
