"""Phrases of a sentence: names, where something is, why, what an abbreviation stands for, what is new in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from karat.answer._extract.times import names_a_time
from karat.answer._extract.words import Word

_INNER_WORDS = """
of de la le du von van der den del di da the and
"""
_INNER = frozenset(_INNER_WORDS.split())
_PLACING_WORDS = """
in on at under behind beside inside near above below between from into by next against over outside within along
beneath beyond opposite through across to в во на под за возле около у внутри над между из с со рядом напротив вдоль
вне через от до к
"""
_PLACING = frozenset(_PLACING_WORDS.split())
_BOUNDARY = re.compile(r"[;:!?()\[\]|]|[.,](?=\s|$)| [–—-] ")
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|as a result of|due to|owing to|in order to|in order that"
    r"|потому что|так как|поскольку|чтобы|ради|из-за|благодаря|ввиду|weil|damit|parce que|pour que|porque)\b",
    re.I,
)
_SOFT_REASON = re.compile(r"(?<=[:;]) |\b(?:otherwise|therefore|for|as|иначе|ведь|или)\b", re.I)
_LETTERS = re.compile(r"[^\W\d_]+")
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CONDITION = re.compile(r"(?:to|in order to|for|if|when|once|чтобы|если|когда|для) [^,;:]*, ", re.I)
_COMMAS = re.compile(r",.*(?:,| and | or | и | или | und | et | y )|\S+ (?:and|и|und|et|y) \S+")
_ITEM = r"[\w'’-]{1,30}(?: [\w'’-]{1,30}){0,5}"
_ITEMS = re.compile(rf"(?:{_ITEM}, ){{1,12}}(?:{_ITEM},? )?(?:and|or|и|или|und|oder|et|ou|y|o) {_ITEM}(?=[.,;:)]|$)")
_LIGHT_WORDS = """
is are was were be been being has have had do does did will would shall should can could may might must it they there
he she that which who and or but so then also as than both это есть был была было были и а но что которые который
которая же также является являются
"""
_LIGHT = frozenset(_LIGHT_WORDS.split())


def names(text: str, words: Sequence[Word], known: Collection[str]) -> list[tuple[int, int]]:
    """First and last word of each name, a run of words with capitals, that is not all `known` stems.

    The first word of the sentence has a capital anyway: alone, it counts only if it is no function word.
    """
    found = []
    i = 0
    while i < len(words):
        if not _capital(text, words[i]) or (i == 0 and words[i].stop):
            i += 1
            continue
        first = last = i
        while i + 1 < len(words) and text[words[i].end : words[i + 1].start] in (" ", "-", "'s ", "’s "):
            following = words[i + 1]
            if _capital(text, following) or (len(following.lower) < 3 and following.lower.isdecimal()):
                i += 1
                last = i
            elif following.lower in _INNER and i + 2 < len(words) and _capital(text, words[i + 2]):
                i += 1
            else:
                break
        while last > first and words[last].lower in _INNER:
            last -= 1
        inside = words[first : last + 1]
        if any(word.stem not in known for word in inside if not word.stop) and not any(map(names_a_time, inside)):
            found.append((first, last))
        i = max(i, last) + 1
    return found


def _capital(text: str, word: Word) -> bool:
    return text[word.start].isupper()


def placed(text: str, words: Sequence[Word], known: Collection[str]) -> list[tuple[int, int]]:
    """First and last word of each run of phrases that say where: "in the shed on the left-hand wall"."""
    found = []
    i = 0
    while i < len(words):
        if words[i].lower not in _PLACING or i + 1 >= len(words):
            i += 1
            continue
        first = i
        last = i
        while last + 1 < len(words) and not _BOUNDARY.search(text, words[last].end, words[last + 1].start + 1):
            following = words[last + 1].lower
            if following in (
                "and",
                "or",
                "и",
                "или",
                "but",
                "но",
                "where",
                "when",
                "because",
                "so",
                "где",
                "когда",
            ) or (following in _LIGHT and following not in ("both",)):
                break
            last += 1
        end = last
        while last > first and (words[last].stop and words[last].lower not in ("it", "him", "her", "them")):
            last -= 1
        told = [j for j in range(first, last + 1) if words[j].stem in known and not words[j].stop]
        if told:  # what is asked about stands in it: the place is told behind that
            first = next((j for j in range(told[-1] + 1, last) if words[j].lower in _PLACING), first)
        if last > first and any(word.stem not in known for word in words[first : last + 1] if not word.stop):
            found.append((first, last))
        i = end + 1
    return found


def reason(text: str) -> tuple[int, int] | None:
    """The clause that gives a reason."""
    found = _BECAUSE.search(text)
    if found is None or len(text) - found.start() < 8:
        return None
    if found.start() < 3:  # "Because it is cold, the door stays shut."
        comma = text.find(",", found.end())
        return (found.start(), comma if comma > 0 else len(text))
    stop = text.find(";", found.end())
    return found.start(), stop if stop > 0 else len(text)


def expansion(text: str, acronym: str) -> tuple[int, int, int] | None:
    """What an abbreviation stands for, and how sure that is: 3 where the first letters agree, else 2 or 1."""
    place = re.search(rf"(?<!\w){re.escape(acronym)}(?!\w)", text)
    if place is None:
        return None
    letters = [letter.lower() for letter in acronym if letter.isalpha()]
    before = list(_LETTERS.finditer(text[: place.start()]))
    if text[: place.start()].rstrip().endswith("("):
        first = _initials(before, letters)
        if first is None:
            first = _initials(list(_HYPHENED.finditer(text[: place.start()])), letters)
        if first is not None:
            article = re.search(r"\b(?:the|an?) $", text[:first], re.I)
            start = article.start() if article else first
            return start, before[-1].end(), 3
    behind = re.match(
        r"[)\s]*(?:\||:|=|–|—|-|\(|stands? for|means?|is short for|означает|значит)?\s*[\"“«]?",
        text[place.end() :],
        re.I,
    )
    start = place.end() + (behind.end() if behind else 0)
    after = list(_LETTERS.finditer(text[start:]))
    last = _initials([*reversed(after[: len(letters) * 2])], list(reversed(letters)), backwards=True)
    rest = re.search(r"[.;,)]|$", text[start:])
    end = start + (rest.start() if rest else 0)
    if last is not None:
        return start, start + last, 3
    marked = behind is not None and behind[0].strip(" )") != ""
    if marked and end - start > 3:
        return start, end, 2 if place.start() < 3 else 1
    if place.start() < 3 and end - start > 3 and text[place.end() : place.end() + 1] == " ":
        return start, end, 1
    for word in reversed(range(1, len(before) + 1)):
        if letters[-1:] != [before[word - 1][0][0].lower()]:
            continue
        first = _initials(before[:word], letters)
        if first is not None:
            return first, before[word - 1].end(), 2
    return None


def enumeration(text: str, words: Sequence[Word], known: Collection[str]) -> tuple[int, int] | None:
    """A list inside a sentence: "five bins: brown, grey and clear", "the shop sells soap, stamps and string"."""
    colon = re.search(r":\s", text)
    if colon and _COMMAS.search(text, colon.end()):
        return colon.end(), len(text.rstrip(" .;"))
    listed = _ITEMS.search(text)
    if listed is None:
        return None
    start, comma = listed.start(), text.index(",", listed.start())
    for word in words:  # what the first item says of the question does not belong to it
        if (
            start <= word.start
            and word.end < comma
            and (word.lower in _LIGHT or (word.stem in known and not word.stop))
        ):
            start = word.end + 1
    return (start, listed.end()) if start < comma else None


def _initials(words: Sequence[re.Match[str]], letters: list[str], backwards: bool = False) -> int | None:
    """Where the words begin (or, backwards, end) whose first letters are these; small words between may be left out."""
    if not words or len(letters) < 2:
        return None
    if backwards:
        words = words[::-1]
        letters = letters[::-1]
        if not words[0][0].lower().startswith(letters[0]):
            return None
        at = 0
        for word in words:
            if at < len(letters) and word[0].lower().startswith(letters[at]):
                at += 1
                if at == len(letters):
                    return word.end()
            elif len(word[0]) > 3:
                return None
        return None
    at = len(letters) - 1
    for word in reversed(words):
        if word[0].lower().startswith(letters[at]):
            if at == 0:
                return word.start()
            at -= 1
        elif len(word[0]) > 3:
            return None
    return None


def new_part(text: str, words: Sequence[Word], known: Mapping[str, float]) -> tuple[int, int] | None:
    """Characters of the part of a sentence that says most of what the question does not: its new information.

    Of parts between semicolons only the one that says most of the question is looked at.
    """
    words = _nearest_part(text, words, known)
    best, best_score = None, 0.0
    start, score = 0, 0.0
    for i, word in enumerate(words):
        gain = -1.2 * known[word.stem] if word.stem in known and not word.stop else (0.0 if word.stop else 1.0)
        if score <= 0:
            start, score = i, 0.0
        score += gain
        if score > best_score:
            best, best_score = (start, i), score
    if best is None:
        return None
    first, last = best
    while first < last and words[first].lower in _LIGHT:
        first += 1
    while (
        first
        and words[first - 1].stop
        and words[first - 1].lower not in _LIGHT
        and text[words[first - 1].end : words[first].start] == " "
    ):
        first -= 1
    return words[first].start, words[last].end


def _nearest_part(text: str, words: Sequence[Word], known: Mapping[str, float]) -> Sequence[Word]:
    marks = [match.start() for match in re.finditer(r";\s", text)]
    if not marks:
        return words
    parts: list[list[Word]] = [[] for _ in range(len(marks) + 1)]
    for word in words:
        parts[sum(mark < word.start for mark in marks)].append(word)
    return max(parts, key=lambda part: sum(known.get(word.stem, 0.0) for word in part if not word.stop))


def clause(text: str, start: int, end: int) -> str:
    """The clauses of a sentence that hold these characters, parted at semicolons and colons."""
    marks = [0, *(match.end() for match in re.finditer(r"[;:](?=\s)", text)), len(text)]
    first = max(mark for mark in marks if mark <= start)
    last = min(mark for mark in marks if mark >= end)
    return text[first:last].strip(" ;:")


def without_condition(text: str, words: Sequence[Word], known: Collection[str]) -> str:
    """A sentence without an opening such as "To remove the wheel," that only repeats the question."""
    found = _CONDITION.match(text)
    if found is None:
        return text
    opening = [word for word in words if word.end <= found.end() and not word.stop]
    return text[found.end() :] if opening and sum(w.stem in known for w in opening) >= 0.7 * len(opening) else text
