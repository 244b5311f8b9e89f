"""Choosing a matcher: the strictest whose id shapes fit gold and hits, one for all systems, said aloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, NoOverlapError, UsageError
from karat.core.evaluation import Matching
from karat.match._judge import Settings, judge, matcher_named, share_matched
from karat.match._matcher import MATCHERS, Context, Matcher, Options, column

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.match._resolution import Resolution

_TRY_ALL = 20_000  # hits up to which every fitting matcher is tried, to say what each would match
_LOW, _FAIR, _HALF = 0.1, 0.2, 0.5
_LARGER = ("doc", "uuid", "page")  # matchers that may count a larger unit than the ids name
_AS_THEY_ARE = "ids compared as they are"


@dataclass(frozen=True)
class Matched:
    """The judged hits, the choice that led to them, and the settings to judge again with."""

    judged: Judged
    matching: Matching | None  # None where there is no gold to match
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
        judged, why = judge(testset, runs, chosen), "asked for"
    else:
        settings = replace(settings, options=replace(settings.options, page_offset=page_offset))
        chosen, judged, why = _choose(testset, runs, settings)
    others = _others(testset, runs, chosen, judged)
    matching = Matching(
        by if by.startswith("regex") else chosen.matcher.name,
        chosen.matcher.unit,
        why,
        share_matched(judged),
        others,
        _suggest(chosen, _least(judged), others),
        *_unusable(testset, runs, chosen),
    )
    if not allow_zero:
        _check_overlap(testset, runs, matching, judged)
    return Matched(judged, matching, chosen)


def match_resolved(
    resolution: Resolution, runs: Sequence[Run], settings: Settings, *, allow_zero: bool = False
) -> Matched:
    """Judge runs whose hits are chunks of the index that the gold was resolved against."""
    chosen = replace(settings, matcher=resolution.matcher)
    judged = judge(resolution.testset, runs, chosen)
    kinds = list(dict.fromkeys(resolution.kinds)) or ["exact"]
    units = list(dict.fromkeys(MATCHERS.get(kind).unit for kind in kinds))
    matching = Matching(
        ", ".join(kinds),
        ", ".join(units),
        "the chunks of the index that hold the gold",
        share_matched(judged),
        unheld=(int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())),
        strangers={run.name: found for run in runs if (found := _strangers(resolution, run)) is not None},
    )
    if not allow_zero:
        for run in runs:
            if judged.relevant.any() and run.has_rankings and not matching.share.get(run.name, 1.0):
                raise _none_found(resolution, run)
    return Matched(judged, matching, chosen)


def _strangers(resolution: Resolution, run: Run) -> tuple[int, int, str] | None:
    """How many hits are no chunks of the index, of how many, and the first of them; None if all are."""
    row_of = resolution.chunks.row_of
    others = [hit for hit in run.doc_list if hit not in row_of and hit.strip() not in row_of]
    return (len(others), len(run), others[0]) if others else None


def _none_found(resolution: Resolution, run: Run) -> NoOverlapError:
    known = sum(1 for hit in run.doc_list if hit.strip() in resolution.chunks.row_of)
    if not known and len(run):
        shapes = (
            f"its hits are called {_examples(run.docs)}, the chunks of the index {_examples(resolution.chunks.ids)}"
        )
        return NoOverlapError(
            f"{run.source}: no hit is a chunk of this index: {shapes}. Score it with the index it was searched in, or "
            "without one."
        )
    return NoOverlapError(
        f"{run.source}: none of the gold is among the hits of {run.name!r}. `karat check` says whether the index holds "
        "it at all. If that is the true result, add --allow-zero-overlap (allow_zero_overlap: true in karat.yaml)."
    )


def _least(judged: Judged) -> float:
    """Share of the gold found for the system that finds least; 1 where there is none to find."""
    return min(share_matched(judged).values(), default=1.0)


def _choose(testset: TestSet, runs: Sequence[Run], settings: Settings) -> tuple[Settings, Judged, str]:
    """Plain ids where they find gold for every system; else the strictest fitting matcher that does."""
    exact = replace(settings, matcher=MATCHERS.get("exact"))
    judged = judge(testset, runs, exact)
    if testset.is_plain and _least(judged) > _LOW:
        return exact, judged, _AS_THEY_ARE
    context = _context(testset, runs, settings)
    larger = _names_larger_unit(context)
    if _least(judged) > 0 and not larger:
        return exact, judged, _AS_THEY_ARE
    nearest: tuple[Settings, Judged, str] | None = None
    for matcher in _by_strictness():
        why = matcher.fits(context) if matcher.name != "exact" else None
        if why is None:
            continue
        other = replace(settings, matcher=matcher)
        try:
            found = judge(testset, runs, other)
        except UsageError:
            if larger:
                raise
            continue
        if _least(found) > 0:
            return other, found, why
        nearest = nearest or (other, found, why)
    return nearest if nearest is not None and larger else (exact, judged, _AS_THEY_ARE)


def _context(testset: TestSet, runs: Sequence[Run], settings: Settings) -> Context:
    return Context([g for q in testset.questions for g in q.gold], runs, settings.options)


def _names_larger_unit(context: Context) -> bool:
    """Whether the gold says itself that its unit is not an id: pages, quotes or spans."""
    return any(g.page is not None or g.quote is not None or g.span is not None for g in context.golds) and not any(
        g.id is not None or g.chunk is not None for g in context.golds
    )


def _unusable(testset: TestSet, runs: Sequence[Run], chosen: Settings) -> tuple[int, int]:
    """Gold entries without a unit of the matcher's kind, and all of them."""
    if testset.is_plain and chosen.matcher.name == "exact":
        return 0, 0
    context = _context(testset, runs, chosen)
    keys = chosen.matcher.prepare(context)[0] if chosen.matcher.prepare else chosen.matcher.unit_of
    return sum(1 for g in context.golds if not keys(g)), len(context.golds)


