"""Matching runs with gold: every entry by its kind, for every system alike, said aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from karat.core.errors import KaratError, NoOverlapError, UsageError
from karat.core.evaluation import Matching
from karat.core.text.normalise import normalise
from karat.match._entries import Entries
from karat.match._judge import Settings, judge, share_matched
from karat.match._kinds import AS_THEY_ARE, LOW, by_strictness, kinds_of
from karat.match._matcher import MATCHERS, Context, Options, column, each, matcher_named
from karat.match._passages import Passages

if TYPE_CHECKING:
    import polars as pl

    from karat.core.judged import Judged
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet
    from karat.match._resolution import Resolution

_TRY_ALL = 20_000  # hits up to which other matchers are tried where less than half of the gold is found
_CLEAR = 0.5  # share of the gold above which a matcher clearly wins: no other is tried
_FAIR = 0.2  # share that a shift of the pages must find to be believed
_LARGER = ("doc", "uuid", "page")  # matchers that may count a larger unit than the ids name


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
        kind_of = {} if testset.is_plain and by == "exact" else dict.fromkeys(_golds(testset), matcher.name)
        judged = judge(testset, runs, chosen)
    ambiguity = _ambiguity(testset, kind_of, runs, options)
    if ambiguity is not None:
        raise UsageError(f"{testset.name}: {ambiguity}")
    others = _others(testset, runs, chosen, judged, try_all=try_all)
    least = _least(judged)
    lacking = {run.name: _lacks(set(kind_of.values()), run) for run in runs}
    matching = Matching(
        by if by.startswith("regex") else chosen.matcher.name,
        chosen.matcher.unit,
        why,
        share_matched(judged),
        others,
        _shift(testset, runs, chosen, kind_of, least) or _suggest(chosen, least, others),
        *_unusable(testset, runs, chosen, kind_of),
        unmatchable=_counted(testset, kind_of, lacking),
        notes=(*_in_several_files(kind_of, runs, options), *_typography(kind_of, runs)),
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
        suggestion=_shift(testset, runs, chosen, entries.kind_of, _least(judged)),
        unheld=(int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())),
        strangers={
            run.name: (len(strangers[run.name]), len(run), run.doc_list[strangers[run.name][0]])
            for run in runs
            if strangers[run.name]
        },
        entries=len(_golds(testset)),
        unmatchable=_counted(testset, entries.kind_of, lacking),
        notes=(
            *_in_several_files(entries.kind_of, [resolution.table.run], entries.options),
            *_typography(entries.kind_of, runs),
        ),
    )
    if not allow_zero:
        for run in runs:
            if judged.relevant.any() and run.has_rankings and not matching.share.get(run.name, 1.0):
                raise _none_found(resolution, run, matching)
    return Matched(judged, matching, chosen, _unmatchable(testset, runs, entries.kind_of, lacking))


def _golds(testset: TestSet) -> list[Gold]:
    return [gold for question in testset.questions for gold in question.gold]


def _least(judged: Judged) -> float:
    """Share of the gold found for the system that finds least; 1 where there is none to find."""
    return min(share_matched(judged).values(), default=1.0)


def _choose(
    testset: TestSet, runs: Sequence[Run], settings: Settings
) -> tuple[Settings, Judged, str, Mapping[Gold, str]]:
    """The settings under which every entry goes by its own kind, what they give, and why."""
    exact = replace(settings, matcher=MATCHERS.get("exact"))
    if testset.is_plain:
        judged = judge(testset, runs, exact)
        if _least(judged) > LOW:
            return exact, judged, AS_THEY_ARE, {}
    golds = list(dict.fromkeys(_golds(testset)))
    tried: dict[tuple[str, ...], tuple[Settings, Judged]] = {}

    def under(kind_of: Mapping[Gold, str]) -> tuple[Settings, Judged]:
        """All entries of these under their matchers; of a single one the plain way, which is quicker."""
        kinds = tuple(kind_of.values())
        if len(kinds) == len(golds) and kinds in tried:
            return tried[kinds]
        part = testset if len(kinds) == len(golds) else _part(testset, kind_of)
        matcher = (
            MATCHERS.get(kinds[0]) if len(set(kinds)) == 1 else Entries(part, kind_of, runs, settings.options).matcher
        )
        chosen = replace(settings, matcher=matcher)
        if len(kinds) == len(golds):
            tried[kinds] = chosen, judge(part, runs, chosen)
            return tried[kinds]
        return chosen, judge(part, runs, chosen)

    kinds = kinds_of(golds, runs, settings.options, lambda kind_of: _least(under(kind_of)[1]))
    chosen, judged = under({gold: kinds.of[gold] for gold in golds}) if golds else (exact, judge(testset, runs, exact))
    return chosen, judged, kinds.why, kinds.of


def _part(testset: TestSet, golds: Mapping[Gold, str]) -> TestSet:
    """The test set with only these entries."""
    from karat.core.types import TestSet

    return TestSet(replace(q, gold=tuple(g for g in q.gold if g in golds)) for q in testset.questions)


def _ambiguity(testset: TestSet, kind_of: Mapping[Gold, str], runs: Sequence[Run], options: Options) -> str | None:
    """Why some entries may mean several units, and what to add."""
    for kind in dict.fromkeys(kind_of.values()):
        golds = [gold for gold in _golds(testset) if kind_of[gold] == kind]
        why = MATCHERS.get(kind).ambiguity(Context(golds, runs, options))
        if why is not None:
            return why
    return None


def _in_several_files(kind_of: Mapping[Gold, str], runs: Sequence[Run], options: Options) -> list[str]:
    """Where page numbers count in any file: how many of them are pages of several."""
    from karat.io.pages import pages_of, shift

    if not options.any_file:
        return []
    files: dict[str, set[str]] = {}
    for run in runs:
        pages, docs = column(run, "page") or (), column(run, "doc") or [None] * len(run)
        for page, doc in zip(pages, docs, strict=False):
            for number in pages_of(page, options.labels) if doc is not None else ():
                files.setdefault(shift(number, options.page_offset), set()).add(str(doc))
    golds = [gold for gold, kind in kind_of.items() if kind == "page"]
    named = [pages_of(gold.page if gold.page is not None else gold.id, options.labels) for gold in golds]
    several = sum(1 for pages in named if any(len(files.get(page, ())) > 1 for page in pages))
    if not several:
        return []
    return [
        f"{several:,} of {len(golds):,} gold pages are page numbers of several files: under this dialect a hit on that "
        "page of any file counts as found, so scores may be too high. Name the file of each, and score without the "
        "dialect, for the true figure."
    ]


def _typography(kind_of: Mapping[Gold, str], runs: Sequence[Run]) -> list[str]:
    """How many quotes stand in a hit but for a footnote's number, a ligature or a hyphen at a line end."""
    quotes = list(dict.fromkeys(gold.quote for gold, kind in kind_of.items() if kind == "quote" and gold.quote))
    if not quotes:
        return []
    texts = list(dict.fromkeys(text for run in runs for text in column(run, "text") or () if text))
    passages = Passages(texts)
    loose = 0
    for quote in quotes:
        words, holding = normalise(quote, "words"), passages.find(quote)
        loose += bool(holding) and not any(words in normalise(texts[passage.text], "words") for passage in holding)
    if not loose:
        return []
    return [
        f"{loose:,} of {len(quotes):,} quotes {'differs' if loose == 1 else 'differ'} from the text that holds "
        f"{'it' if loose == 1 else 'them'} by a footnote's number, a ligature or a hyphen at a line end; "
        f"{'it counts' if loose == 1 else 'they count'} as found."
    ]


