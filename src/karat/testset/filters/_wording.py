"""Questions as filters read them: their lines joined, the words that ask in them, and excerpts for messages."""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s+")
_ASKING = re.compile(
    r"\b(?:how (?:many|much|long|often|far|old|soon|high|deep|big|large|fast|heavy|late|early|wide|cold|warm)"
    r"|what|which|who|whom|whose|when|where|why|how)\b"
    r"|\b(?:сколько|когда|где|куда|откуда|почему|зачем|кто|кого|кому|кем|чей|как(?:ой|ая|ое|ие|ого|ую|их|ими?|ому?)?"
    r"|что|чего|чему|чем)\b",
    re.IGNORECASE,
)


def one_line(text: str) -> str:
    """A text with every white space as one space.

    >>> one_line(" two\\n words ")
    'two words'
    """
    return _SPACE.sub(" ", text).strip()


def shortened(text: str, size: int = 80) -> str:
    """A text as a message quotes it: on one line, its end cut where it is long."""
    told = one_line(text)
    return told if len(told) <= size else told[: size - 1].rstrip() + "…"


def without_asking(text: str) -> str:
    """A question without the words that ask in it: no sentence that answers it has to hold them.

    >>> without_asking("In the galley, how many cook?")
    'In the galley,   cook?'
    """
    return _ASKING.sub(" ", text)


def asking_word(text: str) -> str:
    """The word by which a question asks, in small letters; "" where none does.

    >>> asking_word("In the galley, how many cook?"), asking_word("Is it open?")
    ('how many', '')
    """
    found = _ASKING.search(text)
    return one_line(found[0]).lower() if found else ""
