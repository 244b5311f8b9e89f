"""Numbers and dates of a text, in whatever way they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.text.characters import WORD, kind_of

_MONTHS = (
    "january|jan|января|январь|जनवरी|januar|jänner|janvier|enero",
    "february|feb|февраля|февраль|फरवरी|फ़रवरी|februar|février|febrero",
    "march|mar|марта|март|मार्च|märz|mars|marzo",
    "april|apr|апреля|апрель|अप्रैल|avril|abril",
    "may|мая|май|मई|mai|mayo",
    "june|jun|июня|июнь|जून|juni|juin|junio",
    "july|jul|июля|июль|जुलाई|juli|juillet|julio",
    "august|aug|августа|август|अगस्त|août|agosto",
    "september|sept|sep|сентября|сентябрь|सितंबर|सितम्बर|septembre|septiembre",
    "october|oct|октября|октябрь|अक्टूबर|अक्तूबर|oktober|octobre|octubre",
    "november|nov|ноября|ноябрь|नवंबर|नवम्बर|novembre|noviembre",
    "december|dec|декабря|декабрь|दिसंबर|दिसम्बर|dezember|décembre|diciembre",
)
_MONTH_OF = {name: i for i, names in enumerate(_MONTHS, 1) for name in names.split("|")}
_MONTH = "(?:" + "|".join(sorted(_MONTH_OF, key=len, reverse=True)) + ")"
_DATE = re.compile(
    r"(?<!\d)(?:"
    r"(?P<year>\d{4})(?P<s1>[-/.])(?P<month>\d{1,2})(?P=s1)(?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})(?P<s2>[-/.])(?P<two>\d{1,2})(?P=s2)(?P<year2>\d{4})"
    rf"|(?P<day3>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s(?:of\s|de\s)?(?P<name3>{_MONTH})\.?,?\s(?:del?\s)?(?P<year3>\d{{4}})"
    rf"|(?P<name4>{_MONTH})\.?\s(?P<day4>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year4>\d{{4}})"
    r")(?!\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\d{4}")  # every date has one: most texts need not be searched for months
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)|\d+(?:[.,'’\u00a0\u202f]\d+)*")
_LIST_MARK = re.compile(r"^[^\S\n]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SPACING = re.compile(r"[ '’\u00a0\u202f]")


def figures(text: str) -> list[frozenset[str]]:
    """The distinct numbers and dates of a text, each as the set of its possible readings.

    "1,234" reads 1234 or 1.234; "05/06/2020" is in May or in June. A date is one figure, not three. Digits inside a
    word (B12) and the numbers of list items are no figures; a sign and a unit are not looked at.

    >>> [sorted(f) for f in figures("On 5 May 2020 it cost 3,50.")]
    [['2020-05-05'], ['3.5']]
    """
    text = _LIST_MARK.sub(" ", _plain_digits(text))
    distinct: dict[frozenset[str], None] = {}
    rest: list[str] = []
    position = 0
    for match in _dates(text):
        readings = _readings_of_date(match)
        if readings:
            distinct[readings] = None
            rest.append(text[position : match.start()])
            position = match.end()
    rest.append(text[position:])
    distinct.update(dict.fromkeys(_numbers("\n".join(rest))))
    return list(distinct)


def readings(text: str) -> set[str]:
    """Every reading of every number and date of a text; the numbers inside a date count too."""
    text = _plain_digits(text)
    dates = (_readings_of_date(match) for match in _dates(text))
    return set().union(*dates, *_numbers(text))


def without_figures(text: str) -> str:
    """The text with its numbers, dates and numbers of list items blanked.

    >>> without_figures("On 5 May 2020 B12 cost 3,50.").split()
    ['On', 'B12', 'cost', '.']
    """
    text = _LIST_MARK.sub(" ", _plain_digits(text))
    if _YEAR.search(text):
        text = _DATE.sub(lambda date: " " if _readings_of_date(date) else date[0], text)
    return _NUMBER.sub(lambda number: " " if _stands_alone(number) else number[0], text)


def _plain_digits(text: str) -> str:
    return text if text.isascii() else _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text)


def _dates(text: str) -> Iterator[re.Match[str]]:
    return _DATE.finditer(text) if _YEAR.search(text) else iter(())


def _readings_of_date(match: re.Match[str]) -> frozenset[str]:
    part = match.groupdict()
    if part["one"]:
        one, two, year = int(part["one"]), int(part["two"]), part["year2"]
        options = [(year, two, one), (year, one, two)]
    elif part["year"]:
        options = [(part["year"], int(part["month"]), int(part["day"]))]
    else:
        n = "3" if part["day3"] else "4"
        options = [(part[f"year{n}"], _MONTH_OF[part[f"name{n}"].lower()], int(part[f"day{n}"]))]
    return frozenset(f"{y}-{m:02}-{d:02}" for y, m, d in options if 1 <= m <= 12 and 1 <= d <= 31)


def _numbers(text: str) -> list[frozenset[str]]:
    return [_readings_of_number(_SPACING.sub("", n[0])) for n in _NUMBER.finditer(text) if _stands_alone(n)]


def _stands_alone(number: re.Match[str]) -> bool:
    """Whether the digits are no part of a word."""
    before = number.string[number.start() - 1] if number.start() else " "
    return kind_of(before) != WORD or before.isdecimal()


def _readings_of_number(written: str) -> frozenset[str]:
    """How a number may be meant: a comma or a full stop parts thousands or begins the decimals."""
    marks = [c for c in written if c in ".,"]
    groups = re.split("[.,]", written)
    thousands = len(groups[0]) <= 3 and groups[0] != "0" and all(len(group) == 3 for group in groups[1:])
    if not marks:
        return frozenset({_plain(written)})
    if len(marks) == 1:
        options = [f"{groups[0]}.{groups[1]}", *([groups[0] + groups[1]] if thousands else [])]
        return frozenset(map(_plain, options))
    if len(set(marks)) == 1:
        return frozenset({_plain("".join(groups)) if thousands else written})
    whole, decimals = groups[:-1], groups[-1]
    if len(set(marks[:-1])) == 1 and all(len(group) == 3 for group in whole[1:]):
        return frozenset({_plain(f"{''.join(whole)}.{decimals}")})
    return frozenset({written})


def _plain(number: str) -> str:
    whole, point, decimals = number.partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")
