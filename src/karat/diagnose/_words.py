"""How guards and checks put counts and lists into words."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.words import plural
from karat.results.evaluation import Note

SHOWN = 4


def warn(guard: str, text: str) -> Note:
    """A note of a guard that fired."""
    return Note("warning", text, guard)


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def counted(count: int, noun: str, one: str, many: str) -> str:
    """A count with the verb that suits it.

    >>> counted(1, "quote", "is", "are"), counted(2, "quote", "is", "are")
    ('1 quote is', '2 quotes are')
    """
    return f"{plural(count, noun)} {one if count == 1 else many}"


def percent(share: float) -> str:
    """A share in percent that does not round to all or nothing.

    >>> percent(0.304), percent(0.004), percent(0.9999), percent(1)
    ('30%', '0.4%', '>99.9%', '100%')
    """
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share > 0.9995 else f"{100 * share:.1f}%"


def last_part(path: str) -> str:
    """The name of a file or web page without its folders.

    >>> last_part("a/b.pdf"), last_part("https://example.org/x/"), last_part("c")
    ('b.pdf', 'x', 'c')
    """
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def same_file(one: str, other: str) -> bool:
    """Whether two paths can mean one file: the shorter is how the longer ends.

    >>> same_file("report.pdf", "in/2020/report.pdf"), same_file("2021/report.pdf", "in/2020/report.pdf")
    (True, False)
    """
    ours, theirs = ([p for p in path.replace("\\", "/").split("/") if p not in ("", ".")] for path in (one, other))
    size = min(len(ours), len(theirs))
    return size > 0 and ours[-size:] == theirs[-size:]
