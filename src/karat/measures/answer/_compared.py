"""Answers beside what they are compared with: tokens found once for all measures, the best of several references."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from karat.core.measure import AnswerTable, Bools, Floats, Ints, MeasureResult
from karat.core.text import Norm, guess_language, stop_words, tokenise
from karat.core.text.citations import comparable
from karat.core.text.codes import TokenIds, Vocabulary, shared
from karat.core.text.normalise import VERBATIM

Stopwords = Literal["keep", "drop"]
Bag = Literal["multiset", "set"]
To = Literal["references", "question"]


@dataclass(frozen=True)
class TokenPairs:
    """One entry per comparison of an answer with a usable reference; `owners` says which pair it belongs to.

    `undefined` gives the reason for every pair without a comparison.
    """

    answers: TokenIds
    others: TokenIds
    owners: Ints
    size: int  # of the vocabulary
    undefined: dict[int, str]
    pairs: int

    def best(self, values: Floats) -> MeasureResult:
        """The highest value of each pair's comparisons."""
        return best_of(values, self.owners, self.pairs, self.undefined)

    def only(self, usable: Bools, reason: str) -> TokenPairs:
        """Without the comparisons that are not usable; a pair left with none is undefined for this reason."""
        if usable.all():
            return self
        remaining = np.flatnonzero(usable)
        undefined = self.undefined | _left_with_none(self.owners, remaining, reason)
        answers, others = self.answers.take(remaining), self.others.take(remaining)
        return TokenPairs(answers, others, self.owners[remaining], self.size, undefined, self.pairs)


def best_of(values: Floats, owners: Ints, pairs: int, undefined: dict[int, str]) -> MeasureResult:
    """The highest value of each pair that owns any."""
    best = np.full(pairs, -np.inf)
    np.maximum.at(best, owners, values)
    best[np.isneginf(best)] = np.nan
    return MeasureResult(best, undefined)


def overlap(compared: TokenPairs, bag: Bag = "multiset") -> Floats:
    """F1 of the tokens both sides share: 2 * shared / (tokens of the answer + tokens of the other)."""
    common, ours, theirs = shared(compared.answers, compared.others, compared.size, distinct=bag == "set")
    f1: Floats = 2.0 * common / np.maximum(ours + theirs, 1)
    return f1


def compared(answered: AnswerTable, norm: Norm, stopwords: Stopwords = "keep", to: To = "references") -> TokenPairs:
    """Every answer beside each of its references (or its question) that is not empty, as tokens of a normaliser."""

    def usable() -> TokenPairs:
        whole = _whole(answered, norm, stopwords, to)
        what = "reference answer" if to == "references" else "question"
        rule = norm if stopwords == "keep" else f"{norm}, stop words dropped"
        return whole.only(whole.others.sizes > 0, f"the {what} is empty after normalisation ({rule})")

    return answered.once(("compared", norm, stopwords, to), usable)


def compared_as_script(answered: AnswerTable, norm: Norm, stopwords: Stopwords = "keep") -> TokenPairs:
    """The same with references that are empty after normalisation, where `norm` is a script that compares them."""
    return _whole(answered, norm, stopwords, "references") if norm in VERBATIM else compared(answered, norm, stopwords)


def _whole(answered: AnswerTable, norm: Norm, stopwords: Stopwords, to: To) -> TokenPairs:
    return answered.once(("whole", norm, stopwords, to), lambda: _compare(answered, norm, stopwords, to))


def _compare(answered: AnswerTable, norm: Norm, stopwords: Stopwords, to: To) -> TokenPairs:
    questions = Referred(list(answered.texts), np.arange(len(answered)), {})
    others, owners, undefined = _every_reference(answered) if to == "references" else questions
    vocabulary, answer_codes, other_codes = _encode(answered, others, norm)
    answers = answer_codes.take(owners)
    if stopwords == "drop":
        languages = _languages(answered, others, owners)
        answers = without_stop_words(answers, languages, vocabulary)
        other_codes = without_stop_words(other_codes, languages, vocabulary)
    return TokenPairs(answers, other_codes, owners, len(vocabulary), undefined, len(answered))


