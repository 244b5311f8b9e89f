"""Choosing a matcher: the strictest whose id shapes fit gold and hits, one for all systems, said aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, NoOverlapError, UsageError
from karat.core.evaluation import Matching
from karat.match._judge import Settings, judge, matcher_named, share_matched
from karat.match._matcher import MATCHERS, Context, Matcher, column

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import TestSet

_TRY_ALL = 20_000  # hits up to which every fitting matcher is tried, to say what each would match
_LOW = 0.1


@dataclass(frozen=True)
class Matched:
    """The judged hits, the choice that led to them, and the settings to judge again with."""

    judged: Judged
    matching: Matching
    settings: Settings


def match(
    testset: TestSet,
    runs: Sequence[Run],
    settings: Settings | None = None,
    *,
    by: str = "auto",
    page_offset: int = 0,
    allow_zero: bool = False,
) -> Matched:
    """Judge the runs under the matcher named, or under the one `auto` picks."""
    settings = settings or Settings(MATCHERS.get("exact"))
    if by != "auto":
        matcher, options = matcher_named(by, page_offset=page_offset)
        chosen = replace(settings, matcher=matcher, options=options)
        judged = judge(testset, runs, chosen)
        shares = share_matched(judged)
        why, others = "asked for", _others(testset, runs, chosen, shares)
    else:
        settings = replace(settings, options=replace(settings.options, page_offset=page_offset))
        chosen, judged, why, others = _choose(testset, runs, settings)
        shares = share_matched(judged)
    name = by if by.startswith("regex") else chosen.matcher.name
    matching = Matching(name, chosen.matcher.unit, why, shares, others, _suggest(chosen, shares, others))
    if not allow_zero:
        _check_overlap(testset, runs, matching, judged)
    return Matched(judged, matching, chosen)


def _choose(
    testset: TestSet, runs: Sequence[Run], settings: Settings
) -> tuple[Settings, Judged, str, dict[str, float]]:
    """Among the matchers that fit, the strictest that matches anything for every system."""
    exact = replace(settings, matcher=MATCHERS.get("exact"))
    judged = judge(testset, runs, exact)
    shares = share_matched(judged)
    hits = sum(len(run) for run in runs)
    if min(shares.values()) > _LOW and hits > _TRY_ALL:
        return exact, judged, "ids compared as they are; other matchers were not tried on so many hits", {}
    context = Context([g for q in testset.questions for g in q.gold], runs, settings.options)
    fitting = [(m, why) for m in _by_strictness() if m.name != "exact" and (why := m.fits(context)) is not None]
    others: dict[str, float] = {}
    best: tuple[Settings, Judged, str] = (exact, judged, "ids compared as they are")
    settled = min(shares.values()) > 0 and not _names_larger_unit(context)
    for matcher, why in fitting:
        try:
            other = replace(settings, matcher=matcher)
            found = judge(testset, runs, other)
        except UsageError:
            if not settled and matcher.strictness < 40:
                raise
            continue
        share = min(share_matched(found).values())
        others[matcher.name] = share
        if not settled and share > 0:
            if best[0] is exact:
                others["exact"] = min(shares.values())
            others.pop(matcher.name)
            best, settled = (other, found, why), True
    if not settled and fitting and _names_larger_unit(context):  # nothing matches: judge by the unit the gold names
        matcher, why = fitting[0]
        other = replace(settings, matcher=matcher)
        best = (other, judge(testset, runs, other), why)
    if hits <= _TRY_ALL:
        others = {**_others(testset, runs, best[0], share_matched(best[1])), **others}
    return (*best, {name: share for name, share in sorted(others.items()) if name != best[0].matcher.name})


def _names_larger_unit(context: Context) -> bool:
    """Whether the gold says itself that its unit is not an id: pages, quotes or spans."""
    return any(g.page is not None or g.quote is not None or g.span is not None for g in context.golds) and not any(
        g.id is not None or g.chunk is not None for g in context.golds
    )


def _by_strictness() -> list[Matcher]:
    return sorted(MATCHERS, key=lambda m: m.strictness)


def _others(testset: TestSet, runs: Sequence[Run], chosen: Settings, shares: Mapping[str, float]) -> dict[str, float]:
    """What other matchers would find, where that is worth knowing: some gold is not found, and it is soon done."""
    least = min(shares.values())
    if least == 1 or (least > _LOW and sum(len(run) for run in runs) > _TRY_ALL):
        return {}
    return _shares(testset, runs, chosen, skip=chosen.matcher.name)


def _shares(testset: TestSet, runs: Sequence[Run], settings: Settings, *, skip: str) -> dict[str, float]:
    """Share of the gold that each other matcher would match in the system where it matches least."""
    found: dict[str, float] = {}
    for matcher in _by_strictness():
        if matcher.name in (skip, "regex"):
            continue
        try:
            judged = judge(testset, runs, replace(settings, matcher=matcher))
        except KaratError:
            continue
        share = min(share_matched(judged).values())
        if share > 0:
            found[matcher.name] = share
    return found


def _suggest(chosen: Settings, shares: Mapping[str, float], others: Mapping[str, float]) -> str | None:
    """A matcher that finds more: of the same unit or unit unknown always, a larger unit only where little is found."""
    least = min(shares.values(), default=0.0)
    same = {"id", chosen.matcher.unit}
    better = {
        name: share
        for name, share in others.items()
        if share > least + 0.05 and (least < _LOW or (name != "doc" and chosen.matcher.name == "exact"))
    }
    if not better:
        return None
    name = max(better, key=lambda n: better[n])
    unit = MATCHERS.get(name).unit
    looser = f", counting the {unit} as the unit," if unit not in same else ""
    return f"`--match {name}`{looser} would match {better[name]:.0%} of the gold instead of {least:.0%}."


def check_questions(testset: TestSet, runs: Sequence[Run]) -> None:
    """Every run must answer at least one question of the test set."""
    known = set(testset.ids)
    for run in runs:
        asked = [*run.question_ids, *run.answers, *run.failed]
        if asked and not known.isdisjoint(asked):
            continue
        if not asked:
            raise NoOverlapError(f"{run.source}: holds no results for any question.")
        ours, theirs = _examples(testset.ids), _examples(asked)
        raise NoOverlapError(
            f"{run.source} shares no question with {testset.name}: its question ids look like {theirs}, the test set's "
            f"like {ours}. Check that both belong together, or rename the ids (`--map` says which column holds them)."
        )


def _check_overlap(testset: TestSet, runs: Sequence[Run], matching: Matching, judged: Judged) -> None:
    """No system may share no gold at all: that is a table of zeros, and almost always a matter of ids."""
    if not judged.relevant.any():
        return
    for run in runs:
        if matching.share.get(run.name, 1.0) > 0 or not run.has_rankings:
            continue
        fix = _fix(testset, run, matching)
        raise NoOverlapError(
            f"{run.source}: none of the gold is among the hits of {run.name!r} under `{matching.matcher}` matching. "
            f"{fix} If that is the true result, add --allow-zero-overlap."
        )


def _fix(testset: TestSet, run: Run, matching: Matching) -> str:
    if matching.suggestion:
        return matching.suggestion
    golds = [g for q in testset.questions for g in q.gold]
    shapes = f"Gold looks like {_examples([g.label for g in golds])}, hits like {_examples(run.docs)}."
    if any(g.quote is not None for g in golds) and column(run, "text") is None:
        return 'The gold are quotes and the hits have no texts: add "text" to the hits.'
    others = _shares(testset, [run], Settings(MATCHERS.get("exact")), skip=matching.matcher)
    if others:
        name = max(others, key=lambda n: others[n])
        return f"{shapes} `--match {name}` would match {others[name]:.0%}."
    return f"{shapes} No matcher makes them meet; check that they belong to the same corpus."


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    shown = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "nothing"
