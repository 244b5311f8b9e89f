"""English words and phrases that the rules look for: numbers, units, times, places, people."""

from __future__ import annotations

import re

_SMALL = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred|hundred|thousand|a dozen"
)
DEGREE = r"(?:about|up to|at least|at most|only|exactly|nearly|almost|around|roughly|more than|less than|fewer than)"
NUMBER = (
    rf"(?:(?:{DEGREE}) )?(?:(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?)(?: (?:million|thousand|hundred))?"
    rf"|(?:{_SMALL})(?:[- ](?:{_SMALL}))*)"
)
_NOT_UNITS = r"(?!of\b|in\b|on\b|at\b|by\b|to\b|or\b|and\b|for\b|from\b|is\b|are\b|was\b|has\b|per\b)"
UNIT = (
    rf"(?:{_NOT_UNITS}[a-z-]+ )?(?:{_NOT_UNITS}(?!this\b|times\b|as\b|plus\b|less\b|its\b|has\b)[a-z-]{{2,}}s"
    r"|people|men|women|children|feet|per cent|percent|bar)"
)
DURATIONS = ("seconds", "minutes", "hours", "days", "nights", "weeks", "months", "years", "seasons", "winters")
ADJECTIVES = "high|long|wide|deep|tall|thick|old|heavy|broad|apart|away"
COUNTED = re.compile(rf"({NUMBER}) ({UNIT})\b(?! (?:old|years?) )")

_CLOCK = r"\d{1,2}[:.]\d{2}(?: ?[ap]\.?m\.?)?"
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = rf"(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?)"
_DAYS = rf"{_DAY}(?:(?:, {_DAY})*,? (?:and|or) {_DAY}|(?: to | until ){_DAY})?"
_ONE_TIME = (
    rf"(?:from (?:{_CLOCK}|{_DATE}|{_MONTH}|{_DAY}) (?:to|until|till) (?:{_CLOCK}|{_DATE}|{_MONTH}|{_DAY})"
    rf"|between (?:{_CLOCK}|{_DATE}|{_MONTH}) and (?:{_CLOCK}|{_DATE}|{_MONTH})"
    rf"|(?:after|before) {_CLOCK}|at {_CLOCK}(?:(?:, {_CLOCK})*,? and {_CLOCK})?|at (?:noon|midnight|dawn|dusk)"
    rf"|on (?:the )?(?:first|second|third|last) (?:{_DAY}|day) of (?:each|every|the) (?:month|week|year|season|quarter)"
    rf"|on {_DAYS}|on {_DATE}|in (?:early |late |mid-)?{_MONTH}(?: \d{{4}})?(?: and {_MONTH})?"
    rf"|in (?:the year )?1\d{{3}}|in 20\d\d"
    rf"|in (?:the )?(?:spring|autumn|winter|summer)|every (?:{_DAY}|evening|morning) at {_CLOCK})"
)
WHEN = re.compile(rf"\b{_ONE_TIME}(?:,? (?:and )?{_ONE_TIME})*(?: (?:station|local) time)?(?=[\s,;.]|$)")
UNTIL = re.compile(
    rf"\b(until|till|by|before|after|since) ({_CLOCK}|{_DATE}|{_MONTH}|{_DAY}|noon|midnight)(?=[\s,;.]|$)"
)
_PERIOD = (
    r"(?:second|minute|hour|day|night|week|fortnight|month|quarter|season|year|winter|summer|morning|evening|shift)"
)
OFTEN = re.compile(
    rf"\b(?:on |in |at )?(?:every (?:(?:other|second|third) )?{_PERIOD}|every {NUMBER} {UNIT}"
    rf"|(?:once|twice|(?:two|three|four|five|six|ten|\d+) times) (?:a|an|each|every|per) {_PERIOD}"
    r"|(?:daily|weekly|monthly|yearly|annually|quarterly|hourly))"
    r"(?=[,;.]|$| (?:by|with|at|in|from|to|and|before|after|against|on|for|so|between|until|during|when)\b)"
)

_LYING_WORDS = """
kept stored held found located buried hung placed parked sold served stowed displayed written posted hidden pinned
mounted filed locked fixed stacked painted printed burned burnt allowed shown listed logged marked fitted installed
situated based stationed
"""
LYING = frozenset(_LYING_WORDS.split())
STANDING = frozenset(["stand", "lie", "hang", "live", "sleep", "sit", "meet", "gather", "grow", "stay", "land"])
PLACE = re.compile(
    r"(?:only )?(?:in|on|at|behind|beside|under|inside|outside|near|next to|above|below|opposite|along|between|beneath)"
    r" (?:the|a|an|each|every|[A-Z])\b.*$"
)
_NO_PLACE = re.compile(
    r"^(?:only )?(?:in the (?:order|same|first|last|end|case|event|dark|morning|evening|afternoon|night|presence|name"
    r"|way|form|meantime|open|year|season|winter|summer|spring|autumn)"
    r"|on the (?:first|second|third|fourth|fifth|last|day|same|other|whole|order|basis|spot|written|condition)"
    r"|at the (?:same|end|latest|time|start|beginning|moment|expense|request|age|speed|rate)"
    r"|in an? (?:row|hurry|emergency|group|line|few|week|day|month|year|time)|on a (?:day|rota|first|scale)"
    r"|at a (?:time|speed|rate|distance|height|depth)|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"|in (?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"|under the (?:rules|law)|along the lines)"
)
_LEVEL = re.compile(r"\b(?:minus|degrees|per cent|percent|speed|rate|volts|bar)\b|\d%")
_PEOPLE = """
actor administrator adult agent applicant artist assistant author baker builder buyer captain carer cashier chair
chairman chef chief child citizen cleaner clerk climber coach colleague colonel commander committee cook councillor
crew customer deputy director diver doctor driller driver editor employee employer engineer expert farmer father
firefighter founder friend gardener geologist girl governor guard guardian guest guide head helper holder host
inspector instructor inventor judge keeper king landlord lawyer leader lecturer librarian lifeguard logger
magistrate manager master mate mayor mechanic medic member messenger minister mother musician neighbour newcomer
nurse observer officer official operator owner painter parent partner passenger patient pensioner people person
photographer physician pilot player poet policeman pope porter postman president priest prince princess principal
professor programmer purser queen ranger reader referee reporter resident sailor scholar scientist secretary seller
sergeant signatory soldier staff steward student supervisor surgeon surveyor tailor teacher team technician tenant
tourist trainer translator traveller treasurer tutor user visitor volunteer voter waiter warden watchman widow
winner winterer woman worker writer
"""
PEOPLE = frozenset(_PEOPLE.split())


def is_place(phrase: str) -> bool:
    """Whether a phrase that begins like a place is one.

    >>> is_place("in the safe"), is_place("in the order of the list")
    (True, False)
    """
    return PLACE.fullmatch(phrase) is not None and not _NO_PLACE.match(phrase) and not _LEVEL.search(phrase)


def is_human(subject: str) -> bool:
    """Whether a subject is somebody: its noun, before any "of" or "with", is a known one."""
    words = re.split(r" (?:of|with|from|in|on|at|for|who|under|over|outside|inside|without|and) ", subject.strip())[
        0
    ].split()
    head = words[-1].lower().strip(",") if words else ""
    return (
        head in PEOPLE
        or (head.endswith("s") and head[:-1] in PEOPLE)
        or head in ("everybody", "everyone", "women", "men")
    )
