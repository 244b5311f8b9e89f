"""Refusals: how well a system tells what cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence

from karat.results.evaluation import Refusals


def refusals(system: str, declined: Sequence[bool | None], answerable: Sequence[bool]) -> Refusals:
    """Precision, recall and F1 of declining, an unanswerable question being what is to be found.

    `declined` None: the answer is empty, which neither answers nor declines. A number over nothing is None: precision
    where nothing was declined, recall where everything is answerable.

    >>> r = refusals("s", [True, True, False, None], [False, True, True, False])
    >>> r.precision, r.recall, r.f1, r.empty
    (0.5, 0.5, 0.5, 1)
    """
    both = list(zip(declined, answerable, strict=True))
    given = sum(said is True for said, _ in both)
    right = sum(said is True and not can for said, can in both)
    unanswerable = sum(not can for can in answerable)
    return Refusals(
        system=system,
        n=len(both),
        unanswerable=unanswerable,
        declined=given,
        right=right,
        empty=sum(said is None for said in declined),
        precision=right / given if given else None,
        recall=right / unanswerable if unanswerable else None,
        f1=2 * right / (given + unanswerable) if unanswerable else None,
    )
