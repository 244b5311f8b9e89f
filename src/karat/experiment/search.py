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
    retrieved = system.search([q.text for q in testset], k)
    run = retrieved.run(system.settings.name, testset.ids, pages)
    lost = write(run, output, inputs=(questions,))
    sentences = [f"{taken.place}: {taken.read_as}"]
    sentences += [] if testset.changed is None else [f"{taken.place} is {testset.changed}."]
    sentences += [f"wrote {len(run):,} hits to {output}"]
    if system.settings.rewrite:
        changed = sum(1 for one in retrieved.rewritten if one.changes)
        sentences.append(f"--rewrite changed {changed:,} of {len(testset):,} questions.")
    sentences += retrieved.notes
    if retrieved.failed:
        from karat.core.text.words import in_words

        reasons = {testset.ids[i]: reason for i, reason in sorted(retrieved.failed.items())}
        sentences.append(f"{len(reasons):,} of {len(testset):,} questions failed: {in_words(reasons)}")
    sentences += [f"{output}: this format does not hold {', '.join(lost)}"] if lost else []
    return sentences, len(retrieved.failed)
