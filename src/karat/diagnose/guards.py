"""Guards: no impossible table leaves the program unmarked.

Each guard looks for one thing and yields the notes that say what it found; none means all is well. Tables that others
printed are `verify`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import in_words, names, percent, plural
from karat.diagnose.contradictions import SLACK, contradictions
from karat.results.evaluation import Matching, Note, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.core.scores import Scores

    Table = dict[str, dict[Measure, float]]  # system -> measure -> mean
    ByName = Mapping[str, Measure]

LOW_MATCH = 0.10  # share of gold matched below which ids deserve a look
EMPTY_ANSWERS = 0.05  # share of empty answers worth a warning
UNJUDGED_APART = 0.10  # difference in unjudged hits that tilts a comparison
JUDGED_LEAST = 0.80
COUNTS_REPEATS = {"healthcare", "liverag"}  # dialects


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the guards need beside scores: counted where runs and test set met. All keyed by system.

    Leave `unjudged` empty where the gold holds no judged non-relevant units: every miss is then unjudged, and the
    share says nothing.
    """

    dialect: str = "karat"
    repeats: str = "once"
    extra: Mapping[str, int] = field(default_factory=dict)  # questions of the run that the test set lacks
    missing: Mapping[str, int] = field(default_factory=dict)  # questions of the test set that the run lacks
    missing_answers: Mapping[str, int] = field(default_factory=dict)  # questions that its results have no answer for
    missing_is_zero: bool = False  # whether these count as 0
    empty_answers: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # empty, all
    unjudged: Mapping[str, float] = field(default_factory=dict)  # share of hits without a judgement
    depth: Mapping[str, int] = field(default_factory=dict)  # hits in the longest list
    gold_example: str | None = None  # ids of each side, to show how they differ
    hit_examples: Mapping[str, str] = field(default_factory=dict)


def check(
    scores: Scores, summaries: Iterable[Summary], matching: Matching | None = None, facts: Facts | None = None
) -> tuple[Note, ...]:
    """Every guard over one evaluation, gravest first."""
    facts = facts or Facts()
    whole = [s for s in summaries if s.slice is None]
    by_name = {m.name: m for m in scores.measures}
    table: Table = {system: {} for system in scores.systems}
    for summary in whole:
        if summary.mean is not None:
            table[summary.system][by_name[summary.measure]] = summary.mean
    counted = {(s.system, s.measure): s.n for s in whole}
    return (
        *unmatchable_gold(matching),
        *no_overlap(table, matching, facts),
        *ids_apart(matching, facts, len(scores.questions)),
        *unusable_gold(matching),
        *unheld_gold(matching),
        *strange_hits(matching),
        *questions_apart(facts, len(scores.questions)),
        *failed_rows(scores),
        *values_in_range(scores, facts.dialect, facts.repeats),
        *contradicting(table, counted),
        *equal_n(whole),
        *depths_apart(facts.depth, by_name),
        *missing_answers(facts, len(scores.questions)),
        *empty_answers(facts.empty_answers),
        *judged_enough(whole, by_name),
        *judged_alike(facts.unjudged, whole, by_name),
    )


def warn(guard: str, text: str) -> Note:
    """A note of a guard that fired."""
    return Note("warning", text, guard)


def no_overlap(table: Table, matching: Matching | None, facts: Facts) -> Iterator[Note]:
    """A system whose hits meet no gold at all: its zeros measure the ids, not the system."""
    for system, share in (matching.share if matching else {}).items():
        zeros = [m for m, mean in table.get(system, {}).items() if m.spec.stage == "retrieval" and mean == 0]
        if share > 0 or matching is None:
            continue
        text = f"{system}: no gold {matching.unit} stands among its hits"
        if zeros:
            text += f", so {names([m.name for m in zeros])} {'are' if len(zeros) > 1 else 'is'} 0"
        text += ". That is usually about ids, not quality" + _examples(facts, system) + ". " + _remedy(matching)
        yield warn("zero overlap", text)


def ids_apart(matching: Matching | None, facts: Facts, asked: int) -> tuple[Note, ...]:
    """Hardly any gold of the questions that a run has is matched: ids may be spelled differently on the two sides."""
    if matching is None:
        return ()
    return tuple(
        warn(
            "low id overlap",
            f"{system}: only {percent(share, 0)} of the gold {matching.unit}s stand among its hits"
            f"{_examples(facts, system)}. {_remedy(matching)}",
        )
        for system, share in matching.share.items()
        if 0 < share < LOW_MATCH * (1 - facts.missing.get(system, 0) / max(1, asked))
    )


def unmatchable_gold(matching: Matching | None) -> Iterator[Note]:
    """Gold that the hits of a system cannot show: those questions have no score, and it is ranked with nobody."""
    for system, counts in (matching.unmatchable if matching is not None else {}).items():
        number = sum(counts.values())
        lacked = " and no ".join(counts)
        apart = " It is not ranked against the others." if matching is not None and system in matching.unranked else ""
        fields = " and ".join(f'"{field}"' for field in counts)
        text = (
            f"{system}: {number:,} gold {'entry' if number == 1 else 'entries'} cannot be matched, since its hits have "
            f"no {lacked}; the questions that name them have no score.{apart} Add {fields} to its hits."
        )
        yield warn("unmatchable gold", text)


