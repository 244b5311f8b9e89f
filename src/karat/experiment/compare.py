"""Compare: systems of stored runs, result files or score tables, paired by question."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from karat.core.errors import NoOverlapError, UsageError, did_you_mean
from karat.core.progress import shown_in_notebook
from karat.core.text.words import conversations_note
from karat.experiment._compared_inputs import (
    ComparedInput,
    ScoredSystem,
    compared_inputs,
    conversations_of,
    lacking,
    named,
    score_arrays,
)
from karat.experiment._costs import compared_costs
from karat.experiment._paired import (
    judge_noise,
    missing_notes,
    pair_result,
    range_notes,
    slice_differences,
    system_means,
    unreachable_notes,
    with_flips,
)
from karat.experiment.rendering import file_writer
from karat.experiment.settings import (
    MatchSettings,
    SignificanceTest,
    scored_by,
    settings_apart,
    settings_of,
    takes_settings,
    texts_of,
)
from karat.results.comparison import ComparedMeasure, Comparison, DroppedQuestions
from karat.results.evaluation import SIGNIFICANT, Note

if TYPE_CHECKING:
    from karat.io.writing import Content


SHOWN = 4  # measures compared unless some are named
FLIPS = 5  # questions named in each direction
_FEW = 3
_SEVERAL = 3  # systems from which on Tukey's test says more than that of a pair


@shown_in_notebook("progress")
@takes_settings(matching=MatchSettings, test=SignificanceTest)
def compare(
    *inputs: Any,
    testset: Any = None,
    measures: str | Iterable[str] | None = None,
    by: str | Iterable[str] | None = None,
    baseline: str | None = None,
    test: str | Mapping[str, Any] | SignificanceTest | None = None,
    flips: int | None = FLIPS,
    common: bool = False,
    lower: str | Iterable[str] | None = None,
    matching: str | Mapping[str, Any] | MatchSettings | None = None,
    columns: Mapping[str, str] | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare systems over the same questions: differences, intervals, tests, corrected; wins, losses and who flipped.

    `inputs` are stored runs (LAST, a name, a prefix; RUN:SYSTEM for one of its systems), files of results (with their
    `testset`), score tables (paths, frames, lists of dicts), Reports, Studies, or what `karat.run` returned. Each pair
    is b - a over the questions that both have a value for. With a `baseline` every other system is compared with it,
    else all pairs are. `by` names slices, `test` what decides: permutation, wilcoxon, t or tukey, or more of
    `SignificanceTest` as a dict: `{"correction": "bh", "draws": 1000}`. `flips` is how many questions are
    named in each direction (None: all), `lower` measures of a table of which less is better. `common` compares runs of
    different test sets over the questions that are the same in both.
    """
    say = progress or (lambda step: None)
    settings = settings_of(SignificanceTest, test)
    if flips is not None and flips < 0:
        raise UsageError(f"--flips {flips}: name 0 or more.")
    asked = texts_of(measures)
    say("reading scores")
    sources = compared_inputs(
        inputs,
        testset=testset,
        measures=asked,
        runs_dir=runs_dir,
        lower=texts_of(lower),
        columns=columns,
        matching=matching,
    )
    systems = named(sources)
    _refuse_too_few(systems, sources)
    alike = _same_questions(sources, common)
    _refuse_other_texts(sources)
    _refuse_scored_apart(sources)
    chosen, notes = chosen_measures(sources, asked)
    notes += _matched_apart(sources)
    questions, losses = _aligned(sources, systems, alike)
    values, status = score_arrays(systems, questions, chosen)
    conversations = conversations_of(sources, questions)
    if resampled := conversations_note(conversations):
        notes.append(Note("info", resampled))
    names = [system.name for system in systems]
    chosen, past = range_notes(values, names, questions, chosen)
    notes += past
    pairs = _pairs(names, baseline)
    from karat.stats.compare import compare_systems, draws_for

    if settings.test == "tukey" and len(names) < _SEVERAL:
        settings = replace(settings, test="permutation")
        notes.append(Note("info", "Tukey's test is of three systems and more: of two the permutation test decides."))
    tests = len(pairs) * len(chosen)
    decides, correction, seed = settings.test, settings.correction, settings.seed
    many = settings.draws if settings.draws is not None else draws_for(tests if decides == "permutation" else 1)
    say(f"comparing {len(pairs)} pairs by {len(chosen)} measures")
    less = [measure.direction == "lower" for measure in chosen]
    figures = compare_systems(values, pairs, lower=less, draws=many, seed=seed, clusters=conversations)
    tests = int((figures.n > 0).sum())  # of a pair without a question in common there is nothing to test
    noise = judge_noise(systems, chosen)
    p, adjusted = figures.p(decides), figures.adjusted(decides, correction)
    texts = {q: text for source in sources for q, text in source.texts.items()}
    results = []
    for m, measure in enumerate(chosen):
        for i, pair in enumerate(pairs):
            result = pair_result(
                figures, m, i, pair, values[m], names, measure, (float(p[m, i]), float(adjusted[m, i])), noise
            )
            results.append(with_flips(result, values[m], pair, questions, texts, measure, flips))
    sliced, slice_tests = slice_differences(
        sources, texts_of(by), values, questions, pairs, names, chosen, correction, many, seed,
        conversations,
    )  # fmt: skip
    if len(sources) > 1 and any(source.testset is None for source in sources):
        notes.append(Note("info", "Score tables do not say which test set they are of: they are paired by id alone."))
    notes += [*missing_notes(status, names, chosen), *unreachable_notes(many, tests, correction, decides, SIGNIFICANT)]
    means = system_means(values, status, names, chosen, baseline, conversations)
    costs, cost_pairs = compared_costs(systems, questions, pairs, correction, many, seed, conversations)
    return Comparison(
        systems=tuple(names),
        measures=tuple(chosen),
        questions=questions,
        means=means,
        pairs=tuple(results),
        slices=sliced,
        baseline=baseline,
        test=decides,
        correction=correction,
        level=SIGNIFICANT,
        tests=tests,
        slice_tests=slice_tests,
        draws=many,
        seed=seed,
        taken=tuple(taken for source in sources for taken in source.taken),
        losses=losses,
        noise=tuple(noise.values()),
        notes=tuple(notes),
        costs=costs,
        cost_pairs=cost_pairs,
    )


