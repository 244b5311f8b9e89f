"""Sweep: every configuration of a grid scored in memory, from one search of each leg."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import unread_line
from karat.core.errors import NoOverlapError, UsageError, did_you_mean
from karat.core.progress import shown_in_notebook
from karat.core.text.words import conversations_note, names
from karat.experiment.frozen import changed_notes
from karat.experiment.inputs import refuse_repeated, refuse_unsearchable, resolved
from karat.experiment.settings import Choices, MatchSettings, settings_of, takes_settings, texts_of
from karat.experiment.study import values_of
from karat.experiment.sweep.grid import Grid, Point
from karat.experiment.sweep.swept import MOST_SCORES, Swept, SweptIndex, check_held
from karat.match import Exclusions, Resolution
from karat.measures.dialects import Dialect, dialect_named
from karat.pool import Pool, PoolChoice, open_pool
from karat.results.evaluation import Note
from karat.stats.arrays import DistinctRows
from karat.systems.engines import Engines
from karat.systems.index import Index
from karat.systems.retrieval import Retrieval
from karat.systems.search_stage import SEARCHES, SearchPool

if TYPE_CHECKING:
    from karat.core.judged import Repeats
    from karat.core.measure import Measure
    from karat.core.types import TestSet
    from karat.retrieve import Progress

    _Source = tuple[Index, str | None, str | None, tuple[Point, ...]]  # with its chunking and its embedder

BUDGET = "Recall@800t"
EQUAL = f"Compare chunkings at equal token budgets: --main {BUDGET}."


@shown_in_notebook("progress")
@takes_settings(matching=MatchSettings)
def sweep(
    testset: Any,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Index,
    grid: Grid | Mapping[str, Any] | None = None,
    *,
    measures: str | Iterable[str] | None = None,
    main: str | None = None,
    dialect: str = "karat",
    matching: str | Mapping[str, Any] | MatchSettings | None = None,
    length: int | None = None,
    columns: Mapping[str, str] | None = None,
    work: str | os.PathLike[str] | None = None,
    resolution: Resolution | None = None,
    pool: PoolChoice = None,
    progress: Progress | None = None,
) -> Swept:
    """Score every configuration of a grid on a test set.

    `grid` may be a dict: `{"alpha": "0:1:0.1", "k": "3,5,7", "fusion": "rrf"}`. `source` is an index; where the
    grid has chunkings or embedders it is documents, of which indexes are built into the folder `work` (else into one
    that goes with the result). `main` decides: `Recall` stands for Recall at every cut-off of the grid, `Recall@5` for
    that alone; configurations are compared at the same cut-off. The other measures are worked out when they are asked
    for.
    Lists are `length` hits long: as many as the largest cut-off asks for and, where a measure has none or cuts by
    tokens, as the smallest depth if that is more. The scores are those of each `System` run alone.
    `matching` is as in `karat.score`.
    A `resolution` of this test set's gold against this index, where there is one already, is taken as it is.
    A `pool` (its name, or a dict such as `{"by": "local", "jobs": 4}`) builds the indexes, and searches where that
    pays; what it writes stands in `work`, which a cluster must see. Without one, one process searches.
    """
    from karat.files import as_testset

    say = progress or (lambda what, done, total: None)
    grid = grid if isinstance(grid, Grid) else grid_of(grid or {})
    _check_rewriting(grid)
    settings = settings_of(MatchSettings, matching)
    choices = Choices(dialect=dialect, matching=settings, columns=dict(columns or {}))
    spoken = dialect_named(dialect)
    cells, wanted = measures_of(grid, measures, main, spoken, settings.rel)
    length = length_of(grid, wanted, length)
    points, dropped = grid.points(length)
    repeats = settings.repeats or spoken.repeats
    questions, taken = as_testset(testset, columns=choices.columns)
    _check_questions(questions)
    notes: list[Note] = [Note("info", text) for text in (*grid.notes, *dropped)]
    notes += changed_notes(questions)
    if resampled := conversations_note(questions.conversations):
        notes.append(Note("info", resampled))
    if resolution is not None and (grid.chunk or grid.embedder):
        raise UsageError("gold resolved against one index says nothing of those that are to be built. Leave it out.")
    with ExitStack() as stack:
        opened = None if pool is None else open_pool(pool)
        folder = _folder(work, stack, is_shared=opened is not None and opened.is_cluster)
        sources = _sources(source, grid, points, folder, opened, say)
        parts: list[SweptIndex] = []
        values = tuple(DistinctRows(np.zeros((0, len(questions)))) for _ in cells)
        shares: dict[str, float] = {}
        for index, chunk, embedder, chosen in sources:
            searches = None if opened is None else _search_pool(folder(), opened)
            retrieval = _retrieval(index, questions, chosen, length, searches, say)
            held = resolution or resolved(questions, index, choices, lambda what: say(what, 0, 1))
            part = SweptIndex(index, held, chosen, retrieval, length, settings.pages, chunk, embedder)
            shares |= score_cells(part, cells, values, repeats, spoken, say)
            notes += _noticed(part, wanted)
            parts.append(part)
        notes += _check_found(shares, length, settings.allow_zero_overlap)
        if len(grid.chunk) > 1 and any(m.tokens is None for m in cells):
            notes.append(
                Note("warning", f"{cells[0].name} cuts by rank, and of larger chunks that is more text. {EQUAL}")
            )
        many = len(values[0].place) * len(questions) * len(wanted)
        if many > MOST_SCORES:
            notes.append(Note("info", f"{many:,} scores by all measures are too many: a folder gets the grid alone."))
        swept = Swept(
            testset=questions, values=values, parts=tuple(parts), cells=cells, measures=wanted, main=main_name(cells),
            length=length, repeats=repeats, notes=tuple(notes), taken=(taken,), dialect=dialect,
        )  # fmt: skip
        weakref.finalize(swept, stack.pop_all().close)
    return swept


def score_cells(
    part: SweptIndex,
    cells: Sequence[Measure],
    values: Sequence[DistinctRows],
    repeats: Repeats,
    dialect: Dialect,
    say: Progress,
) -> dict[str, float]:
    """Add the scores of an index's configurations by the main measure; the share of the gold that each finds."""
    from karat.experiment.sweep._judge import scored

    shares: dict[str, float] = {}
    for scores, of_index in scored(part, cells, repeats, dialect, say):
        shares |= of_index
        for rows, measure in zip(values, cells, strict=True):
            rows.add(values_of(scores, measure.name))
        check_held(sum(rows.rows.size for rows in values), "scores by the main measure that differ")
    return shares


