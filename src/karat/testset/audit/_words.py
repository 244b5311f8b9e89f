"""How the audit puts counts and lists into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import excerpt, plural
from karat.results.checkup import Finding, Severity

if TYPE_CHECKING:
    from karat.core.types import Question

SHOWN = 5


def percent(share: float) -> str:
    """A share in percent that rounds to 0 or 100 only when it is.

    >>> percent(0.304), percent(0.0004), percent(1)
    ('30%', '<1%', '100%')
    """
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    return "<1%" if share < 0.5 else ">99%"


def about(
    check: str,
    severity: Severity,
    found: Sequence[tuple[Question, str]],
    total: int,
    one: str,
    several: str,
    text: str,
    remedy: str,
) -> Finding:
    """A finding about single questions, each with what was seen in it. `one` and `several` follow the count."""
    title = f"{plural(len(found), 'question')} {one if len(found) == 1 else several}"
    return Finding(
        check,
        severity,
        title,
        f"{percent(len(found) / total)} of the {total:,} looked at. {text}" if total else text,
        {"questions": len(found), "looked_at": total, "share": len(found) / total if total else None},
        tuple(question.id for question, _ in found),
        tuple(f'{q.id}: "{excerpt(q.text, 90)}"' + (f" ({seen})" if seen else "") for q, seen in found[:SHOWN]),
        remedy,
    )
