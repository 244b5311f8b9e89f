"""Russian: sentences and lists turned into questions by constructions that need no change of case.

A Russian question mostly keeps the forms of the sentence that answers it, so only such are made in which every word
stays as it was: the number gives way to "сколько", the time to "когда", the rest follows in its order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.testset.offline._asking import Asking
from karat.testset.offline._reading import Headed, Listed, Read, Told
from karat.testset.offline._russian import COUNTED, LEANS, LIES, NUMBER, OFTEN, STARTS, WHEN

_DEFINED = re.compile(r"^([^,;:()—–]{2,60}?) (?:— это|– это|- это|это) (.{8,})$")
_IS = re.compile(r"^([А-ЯЁ][^,;:()—–]{2,50}?) (?:является|представляет собой) (.{6,})$")
_CALLED = re.compile(r"^([^,;:()—–]{5,80}?) называ(?:ют|ется|ются) ([^,;:]{2,60})$")
_SHORT = re.compile(r"((?:[А-Яа-яЁё-]+ ){1,7}[А-Яа-яЁё-]+) \(([А-ЯЁ]{2,7})\)")
_CAUSE = re.compile(r"^(.{10,160}?),? (потому что|так как|поскольку|из-за того,? что) (.{6,})$")
_AIM = re.compile(r"^(.{10,140}?), (чтобы .{6,})$")
_AIM_FIRST = re.compile(r"^Чтобы ([^,;:]{6,90}), (?!чтобы)(.{8,})$")
_CONDITION = re.compile(r"^Если ([^,;:]{6,110}), (?:то )?(.{8,})$")
_ORDERS = re.compile(
    r"^(?:нужно|надо|следует|необходимо|требуется|можно|нельзя|обратитесь|сообщите|нажмите|проверьте|отключите|выключите"
    r"|включите|закройте|откройте|позвоните|подождите|замените|установите|перезагрузите|удалите|выберите|введите|\w+йте"
    r"|\w+ите)\b"
)
_WHERE = re.compile(
    rf"^([^,;:()]{{3,70}}?) ({LIES}) ((?:в|во|на|под|над|за|у|около|возле|рядом с|между|перед) [^;:]{{3,90}})$"
)
_MADE_OF = re.compile(
    r"^([А-ЯЁ][^,;:()]{2,60}?) (состоит|состоят|делится|делятся|включает|включают|содержит|содержат|зависит|зависят)"
    r" (?:(из|на|в себя|от) )?([^;:]{4,200})$"
)
_ASKS_WITH = {"из": "Из чего", "на": "На что", "от": "От чего"}
_COSTS = re.compile(
    rf"^([А-ЯЁ][^,;:()]{{2,60}}?) (стоит|стоят) ({NUMBER} (?:рубл\w+|евро|доллар\w*|копе\w+|крон\w*))(.*)$"
)
_FOUNDED = re.compile(
    r"^([А-ЯЁ][а-яё-]+(?: [а-яё-]+){0,2}) (основал|построил|создал|изобрёл|открыл|написал|спроектировал|возглавляет"
    r"|разработал|возглавил)(а|и)? ((?:[а-яё]+ ){0,3}[А-ЯЁ][^,;:]{2,60}?)( в \d{4} году)?$"
)
_ANSWERS = re.compile(r"^За ([^,;:]{3,60}) отвеча(?:ет|ют) ([^,;:]{3,60})$")
# Endings of verbs and of short participles, and the words that do for a verb.
_VERB = re.compile(
    r"(?: |^)(?:[а-яё]+(?:ется|ются|ится|ятся|утся|лось|лась|лся|лись|ает|яет|ают|яют|ует|уют|еет|ит|ят|ёт|ут|ат|ёл|ал"
    r"|ил|ял|ела|ала|ила|яла|или|али|ели|ено|ены|ена|ён|ан|ана|ано|аны|ято|яты|ыта|ыты|ыто|ыт"
    r"|рыта|рыт|рыто|шёл|шла|шли|шло)"
    r"|можно|нужно|надо|нельзя|возможно|работают|есть)$"
)
_NUMBERED = re.compile(rf"(?<![\w-])({NUMBER}) ([а-яё]+)(?![\w-])")
_LISTED = re.compile(
    r"^(.{3,90}?) ?((?:два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|\d+) [а-яё]+(?: [а-яё]+)?)"
    r": ([^:;.]+, [^:;.]+ и [^:;.]+)$"
)
_OPENING = re.compile(r"^((?:[А-ЯЁ][а-яё]+(?:ые|ие)) [а-яё]+(?:ы|и|а|я)(?: [^,;:]{3,60})?):$")


def askings(read: Read, text: str) -> Iterator[Asking]:
    """Every question that the rules make of a fragment."""
    names = frozenset(re.findall(r"(?<=[а-яё,] )([А-ЯЁ][\w-]+)", text))
    found: list[Asking] = []
    for told in read.told:
        for question, answer, form in _made(told, names):
            found.append(Asking(question, answer.strip(" ,;."), form, told.start, told.end))
    for listed in read.listed:
        found += _of_list(listed)
    for headed in read.headed:
        found += _of_heading(headed)
    seen: set[str] = set()
    for asking in found:
        size = len(asking.question.split())
        leans = LEANS.search(asking.question.removeprefix("Что такое "))
        if asking.question not in seen and asking.answer and 3 <= size <= 30 and not leans:
            seen.add(asking.question)
            yield asking


def _made(told: Told, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    sentence = told.text.rstrip(".!")
    for found in _SHORT.finditer(sentence):
        words = re.split(r"[ -]", found[1])[-len(found[2]) :]
        if [word[0].upper() for word in words] == list(found[2]):
            yield f"Как расшифровывается {found[2]}?", found[1][found[1].rfind(words[0]) :], "abbreviation"
    if STARTS.search(sentence):
        return
    yield from _conditions(sentence)
    for piece in re.split(r"; ", sentence):
        one = piece[:1].upper() + piece[1:]
        if re.match(r"(?:Если|Чтобы|Когда|Хотя|Но|И|А|Однако|Поэтому|Также|Кроме)\b", one) or STARTS.search(one):
            continue
        yield from _said(one, names)


def _conditions(sentence: str) -> Iterator[tuple[str, str, str]]:
    found = _CONDITION.match(sentence)
    if found:
        asked = "Что делать" if _ORDERS.match(found[2]) else "Что происходит"
        yield f"{asked}, если {found[1]}?", found[2], "condition"
    found = _AIM_FIRST.match(sentence)
    if found:
        yield f"Что нужно сделать, чтобы {found[1]}?", found[2], "procedure"


def _said(one: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    if found := _DEFINED.match(one):
        yield f"Что такое {_lowered(found[1], names)}?", found[2], "definition"
        return
    if found := _COSTS.match(one):
        yield f"Сколько {found[2]} {_lowered(found[1], names)}?", found[3], "number"
        return
    if found := _WHERE.match(one):
        yield f"Где {found[2]} {_lowered(found[1], names)}?", found[3].split(",")[0], "place"
    if found := _ANSWERS.match(one):
        yield f"Кто отвечает за {found[1]}?", found[2], "agent"
    if found := _FOUNDED.match(one):
        yield f"Кто {found[2]} {_lowered(found[1], names)}?", found[4], "agent"
    elif found := _MADE_OF.match(one):
        yield from _parts(found, names)
    if found := _LISTED.match(one):
        yield f"Какие {found[2]} {_lowered(found[1], names)}?", found[3], "list"
        return
    if (found := _CAUSE.match(one)) and "," not in found[1] and not _ORDERS.match(_told(found[1])):
        yield f"Почему {_lowered(found[1], names)}?", f"{found[2]} {found[3]}", "reason"
        return
    if (found := _AIM.match(one)) and "," not in found[1] and not _ORDERS.match(_told(found[1])):
        yield f"Для чего {_lowered(found[1], names)}?", found[2], "reason"
        return
    yield from _counted(one, names)


def _told(text: str) -> str:
    return text.lower().removeprefix("не ")


def _parts(found: re.Match[str], names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    subject, verb, link, rest = found.groups()
    if link in _ASKS_WITH:
        yield f"{_ASKS_WITH[link]} {verb} {_lowered(subject, names)}?", f"{link} {rest}", "list"
    elif verb.startswith(("включа", "содерж")) and link in (None, "в себя"):
        yield f"Что {verb} {'в себя ' if link else ''}{_lowered(subject, names)}?", rest, "list"


def _counted(one: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    if "," in one or ": " in one or "—" in one or len(one.split()) > 18 or _says_two_things(one):
        return
    often = OFTEN.search(one)
    if often and _enough(one, often):
        yield f"Как часто {_rest(one, often, names)}?", often[0], "frequency"
    when = WHEN.search(one)
    if when and _enough(one, when):
        yield f"Когда {_rest(one, when, names)}?", when[0], "time"
    numbers = [found for found in _NUMBERED.finditer(one) if found[2] in COUNTED]
    if len(numbers) != 1 or when or often:
        return
    (found,) = numbers
    before, after = one[: found.start()].strip(), one[found.end() :].strip()
    link = before.split()[-1].lower() if before else ""
    asked = "Сколько"
    if link in ("через", "за", "на"):
        asked, before = f"{link.capitalize()} сколько", before.rpartition(" ")[0]
    if before and (not _VERB.search(before) or re.search(r"\b[Нн]е\b", before)):
        return
    words = [asked, COUNTED[found[2]], after, _turned(before, names)]
    question = " ".join(word for word in words if word)
    if len(question.split()) >= 4:
        yield f"{question}?", f"{found[1]} {found[2]}", "number"


def _says_two_things(one: str) -> bool:
    """Whether a second verb follows "и", so that what is taken out belongs to one half alone."""
    first, _, second = one.partition(" и ")
    return bool(second) and bool(_VERB.search(second.split()[0])) and any(map(_VERB.search, first.split()))


def _enough(one: str, found: re.Match[str]) -> bool:
    """Whether what is left besides a phrase is still a sentence."""
    return len(one.split()) - len(found[0].split()) >= 2


def _rest(one: str, found: re.Match[str], names: frozenset[str]) -> str:
    """A sentence without a phrase, its verb first where it stood right before the phrase."""
    before, after = one[: found.start()].strip(), one[found.end() :].strip()
    told = _turned(before, names) if before else after
    return " ".join(part for part in (told, after if before else "") if part).strip(" ,")


def _turned(before: str, names: frozenset[str]) -> str:
    """Words with their last, if it is a verb, put first: "каталог обновляется" is asked as "обновляется каталог"."""
    verb = _VERB.search(before)
    if not verb or " " not in before or before[: verb.start()].endswith("не"):
        return _lowered(before, names)
    return f"{verb[0].strip()} {_lowered(before[: verb.start()].strip(), names)}"


def _lowered(text: str, names: frozenset[str]) -> str:
    """A text whose first word loses its capital, unless it is a name or an abbreviation."""
    first, space, rest = text.partition(" ")
    if first in names or (len(first) > 1 and not first[1:].replace("-", "").islower()):
        return text
    return first[:1].lower() + first[1:] + space + rest


def _of_list(listed: Listed) -> Iterator[Asking]:
    answer = "; ".join(listed.items[:12])
    opening = _OPENING.match(listed.opening)
    if opening:
        told = opening[1][:1].lower() + opening[1][1:]
        yield Asking(f"Перечислите {told}.", answer, "list", listed.start, listed.end)
    found = re.match(r"^([А-ЯЁ][^,;:()]{2,60}?) (включает|включают|содержит|содержат)(?: (в себя))?:$", listed.opening)
    if found:
        inside = " в себя" if found[3] else ""
        yield Asking(
            f"Что {found[2]}{inside} {_lowered(found[1], frozenset())}?", answer, "list", listed.start, listed.end
        )


def _of_heading(headed: Headed) -> Iterator[Asking]:
    first = headed.told[0]
    how = re.match(r"^Как [а-яё]+ть(?:ся)? .+[^?]$", headed.title)
    if headed.title.endswith("?"):
        last = headed.told[:2][-1]
        whole = " ".join(told.text for told in headed.told[:2])
        yield Asking(headed.title, whole.rstrip("."), "heading", first.start, last.end)
    elif how and _ORDERS.match(first.text.lower()):
        yield Asking(f"{headed.title}?", first.text.rstrip("."), "heading", first.start, first.end)
