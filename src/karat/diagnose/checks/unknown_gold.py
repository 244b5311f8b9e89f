"""unknown_gold: gold that names files, addresses or ids the index does not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import plural
from karat.diagnose._words import few, last_part, same_file
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding

if TYPE_CHECKING:
    from karat.core.types import Gold
    from karat.match import Unresolved

_NEAR = 75  # likeness, of 100, from which a name is suggested
_EXAMPLES = 5
_WHAT = {"unknown file": "file", "unknown address": "web page", "unknown id": "id"}


def _name(missing: Unresolved) -> str:
    gold = missing.gold
    if missing.reason == "unknown address":
        return gold.url or gold.doc or gold.label
    return gold.doc or gold.url or gold.label if missing.reason == "unknown file" else gold.label


def _known(case: Case, reason: str) -> list[str]:
    if reason == "unknown address":
        return sorted({chunk.url for chunk in case.chunks if chunk.url})
    return sorted({chunk.doc for chunk in case.chunks}) if reason == "unknown file" else case.chunks.ids


def _suggest(name: str, known: Sequence[str]) -> str:
    """' (did you mean ...?)' with the nearest known name, case aside, or nothing."""
    from rapidfuzz import fuzz, process

    name, lower = name.lower(), [k.lower() for k in known]
    near = process.extractOne(name, lower, scorer=fuzz.ratio, score_cutoff=_NEAR)
    if near is None:
        near = process.extractOne(last_part(name), [last_part(k) for k in lower], scorer=fuzz.ratio, score_cutoff=_NEAR)
    return f" (did you mean {known[near[2]]}?)" if near is not None else ""


def _unread(gold: Gold, case: Case) -> bool:
    """Whether the file is one that could not be read, which another check says."""
    name = gold.doc or gold.url or gold.label
    return any(problem.fatal and same_file(problem.place, name) for problem in case.problems)


def _find(case: Case) -> Iterator[Finding]:
    missing = [u for u in case.resolution.unresolved if u.gold.grade >= 1 and not _unread(u.gold, case)]
    for reason, what in _WHAT.items():
        of_reason = [u for u in missing if u.reason == reason]
        if not of_reason:
            continue
        names = list(dict.fromkeys(map(_name, of_reason)))
        questions = tuple(dict.fromkeys(u.question for u in of_reason))
        known = _known(case, reason)
        yield Finding(
            "unknown_gold",
            "broken",
            f"the gold names {plural(len(names), what)} that the index does not hold",
            f"{plural(len(of_reason), 'gold unit')} of {plural(len(questions), 'question')} can never be found. "
            + (f"The index holds, for example, {few(known)}." if known else f"The index holds no {what} at all."),
            {"names": len(names), "units": len(of_reason), "questions": len(questions)},
            questions,
            tuple(f"{name}{_suggest(name, known)}" for name in names[:_EXAMPLES]),
            "Index the missing documents, correct the names in the gold, or choose how they are compared with --match.",
        )


check = Check("unknown_gold", "gold that names files, addresses or ids the index does not hold", _find, 10)
