"""unread_files: gold in documents that could not be read when the index was built."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import plural
from karat.diagnose._words import same_file
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding


def _find(case: Case) -> Iterator[Finding]:
    fatal = [problem for problem in case.problems if problem.fatal]
    held: dict[int, list[str]] = {}
    for missing in case.resolution.unresolved if fatal else ():
        gold = missing.gold
        name = gold.doc or gold.url or gold.id or gold.chunk or ""
        for i, problem in enumerate(fatal):
            if gold.grade >= 1 and same_file(problem.place, name):
                held.setdefault(i, []).append(missing.question)
    if held:
        questions = tuple(dict.fromkeys(q for of_file in held.values() for q in of_file))
        yield Finding(
            "unread_files",
            "broken",
            f"gold stands in {plural(len(held), 'file')} that could not be read",
            f"{plural(len(questions), 'question')} cannot be answered from this index.",
            {"files": len(held), "questions": len(questions)},
            questions,
            tuple(f"{fatal[i]} ({plural(len(set(ids)), 'question')})" for i, ids in held.items())[:5],
            "Repair the files and index them again.",
        )
    others = [problem for i, problem in enumerate(fatal) if i not in held]
    if others:
        yield Finding(
            "unread_files",
            "warning",
            f"{plural(len(others), 'file')} could not be read and no gold names {'it' if len(others) == 1 else 'them'}",
            "",
            {"files": len(others)},
            (),
            tuple(map(str, others[:5])),
            "Repair the files and index them again, or leave them out.",
        )


check = Check("unread_files", "gold in documents that could not be read when the index was built", _find, 11)
