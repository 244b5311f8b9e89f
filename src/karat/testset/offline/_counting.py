"""English: how many, how much, how long, how often and when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.testset.offline._clause import Clause
from karat.testset.offline._english import ADJECTIVES, COUNTED, DEGREE, DURATIONS, NUMBER, OFTEN, UNIT, UNTIL, WHEN
from karat.testset.offline._pieces import main_part
from karat.testset.offline._verbs import AUXILIARIES, BE, forms, is_participle

_FIRST = re.compile(rf"^((?:{DEGREE} )?{NUMBER}) ({UNIT}) (.+)$", re.IGNORECASE)
_THERE = re.compile(rf"^There (are|were) ({NUMBER}) ({UNIT}) ?(.*)$")
_HIGH = re.compile(rf"^({NUMBER} {UNIT}) ({ADJECTIVES})\b(.*)$")
_OBJECT = re.compile(rf"^({NUMBER}) ({UNIT})\b(.*)$")
_PHRASE = re.compile(rf"^(.*?)\b(for|within|to|after|at) ({NUMBER}) ({UNIT})\b(.*)$")
_INNER = re.compile(r"\b(?:that|which|who|whose|when|where|if|unless|while|because|until|as)\b")
_BREAKS = "in|on|at|by|for|from|to|with|a|an|per|over|under|each|every|into|during|after|before|when|if|of|between"
_VAGUE = ("things", "places", "rules", "ways", "points", "cases", "others", "more", "kinds", "times", "parts")
_LASTING = ("warm", "keep", "boil", "cool", "heat", "hold", "leave", "run", "cook", "bake", "wait", "rest", "stay")
_STATES = (
    "open",
    "closed",
    "shut",
    "valid",
    "free",
    "available",
    "live",
    "lit",
    "full",
    "empty",
    "dark",
    "due",
    "back",
)
_MONEY = ("euros", "dollars", "pounds", "crowns", "roubles", "rubles", "cents", "francs", "yen", "rupees", "pence")

Made = Iterator[tuple[str, str, str]]


def counted(piece: str, clause: Clause | None) -> Made:
    """Questions of number and time that a clause answers."""
    told = piece.rstrip(".")
    yield from _subject(told)
    if clause is None:
        return
    yield from _often(clause)
    yield from _when(clause)
    yield from _object(clause)
    yield from _phrase(clause)


def _subject(told: str) -> Made:
    there = _THERE.match(told)
    if there and not there[4].startswith(("of them", "of these")):
        rest = main_part(there[4])
        yield f"How many {there[3]} {there[1]} there{' ' + rest if rest else ''}?", f"{there[2]} {there[3]}", "number"
        return
    found = _FIRST.match(told)
    if not found:
        return
    rest = main_part(found[3])
    words = rest.split()
    thirds, pasts, bases = forms()
    verbs = [
        i for i, word in enumerate(words[:8]) if word in AUXILIARIES or word in bases or word in pasts or word in thirds
    ]
    if found[2] in _VAGUE:
        return
    if verbs and not _INNER.search(" ".join(words[: verbs[0]])) and len(words) > verbs[0] + 1:
        yield f"How many {found[2]} {rest}?", f"{found[1]} {found[2]}", "number"


def _often(clause: Clause) -> Made:
    found = OFTEN.search(clause.rest)
    rest = _without(clause, found)
    if found and rest is not None and not clause.rest[: found.start()].endswith(" of "):
        yield clause.asked("How often", rest), found[0], "frequency"


def _when(clause: Clause) -> Made:
    found = WHEN.search(clause.rest)
    rest = _without(clause, found)
    if found and rest is not None and not WHEN.search(rest):  # "at six, and the others at seven": which is asked for?
        yield clause.asked("When", rest), found[0], "time"
    found = UNTIL.search(clause.rest)
    rest = _without(clause, found)
    if found and found[1] in ("until", "by") and rest is not None and not WHEN.search(rest):
        yield clause.asked(f"{found[1].capitalize()} when", rest), found[0], "time"


def _object(clause: Clause) -> Made:
    rest = clause.rest
    high = _HIGH.match(rest)
    if high and clause.helper in BE and not clause.verb:
        word = "far" if high[2] == "away" else "far apart" if high[2] == "apart" else high[2]
        yield clause.asked(f"How {word}", high[3].strip()), high[1], "number"
        return
    found = _OBJECT.match(rest)
    if not found:
        return
    after = found[3].strip()
    answer = f"{found[1]} {found[2]}"
    if _INNER.match(after) or after.startswith(("and ", "or ", "to ", ",")):
        return
    if after and (is_participle(after.split()[0]) or "," in after):
        after = ""
    after = re.sub(rf" (?:and|or) {NUMBER}\b.*$", "", after)
    if clause.verb == "cost" and found[2] in _MONEY:
        yield clause.asked("How much", after), answer, "number"
    elif clause.verb in ("last", "take") and found[2] in DURATIONS:
        yield clause.asked("How long", after), answer, "number"
    elif clause.verb:
        part = re.match(rf"of [^,]*?(?=$| (?:{_BREAKS})\b)", after) if found[2].split()[-1] not in ("people",) else None
        unit = f"{found[2]} {part[0]}" if part else found[2]
        yield clause.asked(f"How many {unit}", after[part.end() :].strip() if part else after), answer, "number"
    elif (
        clause.helper in BE
        and after == ""
        and found[2] != "people"
        and re.match(r"(?:the|an?|each|every) ", clause.subject)
    ):
        yield clause.asked(f"How many {found[2]}", ""), answer, "number"


def _phrase(clause: Clause) -> Made:
    found = _PHRASE.match(clause.rest)
    if not found or not _is_plain(clause, found[1], found[5]) or OFTEN.search(clause.rest):
        return
    before, link, number, unit, after = (part.strip() for part in found.groups())
    after = re.sub(r",.*$", "", after)
    if (
        " and " in after
        or re.match(rf"(?:and|or|to|of|a|an|per|each|every|{ADJECTIVES})\b", after)
        or before.endswith((" from", " up", " due", "from"))
    ):
        return
    if after.startswith("at a time") or (clause.verb and before and clause.verb not in _LASTING):
        return
    if link == "for" and unit in DURATIONS:
        opening = "For how long"
    elif (link in ("within", "after") and unit in DURATIONS) or (
        link in ("to", "at") and before and unit not in DURATIONS and re.fullmatch(r"[a-z]+(?: [a-z]+)?", before)
    ):
        opening = f"{link.capitalize()} how many {unit}"
    else:
        return
    yield clause.asked(opening, f"{before} {after}".strip()), f"{number} {unit}", "number"


def _without(clause: Clause, found: re.Match[str] | None) -> str | None:
    """The rest of a clause without a phrase; None where it cannot be asked without it."""
    if found is None:
        return None
    before, after = clause.rest[: found.start()], re.sub(r",.*$", "", clause.rest[found.end() :])
    if not _is_plain(clause, before, after):
        return None
    return re.sub(r"\s+", " ", re.sub(r"\bonly$", "", before.strip()) + f" {re.sub(r'^ *only$', '', after)}").strip()


def _is_plain(clause: Clause, before: str, after: str) -> bool:
    """Whether a clause stays one when a phrase between these is taken out: nothing denied, parted or left hanging."""
    if (
        _INNER.search(before)
        or "," in before
        or re.search(r"\b(?:not|never|neither|nor|and|or)$|\b(?:not|never|no)\b", before.strip())
    ):
        return False
    if re.search(rf"\band {NUMBER}\b|\bwhether\b", f"{before}|{after}"):
        return False
    thirds = forms()[0]
    words = before.split()
    if any(word in AUXILIARIES or word in thirds for word in words[1:]):
        return False
    if any(word == "and" and is_participle(words[i + 1]) for i, word in enumerate(words[:-1]) if i > 2):
        return False
    if clause.verb:
        return True
    first = before.split()[:1]
    return bool(first) and (is_participle(first[0]) or first[0] in _STATES or clause.helper not in BE)


__all__ = ["COUNTED", "counted"]