def unusable_gold(matching: Matching | None) -> Iterator[Note]:
    """Gold that the matcher cannot look for."""
    if matching is None or not matching.unusable:
        return
    text = (
        f"{matching.unusable} of {matching.entries} gold entries name no {matching.unit}: under `{matching.matcher}` "
        "they are never found and count as missed. Name that unit for all gold, or choose another with --match."
    )
    yield warn("unusable gold", text)


def unheld_gold(matching: Matching | None) -> Iterator[Note]:
    """Gold that no ranking of the index could find."""
    if matching is None or not matching.unheld[0]:
        return
    missing, units = matching.unheld
    text = (
        f"no chunk of the index holds {missing:,} of {plural(units, 'gold unit')}: no system can find them, and they "
        "count as missed. `karat testset check` says why and what to do."
    )
    yield warn("gold not in the index", text)


def strange_hits(matching: Matching | None) -> tuple[Note, ...]:
    """Hits that the index does not hold."""
    return tuple(
        warn(
            "hits not in the index",
            f"{system}: {number:,} of {plural(hits, 'hit')} {'is no chunk' if number == 1 else 'are no chunks'} of the "
            f"index (such as {example!r}): matched by what they say of themselves.",
        )
        for system, (number, hits, example) in (matching.strangers.items() if matching is not None else ())
    )


def _examples(facts: Facts, system: str) -> str:
    hit = facts.hit_examples.get(system)
    return f" (gold is written {facts.gold_example!r}, hits {hit!r})" if facts.gold_example and hit else ""


def _remedy(matching: Matching) -> str:
    better = {m: s for m, s in matching.others.items() if s > max(matching.share.values(), default=0.0)}
    if matching.suggestion:
        return matching.suggestion
    if better:
        name = max(better, key=lambda m: (better[m], m))
        return f"--match {name} would match {percent(better[name], 0)} of the gold."
    return f"Matched with {matching.matcher!r}; if both sides name the same units, choose another with --match."


def questions_apart(facts: Facts, asked: int) -> Iterator[Note]:
    """Questions that only the run or only the test set holds."""
    for system, count in facts.extra.items():
        if count:
            text = f"{system}: {plural(count, 'question')} of the run that the test set lacks: left out."
            yield warn("questions not in the test set", text)
    for system, count in facts.missing.items():
        if count:
            of = plural(asked, "question")
            text = f"{system}: {count} of {of} have no result in the run; each that has gold scores 0."
            yield warn("questions not in the run", text)


def failed_rows(scores: Scores) -> Iterator[Note]:
    """Questions without a value because something broke, and why."""
    for i, system in enumerate(scores.systems):
        failed = scores.status[i] == Status.failed
        questions = np.flatnonzero(failed.any(axis=1))
        if len(questions):
            first = failed.argmax(axis=1)  # the first measure that each failed in
            reasons = {scores.questions[q]: scores.reason(i, q, int(first[q])) or "" for q in questions.tolist()}
            of, where = plural(len(scores.questions), "question"), _failed_in(scores, scores.status[i][questions])
            yield warn("failed rows", f"{system}: {len(questions):,} of {of} {where}: {in_words(reasons)}.")


def _failed_in(scores: Scores, status: NDArray[np.uint8]) -> str:
    """Which means lack the questions that failed, questions x measures: an answer may fail where its hits stand."""
    partly = (status == Status.ok).any(axis=1)
    if not partly.any():
        return "failed and are in no mean"
    lacking = (status[partly] == Status.failed).any(axis=0).tolist()
    lost = [measure.name for measure, lacks in zip(scores.measures, lacking, strict=True) if lacks]
    wholly = len(partly) - int(partly.sum())
    also = f", {wholly:,} of them in no mean at all" if wholly else ""
    return f"failed in {names(lost)} and are not in those means{also}"


def values_in_range(scores: Scores, dialect: str = "karat", repeats: str = "once") -> Iterator[Note]:
    """Every value of every question within its measure's declared range."""
    for m, measure in enumerate(scores.measures):
        least, most = measure.bounds
        values = scores.values[:, :, m]
        inside = np.isfinite(values) & (values >= least - SLACK) & (values <= most + SLACK)
        outside = (scores.status[:, :, m] == Status.ok) & ~inside
        for system in np.flatnonzero(outside.any(axis=1)):
            first = int(outside[system].argmax())
            value = float(values[system, first])
            text = (
                f"{scores.systems[system]}: {measure.name} leaves its range [{least:g}, {most:g}] on "
                f"{plural(int(outside[system].sum()), 'question')} (first: {scores.questions[first]} with "
                f"{f'{value:.4f}' if np.isfinite(value) else 'no finite number'})"
            )
            yield warn("value out of range", text + (_why_above(dialect, repeats) if value > most else "") + ".")


def _why_above(dialect: str, repeats: str) -> str:
    if repeats == "count":
        return ": with repeats=count a unit retrieved twice is credited twice, so the score passes what is possible"
    if dialect in COUNTS_REPEATS:
        return f": the dialect {dialect} credits a unit each time it is retrieved, so the score passes what is possible"
    return ""


