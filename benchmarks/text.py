"""Answer measures against their peers: ROUGE-L beside rouge-score, TokenF1 beside a SQuAD-style script.

Every figure is the whole cost from strings to scores: karat builds its Answered and normalises anew each round. The
contenders take turns in one process; values are checked equal first. rouge-score gets karat's tokens, normalised
within its time as within karat's, so that both compare the same thing; with its own tokeniser its time is shown too.
"""

from __future__ import annotations

import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks._race import race

PAIRS = 5_000
ROUNDS = 7
SEED = 7
FUNCTION_WORDS = "the of and a in to is for on that with as an are by from it was".split()  # noqa: SIM905

Pair = tuple[str, str]


def make_pairs(count: int = PAIRS, seed: int = SEED) -> list[Pair]:
    """Answers and references: 40% of a few words, the rest of 20 to 120, one in seven in Cyrillic."""
    rng = random.Random(seed)
    latin = _lexicon(rng, "etaoinshrdlucmfwypvbgk")
    cyrillic = _lexicon(rng, "оеаинтсрвлкмдпуяыьгзб")
    pairs = []
    for _ in range(count):
        words, function_words = (cyrillic, []) if rng.random() < 1 / 7 else (latin, FUNCTION_WORDS)
        size = rng.choice((1, 2, 4, 8)) if rng.random() < 0.4 else rng.randint(20, 120)
        reference = _say(rng, size, words, function_words)
        answer = [
            _word(rng, words, function_words) if rng.random() < 0.3 else w for w in reference if rng.random() < 0.9
        ]
        answer += _say(rng, rng.randint(0, 10), words, function_words)
        pairs.append((" ".join(answer), " ".join(reference)))
    return pairs


def _lexicon(rng: random.Random, letters: str) -> list[str]:
    return ["".join(rng.choices(letters, k=rng.choice((2, 3, 4, 5, 5, 6, 6, 7, 8, 9, 11)))) for _ in range(5_000)]


def _word(rng: random.Random, words: list[str], function_words: list[str]) -> str:
    if function_words and rng.random() < 0.35:
        return rng.choice(function_words)
    return words[min(int(rng.paretovariate(0.6)) - 1, len(words) - 1)]


def _say(rng: random.Random, size: int, words: list[str], function_words: list[str]) -> list[str]:
    said = []
    for _ in range(size):
        word = _word(rng, words, function_words)
        word = word.capitalize() if rng.random() < 0.1 else word
        said.append(word + rng.choice((",", ".", ";", ")", "'s")) if rng.random() < 0.1 else word)
    return said


def karat_scores(measure: str, pairs: list[Pair]) -> list[float]:
    """The scores of a karat measure, from strings."""
    from karat.core.answered import AnswerTable
    from karat.core.language import parse
    from karat.core.scores import MeasureResult

    n = len(pairs)
    answers, references = [a for a, _ in pairs], [(r,) for _, r in pairs]
    answered = AnswerTable(
        ("s",),
        tuple(map(str, range(n))),
        texts=[""] * n,
        answers=answers,
        references=references,
        contexts=[None] * n,
        answerable=[True] * n,
    )
    result = parse(measure).of(answered)
    assert isinstance(result, MeasureResult)
    scores: list[float] = result.values.tolist()
    return scores


def squad_script(pairs: list[Pair]) -> list[float]:
    """Token F1 in the usual style of a SQuAD script: a function call and two Counters a pair."""

    def normal(text: str) -> str:
        excluded = set(string.punctuation)
        kept = "".join(c for c in text.lower() if c not in excluded)
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())

    def f1(answer: str, reference: str) -> float:
        ours, theirs = normal(answer).split(), normal(reference).split()
        same = sum((Counter(ours) & Counter(theirs)).values())
        if not same or not theirs:
            return 0.0 if theirs else float("nan")
        precision, recall = same / len(ours), same / len(theirs)
        return 2 * precision * recall / (precision + recall)

    return [f1(answer, reference) for answer, reference in pairs]


def rouge_score_with(tokenizer: object) -> Callable[[list[Pair]], list[float]]:
    """rougeL of rouge-score; a reference without tokens is undefined, as in karat."""
    from rouge_score import rouge_scorer

    def scores(pairs: list[Pair]) -> list[float]:
        scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=tokenizer)
        return [scorer.score(reference, answer)["rougeL"].fmeasure for answer, reference in pairs]

    return scores


class SquadTokens:
    """karat's squad tokens, found in plain Python, in the shape rouge-score asks for."""

    _gone = str.maketrans("", "", string.punctuation)

    def tokenize(self, text: str) -> list[str]:
        return [t for t in text.lower().translate(self._gone).split() if t not in ("a", "an", "the")]


def first_call(measure: str, pairs: list[Pair]) -> float:
    """Seconds of a measure's first call in this process, its imports included."""
    start = time.perf_counter()
    karat_scores(measure, pairs)
    return time.perf_counter() - start


def check_equal(name: str, ours: list[float], theirs: list[float]) -> None:
    """Stop if any score differs."""
    left, right = np.array(ours), np.array(theirs)
    defined = ~np.isnan(left)
    assert defined.any(), f"{name}: no score at all"
    difference = float(np.abs(left[defined] - right[defined]).max())
    if difference > 1e-12:
        raise SystemExit(f"{name}: values differ by up to {difference}")


def main() -> None:
    pairs = make_pairs()
    tokens = sum(len(text.split()) for pair in pairs for text in pair)
    print(f"{len(pairs):,} answer-reference pairs, {tokens:,} words, seed {SEED}; medians of rounds in turns")
    cold = {measure: first_call(measure, pairs) for measure in ("TokenF1", "ROUGE-L")}
    rouge, rouge_own = rouge_score_with(SquadTokens()), rouge_score_with(None)
    check_equal("TokenF1", karat_scores("TokenF1", pairs), squad_script(pairs))
    check_equal("ROUGE-L", karat_scores("ROUGE-L", pairs), rouge(pairs))
    f1 = race({"karat": lambda: karat_scores("TokenF1", pairs), "peer": lambda: squad_script(pairs)}, rounds=ROUNDS)
    contenders: dict[str, Callable[[], object]] = {
        "karat": lambda: karat_scores("ROUGE-L", pairs),
        "peer": lambda: rouge(pairs),
        "own": lambda: rouge_own(pairs),
    }
    lcs = race(contenders, rounds=3)
    print(f"{'measure':<10}{'peer':<28}{'karat s':>10}{'first s':>10}{'peer s':>10}{'ratio':>9}{'target':>9}  met")
    rows = (
        ("TokenF1", "SQuAD-style script", f1["karat"], f1["peer"], 5.0),
        ("ROUGE-L", "rouge-score, same tokens", lcs["karat"], lcs["peer"], 30.0),
        ("ROUGE-L", "rouge-score, its own tokens", lcs["karat"], lcs["own"], None),
    )
    for measure, peer, ours, theirs, target in rows:
        ratio = theirs / ours
        goal, met = ("", "") if target is None else (f"{target:.0f}x", "yes" if ratio >= target else "NO")
        print(
            f"{measure:<10}{peer:<28}{ours:>10.4f}{cold[measure]:>10.4f}{theirs:>10.4f}{ratio:>8.1f}x{goal:>9}  {met}"
        )


if __name__ == "__main__":
    main()
