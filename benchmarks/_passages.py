"""Made passages and queries whose words are spread as those of English are: a few everywhere, most hardly anywhere."""

from __future__ import annotations

import numpy as np

from karat.core.text.languages import stop_words

_ONSETS = [*"bcdfghklmnprstvw", "st", "tr", "br", "ch", "sh", "pl", "gr", "th"]
_VOWELS = ["a", "e", "i", "o", "u", "ea", "ou", "ai", "io"]
_CODAS = ["", "n", "r", "s", "t", "l", "m", "d", "ng", "st", "rt", "ck", "nd"]
# Of the most frequent English words, which share are function words: up to a rank.
_FUNCTION = ((20, 1.0), (50, 0.85), (100, 0.55), (150, 0.35))


def passages(
    count: int, *, words: int = 60, vocabulary: int = 200_000, queries: int = 1000, seed: int = 3
) -> tuple[list[str], list[str]]:
    """Passages of about `words` words by Zipf's law, and queries of 3 to 10 words, each from one of the passages."""
    rng = np.random.default_rng(seed)
    known = np.array(word_list(vocabulary, rng), dtype=object)
    sizes = np.maximum(5, rng.normal(words, words / 4, count).astype(int))
    tokens = rng.choice(vocabulary, sizes.sum(), p=zipf(vocabulary))
    texts = np.split(tokens, np.cumsum(sizes)[:-1])
    asked = [_query(known[texts[i]], rng) for i in rng.integers(0, count, queries)]
    return [" ".join(known[text]) for text in texts], asked


def zipf(vocabulary: int) -> np.ndarray:
    """The share of each word, the most frequent first."""
    share: np.ndarray = 1 / (np.arange(vocabulary) + 2.7) ** 1.07
    share /= share.sum()
    return share


def _query(words: np.ndarray, rng: np.random.Generator) -> str:
    """Some words of a passage, not all of them function words."""
    while True:
        chosen = rng.choice(words, min(len(words), int(rng.integers(3, 11))), replace=False).tolist()
        if not stop_words("en", "words").issuperset(chosen):
            return " ".join(chosen)


def word_list(size: int, rng: np.random.Generator) -> list[str]:
    """Distinct words, the most frequent first: English function words among the first 150, the rest made up."""
    function = sorted(word for word in stop_words("en", "words") if len(word) > 1)
    rng.shuffle(function)
    made = dict.fromkeys(_words(size, rng))
    while len(made) < size:
        made.update(dict.fromkeys(_words(size, rng)))
    invented = iter([word for word in made if word not in function])
    words, start = [], 0
    for end, share in _FUNCTION:
        words += [function.pop() if rng.random() < share else next(invented) for _ in range(start, end)]
        start = end
    return words + [next(invented) for _ in range(size - start)]


def _words(count: int, rng: np.random.Generator) -> list[str]:
    syllables = rng.choice([1, 2, 3, 4], count, p=[0.1, 0.35, 0.35, 0.2]).tolist()
    parts = [
        np.array(sounds, dtype=object)[rng.integers(0, len(sounds), (count, 4))]
        for sounds in (_ONSETS, _VOWELS, _CODAS)
    ]
    whole = (parts[0] + parts[1] + parts[2]).tolist()
    return ["".join(row[:many]) for row, many in zip(whole, syllables, strict=True)]
