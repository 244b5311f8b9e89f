"""English: sentences, lists and headings turned into questions by grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.testset.offline._asking import Asking
from karat.testset.offline._clause import NUMBER_WORDS, Clause, clause_of
from karat.testset.offline._counting import counted
from karat.testset.offline._english import LYING, NUMBER, STANDING, is_human, is_place
from karat.testset.offline._pieces import clauses, main_part, names_in, object_part, stands_alone
from karat.testset.offline._reading import Headed, Listed, Read, Told
from karat.testset.offline._verbs import BE, forms, is_participle, third

_TAKING_WORDS = """
mean contain include hold carry need require show indicate prevent cause produce provide offer sell receive bring
measure consist depend protect teach govern cover
"""
_TAKING = frozenset(_TAKING_WORDS.split())
_WITH = {"consist": "of", "depend": "on", "protect": "against"}
_SHORT = re.compile(r"((?:[A-Za-z][\w'-]*[ -]){1,7}?[A-Za-z][\w'-]*) \(([A-Z][A-Z0-9]{1,6})\)")
_PURPOSE = re.compile(r",? (?:in order to|so as to|to (?:avoid|prevent|protect|save|make sure|ensure|reduce)) .+$")
_CAUSE = re.compile(r",? (because(?! of)|so that) (.+)$|, (since) (.+)$")
_CONDITION = re.compile(r"^(If|When|Whenever|Once) ([^,;:]{8,110}), (?:then )?(.{8,})$")
_VERBLESS = re.compile(r"(?:possible|necessary|needed|required|desired|in|not|so|on|at|out|any|under)\b")
_TO_DO = re.compile(r"^To ([a-z]+) ([^,;:]{3,70}), (.{8,})$")
_OBJECT = re.compile(r"(?:the|an?|no|[a-z]+s\b|[a-z]+, |[a-z]+ (?:and|or) |[A-Z])")
_NO_OBJECT = re.compile(
    rf"(?:up|down|out|off|on|in|at|by|for|from|to|with|as|only|back|away|over|this|its|their|less|not|{NUMBER})\b"
)
_MORE = re.compile(r"\b(?:and|but) (?:\w+ )?(?:is|are|was|were|has|have|must|may|can)\b|\bwhen\b|\bif\b")
_ANYBODY = re.compile(r"an? |each |every |all |most |(?:people|visitors)$")
_BACK = re.compile(r",|\b(?:its|their|his|her|them|it)\b")
_PLACE_ENDS = re.compile(
    r"[,(]| (?:by|before|after|during|until|when|if|where|which|that|and not|while|unless|for|from)\b"
)
_ONLY = re.compile(r"^Only ([^,;:]{3,80}?) (may|can|must|is|are|has|have) (.+)$")
_CALLED = re.compile(
    r"^(?:called|named|known as) (?!by |after |for |in )([^,;:.]{2,60}?)(?=$|,| and | because| after| since| in | on )"
)
_BY = re.compile(r"\bby ((?:the|a|an|two|three) [^,;:]{3,50}|[A-Z]\w+(?: [A-Z]\w+)*)$")
_LISTED = re.compile(r"^([^:]{8,120}): ([^:.;]+, [^:.;]+ and [^:.;]+)$")
_KIND_LISTED = re.compile(
    r"^(?P<rest>.*?)(?P<prep>\b(?:into|in|on|at|by|from|of|for|with|between|to) )?"
    r"(?P<count>(?:two|three|four|five|six|seven|eight|nine|ten|\d+) )(?P<noun>(?:[a-z-]+ )?[a-z-]+s)$"
)

# A reader that can be reserved is a machine, and so are printers and cleaners.
_DONE_TO_THINGS = re.compile(
    r"(?:be )?(?:reserved|rented|hired out|borrowed|bought|sold|ordered|cleaned|repaired|replaced|installed|connected"
    r"|switched|plugged|stored|charged|printed)\b"
)


def askings(read: Read, text: str) -> Iterator[Asking]:
    """Every question that the rules make of a fragment: of its sentences, its lists and its headings."""
    names, doubtful = names_in(text)
    found: list[Asking] = []
    for told in read.told:
        found += _of_sentence(told, names)
    for listed in read.listed:
        found += _of_list(listed, names)
    for headed in read.headed:
        found += _of_heading(headed)
    seen: set[str] = set()
    for asking in found:
        words = {word.strip("?,.:;").lower() for word in asking.question.split()}
        title = asking.form == "heading"  # whoever wrote it may speak for the reader: "How do I ...?"
        unsure = not title and words & {word.lower() for word in doubtful}
        alone = stands_alone(re.sub(r"\b(?:I|my|we|our)\b", "you", asking.question) if title else asking.question)
        if asking.question not in seen and not unsure and alone and asking.answer:
            seen.add(asking.question)
            yield asking


def _of_sentence(told: Told, names: frozenset[str]) -> Iterator[Asking]:
    for question, answer, form in _made(told.text, names):
        yield Asking(question, answer.strip(" ,;."), form, told.start, told.end)


def _made(sentence: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    yield from _abbreviations(sentence)
    yield from _conditions(sentence)
    for piece in clauses(sentence):
        if piece.startswith(("If ", "When ", "Whenever ", "Once ", "To ")):
            continue
        yield from _lists(piece, names)
        yield from _reasons(piece, names)
        yield from _only(piece)
        clause = clause_of(_CAUSE.sub("", piece.rstrip(".")), names)
        if clause is not None:
            short = clause.within(main_part(clause.rest))
            yield from counted(piece, short)
            yield from _definitions(clause)
            yield from _places(short)
            yield from _people(short)
            yield from _objects(clause)
        else:
            yield from counted(piece, None)


def _abbreviations(sentence: str) -> Iterator[tuple[str, str, str]]:
    for found in _SHORT.finditer(sentence):
        letters = [letter.lower() for letter in found[2] if letter.isalpha()]
        words = re.split(r"[ -]", found[1])
        for size in range(len(letters), min(len(letters) + 3, len(words)) + 1):
            tail = words[-size:]
            initials = [
                word[0].lower()
                for word in tail
                if word.lower() not in ("of", "the", "and", "for", "to", "on", "in", "a")
            ]
            if initials == letters or [word[0].lower() for word in tail] == letters:
                start = found[1].rfind(tail[0])
                while start > 0 and found[1][start - 1] not in " -":
                    start = found[1].rfind(tail[0], 0, start)
                yield f"What does {found[2]} stand for?", found[1][max(start, 0) :], "abbreviation"
                break


def _conditions(sentence: str) -> Iterator[tuple[str, str, str]]:
    told = sentence.rstrip(".!")
    found = _CONDITION.match(told)
    if found:
        first = found[3].split()[0]
        link = "if" if found[1] == "If" else "when" if found[1] != "Once" else "once"
        todo = first in forms()[2] or first == "do"
        if not _VERBLESS.match(found[2]) and first not in ("or", "and", "but") and len(found[3].split()) > 3:
            yield f"What {'should you do' if todo else 'happens'} {link} {found[2]}?", found[3], "condition"
    found = _TO_DO.match(told)
    if found and found[1] in forms()[2]:
        yield f"How do you {found[1]} {found[2]}?", found[3], "procedure"


def _reasons(piece: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    told = piece.rstrip(".")
    found = _CAUSE.search(told)
    answer = told[found.start() :].lstrip(" ,") if found else ""
    if not found:
        found = _PURPOSE.search(told)
        answer = told[found.start() :].lstrip(" ,") if found else ""
    if not found:
        return
    clause = clause_of(told[: found.start()], names)
    if (
        clause is not None
        and clause.verb not in ("mean", "need", "require", "have")
        and not re.search(r"[;:]|, (?:and|but|so|which|who)\b", clause.rest)
        and main_part(clause.rest) == clause.rest.rstrip(" ,")
        and len(answer.split()) > 2
    ):
        yield clause.asked("Why"), answer.split(": ")[0], "reason"


def _only(piece: str) -> Iterator[tuple[str, str, str]]:
    found = _ONLY.match(piece.rstrip("."))
    if found and is_human(found[1]):
        yield f"Who {found[2]} {main_part(found[3])}?", f"Only {found[1]}", "agent"


def _definitions(clause: Clause) -> Iterator[tuple[str, str, str]]:
    if clause.helper not in BE or clause.verb or clause.lead:
        return
    called = _CALLED.match(clause.rest)
    if called:
        yield f"What {clause.helper} {clause.subject} called?", called[1], "name"
        return
    rest = object_part(clause.rest)
    subject = clause.subject
    if re.match(r"an? ", rest) and clause.helper in ("is", "was") and len(rest.split()) > 2:
        if (
            len(subject.split()) <= 5
            and (len(subject.split()) > 2 or subject != subject.lower() or subject.startswith(("a ", "an ")))
            and not re.match(r"an? (?:lot|little|few|matter|quarter|third|half|day|week|month|year)\b", rest)
        ):
            yield f"What {clause.helper} {subject}?", rest, "definition"
    elif (
        re.match(r"the (?:only|first|last|oldest|[a-z]+est|most|main|chief)\b", main_part(rest))
        and len(rest.split()) > 3
        and "," not in rest
    ):
        opening = "Who" if is_human(subject) else "What"
        yield clause.within(main_part(rest)).of_subject(opening), subject, "subject"


def _places(clause: Clause) -> Iterator[tuple[str, str, str]]:
    words = clause.rest.split()
    if not words or clause.subject.split()[0] in NUMBER_WORDS:
        return
    if clause.helper in BE and not clause.verb:
        if words[0] not in LYING:
            return
        rest, place = words[0], " ".join(words[1:])
    elif clause.verb in STANDING:
        rest, place = "", clause.rest
    else:
        return
    place = _PLACE_ENDS.split(place)[0].strip()
    if is_place(place):
        yield clause.asked("Where", rest), place, "place"


def _people(clause: Clause) -> Iterator[tuple[str, str, str]]:
    if clause.helper in BE and not clause.verb and clause.rest and is_participle(clause.rest.split()[0]):
        by = _BY.search(clause.rest)
        if by and is_human(by[1]):
            yield (
                clause.asked(
                    "By whom", re.sub(r" (?:only|also|therefore|then)$", "", clause.rest[: by.start()].strip())
                ),
                by[1],
                "agent",
            )
    if clause.helper in BE and not clause.verb and not is_participle(clause.rest.split(" ")[0]):
        return
    if not is_human(clause.subject) or len(clause.rest.split()) < 3 or clause.rest.startswith("not "):
        return
    if _DONE_TO_THINGS.match(clause.rest):
        return
    if not _ANYBODY.match(clause.subject) and not _BACK.search(clause.rest):
        asked = Clause("", "", "", clause.rest, clause.lead, _singular(clause))
        yield asked.of_subject("Who"), clause.subject, "agent"


def _singular(clause: Clause) -> str:
    """The verb as it stands after "who"."""
    if clause.helper == "do" and clause.verb:
        return third(clause.verb)
    return {"are": "is", "were": "was", "have": "has"}.get(clause.shown, clause.shown)


def _objects(clause: Clause) -> Iterator[tuple[str, str, str]]:
    if not clause.verb or clause.verb not in _TAKING or not clause.rest:
        return
    rest = object_part(clause.rest)
    link = _WITH.get(clause.verb, "")
    if link and not rest.startswith(f"{link} "):
        return
    answer = rest.removeprefix(f"{link} ") if link else rest
    if len(answer.split()) < 2 or _NO_OBJECT.match(answer) or _MORE.search(answer):
        return
    if link or clause.verb == "mean" or _OBJECT.match(answer):
        yield clause.asked("What", link), answer, "object"


def _lists(piece: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    found = _LISTED.match(piece.rstrip("."))
    if not found:
        return
    yield from _which(found[1], found[2], names)


def _which(opening: str, answer: str, names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    there = re.match(
        r"^There (are|were) ((?:two|three|four|five|six|seven|eight|nine|ten|\d+) (?:[a-z-]+ )?[a-z-]+s"
        r"(?: of [a-z-]+)?)(.*)$",
        opening,
    )
    if there and not there[3].startswith(" of "):
        yield f"Which {there[2]} {there[1]} there{there[3]}?", answer, "list"
        return
    clause = clause_of(opening, names)
    kind = _KIND_LISTED.match(clause.rest) if clause else None
    if clause is None or kind is None:
        return
    rest = kind["rest"].strip()
    opening_word = f"{(kind['prep'] or '').strip()} which {kind['count']}{kind['noun']}".strip()
    yield clause.asked(opening_word[:1].upper() + opening_word[1:], rest), answer, "list"


def _of_list(listed: Listed, names: frozenset[str]) -> Iterator[Asking]:
    opening = listed.opening.rstrip(": ")
    answer = "; ".join(listed.items[:12])
    made: list[tuple[str, str, str]] = list(_which(opening, answer, names))
    following = re.match(r"^The following ((?:[a-z-]+ )?[a-z-]+s) (are|were|must|may|can|have) (.+)$", opening)
    if following:
        made.append((f"Which {following[1]} {following[2]} {following[3]}?", answer, "list"))
    clause = clause_of(re.sub(r", .*$", "", opening) + " X.", names)
    if clause is not None and clause.verb and clause.rest == "X":
        made.append((clause.asked("What", ""), answer, "list"))
    need = re.match(r"^(?:The )?([A-Za-z-]+s) (?:that )?(you|we) need(?: (to .+|for .+))?$", opening)
    if need:
        made.append((f"Which {need[1].lower()} do you need{' ' + need[3] if need[3] else ''}?", answer, "list"))
    for question, told, form in made:
        yield Asking(question, told, form, listed.start, listed.end)


def _of_heading(headed: Headed) -> Iterator[Asking]:
    first = headed.told[0]
    title = headed.title
    if title.endswith("?"):
        last = headed.told[:2][-1]
        whole = " ".join(told.text for told in headed.told[:2])
        yield Asking(title, whole.rstrip("."), "heading", first.start, last.end)
        return
    how = re.match(r"^How to ([a-z]+) (.+)$", title)
    starts = first.text.split()[0].lower()
    if how and how[1] in forms()[2] and starts in forms()[2]:
        yield Asking(f"How do you {how[1]} {how[2]}?", first.text.rstrip("."), "heading", first.start, first.end)


__all__ = ["askings"]