def grid_of(values: Mapping[str, Any]) -> Grid:
    """A grid from the names of its settings."""
    known = inspect.signature(Grid.of).parameters
    for name in values:
        if name not in known:
            raise UsageError(f"a grid has no {name!r}.{did_you_mean(name, known)} It has {', '.join(known)}.")
    return Grid.of(**values)


def measures_of(
    grid: Grid, measures: str | Iterable[str] | None, main: str | None, dialect: Dialect, rel: int
) -> tuple[tuple[Measure, ...], tuple[Measure, ...]]:
    """The main measure at each cut-off, and all measures, those first."""
    from karat.core.language import parse, parse_all

    cuts = "{" + ",".join(map(str, grid.k)) + "}"
    if main is None:
        main = BUDGET if len(grid.chunk) > 1 else dialect.main(cuts)
    if "@" not in main and "{" not in main and parse(main, k=grid.k[0], load_code=True).k is None:
        spec = parse(main, load_code=True).spec
        main = main if spec.cut == "none" else f"{main}@{cuts}"
    texts = [t.replace("{K}", cuts) for t in dialect.ranking] if measures is None else texts_of(measures)

    def meant(measure: Measure) -> Measure:
        return dialect.meant(measure).with_rel(rel)

    cells = parse_all(main, k=grid.k[0], meant=meant, load_code=True)
    every = parse_all(texts, k=grid.k[0], meant=meant, load_code=True)
    for measure in (*cells, *every):
        if measure.spec.stage != "retrieval":
            raise UsageError(f"{measure.name} measures answers. A sweep retrieves only: name measures of retrieval.")
        measure.require_mean("a sweep chooses by")
    if len({m.spec.name for m in cells}) > 1:
        raise UsageError(f"--main {main}: name one measure; more of them go to -m.")
    return cells, tuple(dict.fromkeys((*cells, *every)))