def _lacks(kinds: set[str], run: Run) -> dict[str, str]:
    """Of each kind that the hits of a run cannot show: what they lack."""
    return {kind: field for kind in kinds if (field := MATCHERS.get(kind).lacks(run)) is not None}


def _counted(
    testset: TestSet, kind_of: Mapping[Gold, str], lacking: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, int]]:
    """Of each system whose hits cannot show some gold: how many entries for want of what."""
    if not any(lacking.values()):
        return {}
    entries = Counter(kind_of.get(gold) for gold in _golds(testset) if gold.grade >= 1)
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
    golds = _golds(testset)
    if chosen.matcher.prepare is not None:
        keys = chosen.matcher.prepare(Context(golds, runs, chosen.options))[0]
    else:
        keys = chosen.matcher.unit_of
    return sum(1 for gold in golds if not each(keys(gold))), len(golds)


def _others(
    testset: TestSet, runs: Sequence[Run], chosen: Settings, judged: Judged, *, try_all: bool
) -> dict[str, float]:
    """What other matchers would find, where that is worth knowing: much gold is not found, and it is soon done."""
    least = _least(judged)
    if not try_all and (least > _CLEAR or (least > LOW and sum(len(run) for run in runs) > _TRY_ALL)):
        return {}
    shares = _shares(testset, runs, chosen)
    return shares if try_all else {name: share for name, share in shares.items() if share > least}