def _refuse_too_few(systems: Sequence[ScoredSystem], sources: Sequence[ComparedInput]) -> None:
    if not systems:
        raise UsageError("nothing to compare. Name two runs, files of results with --testset, or score tables.")
    if len(systems) == 1:
        raise UsageError(
            f"{sources[0].place} holds one system, {systems[0].name}, and a comparison needs two. Name another."
        )


def _same_questions(sources: Sequence[ComparedInput], common: bool) -> set[str] | None:
    """Refuse what was asked of different test sets; with `common`, the questions that are the same in all."""
    from karat.experiment.frozen import same_testset

    known = [source for source in sources if source.testset is not None]
    about = [source.manifest or _about(source) for source in known]
    testsets = [source.testset for source in known if source.testset is not None]
    try:
        same_testset(about, testsets)
    except UsageError as problem:
        every = [{question.id: question for question in testset} for testset in testsets]
        same = {id_ for id_, question in every[0].items() if all(other.get(id_) == question for other in every[1:])}
        if common and same:
            return same
        hint = f" Or add --common: {len(same):,} questions are the same in all of them." if same else ""
        raise UsageError(f"{problem}{hint}") from None
    return None


def _refuse_other_texts(sources: Sequence[ComparedInput]) -> None:
    """Refuse a table that asks something else under the same id."""
    known: dict[str, tuple[str, str]] = {}
    for source in sources:
        for question, text in source.texts.items():
            place, earlier = known.setdefault(question, (source.place, text))
            if " ".join(text.split()) != " ".join(earlier.split()):
                raise UsageError(
                    f"question {question} is not the same in all of them: {place} asks {earlier[:60]!r}, "
                    f"{source.place} {text[:60]!r}. They are of different test sets and cannot be paired by id."
                )


def _refuse_scored_apart(sources: Sequence[ComparedInput]) -> None:
    """Refuse runs by whose scoring a measure does not mean the same."""
    runs = [(source, source.manifest) for source in sources if source.manifest is not None]
    for source, manifest in runs[1:]:
        apart = settings_apart(scored_by(runs[0][1], runs[0][0].matching), scored_by(manifest, source.matching))
        if apart:
            raise UsageError(
                f"{runs[0][0].place} and {source.place} are not scored alike ({apart}): their figures cannot be "
                "compared. Score both alike."
            )


def _matched_apart(sources: Sequence[ComparedInput]) -> list[Note]:
    """A warning where files of results, or a report, were matched otherwise than the rest."""
    by: dict[str, str] = {}
    lacking: dict[str, str] = {}
    for source in sources:
        if source.matching is not None:
            by.setdefault(source.matching.matcher, source.place)
            lacking |= {name: " and no ".join(counts) for name, counts in source.matching.unmatchable.items()}
    notes = []
    if len(by) > 1:
        matchers = ", ".join(f"{place} by {matcher}" for matcher, place in by.items())
        text = f"Hits are not matched alike with the gold ({matchers}): a difference may be the matcher's. See --match."
        notes.append(Note("warning", text))
    notes += [
        Note("warning", f"{name}: its hits have no {fields}, so gold that needs it is not in its scores.")
        for name, fields in lacking.items()
    ]
    return notes


