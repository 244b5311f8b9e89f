"""Other matcher: gold that would be found if it were compared in another way."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.errors import KaratError
from karat.core.text.words import percent
from karat.match import MATCHERS, Unresolved
from karat.testset.check._check import CheckContext, Finding, check

_BETTER = 0.05
_NAMES = ("unknown file", "unknown address", "unknown id", "ambiguous", "names no unit")
"""Why gold is missing where names may be to blame: a page or a quote that is not there is not found by another name."""


@check(14)
def other_matcher(context: CheckContext) -> Iterator[Finding]:
    """Gold that would be found if it were compared in another way."""
    ours = context.resolution.share
    missed = [u for u in context.missing_gold if u.reason in _NAMES]
    if ours is None or not missed:
        return
    shares: dict[str, float] = {}
    regained: dict[str, list[Unresolved]] = {}
    for matcher in MATCHERS:
        if matcher.name != "regex" and matcher.name != context.by:
            try:
                other = context.resolved(matcher.name)
            except KaratError:
                continue
            shares[matcher.name] = other.share or 0.0
            lost = {(u.question, u.gold) for u in other.unresolved}
            regained[matcher.name] = [u for u in missed if (u.question, u.gold) not in lost]
    better = {name: share for name, share in shares.items() if share > ours + _BETTER and regained[name]}
    if not better:
        return
    name = max(better, key=lambda n: (better[n], -MATCHERS.get(n).strictness))
    yield Finding(
        check="other_matcher",
        severity="warning",
        title=f"--match {name} would reach {percent(better[name], 0)} of the gold instead of {percent(ours, 0)}",
        text=f"Share of the gold that the index holds, by the way it is compared: "
        f"{', '.join(f'{n} {percent(s, 0)}' for n, s in shares.items())}. The unit would be the "
        f"{MATCHERS.get(name).unit}: make sure that this is what should be counted.",
        numbers={"chosen": ours, **shares},
        questions=tuple(dict.fromkeys(u.question for u in regained[name])),
        remedy=f"Add --match {name}, if the {MATCHERS.get(name).unit} is the unit you mean.",
    )