def _shares(testset: TestSet, runs: Sequence[Run], chosen: Settings) -> dict[str, float]:
    """Share of the gold that each other matcher would find, for the system where it finds least."""
    shares: dict[str, float] = {}
    context = Context(_golds(testset), runs, chosen.options)
    for matcher in by_strictness():
        if matcher.name in (chosen.matcher.name, "regex") or (matcher.name == "page" and not matcher.fits(context)):
            continue  # a pattern is not known, and any short id reads as a page number
        try:
            share = _least(judge(testset, runs, replace(chosen, matcher=matcher)))
        except KaratError:
            continue
        if share > 0:
            shares[matcher.name] = share
    return shares


def _suggest(chosen: Settings, least: float, others: Mapping[str, float]) -> str | None:
    """A matcher that finds more; one that counts a larger unit only where less than half is found."""
    if least > _CLEAR:
        return None
    better = {name: share for name, share in others.items() if share > least + 0.05}
    if not better:
        return None
    name = max(better, key=lambda n: better[n])
    unit = MATCHERS.get(name).unit
    looser = f", counting the {unit} as the unit," if name in _LARGER and unit != chosen.matcher.unit else ""
    return f"`--match {name}`{looser} would match {better[name]:.0%} of the gold instead of {least:.0%}."


def _shift(
    testset: TestSet, runs: Sequence[Run], chosen: Settings, kind_of: Mapping[Gold, str], least: float
) -> str | None:
    """What to add where the page numbers of one side look shifted: counted from 0, say."""
    paged = {gold: kind for gold, kind in kind_of.items() if kind == "page"}
    if least > _CLEAR or not paged or not any(column(run, "page") is not None for run in runs):
        return None
    part, now = _part(testset, paged), chosen.options.page_offset
    shares: dict[int, float] = {}
    for offset in (now, now + 1, now - 1, now + 2, now - 2):
        options = replace(chosen.options, page_offset=offset)
        shares[offset] = _least(judge(part, runs, replace(chosen, matcher=MATCHERS.get("page"), options=options)))
    best = max(shares, key=lambda offset: shares[offset])
    gained = (shares[best] - shares[now]) * sum(1 for gold in paged if gold.grade >= 1)
    if shares[best] < max(_FAIR, 2 * shares[now]) or gained < 2:
        return None
    return (
        f"The page numbers look shifted by {abs(best - now)}: `--page-offset {best}` would match {shares[best]:.0%} of "
        f"the gold pages instead of {shares[now]:.0%}."
    )


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
    shapes = f"Gold looks like {_examples([g.label for g in _golds(testset)])}, hits like {_examples(run.docs)}."
    others = _shares(testset, [run], Settings(MATCHERS.get("exact")))
    if others:
        name = max(others, key=lambda n: others[n])
        return f"{shapes} `--match {name}` would match {others[name]:.0%}."
    return f"{shapes} No matcher makes them meet; check that they belong to the same corpus."


def _examples(ids: Sequence[str] | pl.Series, most: int = 3) -> str:
    shown = [repr(str(i)[:60]) for i in list(ids[:most])]
    return ", ".join(shown) + (", ..." if len(ids) > most else "") if shown else "nothing"
