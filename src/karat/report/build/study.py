"""Study: the choice first, then why, what fails, what to do next, and every figure and question behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from karat.core.text.words import NONE, NOT_DIFFERENT, amount, estimate, names, number, plural, probability
from karat.report.build import methods, provenance
from karat.report.build._parts import ALPHA, notes_of, share_of
from karat.report.build.answers import answer_blocks
from karat.report.build.comparison import IS_SIGNIFICANT, RECORD, difference, pair_notes, record
from karat.report.build.evaluation import by_system, leaders, reach, slice_table, targets, usage
from karat.report.build.next_steps import next_steps
from karat.report.build.pareto import cost_columns, cost_notes, front_table, saving_lines
from karat.report.build.sweep import best_by_kind
from karat.report.document import (
    Block,
    Card,
    Cards,
    Cell,
    ChartBlock,
    Column,
    Detail,
    Document,
    Heading,
    Link,
    Listing,
    ListItem,
    Table,
    Text,
    Value,
    Widget,
    bullets,
    count_columns,
)
from karat.report.labels import LABELS, gained
from karat.report.lookups import StudyView
from karat.results.decisions import BARRED, has_no_gain
from karat.results.evaluation import SIGNIFICANT
from karat.results.study import Choice, FailureCount, Study

ROWS = 8  # systems in brief
SENTENCES = 2  # on the choice, after the first
MEASURES = 6  # columns before all are asked for
PAIRS = 1_500
HARDEST = 5
QUIET, FULL, PAGE = Detail.QUIET, Detail.FULL, Detail.PAGE


def document(
    study: Study,
    place: str = "",
    charts: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    view: StudyView | None = None,
    explorer: bool = True,
) -> Document:
    """What a study found; `place` is its folder, `charts` are Vega-Lite specifications by name, none of them needed.

    Without `explorer` the questions are left to another page. `view` saves looking the study up again.
    """
    view = view or StudyView(study)
    return Document(
        study.name,
        [
            *_summary(view),
            *_next(view, place),
            *notes_of(study.evaluation.notes, anchor="warnings"),
            *_scores(view),
            *_pairs(view),
            *_failures(view),
            *answer_blocks(view),
            *_charts(charts or {}),
            *(_questions(view) if explorer else ()),
            *_kinds(view),
            *provenance.blocks(view, place),
            *methods.blocks(view),
        ],
    )


def _summary(view: StudyView) -> Iterator[Block]:
    """What was compared, what is best and how sure that is."""
    choice = view.study.choice
    yield Heading("Summary", anchor="summary", menu="Summary", detail=QUIET)
    if choice is None:
        lines = leaders(view) or list(view.evaluation.verdicts.values())
        yield Text(" ".join(lines) or "Nothing was scored.", "headline", detail=QUIET)
        yield Text("No system has a value of the main measure, so there is nothing to choose.", detail=QUIET)
    elif choice.sentences:
        yield Text(choice.sentences[0], "headline", detail=QUIET)
    yield Cards(list(_cards(view)))
    if choice is not None:
        yield bullets(choice.sentences[1:], folded="The choice in words", most=SENTENCES, detail=QUIET)
        yield _standing(view, choice)
        kinds = best_by_kind(choice, view.measure_named.get(choice.best.measure), view.study.configurations)
        yield kinds


def _cards(view: StudyView) -> Iterator[Card]:
    evaluation, choice = view.evaluation, view.study.choice
    read = "; ".join(f"{taken.place}: {taken.what}" for taken in evaluation.taken[:3])
    systems, questions = plural(len(view.systems), "system"), plural(len(evaluation.testset), "question")
    yield Card("Compared", f"{systems} on {questions}", read)
    if choice is not None:
        best = choice.best
        configuration = view.configuration_of.get(best.system)
        described = f" {configuration.description.rstrip('.')}." if configuration and configuration.description else ""
        end = "Highest" if choice.higher_is_better else "Lowest"
        over = f"{best.system} over {plural(best.n, 'question')}, with its 95% interval.{described}"
        yield Card(
            f"{end} mean {best.measure}",
            estimate(best.mean, best.low, best.high),
            over,
        )
        yield Card("How sure", *_sureness(view, choice))
        yield from _expected(choice)
    yield from _failing(view)


def _expected(choice: Choice) -> Iterator[Card]:
    if choice.cross_validated is not None:
        bias = "" if choice.optimism is None else f" Selection bias: {number(choice.optimism, 3)}."
        picks = sorted(choice.picks.items(), key=lambda item: (-item[1], item[0]))
        folds = names({system: f"{n:,}" for system, n in picks}, 3)
        chosen = f" Chosen in {plural(sum(choice.picks.values()), 'fold')}: {folds}." if picks else ""
        yield Card(
            "Expected on new questions",
            estimate(choice.cross_validated, choice.expected_low, choice.expected_high, 2),
            f"Cross-validated: what the chosen configuration scores on questions it was not chosen by.{bias}{chosen}",
        )
    if choice.oracle is not None:
        yield Card(
            "Oracle: best configuration per question",
            number(choice.oracle, 3),
            "What the mean would be if it were known for each question: no choice by question can pass it.",
        )


def _sureness(view: StudyView, choice: Choice) -> tuple[str, str]:
    others = len(choice.equals) + len(choice.beaten)
    test = "Paired permutation test over the questions, Holm's correction."
    if not others:
        return "nothing to compare", test
    if choice.ahead:
        return "not the best of all", f"{test} Ahead of it, but barred: {names([p.a for p in choice.ahead])}."
    if not choice.equals:
        closest = max(choice.beaten, key=lambda p: p.adjusted)
        return "ahead of all others", f"{test} The closest, {closest.a}: p {probability(closest.adjusted)}."
    equal = names([pair.a for pair in choice.equals])
    figure = f"{len(choice.equals):,} of {others:,} may be as good"
    return figure, f"{test} Not significantly different: {equal}.{_fastest(view, choice)}"


def _fastest(view: StudyView, choice: Choice) -> str:
    """The quickest among the best and its equals, where times are known."""
    usage = {s: view.evaluation.usage_of(s, "seconds") for s in (choice.best.system, *(p.a for p in choice.equals))}
    timed = {system: one.typical for system, one in usage.items() if one is not None}
    if len(timed) < 2:
        return ""
    quick = min(timed, key=lambda s: (timed[s], s))
    return f" The quickest of them is {quick}: {amount(float(f'{1000 * timed[quick]:.2g}'))} ms a question."


def _main_failure(view: StudyView) -> tuple[str, str]:
    """What costs the leading system most, by its name and in sentences."""
    worst = view.failure_counts[0]
    label, failed = LABELS[worst.label], sum(len(c.questions) for c in view.failure_counts)
    mean = worst.measure or f"recall at {view.study.k}"
    gain = "" if has_no_gain(worst) else f" Fixing it would add {number(worst.gain, 3)} to the mean {mean}."
    count = f"{len(worst.questions):,} of the {plural(failed, 'question')} that {worst.system} fails."
    return label.title, f"{count} {label.meaning}{gain}"


def _failing(view: StudyView) -> Iterator[Card]:
    warned = sum(note.level == "warning" for note in view.evaluation.notes)
    heed = f"Read the {plural(warned, 'warning')} first." if warned else ""
    if not view.failure_counts:
        yield Card(
            "Main failure", "none", f"No failure is recorded for {view.best or 'any system'} at k = {view.study.k}."
        )
        if warned:
            yield Card("Next step", "read the warnings", heed, "#warnings")
        return
    label = LABELS[view.failure_counts[0].label]
    yield Card("Main failure", *_main_failure(view), "#failures")
    choice = view.study.choice
    equal = " Among those that do not differ significantly take the simplest or the quickest, or add questions."
    yield Card(
        "Next step", label.step, f"{label.next}{equal if choice is not None and choice.equals else ''} {heed}".strip()
    )


def _standing(view: StudyView, choice: Choice) -> Table:
    """Systems by the main measure: the best, and each other one against it."""
    against = {}
    standings = {
        "not significantly different": choice.equals,
        "significantly worse": choice.beaten,
        "ahead, but barred": choice.ahead,
    }
    for words, pairs in standings.items():
        for pair in pairs:
            gap = number(abs(pair.difference), 3) if pair.difference is not None else NONE
            against[pair.a] = f"{words}: {gap}, p {probability(pair.adjusted)}" if pair.n else "no question in common"
    equal = {pair.a for pair in choice.equals}
    marks = {**dict.fromkeys(equal, "~"), **dict.fromkeys(choice.barred, "!"), choice.best.system: "*"}
    measure = view.measure_named.get(choice.best.measure)
    rows: list[list[Cell]] = []
    place = {system: i for i, system in enumerate(view.ranking)}
    cells = sorted(choice.cells, key=lambda c: place.get(c.system, len(place)))
    costs = cost_columns(view.evaluation, [cell.system for cell in cells])
    for number_, cell in enumerate(cells):
        summary = view.summary(cell.system, measure) if measure is not None else None
        value = Value(
            cell.mean, cell.low, cell.high, unit=measure.spec.unit if measure is not None else "",
            mark=marks.get(cell.system, ""), best=cell == choice.best, note=(summary.note if summary else None) or "",
            share=None if measure is None else share_of(measure, cell.mean),
        )  # fmt: skip
        stands = "best" if cell == choice.best else against.get(cell.system, NONE)
        spent = [column[number_] for _, column in costs]
        rows.append([cell.system, view.alpha(cell.system), value, cell.n, *spent, stands])
    columns = [Column("system"), ALPHA, Column(choice.best.measure, "value"), Column("n", "count")]
    columns += [*(column for column, _ in costs), Column("against the best")]
    legend = ["*: best." + (f" ~: {NOT_DIFFERENT}." if equal else "")]
    if choice.barred:
        legend.append(BARRED)
    ceiling = view.evaluation.ceilings.get(choice.best.measure)
    if ceiling is not None:
        legend.append(f"Ceiling, the best that any ranking could reach with this gold: {number(ceiling, 3)}.")
    legend += cost_notes([column.title for column, _ in costs])
    return Table(f"Systems by {choice.measure}", columns, rows, most=ROWS, footnotes=legend, detail=QUIET)


def _next(view: StudyView, place: str) -> Iterator[Block]:
    steps = [step.partition(": karat ") for step in next_steps(view.study, place)]
    yield Heading("What to do next", depth=3, detail=QUIET)
    items = [ListItem("-", "Main failure, {}: {}".format(*_main_failure(view)))] if view.failure_counts else []
    items += [
        ListItem("-", f"{text}:", command=f"karat {command}") if mark else ListItem("-", text)
        for text, mark, command in steps
    ]
    items += [ListItem("-", line) for line in saving_lines(view.evaluation)]
    yield Listing(items, detail=QUIET)


def _scores(view: StudyView) -> Iterator[Block]:
    """Every system by every measure, then what failed rows could change, targets and times."""
    yield Heading("Scores", anchor="scores", menu="Scores", detail=FULL)
    systems = view.ranking
    whole = [view.summary(s, view.main) if view.main is not None else None for s in systems]
    more: list[tuple[Column, Sequence[Cell]]] = [(ALPHA, [view.alpha(s) for s in systems])]
    hints = {
        "n": "questions with a value, by the main measure",
        "undefined": "questions where the main measure has no meaning",
        "failed": "questions where something broke",
    }
    for title, field in (("n", "n"), ("undefined", "n_undefined"), ("failed", "n_failed")):
        more.append((Column(title, "count", hint=hints[title]), [getattr(s, field, None) for s in whole]))
    table = by_system(view, view.ordered_measures, systems, MEASURES, more)
    yield replace(table, caption="Systems by measure", detail=FULL)
    yield from (front_table(front) for front in view.evaluation.pareto)
    yield from reach(view)
    yield from targets(view.evaluation)
    yield from usage(view.evaluation)


def _pairs(view: StudyView) -> Iterator[Block]:
    """Any two systems on the same questions, with the test between them; those of the main measure first."""
    main = view.study.main
    pairs = sorted(
        view.study.pairs, key=lambda p: (p.measure != main, p.measure, not p.n, p.adjusted, -abs(p.difference or 0.0))
    )
    yield Heading("Pairs", anchor="pairs", menu="Pairs", detail=PAGE)
    columns = [
        Column("b"), Column("a"), Column("measure", pick=True), Column("b - a", "value"),
        Column("p", "p", hint="paired permutation test"),
        Column("p adjusted", "p", hint="Holm's correction over the pairs shown together"),
        RECORD, Column("n", "count"),
        IS_SIGNIFICANT,
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [p.b, p.a, p.measure, difference(p), p.p, p.adjusted, record(p), p.n,
         "yes" if p.adjusted <= SIGNIFICANT else "no"] if p.n else
        [p.b, p.a, p.measure, None, None, None, record(p), 0, None]
        for p in pairs[:PAIRS]
    ]  # fmt: skip
    notes = ["b minus a over the questions that both have a value for."]
    notes += [f"{plural(len(pairs) - PAIRS, 'more pair')} are in comparisons.csv."] if len(pairs) > PAIRS else []
    notes += pair_notes(pairs)
    yield Table("Pairs of systems", columns, rows, footnotes=notes, detail=PAGE)


def _failures(view: StudyView) -> Iterator[Block]:
    """How each system fails and what fixing that would add, then each failed question of the leading one."""
    study = view.study
    place = {system: i for i, system in enumerate(view.ranking)}
    counts = sorted(study.failure_counts, key=lambda c: (place.get(c.system, len(place)), -c.gain, c.label))
    yield Heading("Failures", anchor="failures", menu="Failures", detail=FULL)
    columns = [
        Column("system", pick=True), Column("failure", pick=True), Column("questions", "count"),
        Column("to gain", "value", hint="what fixing all of them would add to the mean of the measure named"),
        Column("meaning"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [c.system, LABELS[c.label].title, len(c.questions), _gain(c, study.k), LABELS[c.label].meaning] for c in counts
    ]
    own = sum(count.system == view.best for count in counts)
    lead = (
        f"A question fails when its top {study.k} misses relevant gold, or its answer is wrong. "
        "Each failed question has one label: the first step that lost it."
    )
    caption = f"Ways to fail at {study.k}, {view.best} first"
    yield Table(caption, columns, rows, most=own or None, footnotes=[lead], detail=FULL)
    classes = study.error_classes
    titles = list(dict.fromkeys(name for own in classes.values() for name in own))
    ordered = [*(s for s in view.ranking if s in classes), *(s for s in classes if s not in view.ranking)]
    yield Table(
        "Error classes, as hybrid-rag counts them",
        [Column("system"), *count_columns(*(name.replace("_", " ") for name in titles))],
        [[s, *(classes[s].get(name, 0) for name in titles)] for s in ordered],
        most=1,
        detail=FULL,
    )
    yield _failed_questions(view)


def _gain(count: FailureCount, k: int) -> Cell:
    return None if has_no_gain(count) else Value(count.gain, signed=True, digits=3, note=gained(count, k))


def _failed_questions(view: StudyView) -> Table:
    """Each failed question of the leading system, with a way to it."""
    questions = {q.id: q for q in view.evaluation.testset}
    rows: list[list[Cell]] = []
    failures = [failure for failure in view.study.failures if failure.system == view.best]
    for failure in (f for f in failures if f.question in view.on_page or f.question not in view.number_of):
        asked = questions.get(failure.question)
        text = f"{failure.question}: {asked.text}" if asked is not None and asked.text else failure.question
        number_ = view.on_page.get(failure.question)
        cell: Cell = Link(text, f"#q{number_}") if number_ is not None else text
        rows.append([cell, (asked.kind if asked else None) or NONE, LABELS[failure.label].title, failure.detail])
    columns = [Column("question"), Column("kind", pick=True), Column("failure", pick=True), Column("why")]
    some = f"{len(rows):,} of " if len(rows) < len(failures) else ""
    return Table(f"{some}{plural(len(failures), 'question')} that {view.best} fails", columns, rows, detail=PAGE)


def _charts(charts: Mapping[str, Mapping[str, Any]]) -> Iterator[Block]:
    yield Heading("Charts", anchor="charts", menu="Charts", detail=PAGE)
    yield from (ChartBlock(name, spec) for name, spec in charts.items())


def _questions(view: StudyView) -> Iterator[Block]:
    from karat.report.explorer import pack

    lead = "Every question with what each system found for it. Open one to see why it scored as it did."
    yield Heading("Questions", anchor="questions", menu="Questions", detail=PAGE)
    yield Text(lead, "lead", detail=PAGE)
    without = "The explorer needs a script; rows.csv holds the same, a row a question."
    yield Widget("explorer", without, "study-data", partial(pack, view))


def _kinds(view: StudyView) -> Iterator[Block]:
    """Every slice by measure, then for each of its values how the leading system fails and which questions are hard."""
    yield Heading("Kinds of questions", anchor="kinds", menu="Kinds", detail=FULL)
    for name, values in view.slices.items():
        yield replace(slice_table(view, name), detail=FULL)
        if name not in view.study.evaluation.testset.slices:
            continue  # it differs by system: no question has one value
        questions = view.questions_of(name)
        rows: list[list[Cell]] = []
        for value in values:
            asked = questions.get(value, [])
            labels = Counter(f.label for q in asked if (f := view.failure_of.get((view.best or "", q.id))) is not None)
            fails = ", ".join(f"{LABELS[label].title} {n:,}" for label, n in labels.most_common())
            hard = sorted(
                (q for q in asked if q.id in view.ease), key=lambda q: (view.ease[q.id], view.number_of[q.id])
            )
            links: list[Cell] = [
                Link(q.id, f"#q{view.on_page[q.id]}") if q.id in view.on_page else q.id for q in hard[:HARDEST]
            ]
            rows.append([value, len(asked), fails or NONE, *links, *([""] * (HARDEST - len(links)))])
        columns = [Column(name), Column("questions", "count"), Column(f"{view.best} fails")]
        hardest = [Column("hardest" if i == 0 else "", hint="for all systems together") for i in range(HARDEST)]
        yield Table(f"Failures and hardest questions by {name}", [*columns, *hardest], rows, detail=PAGE)
