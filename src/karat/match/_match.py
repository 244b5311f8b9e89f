"""Matching runs with gold: every entry by its kind, for every system alike, said aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.collection import without_collection
from karat.core.errors import KaratError, NoOverlapError, UsageError
from karat.core.judged import Judged
from karat.core.run import Run
from karat.core.types import Gold, TestSet
from karat.match._join import Join
from karat.match._judge import JudgingSettings, judge, least_share, share_matched
from karat.match._kinds import AS_THEY_ARE, LOW, matcher_of_each
from karat.match._matcher import MATCHERS, MatchInputs, MatchOptions, by_strictness, column, column_or_none
from karat.results.evaluation import Matching

if TYPE_CHECKING:
    import polars as pl

    from karat.match._resolve import Resolution

_TRY_ALL = 20_000  # hits up to which other matchers are tried where less than half of the gold is found
_CLEAR = 0.5  # share of the gold above which a matcher clearly wins: no other is tried
_FAIR = 0.2  # share that a shift of the pages must find to be believed
_MOST_PAGES = 0.8  # share of the gold above which pages are not looked at for a shift
_SHIFTED = 0.25  # by how much more of the gold pages another offset must find
_BETTER = 0.05  # share of the gold that another matcher must find beyond the one in use to be worth a word


@dataclass(frozen=True, kw_only=True)
class Matched:
    """The judged hits, how they were matched, and what to judge again with.

    `unmatchable` gives pairs of system and question whose gold the system's hits cannot show, with the reason.
    """

    judged: Judged
    matching: Matching | None  # None where there is no gold to match
    join: Join
    settings: JudgingSettings
    unmatchable: Mapping[int, str] = field(default_factory=dict)


@without_collection
def match(
    testset: TestSet,
    runs: Sequence[Run],
    settings: JudgingSettings | None = None,
    *,
    by: str = "auto",
    page_offset: int = 0,
    any_file: bool = False,
    allow_zero: bool = False,
    try_all: bool = False,
) -> Matched:
    """Judge the runs, each gold entry by the matcher named, or by its own kind with `auto`.

    With `any_file` a page number means that page of any file. `try_all` tells what every other matcher would find.
    """
    settings, options = settings or JudgingSettings(), MatchOptions(page_offset=page_offset, any_file=any_file)
    if by == "auto":
        join, judged, why = _choose(testset, runs, options, settings)
    else:
        join, why = Join(testset, runs, by, options), "asked for"
        judged = judge(testset, runs, join, settings)
    _check_ambiguity(join)
    others = _other_shares(join, runs, settings, judged, try_all=try_all)
    is_counted = not (testset.is_plain and join.is_plain)
    matching = Matching(
        matcher=join.name,
        unit=join.unit,
        why=why,
        share=share_matched(judged),
        others=others,
        suggestion=_better_matcher(join, least_share(judged), others),
        unusable=join.units.key.count(None) if is_counted else 0,
        entries=len(join.golds) if is_counted else 0,
    )
    return _matched(join, runs, settings, judged, matching, runs, allow_zero=allow_zero)


def match_resolved(
    resolution: Resolution, runs: Sequence[Run], settings: JudgingSettings, *, allow_zero: bool = False
) -> Matched:
    """Judge runs beside the index that the gold was resolved against.

    A hit that is a chunk of the index is known by all that the index says of it, any other by what it says itself.
    """
    table = resolution.index
    _check_ambiguity(resolution)
    judged = judge(resolution.testset, runs, resolution, settings)
    strangers = {run.name: np.flatnonzero(table.rows_of(run) < 0) for run in runs}
    matching = Matching(
        matcher=resolution.name,
        unit=resolution.unit,
        why="the chunks of the index that hold the gold",
        share=share_matched(judged),
        unheld=(int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())),
        strangers={
            run.name: (len(strangers[run.name]), len(run), run.doc_list[strangers[run.name][0]])
            for run in runs
            if len(strangers[run.name])
        },
        entries=len(resolution.golds),
    )
    known = [run if len(run) and len(strangers[run.name]) == len(run) else table.run for run in runs]
    return _matched(resolution, runs, settings, judged, matching, known, allow_zero=allow_zero)


def _matched(
    join: Join,
    runs: Sequence[Run],
    settings: JudgingSettings,
    judged: Judged,
    matching: Matching,
    known: Sequence[Run],
    *,
    allow_zero: bool,
) -> Matched:
    """The matching with what the hits cannot show and pages that look shifted; `known` are the hits as they are known.

    A system without any gold among its hits is a row of zeros, and almost always a matter of ids.
    """
    unmatchable, reasons = _unmatchable(join, runs, known)
    matching = replace(
        matching,
        suggestion=_shifted_pages(join, runs, settings, least_share(judged)) or matching.suggestion,
        unmatchable=unmatchable,
        notes=tuple(_in_several_files(join)),
    )
    if not allow_zero and judged.relevant.any():
        for run in runs:
            if run.has_rankings and not matching.share.get(run.name, 1.0):
                raise _none_found(join, run, matching, settings)
    return Matched(judged=judged, matching=matching, join=join, settings=settings, unmatchable=reasons)


def _choose(
    testset: TestSet, runs: Sequence[Run], options: MatchOptions, settings: JudgingSettings
) -> tuple[Join, Judged, str]:
    """The join under which every entry goes by its own kind, what it gives, and why."""
    if testset.is_plain:
        exact = Join(testset, runs, "exact", options)
        judged = judge(testset, runs, exact, settings)
        if least_share(judged) > LOW:
            return exact, judged, AS_THEY_ARE
    golds = testset.golds
    tried: dict[str, tuple[Join, Judged]] = {}

    def joined_by(some: Sequence[Gold], by: str | Mapping[Gold, str]) -> tuple[Join, Judged]:
        part = testset if len(some) == len(golds) else _part_of(testset, frozenset(some))
        join = Join(part, runs, by, options)
        return join, judge(part, runs, join, settings)

    def share_found(some: Sequence[Gold], kind: str) -> float:
        joined = joined_by(some, kind)
        if len(some) == len(golds):
            tried[kind] = joined
        return least_share(joined[1])

    kind_of, why = matcher_of_each(golds, runs, options, share_found)
    kinds = set(kind_of.values()) or {"exact"}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    join, judged = tried[kind] if kind in tried else joined_by(golds, kind_of if kind is None else kind)
    return join, judged, why


def _check_ambiguity(join: Join) -> None:
    """Gold that may mean several units stops the matching."""
    if join.ambiguity is not None:
        raise UsageError(f"{join.testset.name}: {join.ambiguity}")


def _unmatchable(
    join: Join, runs: Sequence[Run], known: Sequence[Run]
) -> tuple[dict[str, dict[str, int]], dict[int, str]]:
    """Relevant gold that the hits of a system cannot show.

    Of each such system how many entries for want of what, and the reason for each pair of system and question.
    `known` are the hits as they are known, run by run.
    """
    counts: dict[str, dict[str, int]] = {}
    reasons: dict[int, str] = {}
    for s, (run, hits) in enumerate(zip(runs, known, strict=True)):
        lacking = {kind: field for kind, m in join.matchers.items() if (field := m.lacks(hits)) is not None}
        if not lacking:
            continue
        missing: Counter[str] = Counter()
        for q, question in enumerate(join.testset.questions):
            fields = [lacking.get(join.kind(gold) or "") for gold in question.gold if gold.grade >= 1]
            lost = [field for field in fields if field is not None]
            missing.update(lost)
            if lost:
                reasons[s * len(join.testset) + q] = (
                    f"{len(lost)} of {len(fields)} gold {'entry' if len(fields) == 1 else 'entries'} cannot be "
                    f"matched: the hits have no {' and no '.join(dict.fromkeys(lost))}"
                )
        if missing:
            counts[run.name] = {field: missing[field] for field in lacking.values() if missing[field]}
    return counts, reasons


def unmatchable(join: Join, runs: Sequence[Run]) -> dict[int, str]:
    """The reason for each pair of system and question whose relevant gold the hits of these runs cannot show."""
    known = list(runs)
    if join.index is not None:
        known = [join.index.run if len(run) and join.index.rows_of(run).max() >= 0 else run for run in runs]
    return _unmatchable(join, runs, known)[1]


def _part_of(testset: TestSet, golds: Container[Gold]) -> TestSet:
    """The test set with only these entries."""
    return TestSet(replace(q, gold=tuple(g for g in q.gold if g in golds)) for q in testset.questions)


def _other_shares(
    join: Join, runs: Sequence[Run], settings: JudgingSettings, judged: Judged, *, try_all: bool
) -> dict[str, float]:
    """What other matchers would find, where that is worth knowing: much gold is not found, and it is soon done."""
    least = least_share(judged)
    if not try_all and (least > _CLEAR or (least > LOW and sum(len(run) for run in runs) > _TRY_ALL)):
        return {}
    shares = _shares_of_others(join, runs, settings)
    return shares if try_all else {name: share for name, share in shares.items() if share > least}


def _shares_of_others(join: Join, runs: Sequence[Run], settings: JudgingSettings) -> dict[str, float]:
    """Share of the gold that each other matcher would find, for the system where it finds least."""
    shares: dict[str, float] = {}
    inputs = MatchInputs(join.golds, runs, join.options)
    for matcher in by_strictness():
        if list(join.matchers) == [matcher.name] or (matcher.must_fit and not matcher.fits(inputs)):
            continue
        try:
            other = Join(join.testset, runs, matcher.name, join.options)
            share = least_share(judge(join.testset, runs, other, settings))
        except KaratError:  # it needs what is not known here, such as a pattern
            continue
        if share > 0:
            shares[matcher.name] = share
    return shares


def _better_matcher(join: Join, least: float, others: Mapping[str, float]) -> str | None:
    """A matcher that finds more; one that counts a larger unit only where less than half is found."""
    if least > _CLEAR:
        return None
    better = {name: share for name, share in others.items() if share > least + _BETTER}
    if not better:
        return None
    name = max(better, key=lambda n: better[n])
    matcher = MATCHERS.get(name)
    looser = f", counting the {matcher.unit} as the unit," if matcher.larger and matcher.unit != join.unit else ""
    return f"`--match {name}`{looser} would match {better[name]:.0%} of the gold instead of {least:.0%}."


def _shifted_pages(join: Join, runs: Sequence[Run], settings: JudgingSettings, least: float) -> str | None:
    """What to add where the page numbers of one side look shifted: counted from 0, say."""
    many = sum(len(run) for run in runs) > _TRY_ALL
    if least > (_CLEAR if many else _MOST_PAGES) or "page" not in join.matchers:
        return None
    if not any(column(run, "page") is not None for run in runs):
        return None
    paged, now = join.of_kind("page"), join.options.page_offset
    part = _part_of(join.testset, frozenset(paged))
    shares: dict[int, float] = {}
    for offset in dict.fromkeys((now, now + 1, now - 1, now + 2, now - 2, 0)):
        shifted = Join(part, runs, "page", replace(join.options, page_offset=offset))
        shares[offset] = least_share(judge(part, runs, shifted, settings))
    best = max(shares, key=lambda offset: shares[offset])
    gained = (shares[best] - shares[now]) * sum(1 for gold in paged if gold.grade >= 1)
    if shares[best] < max(_FAIR, min(2 * shares[now], shares[now] + _SHIFTED)) or gained < 2:
        return None
    return (
        f"The page numbers look shifted by {abs(best - now)}: `--page-offset {best}` would match {shares[best]:.0%} of "
        f"the gold pages instead of {shares[now]:.0%}."
    )


def _in_several_files(join: Join) -> list[str]:
    """Where page numbers count in any file: how many of them are pages of several."""
    options, golds = join.options, join.of_kind("page")
    if not options.any_file:
        return []
    files: dict[str, set[str]] = {}
    for run in join.runs:
        for page, doc in zip(column_or_none(run, "page"), column_or_none(run, "doc"), strict=True):
            for number in options.hit_pages(page) if doc is not None else ():
                files.setdefault(number, set()).add(str(doc))
    named = [options.gold_pages(gold.page if gold.page is not None else gold.id) for gold in golds]
    several = sum(1 for pages in named if any(len(files.get(page, ())) > 1 for page in pages))
    if not several:
        return []
    return [
        f"{several:,} of {len(golds):,} gold pages are page numbers of several files: under this dialect a hit on that "
        "page of any file counts as found, so scores may be too high. Name the file of each, and score without the "
        "dialect, for the true figure."
    ]


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


_TRUE_RESULT = "If that is the true result, add --allow-zero-overlap (allow_zero_overlap: true in karat.yaml)."


def _none_found(join: Join, run: Run, matching: Matching, settings: JudgingSettings) -> NoOverlapError:
    """None of the gold is among the hits of a run: what may be the cause, and what to do."""
    index = join.index
    if not len(run):
        return NoOverlapError(
            f"{run.source}: {run.name!r} returned no hits for any question. See that what it searches is there and "
            f"not empty. {_TRUE_RESULT}"
        )
    is_indexed = index is not None and bool(index.rows_of(run).max() >= 0)
    lacking = matching.unmatchable.get(run.name)
    if lacking and is_indexed:
        return NoOverlapError(
            f"{join.testset.name}: no gold can be matched: the chunks of the index have no "
            f"{' and no '.join(lacking)}; the gold goes by that. Index files that have it, or let the document decide "
            "with --match doc."
        )
    if lacking:
        count = sum(lacking.values())
        needed = f"{count:,} gold {'entry needs' if count == 1 else 'entries need'} it"
        fields = " and ".join(f'"{field}"' for field in lacking)
        fix = f"Its hits have no {' and no '.join(lacking)} ({needed}): add {fields} to the hits."
    elif index is not None and not is_indexed:
        fix = (
            f"No hit is a chunk of this index or says where it comes from: its hits are called {_examples(run.docs)}, "
            f"the chunks of the index {_examples(index.chunks.ids)}. Score it with the index it was searched in, or "
            'add "doc", "page", "url" or "text" to the hits.'
        )
    elif matching.suggestion:
        fix = matching.suggestion
    elif index is not None:
        fix = "`karat testset check` says whether the index holds it at all."
    else:
        golds = _examples([gold.label for gold in join.golds])
        fix = f"Gold looks like {golds}, hits like {_examples(run.docs)}. {_best_other(join, run, settings)}"
    return NoOverlapError(
        f"{run.source}: none of the gold is among the hits of {run.name!r} under `{matching.matcher}` matching. {fix} "
        f"{_TRUE_RESULT}"
    )


def _best_other(join: Join, run: Run, settings: JudgingSettings) -> str:
    """The matcher that would find most of the gold among the hits of one run."""
    shares = _shares_of_others(join, [run], settings)
    if not shares:
        return "No matcher makes them meet; check that they belong to the same corpus."
    name = max(shares, key=lambda matcher: shares[matcher])
    return f"`--match {name}` would match {shares[name]:.0%}."


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    examples = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(examples) + (", ..." if len(ids) > most else "")
