"""Size: how small a difference so many questions can tell."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import plural
from karat.testset.attained import detectable_by
from karat.testset.check._check import CheckContext, Finding, check

MOST = 1.0  # no difference is larger
COARSE = 0.2  # a difference that any test set should tell


def written(value: float, digits: int = 2) -> str:
    """A difference without the zero before its point.

    >>> written(0.0612), written(1.0), written(0.004)
    ('.06', '1.00', '<.01')
    """
    text = f"{value:.{digits}f}"
    return f"<.{'0' * (digits - 1)}1" if value and float(text) == 0 else text.removeprefix("0")


@check(50, needs_index=False)
def size(context: CheckContext) -> Iterator[Finding]:
    """How small a difference so many questions can tell."""
    rows = detectable_by(context)
    if not rows or rows[0].difference >= MOST:
        detail = ""
        if rows:
            detail = f"At 80% power, two-sided at 5%, not even the largest difference that there is; {rows[0].basis}."
        elif len(context.questions) > 1:
            detail = "Fewer than two of them have gold."
        yield Finding(
            check="size",
            severity="broken" if not len(context.questions) else "warning",
            title=f"{plural(len(context.questions), 'question')}: too few to show any difference",
            text=detail,
            numbers={"questions": len(context.questions)},
            remedy="Add questions.",
        )
        return
    first, worst, variants = rows[0], rows[-1], rows[1:-1]
    measured = first is not worst
    coarse = measured and first.difference > COARSE
    near = f" Of two variants of one system, about {written(variants[0].difference)}." if variants else ""
    yield Finding(
        check="size",
        severity="warning" if coarse else "info",
        title=f"{plural(first.questions, 'question')} can show differences of about "
        f"{written(first.difference)} in "
        f"{first.measure}" + ("" if measured else " in the worst case"),
        text=f"At 80% power, two-sided at 5%, the same questions for both systems; going by {first.basis}.{near}"
        + (f" In the worst case {written(worst.difference)}." if measured else "")
        + f" To tell {written(first.aim)} it takes about {first.needed:,} questions"
        + (f" (at worst {worst.needed:,})." if measured else "."),
        numbers={
            "questions": first.questions,
            "difference": first.difference,
            "worst": worst.difference,
            "needed": first.needed,
            "needed_at_worst": worst.needed,
            "spread": first.spread,
        },
        remedy="Add questions if smaller differences matter, or read them as a tie." if coarse else "",
    )
