"""Times and dates in a sentence: runs of words such as "on Saturdays from 14:00 to 16:00"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from karat.answer._extract.words import Word

_TIMES_WORDS = """
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
sundays january february march april may june july august september october november december noon midnight midday
morning mornings afternoon afternoons evening evenings night nights today tomorrow yesterday daily weekly monthly
yearly dawn dusk christmas easter weekend weekends weekdays spring summer autumn winter season day days week weeks
month months year years hour hours minute minutes fortnight century decade midwinter midsummer bc ad pm am lunch
breakfast supper dinner понедельник понедельникам вторник вторникам среда среду средам четверг четвергам пятница
пятницу пятницам суббота субботу субботам воскресенье воскресеньям января февраля марта апреля мая июня июля августа
сентября октября ноября декабря январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре
полдень полночь утром утра днём днем вечером вечера ночью ночи сегодня завтра вчера ежедневно еженедельно ежегодно
весной летом осенью зимой год году года годах годы лет век веке века неделю недели месяц месяца день дня дней час часа
часов минут рождество
"""
_TIMES = frozenset(_TIMES_WORDS.split())
_VAGUE_WORDS = """
daily weekly monthly yearly ежедневно еженедельно ежегодно
day days week weeks month months year years hour hours minute minutes may march season night nights день
дня дней час часа часов минут недели месяца лет
"""
_STRONG = _TIMES - frozenset(_VAGUE_WORDS.split())
_LINKS_WORDS = """
on at from to until till by of in the and every each between before after first second third last next before past a
an about around since during through early late end beginning middle half quarter o'clock other when в во с со до по к
на после перед около между и каждый каждую каждое каждого первый первую первого последний последнего последнюю начале
конце середине начала конца половине
"""
_LINKS = frozenset(_LINKS_WORDS.split())
_OPENING_WORDS = """
on at from until till by in every each between before after since during within around about в во с со до по к на
после перед около между каждый каждую каждое
"""
_OPENING = frozenset(_OPENING_WORDS.split())
_AMBIGUOUS = ("may", "march")  # months where they have a capital
_EACH = frozenset(("every", "each", "first", "last", "next", "каждый", "каждую", "каждое", "первый", "последний"))
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}$")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d$")
_DATE = re.compile(r"\d{1,4}[./]\d{1,2}[./]\d{1,4}$")


def time_spans(text: str, words: Sequence[Word]) -> list[tuple[int, int, bool]]:
    """First and last word of each run that tells a time, and whether it names one for certain (a clock time, a day)."""
    found = []
    i = 0
    while i < len(words):
        if not _in_run(text, words, i):
            i += 1
            continue
        first = i
        while i + 1 < len(words) and _in_run(text, words, i + 1) and _close(text, words, i):
            i += 1
        last = i
        while last >= first and not _is_time(text, words, last):
            last -= 1
        start = first
        while (
            start < last
            and words[start].lower in _LINKS
            and words[start].lower not in _OPENING
            and not _is_article(words, start)
        ):
            start += 1
        if last >= start and any(_is_time(text, words, j) for j in range(start, last + 1)):
            strong = any(_is_strong(text, words[j]) for j in range(start, last + 1))
            counted = any(words[j].lower[:1].isdecimal() or words[j].lower in _EACH for j in range(start, last + 1))
            if strong or counted:
                found.append((start, last, strong))
        i += 1
    return found


def names_a_time(word: Word) -> bool:
    """Whether a word is the name of a day or a month, or the like."""
    return word.lower in _STRONG


def _is_article(words: Sequence[Word], i: int) -> bool:
    return words[i].lower in ("the", "a", "an")


def _is_strong(text: str, word: Word) -> bool:
    lower = word.lower
    if lower in _AMBIGUOUS:
        return word.start > 0 and text[word.start].isupper()
    return lower in _STRONG or bool(_CLOCK.match(lower) or _YEAR.match(lower) or _DATE.match(lower))


def _is_time(text: str, words: Sequence[Word], i: int) -> bool:
    lower = words[i].lower
    if lower in _AMBIGUOUS:
        return _is_strong(text, words[i])
    if lower in _TIMES or _is_strong(text, words[i]):
        return True
    near = [words[j].lower for j in (i - 1, i + 1) if 0 <= j < len(words)]
    return lower[:1].isdecimal() and len(lower) <= 2 and any(one in _TIMES for one in near)


def _in_run(text: str, words: Sequence[Word], i: int) -> bool:
    return words[i].lower in _LINKS or _is_time(text, words, i)


def _close(text: str, words: Sequence[Word], i: int) -> bool:
    gap = text[words[i].end : words[i + 1].start]
    return gap in (" ", "-", "–", "\u00a0", "") or (gap in (", ", " – ", " - ") and _is_strong(text, words[i + 1]))
