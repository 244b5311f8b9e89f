"""Search: every question of a test set through a system, its hits in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.match import Pages
    from karat.systems.system import System


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
    from karat.experiment.inputs import refuse_textless
    from karat.files import read_testset, write

    testset, taken = read_testset(questions, columns=columns or {})
    refuse_textless(testset, str(questions))
    found = system.search([q.text for q in testset], k)
    run = found.run(system.settings.name, testset.ids, pages)
    lost = write(run, output, inputs=(questions,))
    said = [f"{taken.place}: {taken.read_as}"]
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
