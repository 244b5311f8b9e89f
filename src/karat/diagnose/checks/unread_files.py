"""unread_files: gold in documents that could not be read when the index was built."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.diagnose._words import last_part, plural
from karat.diagnose.check import Case, Check


def _find(case: Case) -> Iterator[Finding]:
    fatal = [problem for problem in case.problems if problem.fatal]
    by_name = {last_part(problem.place): problem for problem in fatal}
    held: dict[str, list[str]] = {}
    for question in case.questions:
        for gold in question.gold:
            name = last_part(gold.doc or gold.url or gold.id or gold.chunk or "")
            if gold.grade >= 1 and name in by_name:
                held.setdefault(name, []).append(question.id)
    if held:
        questions = tuple(dict.fromkeys(q for of_file in held.values() for q in of_file))
        yield Finding(
            "unread_files",
            "broken",
            f"gold stands in {plural(len(held), 'file')} that could not be read",
            f"{plural(len(questions), 'question')} cannot be answered from this index.",
            {"files": len(held), "questions": len(questions)},
            questions,
            tuple(f"{by_name[name]} ({plural(len(set(ids)), 'question')})" for name, ids in held.items())[:5],
            "Repair the files and index them again.",
        )
    others = [problem for problem in fatal if last_part(problem.place) not in held]
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