def _about(source: ComparedInput) -> dict[str, Any]:
    assert source.testset is not None
    testset = source.testset
    identity = {"path": testset.name, "digest": testset.digest, "questions": len(testset), "version": testset.version}
    return {"inputs": {"testset": identity}}


def chosen_measures(
    found: Sequence[ComparedInput], asked: Sequence[str], *, most: int = SHOWN
) -> tuple[list[ComparedMeasure], list[Note]]:
    """The measures to compare by, all of which every input has; the ones that matter most where none is named."""
    from karat.core.language import expand, parse

    shared = [name for name in found[0].main if not any(lacking(found, name))]
    known = dict.fromkeys(name for source in found for name in source.measures)
    if not asked:
        if not shared:
            by_source = "; ".join(f"{source.place}: {', '.join(list(source.measures)[:6])}" for source in found)
            raise UsageError(
                f"there is no measure that all of them have ({by_source}). Score them by the same measures."
            )
        left = len(known) - len(shared)
        notes = [Note("info", f"{left} measures are not in every input and are left out.")] if left else []
        if len(shared) > most:
            notes.append(Note("info", f"By {most} of {len(shared)} measures; -m names others."))
        return [found[0].measures[name] for name in shared[:most]], notes
    chosen: dict[str, ComparedMeasure] = {}
    for text in (one for given in asked for one in expand(given)):
        name = text if text in known else next((k for k in known if k.lower() == text.lower()), None)
        if name is None:
            measure = parse(text, load_code=True)
            measure.require_mean("comparisons test")
            form = found[0].testset.norm if found[0].testset is not None else None
            name = measure.name if form is None else measure.with_norm(form).name
        missing = list(lacking(found, name))
        if missing:
            offered = f"In all of them are {', '.join(shared)}." if shared else ""
            raise UsageError(f"{missing[0]} was not scored by {name}.{did_you_mean(name, shared)} {offered}".rstrip())
        chosen[name] = found[0].measures[name]
    return list(chosen.values()), []


def _aligned(
    sources: Sequence[ComparedInput], systems: Sequence[ScoredSystem], alike: set[str] | None
) -> tuple[tuple[str, ...], tuple[DroppedQuestions, ...]]:
    """The questions that every system has, in the order of their ids, and what is lost by that."""
    held = [set(system.questions) for system in systems]
    shared = set.intersection(*held) if alike is None else set.intersection(alike, *held)
    if not shared:
        some = ", ".join(sorted(held[0])[:_FEW]), ", ".join(sorted(held[-1])[:_FEW])
        raise NoOverlapError(
            f"no question is in all of them: {systems[0].name} has {some[0]} ..., {systems[-1].name} {some[1]} ... "
            "They are paired by id: give the same questions the same ids."
        )
    if len(shared) == 1:
        raise UsageError(
            f"one question ({min(shared)}) is all they have in common, and nothing can be told from one. Add questions."
        )
    losses = []
    start = 0
    for source in sources:
        mine = set().union(*held[start : start + len(source.systems)])
        start += len(source.systems)
        if len(mine) > len(shared):
            losses.append(DroppedQuestions(source.place, len(mine), len(shared), tuple(sorted(mine - shared)[:_FEW])))
    return tuple(sorted(shared)), tuple(losses)


def _pairs(names: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        ends = [name for name in names if name.rpartition(":")[2] == baseline]
        offered = f"There are {', '.join(names)}."
        why = "is several systems" if len(ends) > 1 else "is none of the systems"
        raise UsageError(f"--baseline {baseline} {why}.{did_you_mean(baseline, names)} {offered}")
    first = names.index(baseline)
    return [(first, other) for other in range(len(names)) if other != first]


def comparison_writer(path: str | os.PathLike[str]) -> Callable[[Comparison], None]:
    """What writes a comparison into this file, by its ending; an ending that says nothing is refused at once."""
    from karat.report import objects, tables
    from karat.report.build.comparison import document, means
    from karat.report.document import Document
    from karat.report.outputs import xlsx
    from karat.report.render import latex, written

    forms: dict[str, Callable[[Comparison], Content]] = {
        ".html": lambda comparison: written(document(comparison, charts=True), ".html"),
        ".tex": lambda comparison: latex.render(Document("", [means(comparison)]), label="tab:karat-compare"),
        ".csv": tables.comparison, ".json": objects.comparison,
        ".xlsx": xlsx.of_comparison,
    }  # fmt: skip
    return file_writer(path, document, forms)