def _by_strictness() -> list[Matcher]:
    return sorted(MATCHERS, key=lambda m: m.strictness)


def _others(testset: TestSet, runs: Sequence[Run], chosen: Settings, judged: Judged) -> dict[str, float]:
    """What other matchers would find, where that is worth knowing: some gold is not found, and it is soon done."""
    least = _least(judged)
    if least == 1 or (least > _LOW and sum(len(run) for run in runs) > _TRY_ALL):
        return {}
    return {name: share for name, share in _shares(testset, runs, chosen).items() if share > least}


def _shares(testset: TestSet, runs: Sequence[Run], chosen: Settings) -> dict[str, float]:
    """Share of the gold that each other matcher would find, for the system where it finds least."""
    found: dict[str, float] = {}
    context = _context(testset, runs, chosen)
    for matcher in _by_strictness():
        if matcher.name in (chosen.matcher.name, "regex") or (matcher.name == "page" and not matcher.fits(context)):
            continue  # a pattern is not known, and any short id reads as a page number
        try:
            share = _least(judge(testset, runs, replace(chosen, matcher=matcher)))
        except KaratError:
            continue
        if share > 0:
            found[matcher.name] = share
    return found


def _suggest(chosen: Settings, least: float, others: Mapping[str, float]) -> str | None:
    """A matcher that finds more; one that counts a larger unit only where less than half is found."""
    larger = {name for name in others if name in _LARGER and MATCHERS.get(name).unit != chosen.matcher.unit}
    better = {n: share for n, share in others.items() if share > least + 0.05 and (least < _HALF or n not in larger)}
    if not better:
        return None
    name = max(better, key=lambda n: better[n])
    looser = f", counting the {MATCHERS.get(name).unit} as the unit," if name in larger else ""
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
            f"{fix} If that is the true result, add --allow-zero-overlap (allow_zero_overlap: true in karat.yaml)."
        )


def _fix(testset: TestSet, run: Run, matching: Matching) -> str:
    if matching.suggestion:
        return matching.suggestion
    golds = [g for q in testset.questions for g in q.gold]
    shapes = f"Gold looks like {_examples([g.label for g in golds])}, hits like {_examples(run.docs)}."
    if any(g.quote is not None for g in golds) and column(run, "text") is None:
        return 'The gold are quotes and the hits have no texts: add "text" to the hits.'
    offset = _page_offset(testset, run) if matching.matcher == "page" else None
    if offset is not None:
        return f"{shapes} The page numbers look shifted: try --page-offset {offset}."
    others = _shares(testset, [run], Settings(MATCHERS.get(matching.matcher.partition(":")[0])))
    if others:
        name = max(others, key=lambda n: others[n])
        return f"{shapes} `--match {name}` would match {others[name]:.0%}."
    return f"{shapes} No matcher makes them meet; check that they belong to the same corpus."


def _page_offset(testset: TestSet, run: Run) -> int | None:
    """A small shift of page numbers that finds a fair share of the gold, if one does (pages counted from 0, say)."""
    settings = Settings(MATCHERS.get("page"))
    shares = {
        offset: _least(judge(testset, [run], replace(settings, options=Options(page_offset=offset))))
        for offset in (1, -1, 2, -2)
    }
    best = max(shares, key=lambda offset: shares[offset])
    return best if shares[best] >= _FAIR else None


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    shown = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "nothing"
