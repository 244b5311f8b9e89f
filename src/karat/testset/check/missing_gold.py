"""Missing gold: gold that no chunk holds, by its cause: files, pages and quotes that are unknown, misplaced, unread."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from karat.core.text import normalise
from karat.core.text.words import names, plural
from karat.match import Unresolved
from karat.testset.check._check import SHOWN, CheckContext, Finding, check, counted

NEAR_NAME = 75  # likeness, of 100, from which a name is suggested
NEAR_QUOTE = 90  # likeness, of 100, from which a quote nearly stands in the corpus
LOOKED_AT = 200  # quotes of which a near place is looked for
UNKNOWN = {"unknown file": "file", "unknown address": "web page", "unknown id": "id"}
PAGES = {
    "beyond the end": (
        "outside the pages of the document",
        "Correct the page numbers. If all are shifted alike, see --page-offset and --pages.",
    ),
    "page without text": (
        "on pages of which the index holds no text",
        "Pictures need a text layer (OCR); index again.",
    ),
    "ambiguous": ("without the document that the page is of", 'Give every gold entry with a page its "doc".'),
    "span outside": ("at characters that no chunk covers", "Take spans from the text that was indexed."),
}


def _missing(context: CheckContext, reason: str) -> list[Unresolved]:
    """Relevant gold that is not found for a reason."""
    return [u for u in context.missing_gold if u.reason == reason]


def _questions(missing: Sequence[Unresolved]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(u.question for u in missing))


def _finding(
    name: str, missing: Sequence[Unresolved], noun: str, title: str, text: str, examples: Sequence[str], remedy: str
) -> Finding:
    questions = _questions(missing)
    numbers = {noun: len(missing), "questions": len(questions)}
    return Finding(
        check=name,
        severity="broken",
        title=title,
        text=text,
        numbers=numbers,
        questions=questions,
        examples=tuple(examples[:SHOWN]),
        remedy=remedy,
    )


@check(10)
def unknown_gold(context: CheckContext) -> Iterator[Finding]:
    """Gold that names files, addresses or ids the index does not hold."""
    unread = [problem.place for problem in context.problems if problem.fatal]  # said by another check
    for reason, what in UNKNOWN.items():
        missing = [u for u in _missing(context, reason) if not any(_same_file(place, _file_of(u)) for place in unread)]
        if not missing:
            continue
        lost = list(dict.fromkeys(_name_of(u) for u in missing))
        questions = _questions(missing)
        known = _known_names(context, reason)
        yield Finding(
            check="unknown_gold",
            severity="broken",
            title=f"the gold names {plural(len(lost), what)} that the index does not hold",
            text=f"{plural(len(missing), 'gold unit')} of {plural(len(questions), 'question')} can never be found. "
            + (
                f"The index holds, for example, {names(known, width=None)}."
                if known
                else f"The index holds no {what} at all."
            ),
            numbers={"names": len(lost), "units": len(missing), "questions": len(questions)},
            questions=questions,
            examples=tuple(f"{name}{_suggestion(name, known)}" for name in lost[:SHOWN]),
            remedy="Index the missing documents, correct the names in the gold, or choose how they are compared "
            "with --match.",
        )


def _file_of(missing: Unresolved) -> str:
    gold = missing.gold
    return gold.doc or gold.url or gold.label


def _name_of(missing: Unresolved) -> str:
    """What the gold calls what is missing."""
    gold = missing.gold
    if missing.reason == "unknown address":
        return gold.url or gold.doc or gold.label
    return _file_of(missing) if missing.reason == "unknown file" else gold.label


def _known_names(context: CheckContext, reason: str) -> Sequence[str]:
    if reason == "unknown address":
        return sorted(filter(None, set(context.chunks.column("url"))))
    return sorted(set(context.chunks.column("doc"))) if reason == "unknown file" else context.chunks.ids


def _suggestion(name: str, known: Sequence[str]) -> str:
    """' (did you mean ...?)' with the nearest known name, case and then folders aside, or nothing."""
    from rapidfuzz import fuzz, process

    lower = [other.lower() for other in known]
    for wanted, others in ((name.lower(), lower), (_last_part(name.lower()), list(map(_last_part, lower)))):
        near: Any = process.extractOne(wanted, others, scorer=fuzz.ratio, score_cutoff=NEAR_NAME)
        if near is not None:
            return f" (did you mean {known[near[2]]}?)"
    return ""


def _last_part(path: str) -> str:
    """The name of a file or web page without its folders."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _same_file(one: str, other: str) -> bool:
    """Whether two paths can mean one file: the shorter is how the longer ends.

    >>> _same_file("report.pdf", "in/2020/report.pdf"), _same_file("2021/report.pdf", "in/2020/report.pdf")
    (True, False)
    """
    ours, theirs = ([p for p in path.replace("\\", "/").split("/") if p not in ("", ".")] for path in (one, other))
    size = min(len(ours), len(theirs))
    return size > 0 and ours[-size:] == theirs[-size:]