def main_name(cells: Sequence[Measure]) -> str:
    """The main measure, without its cut-off where several are compared."""
    return cells[0].name if len(cells) == 1 else cells[0].name.rpartition("@")[0]


def length_of(grid: Grid, measures: Sequence[Measure], given: int | None) -> int:
    """How many hits a list holds."""
    cuts = [m.k for m in measures if m.k is not None]
    if given is None:
        open_ended = any(m.k is None for m in measures)
        return max([*cuts, min(grid.depth)] if open_ended else cuts)
    if given < max(cuts, default=1):
        raise UsageError(f"length={given}: lists must reach the largest cut-off, {max(cuts)}.")
    return given


def _check_rewriting(grid: Grid) -> None:
    from karat.retrieve.rewrite import needs_of

    asking = [text for text in grid.rewrite if needs_of(text)]
    if asking:
        raise UsageError(f"{asking[0]} asks a chat model, and a sweep asks none. List such systems in karat.yaml.")


def _check_questions(testset: TestSet) -> None:
    if not len(testset):
        raise UsageError(f"{testset.name} holds no questions, so there is nothing to sweep on.")
    refuse_repeated(testset)
    refuse_unsearchable(testset)


def _search_pool(folder: Path, pool: Pool) -> SearchPool:
    folder.mkdir(parents=True, exist_ok=True)
    return SearchPool(folder / SEARCHES, pool)


def _sources(
    source: Any, grid: Grid, points: Sequence[Point], work: Callable[[], Path], pool: Pool | None, say: Progress
) -> list[_Source]:
    """The indexes of a sweep, each with its chunking, its embedder and its configurations under names of their own."""
    if isinstance(source, Index):
        if grid.chunk or grid.embedder:
            raise UsageError("an index has one chunking and one embedder. To sweep over them give the documents.")
        return [(source, None, None, tuple(points))]
    if not grid.chunk and not grid.embedder:
        if not isinstance(source, str | os.PathLike):
            raise UsageError("several documents were given. Index them first, or name chunkings to sweep over.")
        return [(Index.open(source), None, None, tuple(points))]
    return _built(source, grid, points, work(), pool, say)


def _built(
    source: Any, grid: Grid, points: Sequence[Point], work: Path, pool: Pool | None, say: Progress
) -> list[_Source]:
    """An index for each chunking and embedder, with the configurations it serves under names of their own.

    Engines that need no embedder are built once for each chunking and shared; configurations that consult only such
    engines stand once for each chunking.
    """
    from karat.corpus import Chunking
    from karat.models import EmbedderSettings
    from karat.systems.index_folder import is_index
    from karat.systems.indexes import index_of

    if isinstance(source, str | os.PathLike) and is_index(source):
        raise UsageError(
            f"{source} is an index, which has one chunking and one embedder. To sweep over them give the documents."
        )
    chunkings = tuple(dict.fromkeys(Chunking.parse(text).text for text in grid.chunk)) or (Chunking().text,)
    embedders: tuple[str | None, ...] = grid.embedder or (None,)
    names = tuple(dict.fromkeys(name for point in points for name in point.system.consulted))
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    indexes: list[_Source] = []
    for chunk in chunkings:
        first: Index | None = None
        for embedder in embedders if "dense" in names else embedders[:1]:
            engines = names if first is None else ("dense",)
            settings = EmbedderSettings.parse(embedder) if embedder is not None else None
            index = index_of(sources, work, chunk=chunk, embedder=settings, engines=engines, pool=pool, say=say)
            chosen = points if first is None else [p for p in points if "dense" in p.system.consulted]
            if first is not None:
                index.built.update({name: first.engine(name) for name in names if name != "dense"})
            marks = (chunk if len(chunkings) > 1 else None, embedder if len(embedders) > 1 else None)
            renamed = tuple(replace(point, name=_marked_name(point, *marks)) for point in chosen)
            own = index.embedder
            indexes.append((index, chunk, embedder or (own.label if own is not None else None), renamed))
            first = first or index
    return indexes


