"""A question made by grammar, before it is a draft."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asking:
    """What is asked, what answers it, by which rule it was made, and where its quote stands in the fragment."""

    question: str
    answer: str
    form: str
    start: int
    end: int
