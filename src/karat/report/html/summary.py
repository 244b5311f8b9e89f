"""Summary: what was compared, what is best and how sure that is, what fails most, what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text.words import estimate, plural
from karat.report._labels import LABELS, nothing_to_gain
from karat.report._numbers import amount
from karat.report.html._markup import Box, Column, Row, bullets, folded, section, table, text
from karat.report.html._shown import Shown, listed, probability

if TYPE_CHECKING:
    from karat.results.study import Choice


def make(shown: Shown) -> str:
    """The first thing on the page."""
    cards = "".join(
        f'<div class="card"><h3>{title}</h3><p class="figure">{head}</p><p>{said}</p></div>'
        for title, head, said in _cards(shown)
    )
    body = f'<p class="headline">{_headline(shown)}</p><div class="cards">{cards}</div>{_words(shown)}{_by_kind(shown)}'
    return section("summary", "Summary", body)


def _headline(shown: Shown) -> str:
    choice = shown.study.choice
    if choice is not None and choice.sentences:
        return text(choice.sentences[0])
    lines = shown.view.leaders or list(shown.evaluation.verdicts.values())
    return " ".join(text(line) for line in lines) or "Nothing was scored."


def _ends(shown: Shown, choice: Choice) -> str:
    return shown.ends(choice.best.measure, choice.best.low, choice.best.high)


def _words(shown: Shown) -> str:
    """The choice in full sentences; without one, the verdict on each system."""
    choice = shown.study.choice
    if choice is not None:
        more = choice.sentences[1:]
        return folded("The choice in words", bullets(map(text, more))) if more else ""
    verdicts = bullets(map(text, shown.evaluation.verdicts.values()))
    return folded("The verdict on each system", verdicts) if shown.view.leaders else ""


def _cards(shown: Shown) -> Iterator[tuple[str, str, str]]:
    study, evaluation = shown.study, shown.evaluation
    taken = "; ".join(f"{text(t.place)}: {text(t.what)}" for t in evaluation.taken[:3])
    compared = plural(len(shown.view.systems), "system")
    yield "Compared", f"{compared} on {plural(len(evaluation.testset), 'question')}", taken
    if study.choice is not None:
        yield from _choice(shown, study.choice)
    yield from _failing(shown)


def _choice(shown: Shown, choice: Choice) -> Iterator[tuple[str, str, str]]:
    best = choice.best
    head = f"{shown.value(best.measure, best.mean)} <small>{_ends(shown, choice)}</small>"
    said = f"<b>{text(best.system)}</b> over {plural(best.n, 'question')}, with its 95% interval."
    use = shown.configuration_of.get(best.system)
    if use is not None and use.description:
        said += f" {text(use.description).rstrip('.')}."
    end = "Highest" if choice.higher_is_better else "Lowest"
    yield f"{end} mean {text(best.measure)}", head, said
    yield "How sure", *_sureness(shown, choice)
    if choice.cross_validated is not None:
        lost = f" Selection bias: {shown.value(best.measure, choice.optimism)}."
        picks = sorted(choice.picks.items(), key=lambda item: (-item[1], item[0]))
        total = sum(choice.picks.values())
        folds = f" Chosen in {plural(total, 'fold')}: " + listed([f"{text(c)} {n:,}" for c, n in picks], 3) + "."
        yield (
            "Expected on new questions",
            estimate(choice.cross_validated, choice.expected_low, choice.expected_high, 2),
            "Cross-validated: what the chosen configuration scores on questions it was not chosen by."
            + (lost if choice.optimism is not None else "")
            + (folds if picks else ""),
        )
    if choice.oracle is not None:
        yield (
            "Oracle: best configuration per question",
            shown.value(best.measure, choice.oracle),
            "What the mean would be if it were known for each question: no choice by question can pass it.",
        )


def _sureness(shown: Shown, choice: Choice) -> tuple[str, str]:
    others = len(choice.equals) + len(choice.beaten)
    test = "Paired permutation test over the questions, Holm's correction."
    if not others:
        return "nothing to compare", test
    if choice.ahead:
        return "not the best of all", f"{test} Ahead of it, but barred: {listed([text(p.a) for p in choice.ahead], 4)}."
    if not choice.equals:
        closest = max(choice.beaten, key=lambda p: p.adjusted)
        return "ahead of all others", f"{test} The closest, {text(closest.a)}: p {probability(closest.adjusted)}."
    names = [text(pair.a) for pair in choice.equals]
    told = f"{len(choice.equals):,} of {others:,} may be as good"
    return told, f"{test} Not significantly different: {listed(names, 4)}.{_fastest(shown, choice)}"


def _fastest(shown: Shown, choice: Choice) -> str:
    """The quickest among the best and its equals, where times are known."""
    timed = shown.seconds((choice.best.system, *(pair.a for pair in choice.equals)))
    if len(timed) < 2:
        return ""
    quick = min(timed, key=lambda s: (timed[s], s))
    return f" The quickest of them is {text(quick)}: {amount(float(f'{1000 * timed[quick]:.2g}'))} ms a question."


def _failing(shown: Shown) -> Iterator[tuple[str, str, str]]:
    warned = sum(note.level == "warning" for note in shown.evaluation.notes)
    heed = f' Read the <a href="#warnings">{plural(warned, "warning")}</a> first.' if warned else ""
    if not shown.counts:
        told = f"No failure is recorded for {text(shown.best or 'any system')} at k = {shown.study.k}."
        yield "Main failure", "none", told
        if warned:
            yield "Next step", "read the warnings", heed.strip()
        return
    worst = shown.counts[0]
    label = LABELS[worst.label]
    failed = sum(len(c.questions) for c in shown.counts)
    mean = text(worst.measure) if worst.measure else f"recall at {shown.study.k}"
    gain = "" if nothing_to_gain(worst) else f" Mending it would add {shown.value('', worst.gain)} to the mean {mean}."
    yield (
        "Main failure",
        f'<a href="#failures">{text(label.title)}</a>',
        f"{len(worst.questions):,} of the {plural(failed, 'question')} that {text(worst.system)} fails. "
        f"{text(label.meaning)}{gain}",
    )
    yield "Next step", text(label.step), f"{text(label.next)}{_or_else(shown)}{heed}"


def _or_else(shown: Shown) -> str:
    """What is left to the reader where others may be as good."""
    choice = shown.study.choice
    if choice is None or not choice.equals:
        return ""
    return " Among those that do not differ significantly take the simplest or the quickest, or add questions."


def _by_kind(shown: Shown) -> str:
    """Which configuration, and which alpha, for which kind of question."""
    choice = shown.study.choice
    if choice is None or not choice.by_kind:
        return ""
    rows: list[Row] = []
    for kind in choice.by_kind:
        best, alpha = kind.best, shown.alpha(kind.best.system)
        names = [text(n) for n in kind.equals]
        mean, ends = shown.value(best.measure, best.mean), shown.ends(best.measure, best.low, best.high)
        equals = folded(plural(len(names), "equal"), ", ".join(names)) if names else "none"
        rows.append(
            [
                text(kind.kind),
                f"{kind.n:,}",
                text(best.system),
                "–" if alpha is None else f"{alpha:g}",
                f"{mean} <small>{ends}</small>",
                Box(equals, float(len(names))),
            ]
        )
    columns = [
        Column("kind"),
        Column("n", number=True, hint="questions"),
        Column("best"),
        Column("alpha", number=True, hint="weight of the dense leg: 1 is dense alone, 0 is words alone"),
        Column(text(choice.measure), number=True),
        Column("not significantly different"),
    ]
    return table("Which alpha for which kind of question", columns, rows)
