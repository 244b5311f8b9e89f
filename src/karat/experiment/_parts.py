"""Runs in parts that are matched alike, scored apart and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.core.scores import Scores

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.match import Resolution
    from karat.results.evaluation import Matching


def parted(
    runs: Sequence[Run], resolution: Resolution | Sequence[Resolution | None] | None
) -> list[tuple[list[Run], Resolution | None]]:
    """The runs of each resolution, in the order in which these first appear."""
    if not isinstance(resolution, Sequence):
        return [(list(runs), resolution)]
    found: dict[int, tuple[list[Run], Resolution | None]] = {}
    for run, one in zip(runs, resolution, strict=True):
        found.setdefault(id(one), ([], one))[0].append(run)
    return list(found.values())


def joined_scores(systems: Sequence[str], parts: Sequence[Scores]) -> Scores:
    """The scores of all parts, systems in this order."""
    joined = Scores.concat(parts)
    return joined if len(parts) == 1 else joined.select(systems=[joined.systems.index(name) for name in systems])


def joined_matching(parts: Sequence[Matching]) -> Matching | None:
    """How hits were matched, over all parts."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return replace(
        parts[0],
        matcher=", ".join(dict.fromkeys(part.matcher for part in parts)),
        unit=", ".join(dict.fromkeys(part.unit for part in parts)),
        why="; ".join(dict.fromkeys(f"{part.why} ({', '.join(part.share)})" for part in parts)),
        share={name: share for part in parts for name, share in part.share.items()},
        others={},
        suggestion=next((part.suggestion for part in parts if part.suggestion), None),
        unusable=max(part.unusable for part in parts),
        entries=max(part.entries for part in parts),
        strangers={name: count for part in parts for name, count in part.strangers.items()},
        unmatchable={name: counts for part in parts for name, counts in part.unmatchable.items()},
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )
