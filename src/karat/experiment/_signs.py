"""Signs: what the form of a question shows, in English, German, French, Spanish, Russian and Hindi."""

from __future__ import annotations

import re

MOST = 2000  # characters that are looked at
_HOW = "many|much|far|long|thick|thin|high|tall|deep|wide|old|soon|big|large|heavy|often|fast|hot|cold"
_WHAT = "time|date|year|percentage|number|size|weight|temperature|price|cost|rate|amount|limit|dose"
_ASKED = "is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have"

# Words, bounded on both sides; then what stands for itself (scripts whose marks are no word characters to `re`).
_WORDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "meaning": (
        (
            "stands? for|means?|meaning|abbreviation|acronym|short for",
            "steht für|steht die|steht das|bedeutet|abkürzung|signifie|veut dire|abréviation|significa|siglas?",
            r"расшифровывается|означа\w+|аббревиатура",
        ),
        ("मतलब", "अर्थ"),
    ),
    "amount": (
        (
            f"how (?:{_HOW})|(?:what|which) (?:\\w+ )?(?:{_WHAT})",
            "highest|lowest|maximum|minimum|at least|at most|number of|pay|price",
            r"wie ?viele?|wie (?:lange|hoch|weit|groß|oft|schwer)|combien|cuánt\w+|сколько",
        ),
        ("कितन",),
    ),
    "manner": (
        (
            "how (?:do|does|did|can|could|to|should|would|must|is|are)|are the steps|is the procedure",
            "wie (?:kann|wird|werden|geht|muss|soll|macht)|comment|cómo|как|каким образом",
        ),
        ("कैसे",),
    ),
    "comparison": (
        (
            r"than|difference|differ\w*|compar\w+|versus|vs|both|most|least|unlike|whereas",
            r"als|unterschied\w*|vergl\w+|différence|diferencia|разниц\w+|отлич\w+|сравн\w+|чем",
        ),
        ("अंतर", "तुलना"),
    ),
    "plural": (
        (
            r"(?:which|what|whose|list) (?:\w+ ){0,2}?\w+[^\Ws]s(?! (?:the|a|an|it|this|that)\b)",
            r"all|each|every|welche|quels|quelles|cuáles|какие|перечисл\w+",
        ),
        ("कौन कौन", "कौन-कौन"),
    ),
    "reason": (("why|warum|wieso|pourquoi|por qué|почему|зачем",), ("क्यों",)),
    "person": ((r"who|whom|whose|wer|wen|qui|quién\w*|кто|кого|кому",), ("कौन", "किसने")),
    "place": (("where|wo|wohin|où|dónde|где|куда",), ("कहाँ", "कहां")),
    "time": (("when|wann|quand|cuándo|когда",), ("कब",)),
    "first person": (
        (r"i|my|me|we|our|us|ich|mein\w*|wir|unser\w*|je|mon|ma|nous|mi|nosotros|я|мой|моя|мне|мы|наш\w*",),
        ("मैं", "मेरा", "मेरी", "हम"),
    ),
}
SIGNS: dict[str, re.Pattern[str]] = {
    "capitals": re.compile(r"\b(?=\w*[A-ZА-Я]\w*[A-ZА-Я0-9])[A-ZА-Я0-9]{2,6}\b"),
    **{
        sign: re.compile("|".join((rf"\b(?:{'|'.join(bounded)})\b", *free)), re.IGNORECASE)
        for sign, (bounded, free) in _WORDS.items()
    },
    "yes or no": re.compile(
        rf"^\W*(?:{_ASKED}|ist|sind|darf|kann|muss|est-ce|peut-on|можно|есть)\b|^\s*क्या", re.IGNORECASE
    ),
    "sentences": re.compile(r"[.!?।]\W*\s\w"),
    "comma": re.compile("[,;:]"),
    "digit": re.compile(r"\d"),
}


def signs_of(text: str) -> tuple[str, ...]:
    """The signs that a question gives.

    >>> signs_of("How many litres does the tank hold?"), signs_of("Кто дежурит сегодня?")
    (('amount',), ('person',))
    """
    start = text[:MOST]
    return tuple(sign for sign, pattern in SIGNS.items() if pattern.search(start))
