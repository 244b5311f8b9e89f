"""Matching runs with gold: every entry by its kind, for every system alike, said aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from karat.core.errors import NoOverlapError, UsageError
from karat.match._join import Join
from karat.match._judge import Settings, judge, least_share, share_matched
from karat.match._kinds import AS_THEY_ARE, LOW, kinds_of
from karat.match._matcher import Options
from karat.match._remarks import (
    better_matcher,
    in_several_files,
    other_shares,
    part_of,
    shares_of,
    shifted_pages,
    typography_notes,
)
from karat.results.evaluation import Matching

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet
    from karat.match._resolve import Resolution


@dataclass(frozen=True)
class Matched:
    """The judged hits, how they were matched, and what to judge again with.

    `unmatchable` gives pairs of system and question whose gold the system's hits cannot show, with the reason.
    """

    judged: Judged
    matching: Matching | None  # None where there is no gold to match
    join: Join
    settings: Settings
    unmatchable: Mapping[int, str] = field(default_factory=dict)


def match(
    testset: TestSet,
    runs: Sequence[Run],
    settings: Settings | None = None,
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
    settings, options = settings or Settings(), Options(page_offset=page_offset, any_file=any_file)
    if by == "auto":
        join, judged, why = _choose(testset, runs, options, settings)
    else:
        join, why = Join(testset, runs, by, options), "asked for"
        judged = judge(testset, runs, join, settings)
    _check_ambiguity(join)
    others, least = other_shares(join, runs, settings, judged, try_all=try_all), least_share(judged)
    unmatchable, reasons = _unmatchable(join, runs, runs)
    is_counted = not (testset.is_plain and join.is_plain)
    matching = Matching(
        join.name,
        join.unit,
        why,
        share_matched(judged),
        others,
        shifted_pages(join, runs, settings, least) or better_matcher(join, least, others),
        join.units.key.count(None) if is_counted else 0,
        len(join.golds) if is_counted else 0,
        unmatchable=unmatchable,
        notes=(*in_several_files(join, runs), *typography_notes(join, runs)),
    )
    if not allow_zero:
        for run in _without_gold(runs, judged, matching):
            fix = _lack_sentence(run, matching) or _fix(join, run, matching)
            raise NoOverlapError(
                f"{run.source}: none of the gold is among the hits of {run.name!r} under `{matching.matcher}` "
                f"matching. {fix} {_TRUE_RESULT}"
            )
    return Matched(judged, matching, join, settings, reasons)


def match_resolved(
    resolution: Resolution, runs: Sequence[Run], settings: Settings, *, allow_zero: bool = False
) -> Matched:
    """Judge runs beside the index that the gold was resolved against.

    A hit that is a chunk of the index is known by all that the index says of it, any other by what it says itself.
    """
    join, table = resolution.join, resolution.table
    _check_ambiguity(join)
    judged = judge(join.testset, runs, join, settings)
    strangers = {run.name: [i for i, row in enumerate(table.rows_of(run)) if row < 0] for run in runs}
    known = [run if len(run) and len(strangers[run.name]) == len(run) else table.run for run in runs]
    unmatchable, reasons = _unmatchable(join, runs, known)
    matching = Matching(
        join.name,
        join.unit,
        "the chunks of the index that hold the gold",
        share_matched(judged),
        suggestion=shifted_pages(join, runs, settings, least_share(judged)),
        unheld=(int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())),
        strangers={
            run.name: (len(strangers[run.name]), len(run), run.doc_list[strangers[run.name][0]])
            for run in runs
            if strangers[run.name]
        },
        entries=len(join.golds),
        unmatchable=unmatchable,
        notes=(*in_several_files(join, [table.run]), *typography_notes(join, runs)),
    )
    if not allow_zero:
        for run in _without_gold(runs, judged, matching):
            raise _none_found(resolution, run, matching)
    return Matched(judged, matching, join, settings, reasons)


def _choose(testset: TestSet, runs: Sequence[Run], options: Options, settings: Settings) -> tuple[Join, Judged, str]:
    """The join under which every entry goes by its own kind, what it gives, and why."""
    if testset.is_plain:
        exact = Join(testset, runs, "exact", options)
        judged = judge(testset, runs, exact, settings)
        if least_share(judged) > LOW:
            return exact, judged, AS_THEY_ARE
    golds = list(dict.fromkeys(gold for question in testset.questions for gold in question.gold))
    tried: dict[str, tuple[Join, Judged]] = {}

    def under(some: Sequence[Gold], by: str | Mapping[Gold, str]) -> tuple[Join, Judged]:
        part = testset if len(some) == len(golds) else part_of(testset, frozenset(some))
        join = Join(part, runs, by, options)
        return join, judge(part, runs, join, settings)

    def found(some: Sequence[Gold], kind: str) -> float:
        joined = under(some, kind)
        if len(some) == len(golds):
            tried[kind] = joined
        return least_share(joined[1])

    kind_of, why = kinds_of(golds, runs, options, found)
    kinds = set(kind_of.values()) or {"exact"}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    join, judged = tried[kind] if kind in tried else under(golds, kind_of if kind is None else kind)
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


def _without_gold(runs: Sequence[Run], judged: Judged, matching: Matching) -> list[Run]:
    """Systems that share no gold at all: that is a row of zeros, and almost always a matter of ids."""
    if not judged.relevant.any():
        return []
    return [run for run in runs if run.has_rankings and not matching.share.get(run.name, 1.0)]


def _lack_sentence(run: Run, matching: Matching) -> str | None:
    """What the hits of a system lack to be matched at all."""
    counts = matching.unmatchable.get(run.name)
    if not counts:
        return None
    needed = sum(counts.values())
    lacked = f"{needed:,} gold {'entry needs' if needed == 1 else 'entries need'} it"
    fields = " and ".join(f'"{field}"' for field in counts)
    return f"Its hits have no {' and no '.join(counts)} ({lacked}): add {fields} to the hits."


def _none_found(resolution: Resolution, run: Run, matching: Matching) -> NoOverlapError:
    lack = _lack_sentence(run, matching)
    known = len(run) > 0 and max(resolution.table.rows_of(run)) >= 0
    if lack is not None and known:
        fields = " and no ".join(matching.unmatchable[run.name])
        return NoOverlapError(
            f"{resolution.testset.name}: no gold can be matched: the chunks of the index have no {fields}; the "
            "gold goes by that. Index files that have it, or let the document decide with --match doc."
        )
    if lack is not None:
        return NoOverlapError(f"{run.source}: none of the gold can be matched with the hits of {run.name!r}. {lack}")
    if len(run) and not known:
        shapes = (
            f"its hits are called {_examples(run.docs)}, the chunks of the index {_examples(resolution.chunks.ids)}"
        )
        return NoOverlapError(
            f"{run.source}: no hit is a chunk of this index or says where it comes from: {shapes}. Score it with the "
            'index it was searched in, or add "doc", "page", "url" or "text" to the hits.'
        )
    fix = matching.suggestion or "`karat check` says whether the index holds it at all."
    return NoOverlapError(f"{run.source}: none of the gold is among the hits of {run.name!r}. {fix} {_TRUE_RESULT}")


def _fix(join: Join, run: Run, matching: Matching) -> str:
    if matching.suggestion:
        return matching.suggestion
    shapes = f"Gold looks like {_examples([gold.label for gold in join.golds])}, hits like {_examples(run.docs)}."
    others = shares_of(join.testset, [run])
    if others:
        name = max(others, key=lambda n: others[n])
        return f"{shapes} `--match {name}` would match {others[name]:.0%}."
    return f"{shapes} No matcher makes them meet; check that they belong to the same corpus."


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    shown = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "nothing"
