"""Sentences as what they claim, content words and figures, and what of it another text holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.core.text import open_blocks, sentences, tokenise
from karat.core.text.numbers import figures, readings, without_figures

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Claimed:
    """A sentence by its distinct content words and its figures, each as the set of its readings."""

    text: str
    words: tuple[str, ...]
    figures: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        return len(self.words) + len(self.figures)

    def missing(self, held: Held) -> tuple[list[str], list[str]]:
        """The words and the figures that a text does not hold."""
        words = [word for word in self.words if word not in held.words]
        return words, [_shown(figure) for figure in self.figures if held.readings.isdisjoint(figure)]


@dataclass(frozen=True)
class Held:
    """A text by all its words and every reading of its figures."""

    text: str
    words: frozenset[str]
    readings: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Held:
        return cls(text, frozenset(tokenise(text)), frozenset(readings(text)))


def claimed(sentence: str, stops: frozenset[str]) -> Claimed:
    """What a sentence claims, without these stop words; 1,000 and "5 May 2020" are figures, not words."""
    words = dict.fromkeys(tokenise(without_figures(sentence)))
    return Claimed(sentence, tuple(word for word in words if word not in stops), tuple(figures(sentence)))


def held_sentences(context: str) -> list[Held]:
    """The sentences of a context."""
    return [Held.of(" ".join(sentence.split())) for sentence in sentences(open_blocks(context))]


def nearest(
    claim: Claimed, candidates: Iterable[tuple[int, Held]], enough: float
) -> tuple[float, list[str], int, Held] | None:
    """The candidate that holds most of a claim: the share, the figures it lacks, its number and itself.

    One that holds enough and lacks no figure goes before all others; of the best the first. None: all hold nothing.
    """
    best = None
    for number, held in candidates:
        words, lacking = claim.missing(held)
        share = 1 - (len(words) + len(lacking)) / len(claim)
        order = (share >= enough and not lacking, share)
        if share > 0 and (best is None or order > best[0]):
            best = order, (share, lacking, number, held)
            if share == 1:
                break
    return None if best is None else best[1]


def _shown(figure: frozenset[str]) -> str:
    return min(figure, key=lambda reading: ("." in reading, reading))
