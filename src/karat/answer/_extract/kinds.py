"""Which kind of answer a question asks for, told by its words: English, Russian, and the plainest of some others."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "expansion", "reason", "time", "duration", "number", "person", "place", "name", "polar", "list", "manner",
    "difference", "other",
]  # fmt: skip

ACRONYM = r"(?-i:[A-ZА-Я][A-ZА-Я0-9]{1,6})"
_MEASURED = (
    r"(?:many|much|long|far|often|soon|old|big|high|tall|deep|thick|wide|heavy|fast|hot|cold|large|small|short|late"
    r"|early|quickly|strong|steep|warm|loud|narrow|close|frequently)"
)
_AMOUNT = (
    r"(?:number|price|cost|fee|fare|salary|pay|wage|speed|temperature|height|depth|width|length|weight|distance|limit"
    r"|age|population|percentage|share|capacity|size|rate|maximum|minimum|voltage|pressure|quota|area|volume|dose|score"
    r"|budget|channel|page|floor|chapter|frequency)"
)
_AMOUNT_RU = (
    r"(?:число|цена|стоимость|скорость|температур|высот|глубин|ширин|длин|вес|масс|расстояни|возраст|населени|дол"
    r"|площад|объ[её]м|давлени|процент|количеств)"
)
_BE = r"(?:is|are|was|were|'s)"
_HELPING = (
    r"(?:am|is|are|was|were|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had|need|isn't|aren't"
    r"|don't|doesn't|can't|won't)"
)
_WHAT = r"\b(?:what|which)"
# Of rules that match, the one whose match stands first in the question counts; of two at one place the earlier rule.
_RULES: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "expansion",
        (
            rf"\bstands? for\b|\bwhat (?:does|do|is|are) (?:(?:an?|the) )?[\"'“«]?{ACRONYM}\b|{ACRONYM}[\"'”»]? mean",
            rf"\bрасшифровыва|\b(?:что (?:такое|значит|означает)|означает) [\"«]?{ACRONYM}",
        ),
    ),
    (
        "difference",
        (r"\bdifferences? (?:between|in)\b|\bdiffer\b|\bразниц|\bотлича|\bunterschied|\bdifférence|\bdiferencia",),
    ),
    (
        "reason",
        (
            r"\bwhy\b|\bwhat for\b|\b(?:for|what) (?:what|is the|was the) (?:reason|cause|purpose)\b",
            r"\bпочему\b|\bзачем\b",
            r"\bиз-за чего\b|\bпо какой причине\b|\bwarum\b|\bwieso\b|\bweshalb\b|\bpourquoi\b|\bpor qué\b|क्यों",
        ),
    ),
    (
        "duration",
        (
            r"\bhow (?:long|soon|quickly)\b|\bfor how (?:many|long)\b",
            r"\bwie lange\b|\bcombien de temps\b|\bcuánto tiempo\b",
            r"\bкак (?:долго|скоро|быстро)\b|\bсколько (?:времени|часов|дней|минут|лет|суток)",
        ),
    ),
    (
        "time",
        (
            rf"\bwhen\b|{_WHAT} (?:times?|days?|dates?|years?|months?|hours?|season|century)\b|\bo'?clock\b",
            r"\bкогда\b|\bво сколько\b|\bв котором часу\b",
            r"\bкак(?:ого|ой|ом|ую) (?:числа|году|год|день|дату|месяце|веке)",
            r"\bwann\b|\bquand\b|\bcuándo\b|कब",
        ),
    ),
    ("name", (r"\bwhat (?:is|are|was|were) .*\b(?:called|named)\b",)),
    (
        "number",
        (
            rf"\bhow {_MEASURED}\b|\bby how much\b|{_WHAT} (?:\w+ ){{0,2}}{_AMOUNT}\b|\bhow much$",
            rf"{_WHAT} {_BE} (?:\w+ ){{0,4}}(?!floor|page|chapter|channel|area|share){_AMOUNT}\b",
            rf"\bwhat {_BE} (?:the )?(?:highest|lowest|maximum|minimum|largest|smallest|most|least)\b",
            r"\bwhat (?:does|do|did|will) .* (?:cost|weigh)\b",
            r"\bкак (?:часто|далеко|высоко|глубоко)\b|\bсколько\b|\bнасколько\b",
            rf"\bкак(?:ов|ова|ой|ая|ую|ое) (?:\S+ ){{0,2}}{_AMOUNT_RU}",
            r"\bwie ?(?:viel|viele|hoch|weit|tief|schwer|alt|groß|lang)\b|\bcombien\b|\bcuánt[oa]s?\b|कितन",
        ),
    ),
    (
        "person",
        (
            r"\bwho(?:m|se)?\b|\bкто\b|\bкого\b|\bкому\b|\bкем\b|\bч(?:ей|ья|ьё|ье|ьи)\b",
            r"\bwer\b|\bwem\b|\bwen\b|\bqui\b|\bquién",
        ),
    ),
    (
        "place",
        (
            rf"\bwhere\b|{_WHAT} (?:place|room|city|country|town|building)\b|\bгде\b|\bкуда\b|\bоткуда\b",
            r"\bв как(?:ом|ой|ую) (?:город|стран|здани|комнат|мест)|\bwo\b|\bwohin\b|\boù\b|\bdónde\b|कहाँ",
        ),
    ),
    (
        "list",
        (
            rf"{_WHAT} (?!{_HELPING}\b)(?:\w+ ){{1,2}}?\w+[^s\W]s (?:are|do|can|must|have|were|may|should|will)\b",
            rf"{_WHAT} (?!{_HELPING}\b|happens\b|goes\b)\w+[^s\W]s\b|\bwhat (?:are|were)\b|^(?:list|name|enumerate)\b",
            r"\bwhat (?:is|are|was|were) (?:in|inside|on)\b",
            r"\bwhat (?:does|do|did) .* (?:hold|contain|include|sell|comprise|consist of|offer)\b",
            r"\bкакие\b|\bкаких\b|\bперечисл|\bназовите\b|\bwelche\b|\bquelles\b|\bquels\b|\bcuáles\b",
        ),
    ),
    (
        "name",
        (
            r"\bwhich\b|\bwhat colou?r\b|\bcalled\b|\bnames?\b",
            r"\bкак(?:ой|ая|ое|ую|ого|ому)\b|\bкак (?:называ|зовут|звали)|\bwelche[rsnm]?\b|\bquelle?\b|\bcuál\b|कौन",
        ),
    ),
    (
        "manner",
        (
            r"\bhow\b|\bwhat (?:should|shall|must|can|do|does|may) (?:i|we|you|one|he|she|they)\b.*\bdo\b",
            r"\bкак\b|\bwie\b|\bcomment\b|\bcómo\b",
        ),
    ),
)
_KINDS = tuple((kind, re.compile("|".join(rules), re.I)) for kind, rules in _RULES)
_POLAR = re.compile(
    rf"(?:and |but |so |or |then )?{_HELPING} \S|\S+(?: \S+)? ли\b|(?:можно|нужно|надо|есть|разве) ", re.I
)
_ASIDE = re.compile(r"(?:when|if|once|after|before|while|since|как только|если|когда|после|пока) [^?]*?, (?=\w)", re.I)


def kind_of(question: str) -> Kind:
    """The kind of answer that a question asks for.

    >>> kind_of("How many pages has it?"), kind_of("If it rains, where do we meet?"), kind_of("Кто это написал?")
    ('number', 'place', 'person')
    """
    bare = _ASIDE.sub("", question.strip(" \"'«“¿"), count=1)
    if _POLAR.match(bare):
        return "polar"
    found = [(match.start(), order, kind) for order, (kind, rule) in enumerate(_KINDS) if (match := rule.search(bare))]
    return min(found)[2] if found else "other"