def _encode(answered: AnswerTable, others: Sequence[str], norm: Norm) -> tuple[Vocabulary, TokenIds, TokenIds]:
    """Token numbers of the answers and of the other texts, the latter normalised once however often they stand."""
    vocabulary = Vocabulary(norm)
    answers = comparable((text or "" for text in answered.answers), norm)
    others = comparable(others, norm)
    if len(answered.systems) > 1:
        place = {text: i for i, text in enumerate(dict.fromkeys(others))}
        chosen = np.fromiter(map(place.__getitem__, others), np.int64, len(others))
        coded = vocabulary.encode([*answers, *place])
        return vocabulary, coded.take(np.arange(len(answers))), coded.take(len(answers) + chosen)
    coded = vocabulary.encode([*answers, *others])
    return vocabulary, coded.part(0, len(answers)), coded.part(len(answers), len(coded))


def _languages(answered: AnswerTable, others: Sequence[str], owners: Ints) -> list[str | None]:
    """The language of each comparison, guessed from all its texts together."""
    return [
        guess_language(f"{answered.texts[owner]} {other} {answered.answers[owner] or ''}")
        for owner, other in zip(owners.tolist(), others, strict=True)
    ]


def without_stop_words(coded: TokenIds, languages: Sequence[str | None], vocabulary: Vocabulary) -> TokenIds:
    """The texts without the stop words of the language of each."""
    return coded.where(~stops(coded, languages, vocabulary))


def stops(coded: TokenIds, languages: Sequence[str | None], vocabulary: Vocabulary) -> Bools:
    """Which tokens are stop words of their text's language."""
    kinds = list(dict.fromkeys(languages))
    table = np.zeros((len(kinds), len(vocabulary)), bool)
    for row, language in zip(table, kinds, strict=True):
        row[vocabulary.known(stop_words(language, vocabulary.norm))] = True
    place = {language: i for i, language in enumerate(kinds)}
    language_of = np.fromiter((place[language] for language in languages), np.int64, len(languages))
    is_stop: Bools = table[language_of[coded.owners], coded.codes]
    return is_stop


class Referred(NamedTuple):
    """Usable references as whole texts, for measures that read sentences or ask a model.

    `owners` are the pairs that they belong to; `undefined` says why some pairs have none.
    """

    texts: list[str]
    owners: Ints
    undefined: dict[int, str]

    def only(self, usable: Iterable[object], reason: str) -> Referred:
        """Without the references that are not usable; a pair left with none is undefined for this reason."""
        remaining = np.flatnonzero(np.fromiter(map(bool, usable), bool, len(self.texts)))
        undefined = self.undefined | _left_with_none(self.owners, remaining, reason)
        return Referred([self.texts[i] for i in remaining.tolist()], self.owners[remaining], undefined)


def referred(answered: AnswerTable, norm: Norm) -> Referred:
    """Every reference that is not empty after normalisation."""

    def find() -> Referred:
        whole = _every_reference(answered)
        usable = (bool(tokenise(text, norm)) for text in comparable(whole.texts, norm))
        return whole.only(usable, f"the reference answer is empty after normalisation ({norm})")

    return answered.once(("referred", norm), find)


def _every_reference(answered: AnswerTable) -> Referred:
    counts = np.fromiter(map(len, answered.references), np.int64, len(answered))
    texts = [text for references in answered.references for text in references]
    undefined = dict.fromkeys(np.flatnonzero(counts == 0).tolist(), "no reference answer")
    return Referred(texts, np.repeat(np.arange(len(answered)), counts), undefined)


def _left_with_none(owners: Ints, remaining: Ints, reason: str) -> dict[int, str]:
    """The reason for each pair of which nothing is kept."""
    return dict.fromkeys(np.setdiff1d(owners, owners[remaining]).tolist(), reason)