def _marked_name(point: Point, chunk: str | None, embedder: str | None) -> str:
    """A configuration's name with its chunking and its embedder, where they tell it apart."""
    marks = [chunk, embedder if "dense" in point.system.consulted else None]
    shown = ", ".join(mark for mark in marks if mark is not None)
    return f"{point.name} [{shown}]" if shown else point.name


def _folder(work: str | os.PathLike[str] | None, stack: ExitStack, *, is_shared: bool) -> Callable[[], Path]:
    """Where indexes are built and searches kept: the folder given, else one that goes when nobody needs it any more.

    What machines share stands where the command is given.
    """
    if work is not None:
        return lambda: Path(work)

    @cache
    def made() -> Path:
        place = "." if is_shared else None
        return Path(stack.enter_context(TemporaryDirectory(prefix="karat-sweep-", dir=place)))

    return made


def _retrieval(
    index: Index,
    testset: TestSet,
    points: Sequence[Point],
    length: int,
    pool: SearchPool | None,
    progress: Progress,
) -> Retrieval:
    """The questions over the engines of an index, each to be searched once for all configurations."""
    systems = [point.system for point in points]
    for name in dict.fromkeys(name for system in systems for name in system.consulted):
        if ":" in name:
            raise UsageError(f"{name}: a sweep is over engines of one index. Search a store with `karat search`.")
    texts = [question.text for question in testset]
    retrieval = Retrieval(Engines(index), texts, progress=progress, pool=pool, excluded=Exclusions(testset))
    retrieval.plan(systems, length)
    return retrieval


def _noticed(part: SweptIndex, measures: Sequence[Measure]) -> Iterator[Note]:
    """What should be known of an index before its figures are read."""
    chunks, where = len(part.index.chunks), f"{part.chunk}: " if part.chunk else ""
    large = sorted({m.k for m in measures if m.k is not None and m.k > chunks})
    if large:
        yield Note("info", f"{where}k={', '.join(map(str, large))}: the index has only {chunks:,} chunks.")
    if lost := unread_line(part.index.problems):
        yield Note("warning", f"{where}{lost}")
    resolution = part.resolution
    if excluded := Exclusions(resolution.testset):
        yield Note("info", f"{where}{excluded.note(part.index.chunks)}")
    missing, units = int((resolution.relevant & ~resolution.reached).sum()), int(resolution.relevant.sum())
    if missing:
        yield Note(
            "warning",
            f"{where}no chunk of the index holds {missing:,} of {units:,} gold units: no configuration can find them, "
            "and they count as missed. `karat testset check` says why and what to do.",
        )


def _check_found(shares: Mapping[str, float], length: int, allow: bool) -> list[Note]:
    """Refuse a sweep that finds no gold at all; name the configurations that find none."""
    none = [name for name, share in shares.items() if not share]
    if none and len(none) == len(shares) and not allow:
        raise NoOverlapError(
            f"none of the gold is among the first {length} hits of any of {len(shares):,} configurations. "
            "`karat testset check` says whether the index holds it at all. If that is the true result, add "
            "--allow-zero-overlap."
        )
    return [Note("warning", f"{names(none, 5, width=None)}: none of the gold is among the hits.")] if none else []
