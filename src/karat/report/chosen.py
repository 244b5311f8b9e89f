"""Chosen: a choice in words: the best, how sure that is, what to expect of it, and which questions say too little."""

from __future__ import annotations

from dataclasses import replace

from karat.core.text.words import estimate, names, not_different, number, plural, probability
from karat.results.comparison import Pair
from karat.results.study import SIGNIFICANT, Choice

NAMED = 6  # names in a sentence


def in_words(choice: Choice | None) -> Choice | None:
    """The choice with its sentences."""
    return choice and replace(choice, sentences=choice_sentences(choice))


def choice_sentences(choice: Choice) -> tuple[str, ...]:
    """The choice in words, the verdict first."""
    sentences = [_verdict(choice), *_expected(choice), *_about_kinds(choice)]
    if choice.oracle is not None and (choice.equals or choice.beaten):
        sentences.insert(2, f"Oracle (best configuration per question): {number(choice.oracle, 3)}.")
    better = {pair.a for pair in choice.ahead}
    lacking = [name for name in choice.barred if name not in better]
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


def _about_kinds(choice: Choice) -> list[str]:
    sentences = []
    others = len(choice.equals) + len(choice.beaten)
    differs = [kind for kind in choice.by_kind if choice.best.system not in (kind.best.system, *kind.equals)]
    silent = [f"{kind.kind} ({kind.n})" for kind in choice.by_kind if _silent(others, kind.n)]
    if differs:
        which = ", ".join(f"{kind.kind} ({kind.best.system}, {kind.n} questions)" for kind in differs)
        sentences.append(f"Another is significantly better for some question types: {which}.")
    elif others and len(silent) < len(choice.by_kind):
        sentences.append("For no question type is another significantly better.")
    few = f"Too few questions to show any difference between {others + 1} systems"
    if others and _silent(others, choice.best.n):
        sentences.append(f"{few}.")
    elif silent:
        sentences.append(f"{few}: {names(silent, NAMED)}.")
    if choice.too_few:
        kinds = names([f"{kind} ({n})" for kind, n in choice.too_few.items()], NAMED)
        sentences.append(f"Too few questions with a value, so nothing is chosen: {kinds}.")
    return sentences


def _silent(others: int, questions: int) -> bool:
    """Whether no difference from so many others could be significant, not even one on every question."""
    return others * 2.0 ** (1 - questions) > SIGNIFICANT
