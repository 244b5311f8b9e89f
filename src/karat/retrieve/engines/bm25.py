"""`bm25`: ranking by the words that a query and a text share, in seven variants, without warm-up.

A row is found if it holds at least one term of the query, whatever its score, and never otherwise: under `bm25l` and
`bm25plus` every row has a share of the score, but one without any term of the query is no answer to it. `okapi` can
make scores negative; such a row stands below those of higher scores like any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.core.progress import Progress
from karat.core.ranked import Ranked
from karat.core.text.languages import count_languages
from karat.retrieve._bm25 import folder as folders
from karat.retrieve._bm25.counts import count_terms
from karat.retrieve._bm25.lexicon import Lexicon
from karat.retrieve._bm25.postings import TOP, Collection, PostingShard, weigh_all
from karat.retrieve._bm25.search import QueryTerms, above, best_of, query_terms, ranks_of, search
from karat.retrieve._bm25.variants import DELTA, EPSILON, VARIANTS, Formula
from karat.retrieve._engine import EarlierJoin, check_depth, check_settings, concatenated
from karat.retrieve._terms import AUTO, Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KNOWN = ("variant", "k1", "b", "delta", "epsilon", "terms", "language")
_TOGETHER = 4096


class BM25Engine:
    """BM25 over texts.

    Settings: `variant` (lucene), `k1` (1.5), `b` (0.75), `delta` (0.5 for bm25l, 1 for bm25plus), `epsilon` (0.25, for
    okapi), `terms` (stem; words; plain), `language` (auto, or that of the words in its script).
    """

    name: ClassVar[str] = "bm25"

    def __init__(
        self,
        settings: Mapping[str, Any],
        language: str,
        collection: Collection,
        shards: Sequence[PostingShard],
        place: str = "the index",
    ) -> None:
        self.settings = settings
        self._terms = Terms.asked(settings["terms"], language)
        self._formula = _formula(settings)
        self._collection, self._shards, self._place = collection, shards, place

    @classmethod
    def build(cls, texts: Sequence[str], settings: Mapping[str, Any], progress: Progress) -> Self:
        completed = _completed(settings)
        terms = Terms.asked(completed["terms"], completed["language"]).fitted(count_languages(texts))
        shards: list[PostingShard] = []
        counted = count_terms(texts, terms, progress)
        known = Lexicon.merged([counted.lexicon])
        collection = weigh_all([counted], known, _formula(completed), shards.append, progress)
        return cls(completed, terms.language, collection, shards)

    @classmethod
    def completed(cls, settings: Mapping[str, Any], languages: Mapping[Any, int]) -> dict[str, Any]:
        """The settings with their defaults, and under `stems` the language that words in its script are stemmed by."""
        completed = _completed(settings)
        terms = Terms.asked(completed["terms"], completed["language"]).fitted(languages)
        return {**completed, "stems": terms.language}

    @classmethod
    def build_shard(cls, texts: Sequence[str], settings: Mapping[str, Any], folder: Path, progress: Progress) -> None:
        """Count the terms of some rows of a collection, into an empty folder."""
        terms = Terms.asked(settings["terms"], settings["stems"])
        folders.write_counts(folder, count_terms(texts, terms, progress))

    @classmethod
    def join(
        cls,
        shards: Sequence[Path],
        settings: Mapping[str, Any],
        folder: Path,
        progress: Progress,
        *,
        earlier: EarlierJoin | None = None,
    ) -> dict[str, Any]:
        """Weigh the terms of all shards by what they have in common, into an empty folder."""
        settings = dict(settings)
        card = {"settings": settings, "language": settings.pop("stems")}
        folders.write_joined(folder, shards, card, _formula(settings), progress, earlier)
        return {"settings": settings}

    @classmethod
    def load_shards(
        cls,
        folder: Path,
        shards: Sequence[Path],
        orders: Sequence[NDArray[np.int64]],
        only: Sequence[int] | None = None,
    ) -> Self:
        """The engine over shards that were joined in a folder, or some; `orders` has the row of each of their rows."""
        settings, language, collection, parts = folders.read_joined(folder, shards, orders, only)
        return cls._loaded(settings, language, collection, parts, folder)

    def __len__(self) -> int:
        return self._collection.docs

    @property
    def language(self) -> str:
        """The language of words in its script; the guessed one where `auto` was asked for."""
        return self._terms.language

    @cached_property
    def vocabulary(self) -> list[str]:
        """Every term of the index, in byte order."""
        return self._collection.lexicon.terms()

    @property
    def holders(self) -> NDArray[np.int64]:
        """How many rows hold each term of the vocabulary."""
        return self._collection.holders

    def holders_of(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """How many rows hold each of some terms; 0 where none does."""
        numbers = self._collection.lexicon.find(terms)
        counts, known = np.zeros(len(terms), np.int64), numbers >= 0
        counts[known] = self._collection.holders[numbers[known]]
        return counts

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The best rows of each query that hold at least one of its terms."""
        check_depth(depth)
        numbers = np.arange(len(queries))
        batches = [numbers[i : i + _TOGETHER] for i in range(0, len(queries), _TOGETHER)]
        parts = [(batch, self._search(queries[batch[0] : batch[-1] + 1], depth)) for batch in batches]
        return parts[0][1] if len(parts) == 1 else concatenated(parts, len(queries))

    def ranks_of(self, queries: Sequence[str], rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """For each query the rank of the best of its rows in a search as deep as there are rows; 0: it finds none."""
        with self._reading():
            terms, shares = self._asked(queries)
            return ranks_of(self._shards, terms, rows, shares)

    def best_of(self, queries: Sequence[str], rows: Sequence[NDArray[np.int64]]) -> Ranked:
        """For each query the best of its rows, if it finds any."""
        with self._reading():
            terms, shares = self._asked(queries)
            return best_of(self._shards, terms, rows, shares)

    def above(self, queries: Sequence[str], best: Ranked) -> NDArray[np.int64]:
        """How many rows stand above the one hit of each query; 0 where it has none."""
        with self._reading():
            terms, shares = self._asked(queries)
            return above(self._shards, terms, best, shares)

    def _asked(self, queries: Sequence[str]) -> tuple[QueryTerms, NDArray[np.float64]]:
        """The known terms of queries, and what these give every row."""
        words = self._terms.vocabulary()
        coded = self._terms.encode(queries, words)
        numbers = self._collection.lexicon.find(self._terms.of_words(words.words()))
        terms = numbers[coded.codes]
        known = terms >= 0
        terms, owners = terms[known], coded.owners[known]
        shares = np.bincount(owners, self._shares(terms), len(queries)).astype(np.float64)
        return query_terms(len(queries), owners, terms, self._collection.tops), shares

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Says of postings that name rows which do not exist that they are damaged."""
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                yield
        except IndexError:
            raise self._damaged("it names rows that do not exist") from None

    def _search(self, queries: Sequence[str], depth: int) -> Ranked:
        with self._reading():
            terms, shares = self._asked(queries)
            ranked = search(self._shards, terms, depth, shares)
        if len(ranked.rows) and ranked.rows.max() >= len(self):
            raise self._damaged("it names rows that do not exist")
        if not np.isfinite(ranked.scores).all():
            raise self._damaged("a weight is no finite number")
        return ranked

    def _shares(self, terms: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each term gives every row."""
        if not self._formula.absent:
            return np.zeros(len(terms))
        return self._formula.idf(self._collection.holders[terms], len(self)) * self._formula.absent

    def _damaged(self, why: str) -> InputError:
        return InputError(f"is damaged: {why}", place=self._place, remedy="Index the documents again.")

    def terms_of(self, query: str) -> list[str]:
        """The terms of a query in order, unknown ones among them."""
        return self._terms.of(query)

    def terms_of_each(self, queries: Sequence[str]) -> list[list[str]]:
        """The terms of each query in order."""
        return self._terms.of_each(queries)

    def unknown_terms(self, query: str) -> list[str]:
        """The terms of a query that no row holds, each once."""
        terms = list(dict.fromkeys(self.terms_of(query)))
        return [
            term
            for term, number in zip(terms, self._collection.lexicon.find(terms).tolist(), strict=True)
            if number < 0
        ]

    def explain(self, query: str, row: int) -> list[tuple[str, float]]:
        """What each term of a query adds to the score of a row, highest first; 0 for a term that adds nothing.

        A term that stands twice in the query counts twice. The weights sum to the score that `search` gives.
        """
        if not 0 <= row < len(self):
            raise UsageError(f"there is no row {row}: rows go from 0 to {len(self) - 1}.")
        sequence = self.terms_of(query)
        terms = list(dict.fromkeys(sequence))
        numbers = self._collection.lexicon.find(terms)
        known = numbers >= 0
        weights = np.zeros(len(terms))
        weights[known] = self._weights(numbers[known], row) + self._shares(numbers[known])
        pairs = [(term, sequence.count(term) * weight) for term, weight in zip(terms, weights.tolist(), strict=True)]
        return sorted(pairs, key=lambda pair: -pair[1])

    def _weights(self, terms: NDArray[np.int64], row: int) -> NDArray[np.float64]:
        """What each term adds to a row in the shard that has it."""
        for shard in self._shards:
            place = shard.row(row)
            if place is not None:
                with self._reading():
                    return shard.weights(terms, place)
        raise self._damaged(f"no shard has row {row}")

    def save(self, folder: Path) -> None:
        """Write an engine of one shard; one of many stands in its folders already."""
        (shard,) = self._shards
        folders.write(folder, self.settings, self.language, self._collection.lexicon, shard.postings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        settings, language, lexicon, postings = folders.read(folder)
        collection = Collection(
            lexicon=lexicon, docs=postings.docs, holders=np.diff(postings.starts), tops=postings.bounds[:, TOP]
        )
        return cls._loaded(settings, language, collection, [PostingShard(postings=postings)], folder)

    @classmethod
    def _loaded(
        cls,
        settings: Mapping[str, Any],
        language: str,
        collection: Collection,
        shards: Sequence[PostingShard],
        folder: Path,
    ) -> Self:
        try:
            return cls(_completed(settings), language, collection, shards, str(folder))
        except UsageError as problem:
            raise InputError(f"is damaged: {problem}", place=str(folder), remedy="Index the documents again.") from None


engine = BM25Engine


def _completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults, each checked; a constant that the variant does not have is left out."""
    check_settings("bm25", settings, _KNOWN)
    variant = settings.get("variant", "lucene")
    if variant not in VARIANTS:
        near = did_you_mean(str(variant), VARIANTS)
        raise UsageError(f"the variant {variant!r} of bm25 is unknown.{near} There are {', '.join(VARIANTS)}.")
    completed: dict[str, Any] = {"variant": variant, "k1": settings.get("k1", 1.5), "b": settings.get("b", 0.75)}
    for name, usual in (("delta", DELTA), ("epsilon", EPSILON)):
        if variant in usual:
            completed[name] = settings.get(name, usual[variant])
        elif name in settings:
            raise UsageError(
                f"the setting {name} has no meaning for the variant {variant}: only for {', '.join(usual)}."
            )
    for name, most in (("k1", math.inf), ("b", 1.0), ("delta", math.inf), ("epsilon", math.inf)):
        if name in completed:
            completed[name] = _number(name, completed[name], most)
    terms = Terms.asked(settings.get("terms", "stem"), settings.get("language", AUTO))
    return {**completed, "terms": terms.kind, "language": terms.language}


def _number(name: str, value: Any, most: float) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or not 0 <= value <= most:
        allowed = f"a number from 0 to {most:g}" if math.isfinite(most) else "a number of 0 or more"
        raise UsageError(f"the setting {name} of the engine bm25 must be {allowed}, found {value!r}.")
    return float(value)


def _formula(settings: Mapping[str, Any]) -> Formula:
    constants = {name: settings[name] for name in ("k1", "b", "delta", "epsilon") if name in settings}
    return Formula(settings["variant"], **constants)
