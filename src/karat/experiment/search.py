"""Search: one query, or every question of a test set, through a system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from karat.core.errors import KaratError, UsageError
from karat.core.glance import Glance, Table
from karat.core.text.words import clean, plural

if TYPE_CHECKING:
    from karat.core.docs import Chunk
    from karat.experiment.system import System
    from karat.match import Pages


@dataclass(frozen=True, repr=False)
class Hits(Glance, Sequence[tuple[float, "Chunk"]]):
    """What one query found: score and chunk of each hit, best first; `about` says how it was searched."""

    about: Mapping[str, Any]
    hits: Sequence[tuple[float, Chunk]]

    @overload
    def __getitem__(self, rank: int) -> tuple[float, Chunk]: ...
    @overload
    def __getitem__(self, rank: slice) -> Sequence[tuple[float, Chunk]]: ...
    def __getitem__(self, rank: int | slice) -> tuple[float, Chunk] | Sequence[tuple[float, Chunk]]:
        return self.hits[rank]

    def __len__(self) -> int:
        return len(self.hits)

    def _line(self) -> str:
        query = clean(self.about["query"], 80)
        return f"{query!r}, {self.about['system']}, {plural(len(self), 'hit')}"

    def _table(self) -> Table:
        from karat.report.build.explanation import place_of

        rows = ((rank, score, c.id, place_of(c), c.text) for rank, (score, c) in enumerate(self.hits, 1))
        return ("rank", "score", "chunk", "place", "text"), rows


def search_one(system: System, query: str, k: int) -> Hits:
    """What a query finds, best first, and how it was searched in plain values."""
    if not query.strip():
        raise UsageError("the query is empty. Write what to search for.")
    found = system.search([query], k)
    if found.failed:
        raise KaratError(found.failed[0])
    (rewritten,) = found.rewritten
    notes = list(found.notes)
    if system.settings.rewrite and not rewritten.changes:
        notes.append("--rewrite changed nothing in the query.")
    about = {
        "query": query,
        "system": system.settings.name,
        "k": k,
        "queries": list(rewritten.queries),
        "changes": [str(change) for change in rewritten.changes],
        "notes": notes,
    }
    return Hits(about, found.hits(0))


def search_all(
    system: System,
    questions: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    k: int,
    pages: Pages,
    columns: Mapping[str, str] | None = None,
) -> tuple[list[str], int]:
    """Search every question of a file and write the hits; says what was read and written, and how many failed."""
    from karat.files import read_testset, write

    testset, taken = read_testset(questions, columns=columns or {})
    empty = [question.id for question in testset if not question.text.strip()]
    if empty:
        without = f"{len(empty):,} of {len(testset):,} questions"
        raise UsageError(f"{questions}: question {empty[0]!r} has no text to search for ({without} have none).")
    found = system.search([q.text for q in testset], k)
    run = found.run(system.settings.name, testset.ids, pages)
    lost = write(run, output, inputs=(questions,))
    said = [f"{taken.place}: taken for {taken.format}: {taken.what}"]
    said += [] if testset.changed is None else [f"{taken.place} is {testset.changed}."]
    said += [f"wrote {len(run):,} hits to {output}"]
    if system.settings.rewrite:
        changed = sum(1 for one in found.rewritten if one.changes)
        said.append(f"--rewrite changed {changed:,} of {len(testset):,} questions.")
    said += found.notes
    if found.failed:
        from karat.core.text.words import in_words

        reasons = {testset.ids[i]: reason for i, reason in sorted(found.failed.items())}
        said.append(f"{len(reasons):,} of {len(testset):,} questions failed: {in_words(reasons)}")
    said += [f"{output}: this format does not hold {', '.join(lost)}"] if lost else []
    return said, len(found.failed)
