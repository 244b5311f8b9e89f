"""Matching runs with gold: every entry by its kind, for every system alike, said aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from karat.core.errors import NoOverlapError, UsageError
from karat.match._entries import Entries
from karat.match._judge import Settings, judge, share_matched
from karat.match._kinds import AS_THEY_ARE, LOW, kinds_of
from karat.match._matcher import MATCHERS, Context, Options, each, matcher_named
from karat.match._remarks import (
    better_matcher,
    golds_of,
    in_several_files,
    least_share,
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
    from karat.match._resolution import Resolution


@dataclass(frozen=True)
class Matched:
    """The judged hits, how they were matched, and the settings to judge again with.

    `unmatchable` gives pairs of system and question whose gold the system's hits cannot show, with the reason.
    """

    judged: Judged
    matching: Matching | None  # None where there is no gold to match
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
    settings = settings or Settings(MATCHERS.get("exact"))
    if by == "auto":
        options = Options(page_offset=page_offset, any_file=any_file)
        chosen, judged, why, kind_of = _choose(testset, runs, replace(settings, options=options))
    else:
        matcher, options = matcher_named(by, page_offset=page_offset, any_file=any_file)
        chosen, why = replace(settings, matcher=matcher, options=options), "asked for"
        kind_of = {} if testset.is_plain and by == "exact" else dict.fromkeys(golds_of(testset), matcher.name)
        judged = judge(testset, runs, chosen)
    ambiguity = _ambiguity(testset, kind_of, runs, options)
    if ambiguity is not None:
        raise UsageError(f"{testset.name}: {ambiguity}")
    others = other_shares(testset, runs, chosen, judged, try_all=try_all)
    least = least_share(judged)
    lacking = {run.name: _lacks(set(kind_of.values()), run) for run in runs}
    matching = Matching(
        by if by.startswith("regex") else chosen.matcher.name,
        chosen.matcher.unit,
        why,
        share_matched(judged),
        others,
        shifted_pages(testset, runs, chosen, kind_of, least) or better_matcher(chosen, least, others),
        *_unusable(testset, runs, chosen, kind_of),
        unmatchable=_counted(testset, kind_of, lacking),
        notes=(*in_several_files(kind_of, runs, options), *typography_notes(kind_of, runs)),
    )
    if not allow_zero:
        _check_overlap(testset, runs, matching, judged)
    return Matched(judged, matching, chosen, _unmatchable(testset, runs, kind_of, lacking))


def match_resolved(
    resolution: Resolution, runs: Sequence[Run], settings: Settings, *, allow_zero: bool = False
) -> Matched:
    """Judge runs beside the index that the gold was resolved against.

    A hit that is a chunk of the index is known by all that the index says of it, any other by what it says itself.
    """
    testset, entries = resolution.testset, resolution.entries
    if resolution.ambiguity is not None:
        raise UsageError(f"{testset.name}: {resolution.ambiguity}")
    chosen = replace(settings, matcher=resolution.matcher, options=entries.options)
    judged = judge(testset, runs, chosen)
    kinds = set(entries.kind_of.values())
    strangers = {run.name: [i for i, row in enumerate(resolution.rows_of(run)) if row < 0] for run in runs}
    lacking = {
        run.name: _lacks(kinds, run if len(run) and len(strangers[run.name]) == len(run) else resolution.table.run)
        for run in runs
    }
    matching = Matching(
        resolution.matcher.name,
        resolution.matcher.unit,
        "the chunks of the index that hold the gold",
        share_matched(judged),
        suggestion=shifted_pages(testset, runs, chosen, entries.kind_of, least_share(judged)),
        unheld=(int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())),
        strangers={
            run.name: (len(strangers[run.name]), len(run), run.doc_list[strangers[run.name][0]])
            for run in runs
            if strangers[run.name]
        },
        entries=len(golds_of(testset)),
        unmatchable=_counted(testset, entries.kind_of, lacking),
        notes=(
            *in_several_files(entries.kind_of, [resolution.table.run], entries.options),
            *typography_notes(entries.kind_of, runs),
        ),
    )
    if not allow_zero:
        for run in runs:
            if judged.relevant.any() and run.has_rankings and not matching.share.get(run.name, 1.0):
                raise _none_found(resolution, run, matching)
    return Matched(judged, matching, chosen, _unmatchable(testset, runs, entries.kind_of, lacking))


def _choose(
    testset: TestSet, runs: Sequence[Run], settings: Settings
) -> tuple[Settings, Judged, str, Mapping[Gold, str]]:
    """The settings under which every entry goes by its own kind, what they give, and why."""
    exact = replace(settings, matcher=MATCHERS.get("exact"))
    if testset.is_plain:
        judged = judge(testset, runs, exact)
        if least_share(judged) > LOW:
            return exact, judged, AS_THEY_ARE, {}
    golds = list(dict.fromkeys(golds_of(testset)))
    tried: dict[tuple[str, ...], tuple[Settings, Judged]] = {}

    def under(kind_of: Mapping[Gold, str]) -> tuple[Settings, Judged]:
        """All entries of these under their matchers; of a single one the plain way, which is quicker."""
        kinds = tuple(kind_of.values())
        if len(kinds) == len(golds) and kinds in tried:
            return tried[kinds]
        part = testset if len(kinds) == len(golds) else part_of(testset, kind_of)
        matcher = (
            MATCHERS.get(kinds[0]) if len(set(kinds)) == 1 else Entries(part, kind_of, runs, settings.options).matcher
        )
        chosen = replace(settings, matcher=matcher)
        if len(kinds) == len(golds):
            tried[kinds] = chosen, judge(part, runs, chosen)
            return tried[kinds]
        return chosen, judge(part, runs, chosen)

    kinds = kinds_of(golds, runs, settings.options, lambda kind_of: least_share(under(kind_of)[1]))
    chosen, judged = under({gold: kinds.of[gold] for gold in golds}) if golds else (exact, judge(testset, runs, exact))
    return chosen, judged, kinds.why, kinds.of


def _ambiguity(testset: TestSet, kind_of: Mapping[Gold, str], runs: Sequence[Run], options: Options) -> str | None:
    """Why some entries may mean several units, and what to add."""
    for kind in dict.fromkeys(kind_of.values()):
        golds = [gold for gold in golds_of(testset) if kind_of[gold] == kind]
        why = MATCHERS.get(kind).ambiguity(Context(golds, runs, options))
        if why is not None:
            return why
    return None


def _lacks(kinds: set[str], run: Run) -> dict[str, str]:
    """Of each kind that the hits of a run cannot show: what they lack."""
    return {kind: field for kind in kinds if (field := MATCHERS.get(kind).lacks(run)) is not None}


def _counted(
    testset: TestSet, kind_of: Mapping[Gold, str], lacking: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, int]]:
    """Of each system whose hits cannot show some gold: how many entries for want of what."""
    if not any(lacking.values()):
        return {}
    entries = Counter(kind_of.get(gold) for gold in golds_of(testset) if gold.grade >= 1)
    counts = {
        name: {field: entries[kind] for kind, field in fields.items() if entries[kind]}
        for name, fields in lacking.items()
    }
    return {name: count for name, count in counts.items() if count}


def _unmatchable(
    testset: TestSet, runs: Sequence[Run], kind_of: Mapping[Gold, str], lacking: Mapping[str, Mapping[str, str]]
) -> dict[int, str]:
    """Pairs of system and question with relevant gold that the system's hits cannot show, and the reason."""
    pairs: dict[int, str] = {}
    for s, run in enumerate(runs):
        if not lacking[run.name]:
            continue
        for q, question in enumerate(testset.questions):
            fields = [lacking[run.name].get(kind_of.get(g, "")) for g in question.gold if g.grade >= 1]
            lost = [field for field in fields if field is not None]
            if lost:
                pairs[s * len(testset) + q] = (
                    f"{len(lost)} of {len(fields)} gold {'entry' if len(fields) == 1 else 'entries'} cannot be "
                    f"matched: the hits have no {' and no '.join(dict.fromkeys(lost))}"
                )
    return pairs


