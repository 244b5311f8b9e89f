"""The patterns: sentences that answer how many, when, how often, where, why and what if; headings that ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from karat.core.text import stop_words
from karat.core.text.layout import PageSentence, page_sentences
from karat.testset.offline._clause import (
    AUXILIARIES,
    BE,
    COUNTS,
    PREPOSITIONS,
    Clause,
    PageWords,
    clause_of,
    holds_a_clause,
    stands_alone,
)

_FOLLOWS_A_COUNT = re.compile(r" (?:in|on|at|by|for|from|with|over|an?|each|apart)\b|[,;.]|$")
_FEWEST, _MOST, _LONGEST = 4, 42, 500  # words and characters of a sentence that is asked about
_ODD = re.compile(r"[|{}<>\\=\[\]~^@\ufffd]|https?:|www\.|\.{3}|…|_{2}")

_NUMBER = (
    r"(?:(?:about|up to|at least|at most|only|exactly|nearly|more than|less than|fewer than) )?"
    rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?|(?:a )?(?:{'|'.join(COUNTS)}))(?: (?:million|thousand|hundred))?"
)
_NO_UNIT = r"(?!(?:times|as|its|less|things|places|rules|ways|points|cases|kinds|parts)\b)"
_UNIT = rf"(?:[a-z-]+ )?(?:{_NO_UNIT}[a-z-]{{2,}}s|people|feet|per cent|percent)"
_MONEY = "euros|dollars|pounds|crowns|cents|francs|rupees|pence"
_LENGTHS = "seconds|minutes|hours|days|nights|weeks|months|years"
_FIRST_COUNT = re.compile(rf"({_NUMBER}) ({_UNIT}) ({'|'.join(sorted(AUXILIARIES))}) (.+)", re.IGNORECASE)
_THERE_ARE = re.compile(rf"There (are|were) ({_NUMBER}) ({_UNIT}) ((?:in|on|at|under|behind|for|from) .+)")
_SIZES = "high|long|wide|deep|tall|thick|old"
_MEASURED = re.compile(rf"({_NUMBER} {_UNIT}) ({_SIZES})\b")
_COUNTED = re.compile(rf"({_NUMBER}) ({_UNIT})\b( of [a-z]+)?(.*)")
_FOR_LONG = re.compile(rf"([a-z ]+?) for ({_NUMBER} (?:{_LENGTHS}))(?! (?:or|to)\b)(.*)")

_CLOCK = r"\d{1,2}[:.]\d{2}"
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?)"
_POINT = rf"(?:{_CLOCK}|{_DATE}|{_MONTH}|{_DAY})"
_ONE_TIME = (
    rf"(?:from {_POINT} (?:to|until) {_POINT}|between {_POINT} and {_POINT}|(?:after|before) {_CLOCK}"
    rf"|at {_CLOCK}(?:(?:, {_CLOCK})*,? and {_CLOCK})?|at (?:noon|midnight)"
    rf"|on the (?:first|second|third|last) {_DAY} of (?:each|every|the) (?:month|year)"
    rf"|on {_DAY}(?:(?:, {_DAY})*,? (?:and|or) {_DAY})?|on {_DATE}|in {_MONTH}(?: \d{{4}})?|in (?:1\d|20)\d\d)"
)
_TIME = re.compile(rf"\b{_ONE_TIME}(?: (?:and )?{_ONE_TIME})*(?=[\s,;.]|$)")
_PERIOD = "(?:minute|hour|day|night|week|fortnight|month|quarter|season|year|winter|summer|morning|evening)"
_OFTEN = re.compile(
    rf"\b(?:every (?:(?:other|second|third) )?{_PERIOD}|every {_NUMBER} (?:{_LENGTHS}|kilometres|miles)"
    rf"|(?:once|twice|(?:two|three|four|\d+) times) (?:a|each|every) {_PERIOD}|daily|weekly|monthly|yearly|annually)"
    r"(?=[,;.]|$| (?:by|with|in|from|for)\b)"
)
_LYING = re.compile(r"(?:kept|stored|found|located|hung|placed|parked|sold|displayed|posted|mounted|filed|installed)$")
_STANDING = ("hang", "lie", "stand", "live", "sleep", "sit", "meet")
_PLACE = re.compile(
    r"(?:in|on|at|behind|beside|under|inside|outside|near|next to|above|below|opposite|between) (?:the|an?|[A-Z])\b"
    r"(?! (?:order|same|first|last|end|case|morning|evening|afternoon|night|year|season|day|time|row|basis|rest)\b)"
    r"[^\d]+"
)
_TAIL = re.compile(
    r"[,;:(]| [-–—] | (?:and|but|or|not|than|when|whenever|while|which|who|where|because|since|so|if|unless|until|as"
    r"|that)\b"
)
_BARE = re.compile(rf"(?!how (?:{_SIZES}) (?:is|are)).*\b(?:is|are|was|were|does|do) the (\w+)(?: \w+)?\?")
_REASON = re.compile(r"([^,;:]+),? ((?:because|so that) .{8,})")
_CONDITION = re.compile(r"(If|When) (?!the )([^,;:]{8,110}), (?!(?:and|or|but)\b)(.{12,})")
_SHORT_FORM = re.compile(r"(?<![\w'])((?:[A-Za-z][\w']*+[ -]){1,6}[A-Za-z][\w']*+) \(([A-Z]{2,7})\)")
_DEFINED = re.compile(r"(An? [a-z-]+(?: [a-z-]+)?) is (an? .{12,})")

_Made = Iterator[tuple[str, str, str]]  # question, answer, form


@dataclass(frozen=True)
class PatternQuestion:
    """What is asked, what answers it, by which pattern it was made, and where its quote stands in the fragment."""

    question: str
    answer: str
    form: str
    start: int
    end: int


def questions_of(text: str, title: str, begins: bool) -> list[PatternQuestion]:
    """Every question that the patterns make of a text. Unless it `begins` with a sentence, the first counts as cut."""
    questions: dict[str, PatternQuestion] = {}
    page = PageWords.of(text)
    sentences = [one for one in page_sentences(text, title) if one.start or begins]
    for place, one in enumerate(sentences):
        if one.kind == "row" or len(one.text) > _LONGEST or not one.is_whole or _ODD.search(one.text):
            continue
        if _asks(one.heading) and (not place or sentences[place - 1].heading != one.heading):
            questions.setdefault(one.heading, _under_heading(sentences[place : place + 2]))
        if _FEWEST <= len(one.text.split()) <= _MOST:
            for question, answer, form in _made(one.text, page, f"{title} {one.heading}".lower()):
                asked = question[:1].upper() + question[1:]
                answered = PatternQuestion(asked, answer.strip(" ,;."), form, one.start, one.end)
                questions.setdefault(asked, answered)
    return list(questions.values())


def _asks(heading: str) -> bool:
    return heading.endswith("?") and _FEWEST <= len(heading.split()) <= _MOST


def _under_heading(sentences: list[PageSentence]) -> PatternQuestion:
    """The question that a heading asks, answered by the first sentences below it."""
    first, *others = sentences
    below = [first, *(one for one in others if one.heading == first.heading and one.kind != "row" and one.is_whole)]
    answer = " ".join(one.text for one in below).rstrip(".")
    return PatternQuestion(first.heading, answer, "heading", first.start, below[-1].end)


def _made(sentence: str, page: PageWords, topic: str) -> _Made:
    """The questions of a sentence. "The walk" is clear where the topic, what stands above it, names a walk."""
    yield from _short_forms(sentence)
    statement = sentence.rstrip(".!")
    condition = _CONDITION.fullmatch(statement)
    if condition:
        yield from _condition(*condition.groups())
        return
    for question, answer, form in _of_clause(statement, page):
        bare = _BARE.match(question)
        if stands_alone(question) and (not bare or bare[1].removesuffix("s") in topic):
            yield question, answer, form
    there = _THERE_ARE.match(statement)
    if there and stands_alone(f"Which {there[3]} are {_before_tail(there[4])}"):
        yield f"How many {there[3]} {there[1]} there {_before_tail(there[4])}?", f"{there[2]} {there[3]}", "number"


def _of_clause(statement: str, page: PageWords) -> _Made:
    reason = _REASON.fullmatch(statement)
    if reason and (clause := clause_of(reason[1], page)):
        yield clause.asked("why", clause.rest), reason[2], "reason"
    count = _FIRST_COUNT.fullmatch(statement)
    if count:
        yield f"how many {count[2]} {count[3]} {_before_tail(count[4])}?", f"{count[1]} {count[2]}", "number"
    defined = _DEFINED.fullmatch(statement)
    if defined:
        yield f"what is {defined[1][:1].lower()}{defined[1][1:]}?", defined[2], "definition"
    clause = clause_of(statement, page)
    if clause:
        yield from _without(clause, _TIME, "when", "time")
        yield from _without(clause, _OFTEN, "how often", "frequency")
        yield from _place(clause)
        yield from _number(clause)


def _short_forms(sentence: str) -> _Made:
    for match in _SHORT_FORM.finditer(sentence):
        words = match[1].replace("-", " ").split()[-len(match[2]) :]
        if "".join(word[0] for word in words).upper() == match[2]:
            answer = match[1][-len(" ".join(words)) :]
            yield f"What does {match[2]} stand for?", answer, "abbreviation"


def _condition(link: str, condition: str, answer: str) -> _Made:
    """What is to be done, where the reader is spoken to; else what happens."""
    states = re.match(r"the |an? |it |[A-Z]|\w+body |(?:\w+ ){1,2}(?:is|are|must|may|can) ", answer)
    if not states and not condition.startswith("you "):
        return
    question = f"What {'happens' if states else 'should you do'} {link.lower()} {condition}?"
    if stands_alone(question.replace("you", "people").replace(f" {link.lower()} ", " ", 1)):
        yield question, answer, "condition"


def _without(clause: Clause, phrase: re.Pattern[str], opening: str, form: str) -> _Made:
    """The question that a phrase of the clause answers: the clause without it."""
    match = phrase.search(clause.rest)
    before = clause.rest[: match.start()].strip() if match else ""
    if not match or _TAIL.search(before) or holds_a_clause(before.split()):
        return
    after = _before_tail(clause.rest[match.end() :]).strip()
    rest = f"{before} {after}"
    if after.split(" ")[0] in ("", *PREPOSITIONS) and not phrase.search(rest):  # "at six, the others at seven"
        yield clause.asked(opening, rest), match[0], form


def _place(clause: Clause) -> _Made:
    first, _, place = clause.rest.partition(" ")
    if clause.verb in _STANDING:
        first, place = "", clause.rest
    elif clause.helper not in BE or clause.verb or not _LYING.match(first):
        return
    match = _PLACE.fullmatch(_before_tail(place))
    if match and match[0].split()[-1] not in stop_words("en", "plain"):
        yield clause.asked("where", first), match[0], "place"


def _number(clause: Clause) -> _Made:
    measured = _MEASURED.match(clause.rest)
    if measured and clause.helper in BE:
        yield clause.asked(f"how {measured[2]}", ""), measured[1], "number"
    lasting = _FOR_LONG.match(clause.rest)
    if lasting and clause.helper in BE and not _TAIL.search(lasting[1]) and not _before_tail(lasting[3]):
        yield clause.asked("for how long", lasting[1]), lasting[2], "number"
    counted = _COUNTED.match(clause.rest)
    if not counted or not clause.verb or not _FOLLOWS_A_COUNT.match(counted[4]):
        return
    number, unit, of, after = counted[1], counted[2], counted[3] or "", _before_tail(counted[4])
    opening = f"how many {unit}{of}"
    if clause.verb == "cost" and re.fullmatch(_MONEY, unit):
        opening = "how much"
    elif clause.verb in ("last", "take"):
        if after or not re.fullmatch(_LENGTHS, unit):
            return
        opening = "how long"
    yield clause.asked(opening, after), f"{number} {unit}{of}", "number"


def _before_tail(text: str) -> str:
    """A text up to where another clause or an aside begins."""
    return _TAIL.split(text, maxsplit=1)[0]
