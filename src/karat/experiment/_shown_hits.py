"""The hits of a study that a report shows: the first of each question, what they hold, where each leg has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.docs import Chunk
from karat.match import Matched, Resolution, held_gold
from karat.results.study import HitTable

if TYPE_CHECKING:
    from karat.core.ranked import Ints
    from karat.core.run import Run
    from karat.core.types import TestSet
    from karat.experiment.study import StudySystem

SHOWN_HITS = 10


class HitGold(Mapping[str, Mapping[int, tuple[str, ...]]]):
    """Of each run the gold that its hits hold, by their places in it; worked out when it is asked for."""

    def __init__(self, testset: TestSet, runs: Sequence[Run], matched: Matched, rel: int) -> None:
        self._testset, self._matched, self._rel = testset, matched, rel
        self._runs = {run.name: run for run in runs if run.has_rankings} if testset.has_gold else {}

    def __getitem__(self, system: str) -> dict[int, tuple[str, ...]]:
        return held_gold(self._testset, self._runs[system], self._matched.join, self._rel)

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def shown_hits(system: StudySystem, testset: TestSet, gold: Mapping[int, tuple[str, ...]]) -> HitTable:
    """The first hits of a system, with the gold that each holds and where each leg has it.

    `gold` is that of hits which are no chunks of an index, by their places.
    """
    run, retrieved, resolution = system.run, system.retrieved, system.resolution
    list_of = {qid: number for number, qid in enumerate(run.question_ids)}
    lists = np.array([list_of.get(qid, -1) for qid in testset.ids], np.int64)
    sizes = np.where(lists < 0, 0, np.minimum(np.append(np.diff(run.offsets), 0)[lists], SHOWN_HITS))
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    places = np.repeat(run.offsets[lists] - offsets[:-1], sizes) + np.arange(offsets[-1])
    question = np.repeat(np.arange(len(testset)), sizes)
    rows = resolution.index.rows_of(run)[places] if resolution is not None else np.full(len(places), -1, np.int64)
    legs = {}
    for name, leg in retrieved.legs.items() if retrieved else ():
        leg_places = leg.find(question, rows)
        legs[name] = np.append(leg.rank, 0)[leg_places], np.append(leg.scores, 0.0)[leg_places]
    whole = resolution is not None and bool((rows >= 0).all())
    chunks = resolution.chunks if resolution is not None and whole else [_chunk(run, p, resolution) for p in places]
    return HitTable(
        questions=testset.ids,
        offsets=offsets,
        rows=rows if whole else np.arange(len(places)),
        scores=run.scores[places] if run.scores is not None else np.full(len(places), np.nan),
        chunks=chunks,
        holds=(
            _held(resolution, run, question, places) if resolution is not None
            else {number: gold[place] for number, place in enumerate(places.tolist()) if place in gold}
        ),
        legs=legs,
    )  # fmt: skip


def unit_label(resolution: Resolution, unit: int) -> str:
    """What a unit is called: the quote where it was looked for by that, else the name of its gold."""
    gold = resolution.units.gold[unit]
    if resolution.kinds[unit] != "quote" or not gold.quote:
        return gold.label
    place = replace(gold, quote=None).label
    return f'"{gold.quote}"' + (f" ({place})" if place else "")


def _held(resolution: Resolution, run: Run, question: Ints, places: Ints) -> dict[int, tuple[str, ...]]:
    """The names of the relevant units that hits hold, by number of the hit, of those that hold some."""
    keys = resolution.hit_keys(run)
    units = np.flatnonzero(resolution.relevant).tolist()
    of = resolution.units
    label = {(int(of.question[unit]), of.key[unit]): unit_label(resolution, unit) for unit in units}
    held: dict[int, tuple[str, ...]] = {}
    for number, (q, place) in enumerate(zip(question.tolist(), places.tolist(), strict=True)):
        if names := tuple(label[q, key] for key in keys[place] if (q, key) in label):
            held[number] = names
    return held


def _chunk(run: Run, place: int, resolution: Resolution | None) -> Chunk:
    """What is known of a hit: the chunk of the index, or what the results say."""
    id_ = run.doc_list[place]
    if resolution is not None and (row := resolution.chunks.row_of.get(id_.strip())) is not None:
        return resolution.chunks[row]
    fields = {name: column[place] for name, column in run.fields.items()}
    page = fields.get("page")
    labels = tuple(map(str, page)) if isinstance(page, list | tuple) else (str(page),) if page is not None else ()
    return Chunk(
        id_, str(fields.get("doc") or ""), str(fields.get("text") or ""), url=fields.get("url"), labels=labels,
        tokens=fields.get("tokens"),
    )  # fmt: skip