def contradicting(table: Table, counted: Mapping[tuple[str, str], int]) -> tuple[Note, ...]:
    """The contradictions of every system of a table; `counted` has the n of a system and a measure's name."""
    return tuple(
        warn(one.guard, f"{system}: {one.text}")
        for system, row in table.items()
        for one in contradictions(row, same_n=partial(_same_n, counted, system))
    )


def _same_n(counted: Mapping[tuple[str, str], int], system: str, *measures: Measure) -> bool:
    """Whether means can be set against each other: over the same number of questions."""
    return len({counted.get((system, m.name)) for m in measures}) == 1


def equal_n(whole: Iterable[Summary]) -> tuple[Note, ...]:
    """Means of different questions side by side."""
    by_measure: dict[str, dict[str, int]] = {}
    for summary in whole:
        if summary.n:  # a system without any value stands in no comparison
            by_measure.setdefault(summary.measure, {})[summary.system] = summary.n
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for measure, counts in by_measure.items():
        alike.setdefault(tuple(counts.items()), []).append(measure)
    return tuple(note for counts, measures in alike.items() for note in _unequal(names(measures), dict(counts)))


def _unequal(what: str, counts: Mapping[str, int]) -> Iterator[Note]:
    if len(set(counts.values())) < 2:
        return
    listed = ", ".join(f"{system} {n}" for system, n in counts.items())
    yield warn("equal n", f"{what}: systems are compared over different numbers of questions ({listed}).")


def depths_apart(depth: Mapping[str, int], by_name: ByName) -> Iterator[Note]:
    """Lists of different lengths compared beyond the end of the shorter ones."""
    shortest, longest = min(depth.values(), default=0), max(depth.values(), default=0)
    beyond = [name for name, m in by_name.items() if m.k is not None and shortest < m.k and m.spec.stage == "retrieval"]
    if shortest == longest or not beyond:
        return
    listed = ", ".join(f"{system} {hits}" for system, hits in depth.items())
    verb = "favour" if len(beyond) > 1 else "favours"
    text = f"systems return lists of different length (at most {listed} hits): {names(beyond)} {verb} the longer ones."
    yield warn("unequal depth", text)


def missing_answers(facts: Facts, asked: int) -> tuple[Note, ...]:
    """Questions that the results of a system that answers leave out: an empty answer is another thing."""
    means = "means of answers are over the others. --missing zero counts each as 0."
    if facts.missing_is_zero:
        means = "each counts as 0. --missing skip leaves them out."
    return tuple(
        warn(
            "missing answers",
            f"{system}: {count:,} of {plural(asked, 'question')} {'has' if count == 1 else 'have'} no answer in this "
            f"file: {means}",
        )
        for system, count in facts.missing_answers.items()
        if count
    )


def empty_answers(counts: Mapping[str, tuple[int, int]]) -> tuple[Note, ...]:
    """Answers that say nothing."""
    return tuple(
        Note(
            "warning" if empty / asked >= EMPTY_ANSWERS else "info",
            f"{system}: {empty} of {plural(asked, 'answer')} {'is' if empty == 1 else 'are'} empty "
            f"({percent(empty / asked, 0)}): 0 against references, and no support.",
            "empty answers",
        )
        for system, (empty, asked) in counts.items()
        if empty
    )


def judged_enough(whole: Iterable[Summary], by_name: ByName) -> tuple[Note, ...]:
    """Judged@k below .8: too many hits that nobody judged."""
    return tuple(
        warn(
            "few judged hits",
            f"{s.system}: {s.measure} is {s.mean:.4f}, below {JUDGED_LEAST:g}: unjudged hits count as not relevant, "
            "so its scores may be too low.",
        )
        for s in whole
        if by_name[s.measure].spec.name == "Judged" and s.mean is not None and s.mean < JUDGED_LEAST - 1e-9
    )


def judged_alike(unjudged: Mapping[str, float], whole: Sequence[Summary], by_name: ByName) -> Iterator[Note]:
    """Systems of which one has many more unjudged hits: the comparison is tilted against it.

    Without counted shares, the deepest Judged@k tells them.
    """
    shares = dict(unjudged)
    if not shares:
        depth = max((by_name[s.measure].k or 0 for s in whole if by_name[s.measure].spec.name == "Judged"), default=0)
        for s in whole:
            measure = by_name[s.measure]
            if measure.spec.name == "Judged" and (measure.k or 0) == depth and s.mean is not None:
                shares[s.system] = 1 - s.mean
    if len(shares) < 2:
        return
    least, most = min(shares, key=lambda s: shares[s]), max(shares, key=lambda s: shares[s])
    if shares[most] - shares[least] <= UNJUDGED_APART:
        return
    text = (
        f"{percent(shares[most], 0)} of the hits of {most} are unjudged, against {percent(shares[least], 0)} of "
        f"{least}: unjudged hits count as not relevant, so the comparison is tilted against {most}."
    )
    yield warn("unjudged hits differ", text)