def _unusable(testset: TestSet, runs: Sequence[Run], chosen: Settings, kind_of: Mapping[Gold, str]) -> tuple[int, int]:
    """Gold entries without a unit of their matcher's kind, and all of them."""
    if not kind_of or (testset.is_plain and chosen.matcher.name == "exact"):
        return 0, 0
    golds = golds_of(testset)
    if chosen.matcher.prepare is not None:
        keys = chosen.matcher.prepare(Context(golds, runs, chosen.options))[0]
    else:
        keys = chosen.matcher.unit_of
    return sum(1 for gold in golds if not each(keys(gold))), len(golds)


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


def _check_overlap(testset: TestSet, runs: Sequence[Run], matching: Matching, judged: Judged) -> None:
    """No system may share no gold at all: that is a table of zeros, and almost always a matter of ids."""
    if not judged.relevant.any():
        return
    for run in runs:
        if matching.share.get(run.name, 1.0) > 0 or not run.has_rankings:
            continue
        fix = _lack_sentence(run, matching) or _fix(testset, run, matching)
        raise NoOverlapError(
            f"{run.source}: none of the gold is among the hits of {run.name!r} under `{matching.matcher}` matching. "
            f"{fix} {_TRUE_RESULT}"
        )


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
    known = len(run) > 0 and max(resolution.rows_of(run)) >= 0
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


def _fix(testset: TestSet, run: Run, matching: Matching) -> str:
    if matching.suggestion:
        return matching.suggestion
    shapes = f"Gold looks like {_examples([g.label for g in golds_of(testset)])}, hits like {_examples(run.docs)}."
    others = shares_of(testset, [run], Settings(MATCHERS.get("exact")))
    if others:
        name = max(others, key=lambda n: others[n])
        return f"{shapes} `--match {name}` would match {others[name]:.0%}."
    return f"{shapes} No matcher makes them meet; check that they belong to the same corpus."


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    shown = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "nothing"
