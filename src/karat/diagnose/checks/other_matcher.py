"""other_matcher: gold that would be found if it were compared in another way."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.errors import KaratError
from karat.diagnose._words import percent
from karat.diagnose.check import Case, Check, listed
from karat.match import MATCHERS, Unresolved
from karat.results.checkup import Finding

_BETTER = 0.05
_NAMES = ("unknown file", "unknown address", "unknown id", "ambiguous", "names no unit")
"""Why gold is missing where names may be to blame: a page or a quote that is not there is not found by another name."""


def _find(case: Case) -> Iterator[Finding]:
    ours = case.resolution.share
    missed = [u for u in case.resolution.unresolved if u.gold.grade >= 1 and u.reason in _NAMES]
    if ours is None or not missed:
        return
    shares: dict[str, float] = {}
    regained: dict[str, list[Unresolved]] = {}
    for matcher in MATCHERS:
        if matcher.name != "regex" and matcher.name != case.by:
            try:
                other = case.resolved(matcher.name)
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
        "other_matcher",
        "warning",
        f"--match {name} would reach {percent(better[name])} of the gold instead of {percent(ours)}",
        f"Share of the gold that the index holds, by the way it is compared: "
        f"{listed((n, percent(s)) for n, s in shares.items())}. The unit would be the {MATCHERS.get(name).unit}: make "
        "sure that this is what should be counted.",
        {"chosen": ours, **shares},
        tuple(dict.fromkeys(u.question for u in regained[name])),
        (),
        f"Add --match {name}, if the {MATCHERS.get(name).unit} is the unit you mean.",
    )


check = Check("other_matcher", "gold that would be found if it were compared in another way", _find, 14)
