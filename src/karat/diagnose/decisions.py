"""Decisions in words: what was chosen, how sure that is and what to expect of it; and the verdict on each system.

Sentences that are stored with results: `experiment` asks for them when it has chosen or scored, reports show them.
What they rest on, numbers alone, is in `results.decisions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.text.words import estimate, names, not_different, number, plural, probability
from karat.results.decisions import can_show_nothing, headlines, weakest_slice
from karat.results.evaluation import SIGNIFICANT

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.comparison import Pair
    from karat.results.evaluation import Summary
    from karat.results.study import Choice

NAMED = 6  # names in a sentence


def in_words(choice: Choice | None, conversations: Mapping[str | None, int] | None = None) -> Choice | None:
    """The choice with its sentences; of how many conversations its questions (None), and those of a kind, are turns."""
    return choice and replace(choice, sentences=choice_sentences(choice, conversations))


def choice_sentences(choice: Choice, conversations: Mapping[str | None, int] | None = None) -> tuple[str, ...]:
    """The choice in words, the verdict first."""
    sentences = [_verdict(choice), *_expected(choice), *_about_kinds(choice, conversations or {})]
    if choice.oracle is not None and (choice.equals or choice.beaten):
        sentences.insert(2, f"Oracle (best configuration per question): {number(choice.oracle, 3)}.")
    ahead = {pair.a for pair in choice.ahead}
    lacking = [name for name in choice.barred if name not in ahead]
    if lacking:
        without = "Not considered, since more than a tenth of the questions have no value"
        sentences.append(f"{without}: {names(lacking, NAMED)}.")
    return tuple(sentences)


def _verdict(choice: Choice) -> str:
    """Which cell is best, how sure that is, and who is ahead of it that cannot be called best."""
    best, others = choice.best, len(choice.equals) + len(choice.beaten)
    end = "highest" if choice.higher_is_better else "lowest"
    stands = f"{best.system} " + (f"ties with {names(choice.ties, NAMED)} for" if choice.ties else "has")
    mean = estimate(best.mean, best.low, best.high)
    stands += f" the {end} {choice.measure} ({mean}, {plural(best.n, 'question')})"
    if choice.ahead:
        stands += " of those with a value on nine tenths of the questions"
    if not others and not choice.ahead:
        return f"{stands}; it is the only one, so there was nothing to choose."
    if choice.equals:
        stands += f"; {not_different(len(choice.equals), others)}"
        if choice.beaten:
            same = sorted(choice.equals, key=lambda pair: abs(pair.difference or 0.0))
            stands += f": {names([pair.a for pair in same], NAMED)}"
    elif choice.beaten:
        stands += f"; significantly better than {'the other' if others == 1 else f'all {others:,} others'}"
    return " ".join([f"{stands}.", *(_ahead(choice, pair) for pair in choice.ahead[:NAMED])])


def _ahead(choice: Choice, pair: Pair) -> str:
    """A cell that is better than the best, and why it is barred from being called so."""
    n = {cell.system: cell.n for cell in choice.cells}
    most = max(n.values())
    sure = f"{'' if pair.adjusted <= SIGNIFICANT else 'not significant, '}p {probability(pair.adjusted)}"
    lead = number(abs(pair.difference or 0.0), 3)
    return (
        f"{pair.a} is ahead of it by {lead} on the {plural(pair.n, 'question')} that both "
        f"have ({sure}), but is barred from being best: {most - n[pair.a]:,} of {plural(most, 'question')} have no "
        "value, more than a tenth."
    )


def _expected(choice: Choice) -> list[str]:
    if choice.cross_validated is None or choice.optimism is None:
        return ["There are too few questions to say what to expect on new ones."]
    if not choice.equals and not choice.beaten:
        return []
    expected = f"expect about {estimate(choice.cross_validated, choice.expected_low, choice.expected_high, 2)}"
    measured = round(choice.optimism, 3) > 0
    bias = f"Selection bias about {number(choice.optimism, 3)}" if measured else "No measurable selection bias"
    return [f"{bias}: {expected} on new questions."]


def _about_kinds(choice: Choice, conversations: Mapping[str | None, int]) -> list[str]:
    sentences = []
    others = len(choice.equals) + len(choice.beaten)
    differs = [kind for kind in choice.by_kind if choice.best.system not in (kind.best.system, *kind.equals)]
    size = {kind.kind: conversations.get(kind.kind, kind.n) for kind in choice.by_kind}
    silent = {kind: f"({n})" for kind, n in size.items() if can_show_nothing(others, n)}
    if differs:
        which = ", ".join(f"{kind.kind} ({kind.best.system}, {kind.n} questions)" for kind in differs)
        sentences.append(f"Another is significantly better for some question types: {which}.")
    elif others and len(silent) < len(choice.by_kind):
        sentences.append("For no question type is another significantly better.")
    units = "conversations" if conversations else "questions"
    few = f"Too few {units} to show any difference between {others + 1} systems"
    if others and can_show_nothing(others, conversations.get(None, choice.best.n)):
        sentences.append(f"{few}.")
    elif silent:
        sentences.append(f"{few}: {names(silent, NAMED)}.")
    if choice.too_few:
        kinds = names({kind: f"({n})" for kind, n in choice.too_few.items()}, NAMED)
        sentences.append(f"Too few questions with a value, so nothing is chosen: {kinds}.")
    return sentences


def verdicts(summaries: Iterable[Summary], measures: Sequence[Measure], *, dialect: str = "karat") -> dict[str, str]:
    """What the headline measures of each system say, and where it does worst, a line a system."""
    by_system: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_system.setdefault(summary.system, []).append(summary)
    heads = headlines(measures, dialect)
    return {system: verdict(system, of_system, heads) for system, of_system in by_system.items()}


def verdict(system: str, summaries: Sequence[Summary], heads: Sequence[Measure]) -> str:
    """The line of one system."""
    parts: list[str] = []
    weakest: str | None = None
    for head in heads:
        whole = next((s for s in summaries if s.measure == head.name and s.slice is None), None)
        if whole is not None and (whole.mean is not None or whole.n_failed or len(heads) == 1):
            parts.append(_headline(head, whole, brief=bool(parts)))
            worst = weakest_slice(head, whole, summaries)
            if worst is not None and weakest is None:
                mean = estimate(worst.mean, worst.low, worst.high, unit=head.spec.unit)
                weakest = f"weakest on {worst.slice}={worst.value} ({head.name} {mean}, n={worst.n})"
    if weakest:
        parts.append(weakest)
    return f"{system}: " + ("; ".join(parts) if parts else "no measure was computed") + "."


def _headline(head: Measure, whole: Summary, *, brief: bool) -> str:
    if whole.mean is None:
        return f"{head.name} has no value ({whole.n_undefined} undefined, {whole.n_failed} failed)"
    line = f"{head.name} {estimate(whole.mean, whole.low, whole.high, unit=head.spec.unit)}"
    if whole.band:
        line += f", {whole.band}"
    if whole.note:
        line += f" ({whole.note})"
    words = (_in_ten(head, whole.mean) or whole.meaning) if whole.lists_end is None else None
    if words and not brief:
        line += f": {words}"
    if whole.n_failed and (whole.worst is not None or whole.best is not None):
        reach = [number(end, 3) if end is not None else "unbounded" for end in (whole.worst, whole.best)]
        line += f" ({reach[0]} to {reach[1]} as {whole.n_failed} failed)"
    return line


def _in_ten(head: Measure, mean: float) -> str | None:
    """Recall and Hit as so many in ten."""
    what = {"Recall": "of the relevant units", "Hit": "of the questions"}.get(head.spec.name)
    if what is None or not 0 <= mean <= 1:
        return None
    tenths = round(10 * mean)
    many = "none" if mean == 0 else "all" if mean == 1 else "hardly any" if tenths == 0 else "nearly all"
    share = f"about {tenths} in 10" if 0 < tenths < 10 else many
    where = f" in the top {head.k}" if head.k else f" in the first {head.tokens} tokens" if head.tokens else ""
    if head.spec.name == "Recall":
        return f"finds {share} {what}{where}"
    return f"{share} {what} have a relevant hit{where}"