@check(11)
def unread_files(context: CheckContext) -> Iterator[Finding]:
    """Gold in documents that could not be read when the index was built."""
    fatal = [problem for problem in context.problems if problem.fatal]
    asked: dict[int, list[str]] = {}
    for missing in context.missing_gold if fatal else ():
        gold = missing.gold
        name = gold.doc or gold.url or gold.id or gold.chunk or ""
        for i, problem in enumerate(fatal):
            if _same_file(problem.place, name):
                asked.setdefault(i, []).append(missing.question)
    if asked:
        questions = tuple(dict.fromkeys(q for of_file in asked.values() for q in of_file))
        yield Finding(
            check="unread_files",
            severity="broken",
            title=f"gold stands in {plural(len(asked), 'file')} that could not be read",
            text=f"{plural(len(questions), 'question')} cannot be answered from this index.",
            numbers={"files": len(asked), "questions": len(questions)},
            questions=questions,
            examples=tuple(f"{fatal[i]} ({plural(len(set(ids)), 'question')})" for i, ids in asked.items())[:SHOWN],
            remedy="Repair the files and index them again.",
        )
    others = [problem for i, problem in enumerate(fatal) if i not in asked]
    if others:
        yield Finding(
            check="unread_files",
            severity="warning",
            title=f"{plural(len(others), 'file')} could not be read and no gold names "
            f"{'it' if len(others) == 1 else 'them'}",
            numbers={"files": len(others)},
            examples=tuple(map(str, others[:SHOWN])),
            remedy="Repair the files and index them again, or leave them out.",
        )


@check(12)
def missing_pages(context: CheckContext) -> Iterator[Finding]:
    """Pages that a document does not have or that hold no text."""
    for reason, (where, remedy) in PAGES.items():
        missing = _missing(context, reason)
        if missing:
            title = f"{plural(len(missing), 'gold unit')} {where}"
            text = f"{counted(len(_questions(missing)), 'question', 'is', 'are')} concerned."
            why = [f"{u.question}: {u.why}" for u in missing]
            yield _finding("missing_pages", missing, "units", title, text, why, remedy)


@check(13)
def misplaced_quotes(context: CheckContext) -> Iterator[Finding]:
    """Quotes that stand elsewhere than the gold says, or nowhere."""
    elsewhere, lost = _missing(context, "quote elsewhere"), _missing(context, "quote not found")
    near = {i: example for i, u in enumerate(lost[:LOOKED_AT]) if (example := _nearly(context, u))}
    rest = [u for i, u in enumerate(lost) if i not in near]
    for missing, verbs, where, examples, remedy in (
        (
            elsewhere, ("stands", "stand"), "elsewhere than the gold says",
            [f"{u.question}: {u.why}" for u in elsewhere],
            "Correct the document or page of these entries. If all are shifted alike, see --page-offset and --pages.",
        ),
        (
            [lost[i] for i in near], ("stands", "stand"), "in the corpus nearly, but not quite, as the gold has it",
            list(near.values()), "Copy the quotes from the text that was indexed.",
        ),
        (
            rest, ("is", "are"), "not found", [f"{u.question}: {u.why}" for u in rest],
            "Copy the quotes from the text that was indexed, or let pages decide with --match page.",
        ),
    ):  # fmt: skip
        if missing:
            title = f"{counted(len(missing), 'quote', *verbs)} {where}"
            yield _finding("misplaced_quotes", missing, "quotes", title, "", examples, remedy)


def _nearly(context: CheckContext, missing: Unresolved) -> str:
    """How a quote stands in the corpus nearly; "" where it does not."""
    from rapidfuzz import fuzz

    quote, text = missing.gold.quote or "", context.resolution.quote_places.nearest(missing.gold)
    if text is None:
        return ""
    ours, theirs = normalise(quote, "words"), normalise(text, "words")
    likeness = fuzz.partial_ratio(ours, theirs)
    if likeness < NEAR_QUOTE:
        return ""
    ours_, theirs_ = ours.split(), theirs.split()
    differences = [
        f'gold "{" ".join(ours_[a:b])}", index "{" ".join(theirs_[c:d])}"'
        for kind, a, b, c, d in difflib.SequenceMatcher(None, ours_, theirs_, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    return f"{missing.question}: {likeness:.0f}% alike: {'; '.join(differences[:3])}"
