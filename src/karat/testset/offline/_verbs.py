"""English verbs and their forms: enough to tell the verb of a plain sentence and to say it after "does" or "did"."""

from __future__ import annotations

import re
from functools import cache

BE = ("is", "are", "was", "were")
HAVE = ("has", "have", "had")
MODALS = ("can", "could", "may", "might", "must", "shall", "should", "will", "would", "cannot")
AUXILIARIES = frozenset((*BE, *HAVE, *MODALS, "does", "do", "did"))

_REGULAR = """
accept accompany add adjust affect agree aim allow announce answer appear apply appoint approve arrive ask attach
attend avoid bake balance base belong boil brush burn call cancel carry cause change charge check circulate claim
clean close collect combine compare complete confirm connect consist consume contain continue control convert cook
cool copy correct cost count cover create cross damage decide declare decrease define deliver depend describe destroy
develop differ direct discover display divide double drain drop earn employ empty enable encourage end ensure enter
equal establish examine exceed exclude exist expand expect expire explain export express extend fail fasten file fill
finish fire fit fix float flow follow force form function gather generate govern greet guarantee guard guide handle
happen heat help hire hunt identify import improve include increase indicate inform inspect install interrupt introduce
invent invite involve issue join kill label land lapse last launch lead learn lift limit link list live load locate
lock look lower maintain manage mark match measure melt mention move need notify number obtain occur offer open operate
order organise organize outrank own pack paint park pass pay perform pick place plan plant play point pour prefer
prepare present press prevent print process produce prohibit promise protect prove provide publish pull pump purchase
push qualify raise range rate reach receive recognise recognize recommend record recover reduce refer refuse regulate
reject release rely remain remember remove rent repair repeat replace reply report represent require rescue reserve
resist respond rest result retire return reveal review ring rinse roll rule save scan seal seat select separate serve
settle share shelter show sign signal slow smell soak solve sort sound spill spread start state stay stop store
stretch study submit succeed suffer suggest supply support surround suspend switch tie tilt touch train transfer
telephone transform transmit travel treat trigger try turn use value vary visit wait walk warm warn wash watch weigh
welcome
widen withdraw work wrap yield
"""
# base, past, participle where it differs
_IRREGULAR = """
be was been|begin began begun|bear bore borne|become became become|bend bent|bind bound|bite bit bitten|blow blew blown
|break broke broken|bring brought|build built|burst burst|buy bought|catch caught|choose chose chosen|come came come
|cut cut|deal dealt|dig dug|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
|fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown|forbid forbade forbidden|freeze froze frozen
|get got|give gave given|go went gone|grow grew grown|hang hung|have had|hear heard|hide hid hidden|hold held|hurt hurt
|keep kept|know knew known|lay laid|leave left|lend lent|let let|lie lay lain|light lit|lose lost|make made|mean meant
|meet met|mow mowed mown|pay paid|put put|read read|ride rode ridden|rise rose risen|run ran run|say said|see saw seen
|sell sold|send sent|set set|sew sewed sewn|shake shook shaken|shine shone|shoot shot|shut shut|sing sang sung
|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|split split|spring sprang sprung
|stand stood|steal stole stolen|stick stuck|strike struck|swim swam swum|swing swung|take took taken|teach taught
|tear tore torn|tell told|think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn
|win won|wind wound|write wrote written|belong belonged|hold held|weigh weighed
"""
_DOUBLED_WORDS = """
drop fit plan refer prefer occur stop ship trim grip wrap travel control rub tap submit permit transfer
"""
_DOUBLED = frozenset(_DOUBLED_WORDS.split())


def third(base: str) -> str:
    """The form after he, she or it.

    >>> third("carry"), third("pass"), third("hold")
    ('carries', 'passes', 'holds')
    """
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def past(base: str) -> str:
    """The regular past."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


@cache
def forms() -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Third persons and pasts with their base, and all bases."""
    bases = set(_REGULAR.split())
    thirds, pasts = {}, {}
    for entry in _IRREGULAR.replace("\n", "").split("|"):
        base, before, *_ = entry.split()
        if base == "be":
            continue
        bases.add(base)
        pasts[before] = base
    irregular = set(pasts.values())
    for base in sorted(bases):
        thirds[third(base)] = base
        if base not in irregular:
            pasts[past(base)] = base
    # Forms that are far more often something else.
    for word in ("left", "lay", "found", "wound", "saw", "felt", "ground", "spring", "fell"):
        pasts.pop(word, None)
    return thirds, pasts, frozenset(bases - {"last", "own", "number", "state", "land", "present"})


@cache
def participles() -> frozenset[str]:
    """Participles, regular and irregular: what stands after "is" in a passive."""
    found = set()
    for entry in _IRREGULAR.replace("\n", "").split("|"):
        parts = entry.split()
        found.add(parts[-1])
    return frozenset(found | {past(base) for base in _REGULAR.split()})


def is_participle(word: str) -> bool:
    """Whether a word may be a participle of the past: a known one, or one in -ed."""
    return word in participles() or bool(re.fullmatch(r"[a-z]{3,}(?:ed|wn)", word))
