"""Spell: a term that the corpus does not hold becomes the closest one that it does hold.

Only terms of letters, four or more, are looked at: no numbers, no stop words of the query's language, no inflections
of a word in the corpus ("generators" where it says "generator") or of a common English word, no scripts that are
written without spaces. Closest is by edits (a letter added, dropped or replaced, or two neighbours swapped): one for
terms of up to six letters, two for longer ones; of equally close words the most frequent, then the first in the
alphabet. The first letter stays, as it does in most slips, unless one edit of a longer term does or two are swapped.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from karat.core.errors import InputError
from karat.core.text import guess_language, stop_words
from karat.core.text.characters import WORD, kind_of, points_of
from karat.core.text.normalise import clean_all
from karat.io.writing import write_whole
from karat.retrieve._terms import stems
from karat.retrieve.rewrite import Change, Rewritten, Texts, read_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Letters = NDArray[np.uint64]

HEADER = "karat spell 1"
SHORTEST = 4
LONGER = 7
_TOGETHER = 4096
_FILES = 16
_PIECE = re.compile(r"\S+")
_JOINERS = "-‐‑‒–—/\\'’.,:;_()[]"
_PARTED = str.maketrans(dict.fromkeys(_JOINERS, " "))
_JOINT = re.compile(rf"[{re.escape(_JOINERS)}](?!\s|$)")
_NO_SPACES = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}


class Spell:
    """The words of a corpus, of letters only, with how often each stands there."""

    name: ClassVar[str] = "spell"

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self._stems: dict[str, frozenset[str]] = {}
        self._letters: dict[tuple[str, int], Letters] = {}

    @classmethod
    def open(cls, target: str | None, texts: Texts) -> Self:
        """From a saved list if one is named, else from the corpus."""
        return cls.load(target) if target else cls.build(texts())

    @classmethod
    def build(cls, texts: Iterable[str]) -> Self:
        """The words of these texts under `words`; those joined by a hyphen, a slash or a stop count apart as well."""
        counts: Counter[bytes] = Counter()
        remaining = iter(texts)
        while batch := list(islice(remaining, _TOGETHER)):
            joined = [piece.translate(_PARTED) for text in batch for piece in _joined(text)]
            counts.update(b" ".join(clean_all([*batch, *joined], "words")).split())
        words = ((word.decode("utf-8", "ignore"), count) for word, count in counts.items())
        return cls({word: count for word, count in words if _is_letters(word)})

    def save(self, path: str | Path) -> None:
        """One text file: a header with the number of words, then word and count, a tab between, sorted by word."""
        lines = [f"{word}\t{self.counts[word]}" for word in sorted(self.counts)]
        write_whole(path, "\n".join((f"{HEADER}\t{len(lines)}", *lines, "")))

    @staticmethod
    def join(path: Path, added: Iterable[Path], removed: Iterable[Path] = ()) -> None:
        """Save the words of several files without those of others, all as `save` wrote them."""
        import polars as pl

        schema, count = {"word": pl.String, "count": pl.Int64}, pl.col("count")
        files = iter([*((one, 1) for one in added), *((one, -1) for one in removed)])
        words = pl.DataFrame(schema=schema)
        while some := list(islice(files, _FILES)):  # a few at a time: most of their words are the same
            parts = [
                pl.scan_csv(one, separator="\t", has_header=False, skip_rows=1, quote_char=None, schema=schema).select(
                    "word", count * sign
                )
                for one, sign in some
            ]
            words = pl.concat([words.lazy(), *parts]).group_by("word").agg(count.sum()).collect()
        words = words.filter(count > 0).sort("word")
        lines = words.write_csv(separator="\t", include_header=False, quote_style="never")
        write_whole(path, f"{HEADER}\t{len(words)}\n{lines}")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What `save` wrote; anything else is refused."""
        remedy = "Build the index again."
        lines = [line for _, line in read_lines(path)]
        header, _, size = lines[0].partition("\t")
        if header != HEADER:
            raise InputError("is no list of words for spell", place=str(path), row=1, remedy=remedy)
        if lines[-1] != "" or size != str(len(lines) - 2):
            problem = f"is cut short or changed: {size} words are announced, {len(lines) - 2} whole lines follow"
            raise InputError(problem, place=str(path), remedy=remedy)
        counts: dict[str, int] = {}
        for row, line in enumerate(lines[1:-1], 2):
            word, _, count = line.partition("\t")
            if not word or not (count.isascii() and count.isdigit()):
                raise InputError(f"{line!r} is no word with a count", place=str(path), row=row, remedy=remedy)
            counts[word] = int(count)
        return cls(counts)

    def rewrite(self, query: str) -> Rewritten:
        changes: list[Change] = []
        parts: list[str] = []
        done = 0
        for start, end in self._unknown(query):
            term = query[start:end]
            near = self.nearest(term.lower())
            if near is not None:
                word, distance = near
                word = _cased_as(term, word)
                changes.append(Change(self.name, term, word, distance))
                parts += [query[done:start], word]
                done = end
        return Rewritten(query, ("".join((*parts, query[done:])),), tuple(changes))

    def nearest(self, term: str) -> tuple[str, int] | None:
        """The closest word of the corpus to a lower-case term, and the edits between them, or None."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import cdist

        most = 1 if len(term) < LONGER else 2
        offers: list[tuple[int, int, str]] = []
        for size in range(len(term) - most, len(term) + most + 1):
            words = self._alike(term, size, most)
            if words:
                distances = cdist([term], words, scorer=OSA.distance, score_cutoff=most)[0].tolist()
                for distance, word in zip(distances, words, strict=True):
                    if distance <= most and _begins_alike(term, word, distance):
                        offers.append((int(distance), -self.counts[word], word))
        if not offers:
            return None
        distance, _, word = min(offers)
        return word, distance

    def _alike(self, term: str, size: int, most: int) -> list[str]:
        """Words of this length and the term's script that may be within so many edits.

        An edit changes at most two of the letters that a word holds at all; most words differ in more.
        """
        group = (_script(term), size)
        words = self._by_size.get(group, [])
        if not words:
            return []
        if group not in self._letters:
            self._letters[group] = _letters(words)
        differing = np.bitwise_count(self._letters[group] ^ _letters([term])[0])
        return [words[i] for i in np.flatnonzero(differing <= 2 * most).tolist()]

    def _unknown(self, query: str) -> Iterator[tuple[int, int]]:
        """Where the terms stand that the corpus does not hold."""
        language = guess_language(query)
        for piece in _PIECE.finditer(query):
            runs = list(_runs(query, *piece.span()))
            whole = "".join(query[start:end] for start, end in runs).lower()
            if not self._is_fine(whole, language):
                yield from (run for run in runs if not self._is_fine(query[slice(*run)].lower(), language))

    def _is_fine(self, term: str, language: str | None) -> bool:
        """Whether a term needs no correction, or is of a kind that gets none."""
        if term in self.counts or len(term) < SHORTEST or not _is_letters(term) or _script(term) in _NO_SPACES:
            return True
        own: str | None = guess_language(term)
        if own not in ("ru", "hi", None) and language not in ("ru", "hi", None):
            own = language
        return term in stop_words(own, "words") or self._is_inflection(term, own)

    def _is_inflection(self, term: str, language: str | None) -> bool:
        """Whether a word of the corpus has the same stem, or a common word: "captain" is no slip for "contain"."""
        if language is None:
            return False
        from karat.models.embedders.wordllama import whole_words

        if language not in self._stems:
            common = whole_words() if language == "en" else []
            self._stems[language] = frozenset(stems(language, [*self.counts, *common]))
        return stems(language, [term])[0] in self._stems[language]

    @cached_property
    def _by_size(self) -> Mapping[tuple[str, int], list[str]]:
        """Words by script and length."""
        groups: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for word in self.counts:
            groups[_script(word), len(word)].append(word)
        return dict(groups)


rewriter = Spell


def _letters(words: list[str]) -> Letters:
    """Which letters stand in each of some words of one length, a bit a letter (or for several)."""
    points = points_of("".join(words)).reshape(len(words), -1).astype(np.uint64)
    bits: Letters = np.bitwise_or.reduce(np.uint64(1) << (points % np.uint64(64)), axis=1)
    return bits


def _is_letters(word: str) -> bool:
    """Letters and the marks upon them, at least one letter first."""
    if word.isalpha():
        return True
    return word[:1].isalpha() and all(map(_is_letter, word))


@cache
def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


def _script(word: str) -> str:
    """The script of a word's first letter, as Unicode names it."""
    return _script_of(word[0])


@cache
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "?").partition(" ")[0]


def _joined(text: str) -> Iterator[str]:
    """The pieces of a text that hold a joiner before their end."""
    done = 0
    for joint in _JOINT.finditer(text):
        if joint.start() >= done:
            start = text.rfind(" ", done, joint.start()) + 1
            done = text.find(" ", joint.start())
            done = len(text) if done < 0 else done
            yield text[start:done]


def _runs(query: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the runs of letters, marks and numbers stand in a piece."""
    for is_word, group in groupby(range(start, end), lambda i: kind_of(query[i]) == WORD):
        places = list(group)
        if is_word:
            yield places[0], places[-1] + 1


def _begins_alike(term: str, word: str, distance: int) -> bool:
    """Whether a word may be what a term was meant to be, going by how they begin."""
    swapped = term[:2] == word[1::-1]
    return term[0] == word[0] or swapped or (distance == 1 and len(term) >= LONGER)


def _cased_as(term: str, word: str) -> str:
    """The word in capitals, or beginning with one, as the term is."""
    if len(term) > 1 and term.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if term[:1].isupper() and term[1:].islower() else word
