"""Support: whether a chunk says what a question asks and what its reference answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from karat.core.text import sentences
from karat.core.text.detect import VERDICTS
from karat.core.text.support import NUMBER_WORDS
from karat.testset.audit._lexicon import content_of

if TYPE_CHECKING:
    from karat.testset.audit._view import View

_GOLD = 8  # gold chunks that are read sentence by sentence
_NEAR = 3  # neighbouring sentences that are read together


def claims_of(view: View, q: int) -> tuple[frozenset[str], ...]:
    """What each reference answer of a question claims: its content words but for yes and no; those that claim any."""
    return tuple(claimed for answer in view.answers[q] if (claimed := answer - VERDICTS))


def held_by(view: View, claimed: frozenset[str], held: frozenset[str] | set[str]) -> float:
    """How much of a claim some words hold, by weight; a number may be written in letters or digits."""
    whole = view.weights.of(claimed)
    return view.weights.of(stem for stem in claimed if stem in held or _spelled(stem, held)) / whole if whole else 0.0


@lru_cache(maxsize=4096)
def _stemmed(word: str) -> frozenset[str]:
    language = "en" if word.isascii() else "ru"
    return frozenset(content_of(word, language))


def _spelled(stem: str, held: frozenset[str] | set[str]) -> bool:
    """Whether a number stands among the words in its other spelling."""
    if stem.isdecimal():
        return any(value == stem and not _stemmed(word).isdisjoint(held) for word, value in NUMBER_WORDS.items())
    return any(stem in _stemmed(word) and value in held for word, value in NUMBER_WORDS.items())


@dataclass(frozen=True)
class Told:
    """The sentence of the gold that answers a question, and its stems."""

    text: str
    stems: frozenset[str]


def answering(view: View) -> list[Told | None]:
    """For each answerable question the sentence of its gold that holds most of the answer, and of the question.

    None where no gold holds half of a reference answer.
    """
    if not view.told:
        view.told.extend(_told(view, q) for q in range(len(view.questions)))
    return view.told


def _told(view: View, q: int) -> Told | None:
    claims, best, found = claims_of(view, q), (0.5, 0.0), None
    if not view.questions[q].answerable or not claims:
        return None
    for row in view.gold[q][:_GOLD].tolist():
        for one in sentences_of(view, row):
            if all(claimed.isdisjoint(one.stems) for claimed in claims):
                continue
            made = max(held_by(view, claimed, one.stems) for claimed in claims)
            if made >= best[0] and (score := (made, view.weights.share(view.asked_sets[q], one.stems))) > best:
                best, found = score, one
    return found


def sentences_of(view: View, row: int) -> list[Told]:
    """The sentences of a chunk, each read once."""
    if row not in view.sentences:
        language = view.chunk_languages[row]
        view.sentences[row] = [
            Told(sentence, frozenset(content_of(sentence, language))) for sentence in sentences(view.chunks.texts[row])
        ]
    return view.sentences[row]


def windows(view: View, row: int) -> list[frozenset[str]]:
    """The stems of every few neighbouring sentences of a chunk, its title with each."""
    title = frozenset(content_of(view.chunks[row].title or "", view.chunk_languages[row]))
    parts = [one.stems for one in sentences_of(view, row)]
    return [title.union(*parts[i : i + _NEAR]) for i in range(max(1, len(parts) - _NEAR + 1))]


def candidates(view: View, q: int, most: int) -> list[int]:
    """Rows that engines find for a question, the first of each first."""
    lists = [ranked.of(q)[0][:most].tolist() for ranked in (*view.ranked.values(), *view.ranked_answers)]
    return list(dict.fromkeys(row for place in range(most) for rows in lists for row in rows[place : place + 1]))
